//! Arguments of `benchmark`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

pub(crate) const HELP: &str = "\
A benchmark is a folder: steps, fields, published files (benchmark.toml), what people are asked (ballots.toml), what models
are asked (prompts/*.jinja). Those in the workspace's benchmarks/ are added to the built-in ones, or replace their
namesakes:
  riddlemill init --benchmark flub      copies one out, to be changed
  riddlemill benchmark check            every problem at once, with file, line and column
  riddlemill benchmark try my-own --post \"What has keys and opens no door?\" --answer \"A piano.\"
  riddlemill benchmark try my-own --post \"What has keys?\" --replies replies.jsonl --votes votes.jsonl";

#[derive(Subcommand)]
pub(crate) enum BenchmarkVerb {
    /// List all benchmarks, built in or of this workspace
    List,
    /// Show a benchmark's steps with their inputs, what models and people are asked, columns, and published
    /// files
    Show {
        /// As in `benchmark list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
        name: String,
    },
    /// Report every problem of the folders in benchmarks/
    Check {
        /// As in `benchmark list`; default: all
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Show the prompt and ballot of each step for one post, without asking anybody
    Try {
        /// As in `benchmark list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
        name: String,
        #[command(flatten)]
        asked: TryPost,
    },
    /// Write a folder of the first edition in the second: shorter, with the same meaning; prompts are copied
    Convert {
        /// The folder, as benchmarks/my-own
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// A folder that is not there yet
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

/// The post of `benchmark try`, and what stands in for models and people.
#[derive(Args)]
pub(crate) struct TryPost {
    /// The post, or a riddle's question
    #[arg(long, value_name = "TEXT")]
    pub post: String,
    /// A riddle's answer
    #[arg(long, value_name = "TEXT")]
    pub answer: Option<String>,
    /// A further column of the source's table, as named in its `columns`; may be given several times
    #[arg(long, value_name = "NAME=TEXT")]
    pub column: Vec<String>,
    /// Example replies, a pack in JSON Lines: every later prompt, ballot, option and row is shown with them
    #[arg(long, value_name = "FILE")]
    pub replies: Option<PathBuf>,
    /// Example votes, lines as `review export --format jsonl` writes them, of which `step`, `annotator` and `answers` are enough
    #[arg(long, value_name = "FILE")]
    pub votes: Option<PathBuf>,
    /// What the example replies and votes call the post
    #[arg(long, value_name = "SITE:NUMBER", default_value = "tried:1")]
    pub id: String,
}
