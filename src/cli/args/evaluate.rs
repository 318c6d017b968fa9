//! The arguments of `evaluate`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

#[derive(Args)]
pub(in crate::cli) struct Evaluate {
    /// A release's folder, RECIPE, RECIPE@VERSION, or a published file; several for figures across sets
    #[arg(value_name = "SET", required = true, add = ArgValueCandidates::new(complete::sets))]
    pub sets: Vec<String>,
    /// A model to evaluate: an [llm.NAME], random or first-option; may be given several times
    #[arg(long = "model", value_name = "NAME", add = ArgValueCandidates::new(complete::endpoints))]
    pub models: Vec<String>,
    /// An [llm.NAME] that judges answers in free text; default: the [judge] endpoints
    #[arg(long = "judge", value_name = "NAME", add = ArgValueCandidates::new(complete::endpoints))]
    pub judges: Vec<String>,
    /// Only this task: answer, answer-normal, good-first, bad-first, select, classify, explain, explain-joke,
    /// solve, solve-open (puzzles answered in free text; only if it is named)
    #[arg(long = "task", value_name = "TASK")]
    pub tasks: Vec<crate::evaluate::Task>,
    /// FLUB and BrainTeaser: solved examples before the text, drawn for each item by the seed
    #[arg(long, value_name = "N,N…", value_delimiter = ',', default_value = "0", value_parser = clap::value_parser!(u8).range(0..=20))]
    pub shots: Vec<u8>,
    /// FLUB: also with chain of thought
    #[arg(long)]
    pub cot: bool,
    /// At most this many items, drawn by the seed; puzzles in whole groups
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Import outputs made elsewhere: JSON Lines, lm_eval's samples_*.jsonl, inspect_ai's logs in JSON,
    /// outputs of the paper authors' scripts; or a folder of such files
    #[arg(long, value_name = "[MODEL=]FILE", num_args = 1..)]
    pub outputs: Vec<String>,
    /// Ballots filled in by people
    #[arg(long, value_name = "[NAME=]FILE", num_args = 1..)]
    pub ballots: Vec<String>,
    /// Write blank ballots here, for these items and answers
    #[arg(long, value_name = "FOLDER")]
    pub write_ballots: Option<PathBuf>,
    /// Send nothing over the network; missing answers are reported
    #[arg(long)]
    pub offline: bool,
    /// The most dollars that this command may spend
    #[arg(long, value_name = "USD", value_parser = super::dollars)]
    pub max_usd: Option<f64>,
    /// Do not ask before spending money, even if no cap is set
    #[arg(long)]
    pub yes: bool,
    /// Only print the requests and their cost, without sending anything
    #[arg(long)]
    pub dry_run: bool,
    /// The seed of draws, intervals and the random model
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The number of resamples for each interval
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub resamples: usize,
    /// The results folder; default: output/RECIPE/evaluation/VERSION
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}
