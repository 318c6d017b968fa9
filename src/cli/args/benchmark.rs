//! Arguments of `benchmark`.

use clap::Subcommand;
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

pub(in crate::cli) const HELP: &str = "\
A benchmark is a folder: steps, fields, published files (benchmark.toml), what people are asked (ballots.toml), what models
are asked (prompts/*.jinja). Those in the workspace's benchmarks/ stand beside the built-in ones, or in the place of their
namesakes:
  riddlemill init --benchmark flub      copies one out, to be changed
  riddlemill benchmark check            every problem at once, with file, line and column
  riddlemill benchmark try my-own --post \"What has keys and opens no door?\" --answer \"A piano.\"";

#[derive(Subcommand)]
pub(in crate::cli) enum BenchmarkVerb {
    /// Every benchmark, built in or of this workspace
    List,
    /// What it is made of: steps, what they read, what models and people are asked, columns, published files
    Show {
        /// As in `benchmark list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
        name: String,
    },
    /// Every problem of the folders in benchmarks/
    Check {
        /// As in `benchmark list`; all, if left out
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// What each prompt and ballot would look like for one post, without asking anybody
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
        /// A further column of its table, as `columns` of the source names it; as often as there are columns
        #[arg(long, value_name = "NAME=TEXT")]
        column: Vec<String>,
    },
}
