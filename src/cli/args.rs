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

/// Rebuild RuozhiBench, FLUB, Chumor and BrainTeaser from raw forum dumps, and know why any post was kept or left out.
pub(super) const PUBLISH: &str = "\
The Hub's own program uploads (`pip install huggingface_hub`, `hf auth login`): all files in one commit, then a tag
v<version>. A tag that is there is never moved. An archive is the folder as tar under Zstandard, the same bytes each
time, with its SHA-256 and what Zenodo and DataCite ask beside it.";

pub(super) const SERVE: &str = "\
On the loopback and without a granted token, whoever is on this machine may open everything. Once
`riddlemill access grant` has given a token, every page asks for one, until `access open`. Other machines reach the pages
with --bind, which wants a token first; put a proxy with TLS in front and name it with --public.
  riddlemill serve
  riddlemill access grant annotator-1 --rank annotator
  riddlemill serve --bind 0.0.0.0 --public https://review.example.org";

#[derive(Parser)]
#[command(name = "riddlemill", version, propagate_version = true, max_term_width = 100, after_help = super::exit::HELP)]
pub(super) struct Cli {
    #[command(flatten, next_help_heading = "Options of every verb")]
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

/// An amount of money that can be a cap.
fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars >= 0.0 => Ok(dollars),
        _ => Err("expected a number of at least 0".into()),
    }
}

#[derive(Subcommand)]
pub(super) enum Verb {
    /// Lay out a workspace: a commented pipeline.toml, raw/ and the sample
    Init(Init),
    /// Print every setting and where its value came from, or what a table of settings takes
    Config(Config),
    /// Download the dumps that sources name by url, and pin them in pipeline.lock
    Fetch(Fetch),
    /// Make every stage that is not fresh, then the candidates
    Run(Run),
    /// Say which stages are fresh, which are not, and why
    Status(Only),
    /// Tell a post's history, and why it was kept or left out
    #[command(
        after_help = "A post is named by its id (tieba:8370518555), by its place in a dump (SOURCE:LINE or SOURCE/FILE:LINE), or by its text."
    )]
    Explain(Explain),
    /// Show the records of a stage, and the pairs that were nearly one
    #[command(after_help = super::show::HELP)]
    Show(Show),
    /// Prove from the files alone that every record is accounted for
    Audit(Only),
    /// Tell what became of published rows: which are equal, what is odd, what stages would have done, which posts they are
    Published(PublishedArgs),
    /// Check that all of raw/ is what was written there; exit code 1 where it is not
    Fsck(Fsck),
    /// Take over what people and money made in another workspace: two annotators offline, a crawl elsewhere
    #[command(subcommand)]
    Raw(RawVerb),
    /// Print the funnel: records by stage, state and reason
    Report(Report),
    /// Fetch a [[crawl]] source into raw/warc: robots.txt obeyed, one request a host, resumed where it stopped
    Crawl(Crawl),
    /// How pages of sites are read: list, show, copy one out to change it, check
    Profiles {
        /// What to do
        #[command(subcommand)]
        verb: ProfilesVerb,
    },
    /// Apply one stage's decision to JSON Lines on stdin, row for row
    #[command(after_help = super::apply::HELP)]
    Apply(Apply),
    /// Write a stage into staged/ from the ledgers that other machines made of it
    Assemble(Assemble),
    /// Ballots out, votes in, who votes, how far they are, disputes
    Review {
        /// What to do
        #[command(subcommand)]
        verb: ReviewVerb,
    },
    /// Decide about a record or a pair, over rules, drafts and votes; list, undo, tables
    #[command(after_help = decide::HELP)]
    Decide {
        /// What to decide
        #[command(subcommand)]
        verb: DecideVerb,
    },
    /// Open the workspace as pages in a browser, on this machine alone
    #[command(after_help = SERVE)]
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
    /// What benchmarks are made of, built in or of the workspace's own benchmarks/
    #[command(after_help = benchmark::HELP)]
    Benchmark {
        /// What to do
        #[command(subcommand)]
        verb: BenchmarkVerb,
    },
    /// What is sent to models
    Prompts {
        /// What to do
        #[command(subcommand)]
        verb: PromptsVerb,
    },
    /// Assign a version to a recipe's candidate and write output/<recipe>/<version>; `yank` marks one
    #[command(
        disable_version_flag = true,
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true
    )]
    Release(Release),
    /// Withdraw a post or a dump: it leaves every stage and later release, and its text is shown nowhere
    #[command(
        after_help = "A tombstone with the date and the reason is added to raw/. The bytes in raw/dumps are yours to delete."
    )]
    Withdraw(Withdraw),
    /// Prove a release's or candidate's folder from its own files
    Verify(Verify),
    /// Publish a release: on the Hugging Face Hub, or as one archive with what Zenodo asks
    #[command(after_help = PUBLISH)]
    Publish(Publish),
    /// Say what differs between two releases, candidates or stage folders
    Diff(Diff),
    /// Compare a set with a published one: what is found, how labels agree, what was lost where
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
    /// Copy a built-in benchmark's folder into benchmarks/ of the workspace, to be changed
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub benchmark: Option<String>,
}

