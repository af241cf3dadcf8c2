//! The shared parts of polyview's factor models: data sets, row moments, normal equations, predictor, traits, ledger, journal, schedule
