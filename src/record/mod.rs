//! What a record is, what can happen to it, and why.

mod reason;

pub use reason::Reason;
