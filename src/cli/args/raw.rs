//! The arguments of verbs for raw/: `fsck`, `raw`, `crawl`, `profiles`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::ArgValueCandidates;

use crate::cli::complete;

#[derive(Args)]
pub(crate) struct Fsck {
    /// Rebuild damaged logs from their intact lines; the damaged files are moved to raw/damaged
    #[arg(long)]
    pub salvage: bool,
}

#[derive(Subcommand)]
pub(crate) enum RawVerb {
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
pub(crate) struct Crawl {
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
pub(crate) enum ProfilesVerb {
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
