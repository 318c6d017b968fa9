//! Proving from the files alone that nothing was lost, and telling one record's whole way.

mod explain;
mod funnel;
mod prove;

pub use explain::{Explained, Passage, explain, find};
pub use funnel::{Funnel, FunnelStage, funnel};
pub use prove::{Gap, Proof, prove};
