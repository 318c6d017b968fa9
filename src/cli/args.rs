//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::ArgValueCandidates;

use super::complete;
use crate::stages::parted::Share;

mod benchmark;
pub(super) mod decide;
mod evaluate;
mod review;

pub(super) use benchmark::BenchmarkVerb;
pub(super) use decide::{Act, DecideVerb, Edit, OfPair, OfRecord};
pub(super) use evaluate::Evaluate;
pub(super) use review::{FormatArg, Place, ReviewVerb, RoundArg};

pub(super) const PUBLISH: &str = "\
The Hub's own program uploads (`pip install huggingface_hub`, `hf auth login`): all files in one commit, then a tag
v<version>. An existing tag is never moved. An archive is the folder as a Zstandard-compressed tar with the same bytes
each time, with its SHA-256 and the metadata for Zenodo and DataCite in files next to it.";

pub(super) const SERVE: &str = "\
On the loopback and without a granted token, everybody on this machine can open all pages. Once
`riddlemill access grant` has created a token, every page asks for one, until `access open`. To serve other machines use
--bind, which requires a token; put a proxy with TLS in front and give its address with --public.
  riddlemill serve
  riddlemill access grant annotator-1 --rank annotator
  riddlemill serve --bind 0.0.0.0 --public https://review.example.org";

/// Rebuild RuozhiBench, FLUB, Chumor and BrainTeaser from raw forum dumps, and tell why any post was kept or left out.
#[derive(Parser)]
#[command(name = "riddlemill", version, propagate_version = true, max_term_width = 100, after_help = super::exit::HELP)]
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
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = split)]
    pub set: Vec<(String, String)>,
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
    Status(Only),
    /// Show the history of a post, and why it was kept or left out
    #[command(
        after_help = "A post is named by its id (tieba:8370518555), by its place in a dump (SOURCE:LINE or SOURCE/FILE:LINE), or by its text."
    )]
    Explain(Explain),
    /// Show the records of a stage, or pairs just below the threshold
    #[command(after_help = super::show::HELP)]
    Show(Show),
    /// Prove from the files alone that every record is accounted for
    Audit(Only),
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
    #[command(after_help = super::apply::HELP)]
    Apply(Apply),
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
    #[command(after_help = SERVE)]
    Serve(Serve),
    /// Tokens for the web pages: who may open which pages
    Access {
        /// What to do
        #[command(subcommand)]
        verb: AccessVerb,
    },
    /// Estimate the requests of the drafts and their cost, without sending anything
    Estimate(Only),
    /// The store of models' replies
    Replies {
        /// What to do
        #[command(subcommand)]
        verb: RepliesVerb,
    },
    /// Benchmarks, built in or in the workspace's benchmarks/: list, show, check, try
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
        after_help = "A tombstone with the date and the reason is added to raw/. The bytes in raw/dumps are yours to delete."
    )]
    Withdraw(Withdraw),
    /// Verify the folder of a release or candidate from its own files
    Verify(Verify),
    /// Publish a release on the Hugging Face Hub, or as one archive with metadata for Zenodo
    #[command(after_help = PUBLISH)]
    Publish(Publish),
    /// Show the differences between two releases, candidates or stage folders
    Diff(Diff),
    /// Compare a set with a published one: which items are found, how labels agree, where the missing ones were lost
    Compare(Compare),
    /// Evaluate models on a set, with the papers' tables as the result
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
    /// The folder to create it in
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Leave out the sample dumps
    #[arg(long)]
    pub empty: bool,
    /// Copy a built-in benchmark's folder into benchmarks/ of the workspace, to change it
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub benchmark: Option<String>,
}

#[derive(Args)]
pub(super) struct Config {
    /// Explain a table key by key (draft, llm, annotator …), or one key (draft.optional); without a value, list the tables
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "", add = ArgValueCandidates::new(complete::topics))]
    pub explain: Option<String>,
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
pub(super) struct Only {
    /// Only this recipe; may be given several times
    #[arg(long = "recipe", value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipes: Vec<String>,
}

#[derive(Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub only: Only,
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
    pub only: Only,
    /// Show whole texts, and every prompt and reply
    #[arg(long)]
    pub full: bool,
}

