//! The arguments of `decide`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(in crate::cli) const HELP: &str = "\
A record is named by its id, its place in a dump (SOURCE:LINE) or its text. A decision overrules votes, votes a
draft, and a draft a rule; of two decisions on the same question the later one holds. It is about the text that the
person saw: where the record reads otherwise since, it is outdated and changes nothing. The next `run` applies it.";

/// Who decides, why and for what.
#[derive(Args)]
pub(in crate::cli) struct Act {
    /// Who decides: an [[annotator]] whose role is senior or meta
    #[arg(long, value_name = "NAME")]
    pub by: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub why: String,
    /// For this recipe alone; else for all that have the record
    #[arg(long, value_name = "NAME")]
    pub recipe: Option<String>,
    /// The stage to overrule, where it is not the one that follows from the decision
    #[arg(long, value_name = "STAGE")]
    pub stage: Option<String>,
}

#[derive(Args)]
pub(in crate::cli) struct OfRecord {
    /// The record
    #[arg(value_name = "RECORD")]
    pub record: String,
    #[command(flatten)]
    pub act: Act,
}

#[derive(Args)]
pub(in crate::cli) struct Edit {
    /// The record
    #[arg(value_name = "RECORD")]
    pub record: String,
    /// How it reads
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub text: String,
    #[command(flatten)]
    pub act: Act,
}

#[derive(Args)]
pub(in crate::cli) struct OfPair {
    /// A record
    #[arg(value_name = "RECORD")]
    pub record: String,
    /// Another one
    #[arg(value_name = "OTHER")]
    pub other: String,
    #[command(flatten)]
    pub act: Act,
}

#[derive(Subcommand)]
pub(in crate::cli) enum DecideVerb {
    /// Let a held, dropped or rejected record through
    Keep(OfRecord),
    /// Take a record out
    Drop(OfRecord),
    /// Make a record wait
    Hold(OfRecord),
    /// Say how the text reads; of a riddle, what is asked
    Text(Edit),
    /// Say how the title reads
    Title(Edit),
    /// Say how the content reads; of a riddle, its answer
    Answer(Edit),
    /// Say that two records are one joke
    One(OfPair),
    /// Say that two records are not one joke
    Two(OfPair),
    /// Take a decision back; what held before it holds again
    Undo {
        /// The decision's id, or the beginning of it
        #[arg(value_name = "ID")]
        id: String,
        /// Who takes it back
        #[arg(long, value_name = "NAME")]
        by: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// List the decisions, and where each one stands
    List {
        /// Only those about this record
        #[arg(value_name = "RECORD")]
        record: Option<String>,
    },
    /// Write a table to decide in: what is held or dropped, or the pairs that are alike
    Export {
        /// The file; its name ends in .csv, .xlsx or .jsonl
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The recipe; left out, the first that the workspace runs
        #[arg(long, value_name = "NAME")]
        recipe: Option<String>,
        /// Only what left this stage
        #[arg(long, value_name = "STAGE", conflicts_with = "pairs")]
        stage: Option<String>,
        /// Records that left so: held, dropped or failed
        #[arg(long, value_name = "STATE", default_value = "held", conflicts_with = "pairs")]
        outcome: String,
        /// The pairs that are alike
        #[arg(long)]
        pairs: bool,
    },
    /// Take decisions in from tables; every problem is named with its row, what is sound is stored
    Import {
        /// The tables
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Who decided, where a row does not say
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// Why, where a row does not say
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
        /// For all recipes that have the record, whatever recipe the table was written for
        #[arg(long)]
        all: bool,
    },
}
