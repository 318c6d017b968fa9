//! Where posts come from: pages of forums and riddle sites, the archives that hold them, and what fetches them.
//!
//! # In reading order
//!
//! - [`pages`]: forum pages and what is in them.
//! - [`warc`]: the archives that hold them, read and written.
//! - [`crawl`]: fetches pages politely and can be killed at any time.
//! - [`fetch`]: single files, held to their hash.

pub mod crawl;
pub mod fetch;
pub mod pages;
pub mod warc;
