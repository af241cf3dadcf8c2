//! Small real multi-view data sets, embedded with their source and licence, and simulators
