//! Pictures and a self-contained HTML report of a fitted polyview model
