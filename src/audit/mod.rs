//! Proving from the files alone that nothing was lost, and telling one record's whole way.

mod evidence;
mod explain;
mod funnel;
mod prove;
mod tables;

pub use evidence::{Detail, details};
pub use explain::{Explained, Passage, explain, find};
pub use funnel::{Funnel, FunnelStage, funnel};
pub use prove::{Gap, Proof, prove};
pub use tables::{Category, Length, Reviewed, Tables, tables};
