//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::ArgValueCandidates;

use super::complete;

mod apply;
mod benchmark;
pub(super) mod decide;
mod evaluate;
mod llm;
mod prices;
mod raw;
mod release;
mod review;
mod serve;
mod trust;

pub(super) use apply::{Apply, ApplyStage, Assemble};
pub(super) use benchmark::{BenchmarkVerb, TryPost};
pub(super) use decide::{DecideArgs, DecideVerb, Edit, OfPair, OfRecord};
pub(super) use evaluate::Evaluate;
pub(super) use llm::{EndpointVerb, PromptsVerb, RepliesVerb, TryEndpoint};
pub(super) use prices::PricesVerb;
pub(super) use raw::{Crawl, Fsck, ProfilesVerb, RawVerb};
pub(super) use release::{
    Compare, Contamination, Diff, Export, ExportForm, Outlet, Publish, PublishedArgs, Release, ReleaseVerb,
    Site, Verify, Withdraw, Yank,
};
pub(super) use review::{FormatArg, ReviewArgs, ReviewVerb, RoundArg, SetAsideArgs, SomePlace};
pub(super) use serve::{AccessVerb, RankArg, Serve};
pub(super) use trust::TrustVerb;

/// Rebuild RuozhiBench, FLUB, Chumor and BrainTeaser from raw forum dumps, and tell why any post was kept or left out.
#[derive(Parser)]
#[command(name = "riddlemill", version, propagate_version = true, max_term_width = 100, help_template = super::verbs::TEMPLATE, after_help = super::exit::HELP)]
pub(super) struct Cli {
    #[command(flatten, next_help_heading = "Options of every verb")]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Verb,
}

// No doc comment: clap would print it as the description of the program.
#[derive(Args)]
pub(super) struct Global {
    /// The workspace: the folder that holds pipeline.toml
    #[arg(short = 'C', long, global = true, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// Override a setting for this call, as in --set dedup.threshold=0.85
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = split, add = ArgValueCandidates::new(complete::settings))]
    pub set: Vec<(String, String)>,
    /// Agree, for this call, that the workspace uses this host, place or command; `riddlemill trust` says more
    #[arg(long, global = true, value_name = "WORD")]
    pub trust: Vec<String>,
    /// Print JSON for machines
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more details
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

fn split(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().into(), value.trim().into()))
}

/// An amount of money that can be a cap.
fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars >= 0.0 => Ok(dollars),
        _ => Err("expected a number of at least 0".into()),
    }
}

