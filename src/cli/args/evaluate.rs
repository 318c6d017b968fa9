//! The arguments of `evaluate`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

pub(crate) const HELP: &str = "\
Models are the workspace's [llm.NAME] tables, and random and first-option, which need none. What is stored is \
not asked again: a second call asks nothing, and computes every table anew from the replies. After a Ctrl-C, a cap or a \
failure (exit code 3) the same call asks for what is missing alone. Models and tasks are a matrix: one call, one estimate (--dry-run).

  riddlemill evaluate brainteaser --model random --model first-option
  riddlemill evaluate ruozhibench-gen ruozhibench-mc@1.0.0 --model mine --judge my-judge --max-usd 5
  riddlemill evaluate flub --model mine --judge my-judge --shots 0,1,2,5 --cot
  riddlemill evaluate chumor --outputs answers.jsonl --judge my-judge --write-ballots ballots/
  riddlemill evaluate flub chumor --model 'qwen-*,mine' --limit 200 --strata type --dry-run
  riddlemill evaluate my-set@1.0.0 --split test --model mine --shots 2
  riddlemill evaluate flub@1.0.0 --join ../theirs/output/flub/evaluation/1.0.0
  riddlemill evaluate flub@1.0.0 --join before=old/evaluation after=new/evaluation
  riddlemill evaluate output/flub/1.0.0 --outputs my-model=samples_flub_2026.jsonl";

#[derive(Args)]
pub(crate) struct Evaluate {
    /// A release's folder, RECIPE, RECIPE@VERSION, or a published file; several for figures across sets
    #[arg(value_name = "SET", required = true, add = ArgValueCandidates::new(complete::sets))]
    pub sets: Vec<String>,
    /// Models to evaluate: [llm.NAME]s, random, first-option; a list a,b or a pattern such as 'qwen-*' too; may be given
    /// several times
    #[arg(long = "model", value_name = "NAME,NAME…", value_delimiter = ',', add = ArgValueCandidates::new(complete::endpoints))]
    pub models: Vec<String>,
    /// [llm.NAME]s that judge answers in free text, in the same form; default: the [judge] endpoints
    #[arg(long = "judge", value_name = "NAME,NAME…", value_delimiter = ',', add = ArgValueCandidates::new(complete::endpoints))]
    pub judges: Vec<String>,
    /// Only these tasks: answer, answer-normal, good-first, bad-first, select, classify, explain, explain-joke,
    /// solve, solve-open (puzzles answered in free text; only if it is named), or those of the workspace's own benchmarks
    // A name until the workspace is read, which may declare it.
    #[arg(long = "task", value_name = "TASK,TASK…", value_delimiter = ',')]
    pub tasks: Vec<String>,
    /// FLUB and BrainTeaser: solved examples before the text, drawn for each item by the seed
    #[arg(long, value_name = "N,N…", value_delimiter = ',', default_value = "0", value_parser = clap::value_parser!(u8).range(0..=20))]
    pub shots: Vec<u8>,
    /// FLUB: also with chain of thought
    #[arg(long)]
    pub cot: bool,
    /// Only the rows of this split; solved examples are drawn from the set's few-shot split, if it has one
    #[arg(long, value_name = "NAME")]
    pub split: Option<String>,
    /// At most this many items, drawn by the seed; puzzles in whole groups
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// With --limit: draw each value of this column in proportion; `parts` for the parts that the benchmark declares
    #[arg(long, value_name = "COLUMN", requires = "limit")]
    pub strata: Option<String>,
    /// Join the results of other evaluations of the same rows, also of other workspaces: their folders; NAME= goes before
    /// the names of their models, to compare two runs of one model
    #[arg(long, value_name = "[NAME=]FOLDER", num_args = 1..)]
    pub join: Vec<String>,
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
    /// Also write every table as LaTeX and CSV, and every chart as SVG and CSV, into this folder
    #[arg(long, value_name = "FOLDER")]
    pub figures: Option<PathBuf>,
    /// The results folder; default: output/RECIPE/evaluation/VERSION
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}
