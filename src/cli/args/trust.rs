//! The arguments of `trust`.

use clap::Subcommand;

pub(crate) const HELP: &str = "\
A workspace may come from somebody else (a clone, an archive, a copy), and its pipeline.toml may name hosts that are
sent the values of environment variables, commands, and dumps anywhere on this machine. Each of them is asked about once
for each workspace; the answers are kept on this machine, outside of the workspace, so that no clone brings its own. A
workspace that `init` made here may name places anywhere; hosts and commands are asked about all the same.

  riddlemill trust                              what this workspace wants, and what was agreed to
  riddlemill trust add api.example.org          as the question on the terminal would
  riddlemill trust withdraw api.example.org
  riddlemill run --trust api.example.org        for one call; RIDDLEMILL_TRUST=api.example.org,/data/dumps in CI";

#[derive(Subcommand)]
pub(crate) enum TrustVerb {
    /// List what this workspace wants to use beyond its own folder, and what was agreed to
    List {
        /// Also what was agreed to for other workspaces of this machine
        #[arg(long)]
        all: bool,
    },
    /// Agree to hosts, places or commands that `trust list` shows, for this workspace on this machine
    Add {
        /// A host (api.example.org), a place (/data/dumps) or a command, as the settings name it
        #[arg(value_name = "WORD", required = true)]
        words: Vec<String>,
    },
    /// Take an agreement back
    Withdraw {
        /// As in `trust list`; default: everything that was agreed to for this workspace
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
}
