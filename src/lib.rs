//! riddlemill rebuilds four benchmarks of cunning text from raw forum dumps and can say of every
//! post why it is in or out.

pub mod join;
pub mod pages;
pub mod record;
pub mod text;
pub mod warc;

#[cfg(feature = "net")]
pub mod crawl;
#[cfg(feature = "net")]
pub mod llm;
pub mod review;
