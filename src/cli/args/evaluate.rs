//! The arguments of `evaluate`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

#[derive(Args)]
pub(in crate::cli) struct Evaluate {
    /// A release's folder, RECIPE, RECIPE@VERSION, or a published file; several for figures across them
    #[arg(value_name = "SET", required = true, add = ArgValueCandidates::new(complete::sets))]
    pub sets: Vec<String>,
    /// An [llm.NAME] that is asked, or random or first-option; may be given several times
    #[arg(long = "model", value_name = "NAME", add = ArgValueCandidates::new(complete::endpoints))]
    pub models: Vec<String>,
    /// An [llm.NAME] that judges what is no choice; left out, [judge] endpoints
    #[arg(long = "judge", value_name = "NAME", add = ArgValueCandidates::new(complete::endpoints))]
    pub judges: Vec<String>,
    /// Only this task: answer, answer-normal, good-first, bad-first, select, classify, explain, explain-joke, solve, solve-open (puzzles answered freely; only where it is named)
    #[arg(long = "task", value_name = "TASK")]
    pub tasks: Vec<crate::evaluate::Task>,
    /// FLUB and BrainTeaser: solved examples before the text, drawn for each by the seed
    #[arg(long, value_name = "N,N…", value_delimiter = ',', default_value = "0", value_parser = clap::value_parser!(u8).range(0..=20))]
    pub shots: Vec<u8>,
    /// FLUB: with chain of thought, too
    #[arg(long)]
    pub cot: bool,
    /// Only so many items, drawn by the seed; puzzles by whole groups
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Outputs made elsewhere: JSON Lines, lm_eval's samples_*.jsonl, inspect_ai's logs in JSON, what the scripts of the papers' authors write; a folder's files
    #[arg(long, value_name = "[MODEL=]FILE", num_args = 1..)]
    pub outputs: Vec<String>,
    /// Ballots that people filled in
    #[arg(long, value_name = "[NAME=]FILE", num_args = 1..)]
    pub ballots: Vec<String>,
    /// Write blank ballots here, for these items and answers
    #[arg(long, value_name = "FOLDER")]
    pub write_ballots: Option<PathBuf>,
    /// Send nothing over the network; what is missing is said
    #[arg(long)]
    pub offline: bool,
    /// Dollars that this call may spend at most
    #[arg(long, value_name = "USD", value_parser = super::dollars)]
    pub max_usd: Option<f64>,
    /// Pay without asking, where no cap is set
    #[arg(long)]
    pub yes: bool,
    /// Say what would be asked and what it would cost, and ask nothing
    #[arg(long)]
    pub dry_run: bool,
    /// What draws, intervals and the random model depend on
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Resamples behind each interval
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub resamples: usize,
    /// The results folder; left out, output/RECIPE/evaluation/VERSION
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}