#[derive(Args)]
pub(super) struct Show {
    /// The stage, as in the recipe: import, clean, dedup …
    #[arg(value_name = "STAGE", add = ArgValueCandidates::new(complete::stages))]
    pub stage: String,
    #[command(flatten)]
    pub only: Only,
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
    pub only: Only,
    /// Show N example records under each rule and reason
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub examples: usize,
    /// Write a self-contained page: funnel, reasons, lengths, similarity scores, thresholds
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Apply {
    /// The stage, or the step of a distributed stage
    #[arg(value_enum)]
    pub stage: ApplyStage,
    /// import: the dump; default: stdin
    #[arg(value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Use this recipe's settings
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// clean, anonymise, filter: read posts, or ledger records of the stage before; write ledger records
    #[arg(long = "ledger", alias = "books")]
    pub ledger: bool,
    /// rows: the folder for the ledger records of import, clean, anonymise and filter
    #[arg(long, value_name = "FOLDER")]
    pub ledgers: Option<PathBuf>,
    /// import: the dump's format, as in a [[source]] of pipeline.toml
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// import: the [[source]] whose settings and name apply to the dump
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// import: the file's name in the ledger
    #[arg(long, value_name = "NAME")]
    pub file: Option<String>,
    /// import: the file is one of several: leave records with the same id to `apply settle`
    #[arg(long)]
    pub unsettled: bool,
    /// import: the user names to look for in every text, a file of --write-names; default: those of this dump
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// import: only write the names of all users of the recipe's dumps, as hashes
    #[arg(long, value_name = "FILE", requires = "recipe")]
    pub write_names: Option<PathBuf>,
    /// import: only list the recipe's dumps, in the order of import
    #[arg(long, requires = "recipe")]
    pub list: bool,
    /// dedup-keys: the output of dedup-stats; without it, write the keys that find copies
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// dedup-keys: write the row's text with each key, so that dedup-verify can compare at once
    #[arg(long)]
    pub texts: bool,
    /// dedup-keys: only one share of the keys, as 1/16 to 16/16; the pairs of all shares together are complete
    #[arg(long, value_name = "N/M")]
    pub share: Option<Share>,
    /// dedup --on-disk: MiB of memory for the join, in addition to about 200 bytes per row (default 2048);
    /// dedup-resolve: MiB of pairs sorted at once (default 256)
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..1 << 20))]
    pub memory: Option<u64>,
    /// dedup: write every pair at or over the threshold here, as JSON Lines a, b, score
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// dedup: the similarity metric
    #[arg(long, value_name = "METRIC", value_parser = ["default", "indel", "levenshtein", "jaccard"])]
    pub metric: Option<String>,
    /// dedup: the score from which two rows count as one, 0 to 1
    #[arg(long, value_name = "T")]
    pub threshold: Option<f64>,
    /// dedup: `none` compares texts as written, `default` ignores width, case, script, punctuation and spaces
    #[arg(long, value_name = "HOW", value_parser = ["none", "default"])]
    pub normalize: Option<String>,
    /// dedup: find for each row the most similar row of this JSON Lines file (id, text)
    #[arg(long, value_name = "FILE", conflicts_with = "on_disk")]
    pub against: Option<PathBuf>,
    /// dedup: keep rows and index in a temporary folder below FOLDER instead of memory
    #[arg(long, value_name = "FOLDER")]
    pub on_disk: Option<PathBuf>,
}

impl Apply {
    /// `--memory` in bytes; `or`, in MiB, is the default.
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
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: String,
    /// dedup: the `same` and `borderline` pairs of dedup-verify, sorted by into and from
    #[arg(long, value_name = "PATH")]
    pub pairs: Vec<PathBuf>,
    /// Files of ledger records, in order, or folders with part- files; gzip and zstd are recognised
    #[arg(value_name = "PATH", required = true)]
    pub ledgers: Vec<PathBuf>,
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
    Rows,
    DedupStats,
    DedupKeys,
    DedupVerify,
    DedupResolve,
    #[value(name = "dedup-ledger", alias = "dedup-book")]
    DedupLedger,
}