#[derive(Args)]
pub(super) struct Config {
    /// Say what a table takes, key by key (draft, llm, annotator …), or one key (draft.optional); alone, which tables there are
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "", add = ArgValueCandidates::new(complete::topics))]
    pub explain: Option<String>,
}

#[derive(Args)]
pub(super) struct Fetch {
    /// Only these sources
    #[arg(value_name = "SOURCE", add = ArgValueCandidates::new(complete::sources))]
    pub sources: Vec<String>,
    /// Ask the server for files that are there, too, and take what changed
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
    /// Start at this stage and use those before it as they are
    #[arg(long, value_name = "STAGE", add = ArgValueCandidates::new(complete::stages))]
    pub from: Option<String>,
    /// Stop after this stage
    #[arg(long, value_name = "STAGE", add = ArgValueCandidates::new(complete::stages))]
    pub to: Option<String>,
    /// Make this stage alone
    #[arg(long = "only", value_name = "STAGE", conflicts_with_all = ["from", "to"], add = ArgValueCandidates::new(complete::stages))]
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
    /// Go through the whole recipe on drafts where people have not voted yet: the candidate is provisional
    #[arg(long)]
    pub preview: bool,
    /// Ask again for what failed for good: refused, empty or unreadable replies; unreadable ones stay in raw/, with a note
    #[arg(long, conflicts_with = "offline")]
    pub retry_failed: bool,
    /// Go on without replies that are damaged or gone, and ask for them again
    #[arg(long)]
    pub accept_lost_replies: bool,
    /// Pay without asking, where no cap is set
    #[arg(long)]
    pub yes: bool,
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
    /// Whole texts, and every prompt and reply
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
    /// So many of them, drawn by --seed
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// What the draw depends on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Only records whose text or evidence matches this regular expression
    #[arg(long, value_name = "RE")]
    pub grep: Option<String>,
    /// Only records that resemble this text, most similar first
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
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
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
    /// import: the names of users that are looked for in every text, as --write-names wrote them; those of this dump
    /// alone, if left out
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// import: write the names of all users of the recipe's dumps, as hashes, and read nothing else
    #[arg(long, value_name = "FILE", requires = "recipe")]
    pub write_names: Option<PathBuf>,
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
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
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
    /// List the batches on their way: whose, since when, how many requests
    Batches,
    /// Give up a batch on its way: what is answered by then is paid for and kept, the rest is asked again when it is needed
    Cancel {
        /// The batch, as `replies batches` prints it, or how it begins, or the server's name for it
        #[arg(value_name = "BATCH")]
        batch: String,
        /// Ask no server: its answers cannot be had any more, and all of it is booked as spent
        #[arg(long)]
        lost: bool,
    },
    /// Ask again, when it is next needed, what one stored reply answers; the reply stays in raw/ with a note
    Forget {
        /// The reply's key, as `explain` and `replies export` print it, or how it begins
        #[arg(value_name = "KEY")]
        key: String,
        /// Why; it is kept beside the note
        #[arg(long, value_name = "WORDS")]
        why: String,
    },
}

