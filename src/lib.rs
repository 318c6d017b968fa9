//! riddlemill rebuilds four benchmarks of cunning text from raw forum dumps and can say of every
//! post why it is in or out.

pub mod join;
pub mod pages;
pub mod record;
pub mod review;
pub mod text;
pub mod warc;

#[cfg(feature = "net")]
pub mod crawl;
#[cfg(feature = "net")]
pub mod llm;

#[cfg(feature = "tables")]
pub mod config;
#[cfg(feature = "tables")]
pub mod store;
#[cfg(feature = "tables")]
pub mod stages;
#[cfg(feature = "tables")]
pub mod recipe;
#[cfg(feature = "tables")]
pub mod pipeline;
#[cfg(feature = "tables")]
pub mod audit;
#[cfg(feature = "tables")]
pub mod cli;
#[cfg(feature = "tables")]
pub mod release;

/// The program's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
