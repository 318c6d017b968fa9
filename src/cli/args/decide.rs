//! The arguments of `decide`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(crate) const HELP: &str = "\
A record is named by its id, its place in a dump (SOURCE:LINE) or its text. A decision overrules votes, votes a
draft, and a draft a rule; of two decisions on the same question the later one holds. It is about the text that the
person saw: where the record reads otherwise since, it is outdated and changes nothing. The next `run` applies it.";

/// Who decides, why and for which recipe.
#[derive(Args)]
pub(crate) struct DecideArgs {
    /// Who decides: an [[annotator]] whose role is senior or meta
    #[arg(long, value_name = "NAME")]
    pub by: String,
    /// The reason
    #[arg(long, alias = "reason", value_name = "TEXT")]
    pub why: String,
    /// Only for this recipe; default: all that have the record
    #[arg(long, value_name = "NAME")]
    pub recipe: Option<String>,
    /// The stage to overrule, if it does not follow from the decision
    #[arg(long, value_name = "STAGE")]
    pub stage: Option<String>,
}

#[derive(Args)]
pub(crate) struct OfRecord {
    /// The record
    #[arg(value_name = "RECORD")]
    pub record: String,
    #[command(flatten)]
    pub act: DecideArgs,
}

#[derive(Args)]
pub(crate) struct Edit {
    /// The record
    #[arg(value_name = "RECORD")]
    pub record: String,
    /// The new text
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: String,
    #[command(flatten)]
    pub act: DecideArgs,
}

#[derive(Args)]
pub(crate) struct OfPair {
    /// A record
    #[arg(value_name = "RECORD")]
    pub record: String,
    /// The other record
    #[arg(value_name = "OTHER")]
    pub other: String,
    #[command(flatten)]
    pub act: DecideArgs,
}

#[derive(Subcommand)]
pub(crate) enum DecideVerb {
    /// Let a held, dropped or rejected record through
    Keep(OfRecord),
    /// Take a record out
    Drop(OfRecord),
    /// Make a record wait
    Hold(OfRecord),
    /// Replace the text; for a riddle, the question
    Text(Edit),
    /// Replace the title
    Title(Edit),
    /// Replace the content; for a riddle, the answer
    Answer(Edit),
    /// Decide that two records are one joke
    #[command(name = "same", alias = "one")]
    Same(OfPair),
    /// Decide that two records are not one joke
    #[command(name = "different", alias = "two")]
    Different(OfPair),
    /// Undo a decision; the one before it counts again
    Undo {
        /// The decision's id, or the beginning of it
        #[arg(value_name = "ID")]
        id: String,
        /// Who undoes it
        #[arg(long, value_name = "NAME")]
        by: String,
        /// The reason
        #[arg(long, alias = "reason", value_name = "TEXT")]
        why: String,
    },
    /// List the decisions and their state
    List {
        /// Only those about this record
        #[arg(value_name = "RECORD")]
        record: Option<String>,
    },
    /// Write a table to decide in: held and dropped records, or similar pairs
    Export {
        /// The file; its name ends in .csv, .xlsx, .jsonl or .json
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The recipe; default: the first that the workspace runs
        #[arg(long, value_name = "NAME")]
        recipe: Option<String>,
        /// Only records that left this stage
        #[arg(long, value_name = "STAGE", conflicts_with = "pairs")]
        stage: Option<String>,
        /// Records with this outcome: held, dropped or failed
        #[arg(long, value_name = "STATE", default_value = "held", conflicts_with = "pairs")]
        outcome: String,
        /// Similar pairs instead of records
        #[arg(long)]
        pairs: bool,
    },
    /// Import decisions from tables; problems are reported by row, valid decisions are stored
    Import {
        /// The tables
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Who decided, for rows that do not name anybody
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// The reason, for rows without one
        #[arg(long, alias = "reason", value_name = "TEXT")]
        why: Option<String>,
        /// Decide for all recipes that have the record, not only the one that the table was written for
        #[arg(long)]
        all: bool,
    },
}
