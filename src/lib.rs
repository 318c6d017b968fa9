//! riddlemill rebuilds four benchmarks of cunning text from raw forum dumps and can say of every
//! post why it is in or out.

pub mod join;
pub mod record;
pub mod text;

#[cfg(feature = "net")]
pub mod crawl;
#[cfg(feature = "net")]
pub mod llm;
pub mod review;
