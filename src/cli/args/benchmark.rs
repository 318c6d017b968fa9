//! Arguments of `benchmark`.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

pub(in crate::cli) const HELP: &str = "\
A benchmark is a folder: steps, fields, published files (benchmark.toml), what people are asked (ballots.toml), what models
are asked (prompts/*.jinja). Those in the workspace's benchmarks/ are added to the built-in ones, or replace their
namesakes:
  riddlemill init --benchmark flub      copies one out, to be changed
  riddlemill benchmark check            every problem at once, with file, line and column
  riddlemill benchmark try my-own --post \"What has keys and opens no door?\" --answer \"A piano.\"";

#[derive(Subcommand)]
pub(in crate::cli) enum BenchmarkVerb {
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
        /// The post, or a riddle's question
        #[arg(long, value_name = "TEXT")]
        post: String,
        /// A riddle's answer
        #[arg(long, value_name = "TEXT")]
        answer: Option<String>,
        /// A further column of the source's table, as named in its `columns`; may be given several times
        #[arg(long, value_name = "NAME=TEXT")]
        column: Vec<String>,
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
