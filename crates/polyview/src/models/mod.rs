//! Published models, each a few lines of composition.

mod bibfa;
mod mofa;
mod mofapy2;
mod sshiba;

pub use bibfa::bibfa;
pub use mofa::mofa;
pub use mofapy2::mofapy2;
pub use sshiba::sshiba;
