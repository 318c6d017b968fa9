//! The real command in temporary workspaces. One binary, a file a topic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod harness;

mod accidents;
mod accounting;
mod audit;
mod exchange;
mod fresh;
mod generate;
mod importers;
mod packs;
mod picture;
mod reference;
mod release;
mod reviewed;
mod same_bytes;
mod sample;
mod settings;