#[derive(Subcommand)]
pub(super) enum PromptsVerb {
    /// Every prompt with its hash
    List,
    /// Print the prompt in force
    Show {
        /// As in `prompts list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::prompts))]
        name: String,
    },
    /// What the workspace's prompts/ changes
    Diff {
        /// As in `prompts list`; all that differ, if left out
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::prompts))]
        name: Option<String>,
    },
}

#[derive(Args)]
pub(super) struct PublishedArgs {
    #[command(flatten)]
    pub only: Only,
    /// Also write it as a page, with the pairs side by side
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
    /// The version; left out, the one that fits what changed
    // The program's own --version is propagated to every verb; here the word means another thing.
    #[arg(long = "version", id = "allot", value_name = "VERSION", add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,
    /// The day it is dated, YYYY-MM-DD; left out, today in UTC
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Release a draft, also where votes, replies, settings or dumps are newer than the stages
    #[arg(long)]
    pub draft: bool,
    /// Release nothing: take over the numbers of items in this published file, JSON or JSON Lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["allot", "date", "draft"])]
    pub adopt: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(super) enum ReleaseVerb {
    /// Mark a version that nobody is to use any longer, in the registry, in output/ and on its card
    Yank(Yank),
}

#[derive(Args)]
pub(super) struct Yank {
    /// The version
    // The program's own --version is propagated to every verb; here the word means another thing.
    #[arg(value_name = "VERSION", id = "yanked")]
    pub version: String,
    /// The recipe, where several have released such a version
    #[arg(long, value_name = "RECIPE")]
    pub recipe: Option<String>,
    /// Why, for whoever has it
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The day, YYYY-MM-DD; left out, today in UTC
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
}

#[derive(Args)]
pub(super) struct Withdraw {
    /// The post: its id, that of a released row, SOURCE:LINE, or a text that only one post holds
    #[arg(value_name = "POST", required_unless_present = "list")]
    pub target: Option<String>,
    /// Why: it stays in raw/ for good
    #[arg(long, value_name = "TEXT", required_unless_present = "list")]
    pub reason: Option<String>,
    /// POST is a whole dump, SOURCE/FILE
    #[arg(long, conflicts_with_all = ["text", "list"])]
    pub dump: bool,
    /// POST is a text: every post that says exactly this goes, now and later
    #[arg(long, conflicts_with = "list")]
    pub text: bool,
    /// Take a withdrawal back that was a mistake
    #[arg(long, conflicts_with_all = ["dump", "text", "list", "dry_run"])]
    pub undo: bool,
    /// Say what it concerns, and withdraw nothing
    #[arg(long, conflicts_with = "list")]
    pub dry_run: bool,
    /// List what is withdrawn
    #[arg(long)]
    pub list: bool,
}

#[derive(Args)]
pub(super) struct Fsck {
    /// Take over what is whole of damaged logs; what was there is moved to raw/damaged
    #[arg(long)]
    pub salvage: bool,
}

#[derive(Subcommand)]
pub(super) enum RawVerb {
    /// Votes, decisions, replies, withdrawals and archives of another workspace that are not here, each once
    #[command(
        after_help = "The other workspace is only read. Nothing of here is replaced: what contradicts it is kept beside it, in `review adjudicate` and `decide list`, until somebody decides."
    )]
    Merge {
        /// The folder of the other workspace
        #[arg(value_name = "OTHER")]
        other: PathBuf,
        /// Say what is new there, and take nothing over
        #[arg(long)]
        dry_run: bool,
    },
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
pub(super) struct Publish {
    /// The release's folder, output/<recipe>/<version>
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Where to: hub:OWNER/NAME, archive, or archive:FILE.tar.zst
    #[arg(long, value_name = "WHERE")]
    pub to: Outlet,
    /// Upload: without it, what would be run is printed
    #[arg(long)]
    pub go: bool,
    /// Make the Hub's repository private where it is made
    #[arg(long)]
    pub private: bool,
    /// Publish a draft, too: rows are synthetic or provisional, and the card says so
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
    /// The published set: JSON, JSON Lines or an array of numpy's; or another release, candidate or stage
    #[arg(value_name = "REFERENCE")]
    pub reference: PathBuf,
    /// Published labels as the set's, a JSON object; left out, FLUB's 11 types as the paper's
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// The recipe whose ledgers are asked for what is missing
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// Write the comparison as a page too, the pairs side by side
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
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
    /// Export a candidate also where votes, replies, settings or dumps are newer than its stages
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
    /// The folder they are written to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The reference instead, as Markdown: settings, commands, outcomes, records, benchmarks, addresses
    #[arg(long)]
    pub reference: bool,
}

