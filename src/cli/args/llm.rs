//! The arguments of `endpoint`, `replies` and `prompts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

#[derive(Subcommand)]
pub(crate) enum EndpointVerb {
    /// Send one request and print what it shows: model, structured output, tokens, cost, time
    Try(TryEndpoint),
}

#[derive(Args)]
pub(crate) struct TryEndpoint {
    /// The endpoint: [llm.NAME] in pipeline.toml
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Ask for an embedding instead of a chat
    #[arg(long)]
    pub embedding: bool,
    /// The most that this may cost, in dollars
    #[arg(long, value_name = "USD")]
    pub max_usd: Option<f64>,
    /// Send it without being asked about its cost
    #[arg(long)]
    pub yes: bool,
}

#[derive(Subcommand)]
pub(crate) enum RepliesVerb {
    /// Count replies, tokens and dollars by model and prompt
    Stats,
    /// Write all replies as JSON Lines, to stdout or a file
    Export {
        /// The file
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Import exported replies; each is checked against its key
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check every line of every segment
    Verify,
    /// List open batches: endpoint, start, number of requests
    Batches,
    /// Cancel an open batch: replies that exist by then are paid for and kept, the rest is requested again when needed
    Cancel {
        /// The batch as printed by `replies batches`, the beginning of it, or the server's name for it
        #[arg(value_name = "BATCH")]
        batch: String,
        /// Do not contact the server, because the replies are lost; the whole batch counts as spent
        #[arg(long)]
        lost: bool,
    },
    /// List replies that an earlier version used though they were cut at max_tokens or refused
    Cut {
        /// Stop using them; they are requested again when they are needed, and what people voted on changes with them
        #[arg(long)]
        forget: bool,
    },
    /// Stop using a stored reply; the request is sent again when it is needed, and the reply stays in raw/ with a note
    Forget {
        /// The reply's key as printed by `explain` and `replies export`, or the beginning of it
        #[arg(value_name = "KEY")]
        key: String,
        /// The reason; it is stored with the note
        #[arg(long, value_name = "WORDS")]
        why: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum PromptsVerb {
    /// List all prompts with their hashes
    List,
    /// Print the prompt that is used
    Show {
        /// As in `prompts list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::prompts))]
        name: String,
    },
    /// Show the changes of the workspace's prompts/ from the built-in prompts
    Diff {
        /// As in `prompts list`; default: all that differ
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::prompts))]
        name: Option<String>,
    },
}
