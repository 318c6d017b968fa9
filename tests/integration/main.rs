//! The real command in temporary workspaces. One binary, a file a topic.

mod harness;

mod accidents;
mod accounting;
mod audit;
mod fresh;
mod importers;
mod picture;
mod reference;
mod same_bytes;
mod sample;
mod settings;
