//! Text rules over `&str`: what a post says once the forum's debris is gone, whether it asks, and
//! whether two posts are the same joke. Nothing here knows of files, tables or settings files.

pub mod anonymise;
pub mod clean;
pub mod filter;
mod grouped;
pub mod interrogative;
pub mod normalise;
pub mod policy;
pub mod sameness;
pub mod segment;

pub use grouped::grouped;
