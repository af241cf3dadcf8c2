//! Prior families of polyview: automatic relevance determination and factor priors, for variational Bayes and Gibbs
