//! The real command in temporary workspaces. One binary, a file a topic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod harness;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "the crawler's own tests use all of it")]
mod support;

mod accidents;
mod accounting;
mod audit;
mod browser;
mod crawl;
mod dedup;
mod desk;
mod embeddings;
mod evaluate;
mod evaluate_pack;
mod exchange;
mod fetch;
mod fresh;
mod fuzz;
mod generate;
mod importers;
mod money;
mod packs;
mod parted;
mod picture;
mod puzzles;
mod puzzles_pack;
mod reference;
mod release;
mod reviewed;
mod same_bytes;
mod sample;
mod serve;
mod sets;
mod settings;
mod show;
mod translator;
mod trials;
mod withheld;
