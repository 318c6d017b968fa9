//! The real command in temporary workspaces. One binary, one file per topic.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod harness;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "the crawler's own tests use all of it")]
mod support;

mod accidents;
mod accounting;
mod audit;
mod batches;
mod breaker;
mod browser;
mod chapter;
mod crawl;
mod crawl_ends;
mod decisions;
mod dedup;
mod desk;
mod embeddings;
mod endpoints;
mod estimate;
mod evaluate;
mod evaluate_pack;
mod exchange;
mod fetch;
mod first_steps;
mod fresh;
mod fsck;
mod full_disk;
mod fuzz;
mod generate;
mod guides;
mod hostile;
mod importers;
mod kills;
mod long;
mod manage;
mod merge;
mod money;
mod newest;
mod next;
mod notes;
mod outdated;
mod own;
mod own_answers;
mod own_columns;
mod own_operations;
mod packs;
mod parted;
mod picture;
mod pieces;
mod profiles;
mod publish;
mod published;
mod puzzles;
mod puzzles_pack;
mod reference;
mod release;
mod remarks;
mod reviewed;
mod same_bytes;
mod sample;
mod search;
mod serve;
mod sets;
mod settings;
mod show;
mod sites;
mod skipped;
mod tampered;
mod translator;
mod trials;
mod waits;
mod withdraw;
mod withheld;
