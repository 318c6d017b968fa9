//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::access::AccessVerb;
use super::serve::Serve;
use crate::stages::parted::Share;

mod evaluate;
mod review;

pub(super) use evaluate::Evaluate;
pub(super) use review::{FormatArg, Place, ReviewVerb, RoundArg};

/// Rebuild RuozhiBench, FLUB, Chumor and BrainTeaser from raw forum dumps, and know why a post is in or out.
#[derive(Parser)]
#[command(name = "riddlemill", version, propagate_version = true, max_term_width = 100, after_help = super::exit::HELP)]
pub(super) struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Flags of every verb.
#[derive(Args)]
pub(super) struct Global {
    /// The workspace: the folder that holds pipeline.toml
    #[arg(short = 'C', long, global = true, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// Set a setting for this call, as in --set dedup.threshold=0.85
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = split)]
    pub set: Vec<(String, String)>,
    /// Print JSON for machines
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

fn split(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().into(), value.trim().into()))
}

#[derive(Subcommand)]
pub(super) enum Verb {
    /// Lay out a workspace: a commented pipeline.toml, raw/ and the sample
    Init(Init),
    /// Print every setting and where its value came from
    Config,
    /// Download the dumps that sources name by url, and pin them in pipeline.lock
    Fetch(Fetch),
    /// Make every stage that is not fresh, then the candidates
    Run(Run),
    /// Say which stages are fresh, which are not, and why
    Status(Only),
    /// Tell a post's whole way, and why it is in or out
    #[command(
        after_help = "A post is named by its id (tieba:8370518555), by its place in a dump (SOURCE:LINE or SOURCE/FILE:LINE), or by its text."
    )]
    Explain(Explain),
    /// Show the records of a stage, and the pairs that were nearly one
    #[command(after_help = super::show::HELP)]
    Show(Show),
    /// Prove from the files alone that every record is accounted for
    Audit(Only),
    /// Print the funnel: records by stage, state and reason
    Report(Report),
    /// Fetch a [[crawl]] source into raw/warc: robots.txt obeyed, one request a host, resumed where it stopped
    Crawl(Crawl),
    /// Apply one stage's decision to JSON Lines on stdin, row for row
    #[command(after_help = super::apply::HELP)]
    Apply(Apply),
    /// Write a stage into staged/ from the books that other machines made of it
    Assemble(Assemble),
    /// Ballots out, votes in, who votes, how far they are, disputes
    Review {
        /// What to do
        #[command(subcommand)]
        verb: ReviewVerb,
    },
    /// Open the workspace as pages in a browser, on this machine alone
    #[command(after_help = super::serve::HELP)]
    Serve(Serve),
    /// Tokens for the pages: who may open what
    Access {
        /// What to do
        #[command(subcommand)]
        verb: AccessVerb,
    },
    /// Say what the drafts would ask and cost, before anything is sent
    Estimate(Only),
    /// The store of what models answered
    Replies {
        /// What to do
        #[command(subcommand)]
        verb: RepliesVerb,
    },
    /// What is sent to models
    Prompts {
        /// What to do
        #[command(subcommand)]
        verb: PromptsVerb,
    },
    /// Allot a version to a recipe's candidate and write output/<recipe>/<version>
    #[command(disable_version_flag = true)]
    Release(Release),
    /// Prove a release's or candidate's folder from its own files
    Verify(Verify),
    /// Say what is otherwise in one release, candidate or stage folder than in another
    Diff(Diff),
    /// Hold a set against a published one: what is found, how labels agree, what was lost where
    Compare(Compare),
    /// Put a set to models, and make the papers' tables of what they answer
    #[command(after_help = super::evaluate::HELP)]
    Evaluate(Box<Evaluate>),
    /// Write rows for Label Studio, Argilla or a spreadsheet
    Export(Export),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
}

#[derive(Args)]
pub(super) struct Init {
    /// The folder to lay it out in
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Leave out the sample dumps
    #[arg(long)]
    pub empty: bool,
}

#[derive(Args)]
pub(super) struct Fetch {
    /// Only these sources
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// Ask the server for files that are there, too, and take what changed
    #[arg(long)]
    pub update: bool,
}

#[derive(Args, Default)]
pub(super) struct Only {
    /// Only this recipe; may be given several times
    #[arg(long = "recipe", value_name = "NAME")]
    pub recipes: Vec<String>,
}