#[derive(Args)]
pub(super) struct Crawl {
    /// The name of a [[crawl]] table; with --try it may be left out
    #[arg(value_name = "SOURCE", required_unless_present = "try_page", add = ArgValueCandidates::new(complete::crawls))]
    pub source: Option<String>,
    /// Say what would be fetched, and contact nobody
    #[arg(long)]
    pub dry_run: bool,
    /// Begin another pass over a finished crawl: `changed` asks for lists and for threads with new posts, the last page
    /// first; `all` for every page, and whether it changed
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "changed", value_parser = ["changed", "all"])]
    pub refresh: Option<String>,
    /// Show what a profile makes of one page, field by field, and what it does not find: a saved file, or an address that
    /// is asked for once under the rules of its [[crawl]]; nothing is kept
    #[arg(long = "try", value_name = "URL|FILE", conflicts_with_all = ["dry_run", "refresh"])]
    pub try_page: Option<String>,
    /// With --try: this profile, by its name, in place of that of the [[crawl]]
    #[arg(long, value_name = "NAME", requires = "try_page", add = ArgValueCandidates::new(complete::profiles))]
    pub profile: Option<String>,
    /// With --try and a file: the address that it was saved from
    #[arg(long, value_name = "URL", requires = "try_page")]
    pub url: Option<String>,
    /// With --try: so many posts are shown in full
    #[arg(long, value_name = "N", default_value_t = 3, requires = "try_page")]
    pub posts: usize,
}

#[derive(Subcommand)]
pub(super) enum ProfilesVerb {
    /// Every profile, those of the workspace's profiles/ marked
    List,
    /// Print one
    Show {
        /// As in `profiles list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::profiles))]
        name: String,
    },
    /// Write one into profiles/, to be changed; a file that is there stays as it is
    Copy {
        /// As in `profiles list`
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::profiles))]
        name: String,
        /// Under this name; without it the copy replaces the one that comes with the program
        #[arg(long = "as", value_name = "NAME")]
        new: Option<String>,
    },
    /// Check those of profiles/, or these files
    Check {
        /// Files; all of profiles/, if left out
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Every key of a profile
    Keys,
}

/// Where a release goes.
#[derive(Clone, Debug)]
pub(super) enum Outlet {
    /// OWNER/NAME of a dataset on the Hub.
    Hub(String),
    /// A file; left out, one in output/.
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
    /// The address people open where a proxy is in front, as in https://review.example.org
    #[arg(long, value_name = "URL")]
    pub public: Option<url::Url>,
}

#[derive(Subcommand)]
pub(super) enum AccessVerb {
    /// Give somebody a token, in place of the one they may have; it is printed once and stored as a hash
    Grant {
        /// Whose; of an annotator, the name in pipeline.toml
        #[arg(value_name = "NAME")]
        name: String,
        /// What it opens
        #[arg(long, value_enum)]
        rank: RankArg,
    },
    /// Invite somebody with a link that works once, for a week; what is printed goes behind the server's address
    Invite {
        /// Whom; of an annotator, the name in pipeline.toml
        #[arg(value_name = "NAME")]
        name: String,
        /// What it opens
        #[arg(long, value_enum)]
        rank: RankArg,
    },
    /// End somebody's token, and with it their sessions
    Revoke {
        /// Whose
        #[arg(value_name = "NAME")]
        name: String,
        /// End the sessions alone: the token opens new ones
        #[arg(long)]
        sessions: bool,
    },
    /// Let whoever is on this machine in without a token again; every token ends
    Open,
    /// Who has a token
    List,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum RankArg {
    /// The review pages alone
    Annotator,
    /// The audit pages
    Reader,
    /// All pages
    Curator,
}
