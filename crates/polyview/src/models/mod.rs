//! Published models, each a few lines of composition.

mod bibfa;
mod mofa;
mod mofapy2;
mod rank;
mod sshiba;

pub use bibfa::bibfa;
pub use mofa::mofa;
pub use mofapy2::mofapy2;
pub use rank::{Table1, rank};
pub use sshiba::sshiba;