#[derive(Subcommand)]
pub(super) enum RepliesVerb {
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
pub(super) enum PromptsVerb {
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

#[derive(Args)]
pub(super) struct PublishedArgs {
    #[command(flatten)]
    pub only: Only,
    /// Also write an HTML page, with the pairs side by side
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Release {
    /// What to do instead of releasing
    #[command(subcommand)]
    pub verb: Option<ReleaseVerb>,
    /// The recipe
    #[arg(value_name = "RECIPE", required = true, add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// The version; default: the one that follows from the changes
    // The program's own --version is propagated to every verb; here the word means another thing.
    #[arg(long = "version", id = "allot", value_name = "VERSION", add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,
    /// The date of the release, YYYY-MM-DD; default: today in UTC
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Release a draft, even if votes, replies, settings or dumps are newer than the stages
    #[arg(long)]
    pub draft: bool,
    /// Release nothing; adopt the item numbers of this published file, JSON or JSON Lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["allot", "date", "draft"])]
    pub adopt: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(super) enum ReleaseVerb {
    /// Mark a version as not to be used, in the registry, in output/ and on its card
    Yank(Yank),
}

#[derive(Args)]
pub(super) struct Yank {
    /// The version
    // The program's own --version is propagated to every verb; here the word means another thing.
    #[arg(value_name = "VERSION", id = "yanked")]
    pub version: String,
    /// The recipe, if several have released this version
    #[arg(long, value_name = "RECIPE")]
    pub recipe: Option<String>,
    /// The reason, for those who have the version
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The date, YYYY-MM-DD; default: today in UTC
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
}

#[derive(Args)]
pub(super) struct Withdraw {
    /// The post: its id, the id of a released row, SOURCE:LINE, or a text that only one post contains
    #[arg(value_name = "POST", required_unless_present = "list")]
    pub target: Option<String>,
    /// The reason; it stays in raw/ permanently
    #[arg(long, value_name = "TEXT", required_unless_present = "list")]
    pub reason: Option<String>,
    /// POST is a whole dump, SOURCE/FILE
    #[arg(long, conflicts_with_all = ["text", "list"])]
    pub dump: bool,
    /// POST is a text: withdraw every post with exactly this text, now and in later dumps
    #[arg(long, conflicts_with = "list")]
    pub text: bool,
    /// Undo a withdrawal
    #[arg(long, conflicts_with_all = ["dump", "text", "list", "dry_run"])]
    pub undo: bool,
    /// Only print what would be withdrawn
    #[arg(long, conflicts_with = "list")]
    pub dry_run: bool,
    /// List what is withdrawn
    #[arg(long)]
    pub list: bool,
}

#[derive(Args)]
pub(super) struct Fsck {
    /// Rebuild damaged logs from their intact lines; the damaged files are moved to raw/damaged
    #[arg(long)]
    pub salvage: bool,
}

#[derive(Subcommand)]
pub(super) enum RawVerb {
    /// Copy votes, decisions, replies, withdrawals and archives that this workspace does not have, each once
    #[command(
        after_help = "The other workspace is only read, and nothing here is replaced. Contradictions are kept as disputes, in `review adjudicate` and `decide list`, until somebody decides."
    )]
    Merge {
        /// The folder of the other workspace
        #[arg(value_name = "OTHER")]
        other: PathBuf,
        /// Only print what would be copied
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Args)]
pub(super) struct Verify {
    /// The folder
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Also trace every row back to a dump of the workspace
    #[arg(long)]
    pub raw: bool,
}

#[derive(Args)]
pub(super) struct Publish {
    /// The release's folder, output/<recipe>/<version>
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The destination: hub:OWNER/NAME, archive, or archive:FILE.tar.zst
    #[arg(long, value_name = "WHERE")]
    pub to: Outlet,
    /// Upload; without it the commands are only printed
    #[arg(long)]
    pub go: bool,
    /// Create the Hub's repository as private if it does not exist
    #[arg(long)]
    pub private: bool,
    /// Publish even a draft, whose rows are synthetic or provisional; its card says so
    #[arg(long)]
    pub draft: bool,
}

#[derive(Args)]
pub(super) struct Diff {
    /// The folder before
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The folder after
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Also write an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Compare {
    /// A release, a candidate, a stage, or a JSON or JSON Lines file
    // `set` is the name of a global flag.
    #[arg(value_name = "SET", id = "items")]
    pub set: PathBuf,
    /// The published set: JSON, JSON Lines or a numpy array; or another release, candidate or stage
    #[arg(value_name = "REFERENCE")]
    pub reference: PathBuf,
    /// A JSON object that maps published labels to the set's; default: FLUB's 11 types to the paper's
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// The recipe whose ledgers tell why an item is missing
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// Also write an HTML page, with the pairs side by side
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Export {
    /// A release, a candidate or a stage
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The format
    #[arg(value_enum)]
    pub form: ExportForm,
    /// The file to write
    #[arg(value_name = "FILE")]
    pub to: PathBuf,
    /// The config, if there are several
    #[arg(long, value_name = "NAME")]
    pub config: Option<String>,
    /// Export a candidate even if votes, replies, settings or dumps are newer than its stages
    #[arg(long)]
    pub draft: bool,
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
    /// The folder to write to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Write the reference instead, as Markdown: settings, commands, outcomes, records, benchmarks, addresses
    #[arg(long)]
    pub reference: bool,
}

#[derive(Args)]
pub(super) struct Crawl {
    /// The name of a [[crawl]] table; optional with --try
    #[arg(value_name = "SOURCE", required_unless_present = "try_page", add = ArgValueCandidates::new(complete::crawls))]
    pub source: Option<String>,
    /// Only print what would be fetched, without any request
    #[arg(long)]
    pub dry_run: bool,
    /// Start another pass over a finished crawl: `changed` fetches lists and threads with new posts, the last page
    /// first; `all` requests every page again
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "changed", value_parser = ["changed", "all"])]
    pub refresh: Option<String>,
    /// Show what a profile finds on one page, field by field, and what it does not find: a saved file, or an address,
    /// which is fetched once under the rules of its [[crawl]]; nothing is stored
    #[arg(long = "try", value_name = "URL|FILE", conflicts_with_all = ["dry_run", "refresh"])]
    pub try_page: Option<String>,
    /// With --try: the profile to use instead of the one of the [[crawl]]
    #[arg(long, value_name = "NAME", requires = "try_page", add = ArgValueCandidates::new(complete::profiles))]
    pub profile: Option<String>,
    /// With --try and a file: the address that it was saved from
    #[arg(long, value_name = "URL", requires = "try_page")]
    pub url: Option<String>,
    /// With --try: the number of posts shown in full
    #[arg(long, value_name = "N", default_value_t = 3, requires = "try_page")]
    pub posts: usize,
}

#[derive(Subcommand)]
pub(super) enum ProfilesVerb {
    /// List all profiles; those of the workspace's profiles/ are marked
    List,
    /// Print a profile
    Show {
        /// As in `profiles list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::profiles))]
        name: String,
    },
    /// Copy a profile into profiles/, to change it; an existing file is not overwritten
    Copy {
        /// As in `profiles list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::profiles))]
        name: String,
        /// The name of the copy; without it the copy replaces the built-in profile
        #[arg(long = "as", value_name = "NAME")]
        new: Option<String>,
    },
    /// Check profiles
    Check {
        /// Files; default: all of profiles/
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List all keys of a profile
    Keys,
}

/// Where a release is published.
#[derive(Clone, Debug)]
pub(super) enum Outlet {
    /// OWNER/NAME of a dataset on the Hub.
    Hub(String),
    /// A file; by default one in output/.
    Archive(Option<PathBuf>),
}

impl FromStr for Outlet {
    type Err = String;

