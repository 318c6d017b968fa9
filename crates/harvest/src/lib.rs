//! Sources of posts: pages of forums and riddle sites, web archives, and the code that fetches them.
//!
//! # In reading order
//!
//! - [`pages`]: forum pages and the posts on them.
//! - [`warc`]: web archives, reading and writing.
//! - [`crawl`]: fetches pages politely; can be killed at any time.
//! - [`fetch`]: downloads single files and verifies their hash.

pub mod crawl;
pub mod fetch;
pub mod pages;
pub mod warc;