#[derive(Subcommand)]
pub(super) enum Verb {
    /// Create a workspace: a commented pipeline.toml, raw/ and the sample
    Init(Init),
    /// Print every setting and where its value comes from, or explain a table of settings
    Config(Config),
    /// Download the dumps of sources with a url, and pin their hashes in pipeline.lock
    Fetch(Fetch),
    /// Run every stage that is out of date, then build the candidates
    Run(Run),
    /// Show which stages are out of date and why, what waits for whom, and the next command
    Status(RecipeArgs),
    /// Show the history of a post, and why it was kept or left out
    #[command(
        after_help = "A post is named by its id (tieba:8370518555), by its place in a dump (SOURCE:LINE or SOURCE/FILE:LINE), or by its text."
    )]
    Explain(Explain),
    /// Show the records of a stage, or pairs just below the threshold
    #[command(after_help = SHOW_HELP)]
    Show(Show),
    /// Prove from the files alone that every record is accounted for
    Audit(RecipeArgs),
    /// Report on the rows of a published set: which are equal, which are irregular, what stages would have done, which posts they come from
    Published(PublishedArgs),
    /// Check that every file of raw/ is what was written; exit code 1 if not
    Fsck(Fsck),
    /// Work with raw/: merge in votes, replies and archives of another workspace
    #[command(subcommand)]
    Raw(RawVerb),
    /// Print the funnel: records by stage, state and reason
    Report(Report),
    /// Fetch a [[crawl]] source into raw/warc: obeys robots.txt, one request per host at a time, continues where it stopped
    Crawl(Crawl),
    /// Profiles, which describe how a site's pages are parsed: list, show, copy, check
    Profiles {
        /// What to do
        #[command(subcommand)]
        verb: ProfilesVerb,
    },
    /// Apply one stage to JSON Lines on stdin, row by row
    #[command(after_help = apply::HELP)]
    Apply(Box<Apply>),
    /// Write a stage into staged/ from the ledger records that other machines made
    Assemble(Assemble),
    /// Ballots and votes: export, import, assignment, progress, disputes
    Review {
        /// What to do
        #[command(subcommand)]
        verb: ReviewVerb,
    },
    /// Overrule rules, drafts and votes for a record or a pair; list, undo, tables
    #[command(after_help = decide::HELP)]
    Decide {
        /// What to decide
        #[command(subcommand)]
        verb: DecideVerb,
    },
    /// Serve the workspace as web pages, by default only to this machine
    #[command(after_help = serve::HELP)]
    Serve(Serve),
    /// Tokens for the web pages: who may open which pages
    Access {
        /// What to do
        #[command(subcommand)]
        verb: AccessVerb,
    },
    /// What this machine's user allowed the workspace to do beyond its own folder: list, add, withdraw
    #[command(after_help = trust::HELP)]
    Trust {
        /// What to do
        #[command(subcommand)]
        verb: Option<TrustVerb>,
    },
    /// Estimate the requests of the drafts and their cost, without sending anything
    Estimate(Estimate),
    /// Check an endpoint of a model: `endpoint try` sends one request
    Endpoint {
        /// What to do
        #[command(subcommand)]
        verb: EndpointVerb,
    },
    /// Prices of models, from litellm's public list: import, list
    Prices {
        /// What to do
        #[command(subcommand)]
        verb: PricesVerb,
    },
    /// The store of models' replies
    Replies {
        /// What to do
        #[command(subcommand)]
        verb: RepliesVerb,
    },
    /// Benchmarks, built in or in the workspace's benchmarks/: list, show, check, try, convert
    #[command(after_help = benchmark::HELP)]
    Benchmark {
        /// What to do
        #[command(subcommand)]
        verb: BenchmarkVerb,
    },
    /// The prompts that are sent to models
    Prompts {
        /// What to do
        #[command(subcommand)]
        verb: PromptsVerb,
    },
    /// Release a recipe's candidate as output/<recipe>/<version>; `yank` marks a version as not to be used
    #[command(
        disable_version_flag = true,
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true
    )]
    Release(Release),
    /// Withdraw a post or a dump: it is removed from all stages and later releases, and its text is no longer shown
    #[command(
        after_help = "A tombstone with the date and the reason is added to raw/. The bytes in raw/dumps are yours to delete; raw/seen (what annotators saw) and released versions (raw/releases, output) keep theirs."
    )]
    Withdraw(Withdraw),
    /// Verify the folder of a release or candidate from its own files
    Verify(Verify),
    /// Publish a release on the Hugging Face Hub, or as one archive with metadata for Zenodo
    #[command(after_help = release::HELP)]
    Publish(Publish),
    /// Write a release as static pages that anybody can audit: rows, their ways, votes as counts, what was left out
    #[command(after_help = release::SITE_HELP)]
    Site(Site),
    /// Show the differences between two releases, candidates or stage folders
    Diff(Diff),
    /// Compare a set with a published one: which items are found, how labels agree, where the missing ones were lost
    Compare(Compare),
    /// Find the rows of a set that published sets or other releases have too: the join of dedup, between two sets
    #[command(after_help = release::CONTAMINATION_HELP)]
    Contamination(Contamination),
    /// Evaluate models on a set, with the papers' tables as the result
    #[command(after_help = evaluate::HELP)]
    Evaluate(Box<Evaluate>),
    /// Write rows for Label Studio, Argilla or a spreadsheet
    Export(Export),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Write the manual pages
    Man(ManualArgs),
}

#[derive(Args)]
pub(super) struct Init {
    /// The folder to create it in, or a workspace that is there; and files of posts or pages, for which sources are proposed
    #[arg(value_name = "DIR or FILE")]
    pub places: Vec<PathBuf>,
    /// Leave out the sample dumps
    #[arg(long)]
    pub empty: bool,
    /// Copy the files into raw/dumps and write their sources into pipeline.toml
    #[arg(long, conflicts_with = "benchmark")]
    pub write: bool,
    /// Copy a built-in benchmark's folder into benchmarks/ of the workspace, to change it
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub benchmark: Option<String>,
}

#[derive(Args)]
pub(super) struct Config {
    /// Explain a table key by key (draft, llm, annotator …), or one key (draft.optional); without a value, list the tables
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "", add = ArgValueCandidates::new(complete::topics))]
    pub explain: Option<String>,
    /// Print the JSON Schema of pipeline.toml, with which editors complete and check it; a first line `#:schema
    /// ./pipeline.schema.json` names the file to them. `--schema=FILE` prints that of another file that people write
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "pipeline", conflicts_with = "explain")]
    pub schema: Option<WrittenFile>,
}

/// A file that people write in TOML.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum WrittenFile {
    /// pipeline.toml
    Pipeline,
    /// benchmark.toml of a benchmark's folder
    Benchmark,
    /// ballots.toml of a benchmark's folder
    Ballots,
    /// report.toml of a benchmark's folder
    Report,
    /// The profile of a site, profiles/NAME.toml
    Profile,
}

#[derive(Args)]
pub(super) struct Fetch {
    /// Only these sources
    #[arg(value_name = "SOURCE", add = ArgValueCandidates::new(complete::sources))]
    pub sources: Vec<String>,
    /// Also check files that were downloaded before, and replace those that changed
    #[arg(long)]
    pub update: bool,
}

#[derive(Args, Default)]
pub(super) struct RecipeArgs {
    /// Only this recipe; may be given several times
    #[arg(long = "recipe", value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipes: Vec<String>,
}