    fn from_str(text: &str) -> Result<Outlet, String> {
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let part = |part: &str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
                && !part.starts_with(['-', '.'])
        };
        match (kind, rest) {
            ("hub", Some(repo)) if repo.split('/').count() == 2 && repo.split('/').all(part) => {
                Ok(Outlet::Hub(repo.into()))
            }
            ("hub", _) => Err("expected hub:OWNER/NAME, the dataset's address on the Hub".into()),
            ("archive", None) => Ok(Outlet::Archive(None)),
            ("archive", Some(file)) if !file.is_empty() => Ok(Outlet::Archive(Some(file.into()))),
            _ => Err("expected hub:OWNER/NAME, archive or archive:FILE.tar.zst".into()),
        }
    }
}

#[derive(Args)]
pub(super) struct Serve {
    /// The port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8484)]
    pub port: u16,
    /// Listen on this address instead of the loopback; needs a token granted with `access grant`
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<std::net::IpAddr>,
    /// The address people open, if a proxy is in front, as in https://review.example.org
    #[arg(long, value_name = "URL")]
    pub public: Option<url::Url>,
}

#[derive(Subcommand)]
pub(super) enum AccessVerb {
    /// Create a token for somebody, replacing an earlier one; it is printed once and stored as a hash
    Grant {
        /// The person; for an annotator, the name in pipeline.toml
        #[arg(value_name = "NAME")]
        name: String,
        /// Which pages it opens
        #[arg(long, value_enum)]
        rank: RankArg,
    },
    /// Invite somebody with a link that works once, within a week; append what is printed to the server's address
    Invite {
        /// The person; for an annotator, the name in pipeline.toml
        #[arg(value_name = "NAME")]
        name: String,
        /// Which pages it opens
        #[arg(long, value_enum)]
        rank: RankArg,
    },
    /// Revoke somebody's token and end their sessions
    Revoke {
        /// The person
        #[arg(value_name = "NAME")]
        name: String,
        /// Only end the sessions; the token can open new ones
        #[arg(long)]
        sessions: bool,
    },
    /// Revoke all tokens, and let everybody on this machine in without one again
    Open,
    /// List who has a token
    List,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum RankArg {
    /// Only the review pages
    Annotator,
    /// The audit pages
    Reader,
    /// All pages
    Curator,
}
