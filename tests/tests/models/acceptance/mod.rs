//! Acceptance over models with views of every species at once (spec/sshiba
//! 9.6, spec/thesis 15.1).

mod locals;
mod mixtures;
mod stationary;
mod transductive;
