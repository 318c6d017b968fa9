//! The arguments of `review`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::ArgValueCandidates;

use super::RecipeArgs;
use crate::cli::complete;

/// One review step of one recipe.
#[derive(Args)]
pub(crate) struct ReviewArgs {
    /// The review step, as in review:<STEP>
    #[arg(value_name = "STEP", add = ArgValueCandidates::new(complete::reviews))]
    pub step: String,
    /// The recipe; optional if only one of the workspace's recipes has the step
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// The round: everybody's vote, a senior's review of the votes, or adjudication
    #[arg(long, value_enum, default_value_t)]
    pub round: RoundArg,
}

impl SomePlace {
    /// The place, if a step is named.
    pub fn named_place(&self) -> Option<ReviewArgs> {
        let step = self.step.clone()?;
        Some(ReviewArgs { step, recipe: self.recipe.clone(), round: self.round })
    }
}

/// A review step, or all of them.
#[derive(Args)]
pub(crate) struct SomePlace {
    /// The review step, as in review:<STEP>
    #[arg(value_name = "STEP", required_unless_present = "all", add = ArgValueCandidates::new(complete::reviews))]
    pub step: Option<String>,
    /// The recipe; optional if only one of the workspace's recipes has the step
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// The round: everybody's vote, a senior's review of the votes, or adjudication
    #[arg(long, value_enum, default_value_t)]
    pub round: RoundArg,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum RoundArg {
    #[default]
    Vote,
    Review,
    Adjudication,
}

#[derive(Subcommand)]
pub(crate) enum ReviewVerb {
    /// Write an annotator's ballot: the assigned items, or everything that is open
    Export {
        #[command(flatten)]
        place: SomePlace,
        /// Write everybody's ballots of every step into this folder: one folder per person, one file per step
        #[arg(long, value_name = "DIR", conflicts_with_all = ["step", "annotator", "out", "gold", "propose"])]
        all: Option<PathBuf>,
        /// The annotator; a Label Studio project may be for several
        #[arg(long, value_name = "NAME", default_value = "", add = ArgValueCandidates::new(complete::annotators))]
        annotator: String,
        /// The file format
        #[arg(long, value_enum, default_value_t)]
        format: FormatArg,
        /// The folder to write to
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Write a trial: only the items of this file of known answers
        #[arg(long, value_name = "FILE")]
        gold: Option<PathBuf>,
        /// Fill in the picks that the program proposes over all items, so that the right option cannot be
        /// guessed from the options alone; annotators have to check each one
        #[arg(long, conflicts_with = "gold")]
        propose: bool,
    },
    /// Import votes; problems are reported with their cells, valid votes are stored
    ///
    /// Without a step, `review import DIR` reads every file of a folder, or the files named: each sheet says which
    /// recipe, step and round it is of.
    Import {
        #[command(flatten)]
        place: ReviewArgs,
        /// Files in any of the formats, or folders of them
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Show the progress of the steps, with agreement among voters
    Status {
        #[command(flatten)]
        only: RecipeArgs,
        /// Show agreement by field (percent, alpha, kappa, AC1 with intervals) among a sample's votes, too
        #[arg(long)]
        agreement: bool,
    },
    /// Assign open items to the annotators of pipeline.toml
    Assign {
        #[command(flatten)]
        place: ReviewArgs,
        /// The share of items that get one more vote than needed, including confirmed ones
        #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
        overlap: f64,
        /// Assign this many of the items, drawn by the seed, open or decided: to check part of a finished
        /// step
        #[arg(long, value_name = "N", conflicts_with_all = ["overlap", "gold", "replace"])]
        sample: Option<usize>,
        /// Only to this annotator; may be given several times
        #[arg(long = "to", value_name = "NAME", add = ArgValueCandidates::new(complete::annotators))]
        to: Vec<String>,
        /// A file of known answers, JSON Lines as in a ballot, to mix into everybody's queue, in place of the
        /// folder of `review.gold`
        #[arg(long, value_name = "FILE", requires = "gold_share")]
        gold: Option<PathBuf>,
        /// The share of known items in each queue; without --gold, of those in the folder of `review.gold`
        #[arg(long, value_name = "SHARE")]
        gold_share: Option<f64>,
        /// Only annotators who read this language; may be given several times
        #[arg(long = "language", value_name = "CODE")]
        languages: Vec<String>,
        /// The seed of every draw
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
        /// The day by which the answers are wanted; the annotators' own list shows it
        #[arg(long, value_name = "YYYY-MM-DD")]
        until: Option<String>,
        /// Give the open items of somebody who left to others, or with --to to these
        #[arg(long, value_name = "NAME", conflicts_with_all = ["overlap", "gold", "gold_share"], add = ArgValueCandidates::new(complete::annotators))]
        replace: Option<String>,
    },
    /// Grade trials on items with known answers, and store the grades: who may vote, who may be a senior
    Qualify {
        #[command(flatten)]
        place: ReviewArgs,
        /// The known answers, JSON Lines as in a ballot
        #[arg(long, value_name = "FILE")]
        gold: Option<PathBuf>,
        /// The fewest answers that a trial is judged by
        #[arg(long, value_name = "N", default_value_t = crate::review::qualify::FEWEST)]
        fewest: usize,
        /// Write answers in words to a table, for a senior to grade without seeing their authors
        #[arg(long, value_name = "FILE", requires = "gold")]
        sheet: Option<PathBuf>,
        /// Import that table, with yes or no in the column `right`
        #[arg(long, value_name = "FILE", requires = "by", conflicts_with_all = ["gold", "sheet", "files"])]
        graded: Option<PathBuf>,
        /// The grader: an [[annotator]] whose role is senior or meta
        #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::annotators))]
        by: Option<String>,
        /// Filled-in trials; no answer becomes a vote. Stored votes on these items are graded too
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List votes on texts that have changed since, both texts side by side, or carry them over to the
    /// current text
    Carry {
        /// The review step, as in review:<STEP>
        #[arg(value_name = "STEP", add = ArgValueCandidates::new(complete::reviews))]
        step: String,
        /// The recipe; optional if only one of the workspace's recipes has the step
        #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
        recipe: Option<String>,
        /// An item whose votes also apply to the current text; may be given several times
        #[arg(long = "item", value_name = "ID", requires_all = ["by", "why"], conflicts_with = "files")]
        items: Vec<String>,
        /// Who has compared the texts: an [[annotator]] whose role is senior or meta
        #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::annotators))]
        by: Option<String>,
        /// Why the answers still apply
        #[arg(long, alias = "reason", value_name = "TEXT")]
        why: Option<String>,
        /// Move the votes of these items back to the texts on which they were cast
        #[arg(long, requires = "items")]
        undo: bool,
        /// Write a table for deciding this; the name ends in .csv, .xlsx, .jsonl or .json
        #[arg(long, value_name = "FILE", conflicts_with_all = ["items", "files"])]
        out: Option<PathBuf>,
        /// Filled-in tables, with `yes` in the column `carry`
        #[arg(value_name = "FILE", requires = "by")]
        files: Vec<PathBuf>,
    },
    /// Set somebody's votes aside, so that they no longer count, and give what becomes open again to others; list such
    /// decisions, or undo one
    SetAside(SetAsideArgs),
    /// List the disputes, or adjudicate an item
    Adjudicate {
        #[command(flatten)]
        place: ReviewArgs,
        /// The item to decide
        #[arg(long, value_name = "ID", requires = "by")]
        item: Option<String>,
        /// Who decides
        #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::annotators))]
        by: Option<String>,
        /// The reason, which is required
        #[arg(long, alias = "reason", value_name = "TEXT", requires = "item")]
        why: Option<String>,
        /// An answer, FIELD=VALUE; several codes separated by `;`
        #[arg(long = "answer", value_name = "FIELD=VALUE", value_parser = super::split)]
        answers: Vec<(String, String)>,
        /// Also decide an item that is not disputed: the decision overrides its votes and its draft
        #[arg(long, requires = "item")]
        overrule: bool,
    },
}

/// Whose votes, and which.
#[derive(Args)]
pub(crate) struct SetAsideArgs {
    /// The annotator; without one, the decisions so far are listed
    #[arg(value_name = "ANNOTATOR", add = ArgValueCandidates::new(complete::annotators))]
    pub annotator: Option<String>,
    /// Only votes on this review step, as in review:<STEP>
    #[arg(long, value_name = "STEP", add = ArgValueCandidates::new(complete::reviews))]
    pub step: Option<String>,
    /// Only votes of this recipe
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// Only votes of this day or time (UTC) and later
    #[arg(long, value_name = "TIME", requires = "annotator")]
    pub from: Option<String>,
    /// Only votes up to this day, all of it, or time (UTC)
    #[arg(long, value_name = "TIME", requires = "annotator")]
    pub until: Option<String>,
    /// Who decides
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// The reason, which is required
    #[arg(long, alias = "reason", value_name = "TEXT")]
    pub why: Option<String>,
    /// Only say what would change
    #[arg(long, requires = "annotator", conflicts_with_all = ["undo", "admit"])]
    pub dry_run: bool,
    /// Undo a decision, named by its id or the beginning of it: its votes count again
    #[arg(long, value_name = "ID", conflicts_with_all = ["annotator", "admit"])]
    pub undo: Option<String>,
    /// Give work again to an annotator whom `review.gold_bound` stopped
    #[arg(long, requires = "annotator", conflicts_with_all = ["step", "recipe", "from", "until"])]
    pub admit: bool,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum FormatArg {
    Csv,
    #[default]
    Xlsx,
    Jsonl,
    LabelStudio,
}
