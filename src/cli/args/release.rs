//! The arguments of verbs that make releases, read them, and publish them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::ArgValueCandidates;

use super::RecipeArgs;
use crate::cli::complete;

pub(crate) const CONTAMINATION_HELP: &str = "\
Two rows are the same where dedup would merge them: the settings of [dedup] apply. The join is exact, and each FILE is
compared by itself. A FILE is JSON, JSON Lines, CSV, a workbook, Parquet or a numpy array, packed or not; or the folder
of a release, candidate or stage.
Exit codes: 0 no row is shared; 1 rows are shared; 3 no row is shared, but some rows could not be compared.";

pub(crate) const SITE_HELP: &str = "\
The pages need no server: open index.html, or put the folder on any host. Of posts that are not in the release they have
numbers only, and of votes counts. `[site] originals = true` in pipeline.toml also shows texts as they were before they
were changed.";

pub(crate) const HELP: &str = "\
The Hub's own program uploads (`pip install huggingface_hub`, `hf auth login`): all files in one commit, then a tag
v<version>. An existing tag is never moved. An archive is the folder as a Zstandard-compressed tar with the same bytes
each time, with its SHA-256 and the metadata for Zenodo and DataCite in files next to it.";

#[derive(Args)]
pub(crate) struct PublishedArgs {
    #[command(flatten)]
    pub only: RecipeArgs,
    /// Also write an HTML page, with the pairs side by side
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Release {
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
    /// Release a stable version even if a smaller share of the items stands in it than release.whole_share
    #[arg(long)]
    pub partial: bool,
    /// Release nothing; adopt the item numbers of this published file, JSON or JSON Lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["allot", "date", "draft", "partial"])]
    pub adopt: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum ReleaseVerb {
    /// Mark a version as not to be used, in the registry, in output/ and on its card
    Yank(Yank),
}

#[derive(Args)]
pub(crate) struct Yank {
    /// The version
    // The program's own --version is propagated to every verb; here the word means another thing.
    #[arg(value_name = "VERSION", id = "yanked")]
    pub version: String,
    /// The recipe, if several have released this version
    #[arg(long, value_name = "RECIPE")]
    pub recipe: Option<String>,
    /// The reason, for those who have the version
    #[arg(long = "why", alias = "reason", value_name = "TEXT")]
    pub reason: String,
    /// The date, YYYY-MM-DD; default: today in UTC
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
}

#[derive(Args)]
pub(crate) struct Withdraw {
    /// The post: its id, the id of a released row, SOURCE:LINE, or a text that only one post contains
    #[arg(value_name = "POST", required_unless_present = "list")]
    pub target: Option<String>,
    /// The reason; it stays in raw/ permanently
    #[arg(long = "why", alias = "reason", value_name = "TEXT", required_unless_present = "list")]
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
pub(crate) struct Verify {
    /// The folder
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Also trace every row back to a dump of the workspace
    #[arg(long)]
    pub raw: bool,
}

#[derive(Args)]
pub(crate) struct Publish {
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
    /// Also upload this folder, written by `site`, as a static Space with the same OWNER/NAME
    #[arg(long, value_name = "DIR")]
    pub site: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Site {
    /// The release's folder, output/<recipe>/<version>
    #[arg(value_name = "RELEASE")]
    pub folder: PathBuf,
    /// The folder to write: a new or empty one, or one with a site of the same set
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

#[derive(Args)]
pub(crate) struct Diff {
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
pub(crate) struct Compare {
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
pub(crate) struct Contamination {
    /// A release, a candidate, a stage, or a file of rows
    // `set` is the name of a global flag.
    #[arg(value_name = "DIR", id = "items")]
    pub set: PathBuf,
    /// The sets to look in: files of rows, releases, candidates or stages
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub against: Vec<PathBuf>,
    /// The column with the texts; default: the first known one that both sides have
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    /// Write every pair here, as JSON Lines a, against, b, score, predicate
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// Keep the index of the join in a temporary folder below FOLDER instead of memory
    #[arg(long, value_name = "FOLDER")]
    pub on_disk: Option<PathBuf>,
    /// MiB of memory for the join with --on-disk, in addition to the rows
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(1..1 << 20))]
    pub memory: u64,
}

impl Contamination {
    /// `--memory` in bytes.
    pub fn memory_bytes(&self) -> usize {
        usize::try_from(self.memory << 20).unwrap_or(usize::MAX)
    }
}

#[derive(Args)]
pub(crate) struct Export {
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
pub(crate) enum ExportForm {
    LabelStudio,
    Argilla,
    Csv,
    Xlsx,
}

/// Where a release is published.
#[derive(Clone, Debug)]
pub(crate) enum Outlet {
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