#[derive(Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub only: Only,
    /// Start at this stage and use those before it as they are
    #[arg(long, value_name = "STAGE")]
    pub from: Option<String>,
    /// Stop after this stage
    #[arg(long, value_name = "STAGE")]
    pub to: Option<String>,
    /// Make this stage alone
    #[arg(long = "only", value_name = "STAGE", conflicts_with_all = ["from", "to"])]
    pub stage: Option<String>,
    /// Make the stages even where they are fresh
    #[arg(long)]
    pub force: bool,
    /// Say what would be made, and make nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Send nothing over the network; what is missing waits
    #[arg(long)]
    pub offline: bool,
    /// Threads; 0 means one a core
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

#[derive(Args)]
pub(super) struct Explain {
    /// An id, of a post or of a released row, SOURCE:LINE, or a text
    #[arg(value_name = "POST", required = true)]
    pub target: String,
    #[command(flatten)]
    pub only: Only,
}

#[derive(Args)]
pub(super) struct Show {
    /// The stage, as in the recipe: import, clean, dedup …
    #[arg(value_name = "STAGE")]
    pub stage: String,
    #[command(flatten)]
    pub only: Only,
    /// Only records that left in this state: kept, changed, dropped, merged, held, failed …
    #[arg(long, value_name = "STATE", conflicts_with = "borderline")]
    pub outcome: Option<String>,
    /// Only records with this reason or rule, by its code
    #[arg(long, value_name = "CODE", conflicts_with = "borderline")]
    pub reason: Option<String>,
    /// So many of them, drawn by --seed
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// What the draw depends on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Only records whose text or evidence matches this regular expression
    #[arg(long, value_name = "RE")]
    pub grep: Option<String>,
    /// Only records that resemble this text, the likest first
    #[arg(long, value_name = "TEXT")]
    pub like: Option<String>,
    /// Pairs that were near but kept apart, side by side
    #[arg(long)]
    pub borderline: bool,
    /// At most so many; 0 means all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
}

#[derive(Args)]
pub(super) struct Report {
    #[command(flatten)]
    pub only: Only,
    /// Under each rule and reason, so many records of it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub examples: usize,
    /// Write a page that needs no network: funnel, reasons, lengths, likeness, thresholds
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Apply {
    /// What to apply
    #[arg(value_enum)]
    pub stage: ApplyStage,
    /// import: the dump; stdin, if left out
    #[arg(value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Use this recipe's settings
    #[arg(long, value_name = "NAME")]
    pub recipe: Option<String>,
    /// clean, anonymise, filter: posts in, or books of the stage before; books out, one line a record
    #[arg(long)]
    pub books: bool,
    /// import: the dump's format, as in a [[source]] of pipeline.toml
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// import: the [[source]] whose settings and name the dump has
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// import: the file's name in the books
    #[arg(long, value_name = "NAME")]
    pub file: Option<String>,
    /// import: the file is one of several: leave records of one id to `apply settle`
    #[arg(long)]
    pub unsettled: bool,
    /// import: list the recipe's dumps in the order of import, and read none
    #[arg(long, requires = "recipe")]
    pub list: bool,
    /// dedup-keys: what dedup-stats counted; without it, the key of rows that compare alike with every row
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// dedup-keys: with each key the row's text, so that dedup-verify can compare
    #[arg(long)]
    pub texts: bool,
    /// dedup-keys: only the keys of one share of all, as 1/16 to 16/16: the pairs of all shares are the pairs
    #[arg(long, value_name = "N/M")]
    pub share: Option<Share>,
    /// dedup --on-disk: MiB that the join may take, beside some 200 bytes for each row (2048 if left out);
    /// dedup-resolve: MiB of pairs that are sorted at once (256)
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..1 << 20))]
    pub memory: Option<u64>,
    /// dedup: write every pair at or over the threshold here, as JSON Lines a, b, score
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// dedup: how likeness is measured
    #[arg(long, value_name = "METRIC", value_parser = ["default", "indel", "levenshtein", "jaccard"])]
    pub metric: Option<String>,
    /// dedup: from here on two rows are one, 0 to 1
    #[arg(long, value_name = "T")]
    pub threshold: Option<f64>,
    /// dedup: compare as written, or without regard to width, case, script, punctuation and spaces
    #[arg(long, value_name = "HOW", value_parser = ["none", "default"])]
    pub normalize: Option<String>,
    /// dedup: name the row of this JSON Lines file (id, text) that each row resembles
    #[arg(long, value_name = "FILE", conflicts_with = "on_disk")]
    pub against: Option<PathBuf>,
    /// dedup: hold rows and index in a temporary folder in this one, not in memory
    #[arg(long, value_name = "FOLDER")]
    pub on_disk: Option<PathBuf>,
}

