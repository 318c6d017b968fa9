//! The arguments of `trust`.

use clap::Subcommand;

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
