//! Published models, each a few lines of composition.

mod bibfa;

pub use bibfa::bibfa;