#[derive(Args)]
pub(super) struct Estimate {
    #[command(flatten)]
    pub only: RecipeArgs,
    /// What the drafts would cost with this model of the imported prices, whatever pipeline.toml asks; may be given several times
    #[arg(long = "model", value_name = "NAME")]
    pub models: Vec<String>,
}

#[derive(Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub only: RecipeArgs,
    /// Start at this stage and use the stages before it as they are
    #[arg(long, value_name = "STAGE", add = ArgValueCandidates::new(complete::stages))]
    pub from: Option<String>,
    /// Stop after this stage
    #[arg(long, value_name = "STAGE", add = ArgValueCandidates::new(complete::stages))]
    pub to: Option<String>,
    /// Run only this stage
    #[arg(long = "only", value_name = "STAGE", conflicts_with_all = ["from", "to"], add = ArgValueCandidates::new(complete::stages))]
    pub stage: Option<String>,
    /// Run the stages even if they are fresh
    #[arg(long)]
    pub force: bool,
    /// Only print what would be run
    #[arg(long)]
    pub dry_run: bool,
    /// Send nothing over the network; records without a stored reply wait
    #[arg(long)]
    pub offline: bool,
    /// Use drafts where people have not voted yet, to the end of the recipe: the candidate is provisional
    #[arg(long)]
    pub preview: bool,
    /// Send requests again whose reply was refused, empty or unreadable; unreadable replies stay in raw/, with a note
    #[arg(long, conflicts_with = "offline")]
    pub retry_failed: bool,
    /// Continue without replies that are damaged or missing, and send those requests again
    #[arg(long)]
    pub accept_lost_replies: bool,
    /// Do not ask before spending money, even if no cap is set
    #[arg(long)]
    pub yes: bool,
    /// Number of threads; 0 means one per core
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

#[derive(Args)]
pub(super) struct Explain {
    /// The id of a post or a released row, SOURCE:LINE, or a piece of text
    #[arg(value_name = "POST", required = true)]
    pub target: String,
    #[command(flatten)]
    pub only: RecipeArgs,
    /// Show whole texts, and every prompt and reply
    #[arg(long)]
    pub full: bool,
}

const SHOW_HELP: &str = "\
A sample of one size and seed is always the same records. Examples:
  riddlemill show filter --outcome dropped --reason management --sample 20
  riddlemill show import --grep '恐龙|霸王龙'
  riddlemill show dedup --borderline";

#[derive(Args)]
pub(super) struct Show {
    /// The stage, as in the recipe: import, clean, dedup …
    #[arg(value_name = "STAGE", add = ArgValueCandidates::new(complete::stages))]
    pub stage: String,
    #[command(flatten)]
    pub only: RecipeArgs,
    /// Only records that left in this state: kept, changed, dropped, merged, held, failed …
    #[arg(long, value_name = "STATE", conflicts_with = "borderline", add = ArgValueCandidates::new(complete::states))]
    pub outcome: Option<String>,
    /// Only records with this reason or rule, by its code
    #[arg(long, value_name = "CODE", conflicts_with = "borderline", add = ArgValueCandidates::new(complete::reasons))]
    pub reason: Option<String>,
    /// Show a random sample of N
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// The seed of the sample
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Only records whose text or evidence matches this regular expression
    #[arg(long, value_name = "RE")]
    pub grep: Option<String>,
    /// Only records that resemble this text, most similar first
    #[arg(long, value_name = "TEXT")]
    pub like: Option<String>,
    /// Show pairs just below the threshold, side by side
    #[arg(long)]
    pub borderline: bool,
    /// Show at most N; 0 means all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
}

#[derive(Args)]
pub(super) struct Report {
    #[command(flatten)]
    pub only: RecipeArgs,
    /// Show N example records under each rule and reason
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub examples: usize,
    /// Write a self-contained page: funnel, reasons, lengths, similarity scores, thresholds
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write every table as LaTeX and CSV, and every chart as SVG and CSV, into this folder
    #[arg(long, value_name = "FOLDER")]
    pub figures: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub(super) struct ManualArgs {
    /// The folder to write to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Write the reference instead, as Markdown: settings, commands, outcomes, records, benchmarks, addresses
    #[arg(long)]
    pub reference: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::verbs::TEMPLATE;
    use super::Cli;

    #[test]
    fn every_verb_has_one_line_and_each_line_a_verb() {
        let cli = Cli::command();
        let verbs: Vec<&str> = cli.get_subcommands().map(|verb| verb.get_name()).chain(["help"]).collect();
        let line = |line: &str| line.strip_prefix("  ")?.split_whitespace().next().map(str::to_owned);
        let mut listed: Vec<String> = TEMPLATE.lines().filter_map(line).collect();
        listed.sort_unstable();
        let mut verbs: Vec<String> = verbs.into_iter().map(str::to_owned).collect();
        verbs.sort_unstable();
        assert_eq!(listed, verbs);
        assert!(TEMPLATE.lines().all(|line| line.chars().count() <= 80), "it fits a terminal");
    }
}
