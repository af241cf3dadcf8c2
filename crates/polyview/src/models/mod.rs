//! Published models, each a few lines of composition.

mod bibfa;
mod sshiba;

pub use bibfa::bibfa;
pub use sshiba::sshiba;