impl Apply {
    /// Bytes of `--memory`, or of so many MiB.
    pub fn memory(&self, or: u64) -> usize {
        usize::try_from(self.memory.unwrap_or(or) << 20).unwrap_or(usize::MAX)
    }
}

#[derive(Args)]
pub(super) struct Assemble {
    /// The stage: import, clean, anonymise, filter or dedup
    #[arg(value_name = "STAGE")]
    pub stage: String,
    /// The recipe
    #[arg(long, value_name = "NAME")]
    pub recipe: String,
    /// dedup: pairs of dedup-verify that are the same or borderline, sorted by into and from
    #[arg(long, value_name = "PATH")]
    pub pairs: Vec<PathBuf>,
    /// Books in order, or folders whose part- files hold them; gzip and zstd are seen
    #[arg(value_name = "PATH", required = true)]
    pub books: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ApplyStage {
    Clean,
    Anonymise,
    Filter,
    Interrogative,
    Dedup,
    Similarity,
    Import,
    Settle,
    DedupStats,
    DedupKeys,
    DedupVerify,
    DedupResolve,
    DedupBook,
}

#[derive(Subcommand)]
pub(super) enum RepliesVerb {
    /// Replies, tokens and money by model and prompt
    Stats,
    /// Write all replies as JSON Lines, to stdout or a file
    Export {
        /// The file
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Take exported replies in; each is checked against its key
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Check every line of every segment
    Verify,
}

#[derive(Subcommand)]
pub(super) enum PromptsVerb {
    /// Every prompt with its hash
    List,
    /// Print the prompt in force
    Show {
        /// As in `prompts list`
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// What the workspace's prompts/ changes
    Diff {
        /// As in `prompts list`; all that differ, if left out
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}

#[derive(Args)]
pub(super) struct Release {
    /// The recipe
    #[arg(value_name = "RECIPE")]
    pub recipe: String,
    /// The version; left out, the one that fits what changed
    // The program's own --version is propagated to every verb; here the word means another thing.
    #[arg(long = "version", id = "allot", value_name = "VERSION")]
    pub version: Option<String>,
    /// The day it is dated, YYYY-MM-DD; left out, today in UTC
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Release nothing: take over the numbers of items in this published file, JSON or JSON Lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["allot", "date"])]
    pub adopt: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Verify {
    /// The folder
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Follow every row back to a dump of the workspace
    #[arg(long)]
    pub raw: bool,
}

#[derive(Args)]
pub(super) struct Diff {
    /// The folder before
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The folder after
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Write a page too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Compare {
    /// A release, a candidate, a stage, or a JSON or JSON Lines file
    // `set` is the name of a global flag.
    #[arg(value_name = "SET", id = "items")]
    pub set: PathBuf,
    /// The published set, JSON or JSON Lines
    #[arg(value_name = "REFERENCE")]
    pub reference: PathBuf,
    /// Published labels as the set's, a JSON object; left out, FLUB's 11 types as the paper's
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// The recipe whose ledgers are asked for what is missing
    #[arg(long, value_name = "NAME")]
    pub recipe: Option<String>,
}

#[derive(Args)]
pub(super) struct Export {
    /// A release, a candidate or a stage
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The form
    #[arg(value_enum)]
    pub form: ExportForm,
    /// The file
    #[arg(value_name = "FILE")]
    pub to: PathBuf,
    /// The config, where there are several
    #[arg(long, value_name = "NAME")]
    pub config: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ExportForm {
    LabelStudio,
    Argilla,
    Csv,
    Xlsx,
}

#[derive(Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub(super) struct Man {
    /// The folder they are written to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Args)]
pub(super) struct Crawl {
    /// The name of a [[crawl]] table
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// Say what would be fetched, and contact nobody
    #[arg(long)]
    pub dry_run: bool,
}
