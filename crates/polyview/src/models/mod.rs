//! Published models, each a few lines of composition.

mod bibfa;
mod mofa;
mod sshiba;

pub use bibfa::bibfa;
pub use mofa::mofa;
pub use sshiba::sshiba;
