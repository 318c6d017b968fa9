//! `report.toml`: the tables and figures that `report` shows below the funnel. `figures` reads it.

use crate::choice::Choice;
use crate::expression::Expression;

/// What `report` shows of a benchmark's records.
#[derive(Debug, Default)]
pub struct Report {
    /// Divisions of the records, for figures of each part.
    pub parts: Vec<Division>,
    /// The figures, in the order in which they are shown.
    pub figures: Vec<Figure>,
}

/// A division of the records by a value.
#[derive(Debug)]
pub struct Division {
    /// The key in JSON under which its parts are a list.
    pub name: &'static str,
    /// The key in each that says which part it is.
    pub key: &'static str,
    /// The part of a record.
    pub of: Expression,
    /// The parts, in order.
    pub values: Vec<&'static str>,
}

/// A figure: something that is computed, its key in JSON, and how it is told.
#[derive(Debug)]
pub struct Figure {
    /// Its key; empty of those that are told and have no value of their own: several numbers, and lines.
    pub name: &'static str,
    /// What is computed.
    pub kind: Kind,
    /// The step whose records are looked at; the last one where nothing is said.
    pub step: Option<&'static str>,
    /// The kind of that step's records, where it is another than the benchmark's.
    pub records: Option<&'static str>,
    /// Of these records alone.
    pub among: Option<Expression>,
    /// The division, by its place, for each of whose parts it is computed.
    pub part: Option<usize>,
    /// The keys of its value in JSON, over the cells of the kind; the cells where nothing is said.
    pub keys: Vec<(&'static str, Expression)>,
    /// The line above it, over all figures. A blank one is not shown.
    pub title: Option<Expression>,
    /// Each line of it, over its cells and all figures. A blank one is not shown.
    pub line: Line,
    /// Blanks before each line.
    pub indent: usize,
}

/// How the lines of a figure are told.
#[derive(Debug)]
pub enum Line {
    /// As its kind tells them.
    Usual,
    /// Not at all.
    None,
    /// As this is.
    Template(Expression),
}

/// A figure of one number, or of the lengths of texts.
#[derive(Debug)]
pub struct Number {
    /// Its key in JSON.
    pub name: &'static str,
    /// What it is called.
    pub label: &'static str,
    /// What is counted.
    pub measure: Measure,
}

/// What a number counts.
#[derive(Debug)]
pub enum Measure {
    /// The records for which this is true.
    Count(Expression),
    /// The share for which this is true, 0 to 1, of the records of which it says something.
    Share(Expression),
    /// The mean of this number.
    Mean(Expression),
    /// The mean of this number, the highest and the lowest.
    Lengths(Expression),
    /// The records that are items of a release.
    Items,
    /// Percent of a ballot's decisions that the reviewer changed, of those looked at.
    Modified(&'static str),
    /// How many of a ballot's decisions a reviewer looked at.
    LookedAt(&'static str),
}

/// The kinds of figures.
#[derive(Debug)]
pub enum Kind {
    /// Numbers with keys of their own.
    Numbers(Vec<Number>),
    /// How often each value stands.
    Counts(Counts),
    /// How many records have a number in each of several ranges.
    Bars(Bars),
    /// How many votes went to each code.
    Votes {
        /// A map from code to votes: `BALLOT.tally.FIELD`.
        of: Expression,
        /// The options, for their labels and their order.
        options: Vec<Choice>,
    },
    /// Shares of verdicts by opponent.
    Wins(Box<Wins>),
    /// What may be guessed of the options of a multiple choice without the question.
    Shortcuts(Option<Box<Posed>>),
    /// How far the voters of a ballot agree in a field, or in each of several.
    Agreement {
        /// The ballot.
        ballot: &'static str,
        /// The field, or the fields.
        fields: Vec<&'static str>,
        /// Whether it is a list of fields, each with its agreement.
        listed: bool,
    },
    /// How far they agree over all questions of a ballot that have the same options, and how often the first is chosen.
    PooledAgreement(&'static str),
    /// What became of the drafts, a ballot a line.
    Reviews,
    /// How far judges agree, by pairs.
    JudgePairs(Box<Judged>),
    /// How often each judge gives each rating.
    Ratings(Box<Judged>),
    /// Judges' means by model and part, from 0 to 100.
    ScoresByPart(Box<Judged>, Expression),
    /// Lengths of questions, answers and options in tokens.
    PuzzleStatistics(Box<Puzzles>),
    /// How many of a text's words another of its group keeps.
    WordsKept(Box<Kept>),
    /// How often each value stands in the columns that `[data] labels` names, over the items.
    Labels,
    /// Lengths of texts and ranges of numbers in the other columns, over the items.
    Columns,
    /// Lines over figures above, without a value of its own.
    Lines(Expression),
}

/// How often each value stands.
#[derive(Debug)]
pub struct Counts {
    /// What is counted, each with the name of its cell: a text, or each of a list.
    pub by: Vec<(&'static str, Expression)>,
    /// The options whose codes are counted, in order; every value where there are none.
    pub options: Vec<Choice>,
    /// The most frequent ones alone, with `Others` behind them.
    pub most: Option<usize>,
}

/// Ranges of a number.
#[derive(Debug)]
pub struct Bars {
    /// The number.
    pub of: Expression,
    /// More than this.
    pub from: f64,
    /// Up to this.
    pub to: f64,
    /// How wide a bar is.
    pub wide: f64,
}

/// Lists of a record side by side, an element an opponent.
#[derive(Debug)]
pub struct Wins {
    /// The opponents.
    pub opponents: Expression,
    /// What most voters prefer, a code each; blank where nobody voted.
    pub verdicts: Expression,
    /// The votes, codes with blanks between.
    pub votes: Option<Expression>,
    /// What was marked, codes with blanks between; blank where nobody looked.
    pub marks: Option<Expression>,
    /// Cells with the codes of which each is the share.
    pub shares: Vec<(&'static str, &'static str)>,
}

/// A multiple choice.
#[derive(Debug)]
pub struct Posed {
    /// What is asked.
    pub question: Expression,
    /// The options in the order shown.
    pub options: Expression,
    /// The place of the right one, from 0; null of a record that is none.
    pub gold: Expression,
    /// What items made of one record share; each is by itself where nothing is said.
    pub group: Option<Expression>,
    /// Options that are in every item, and no reuse.
    pub apart: Vec<&'static str>,
}

/// Rated answers: a record an answer.
#[derive(Debug)]
pub struct Judged {
    /// The question's id.
    pub question: Expression,
    /// Whether it is the normal question beside it.
    pub normal: Expression,
    /// The model that answered.
    pub model: Expression,
    /// Who judged, a list.
    pub judges: Expression,
    /// The rating of each.
    pub ratings: Expression,
}

/// Puzzles with their options.
#[derive(Debug)]
pub struct Puzzles {
    /// The question.
    pub question: Expression,
    /// The answer.
    pub answer: Expression,
    /// The options.
    pub options: Expression,
}

/// Two texts of a group.
#[derive(Debug)]
pub struct Kept {
    /// What it is called.
    pub label: &'static str,
    /// The text.
    pub text: Expression,
    /// The group.
    pub group: Expression,
    /// Of which record the words are.
    pub from: Expression,
    /// Which record may keep them.
    pub to: Expression,
}

impl Kind {
    /// What a folder calls them.
    pub(crate) const NAMES: [&str; 17] = [
        "numbers",
        "counts",
        "bars",
        "votes",
        "wins",
        "shortcuts",
        "agreement",
        "pooled-agreement",
        "reviews",
        "judge-pairs",
        "ratings",
        "scores-by-part",
        "puzzle-statistics",
        "words-kept",
        "labels",
        "columns",
        "lines",
    ];

    /// The cells of its lines, or of its value; `None` where the lines are what an expression gives.
    pub(crate) fn cells(&self) -> Option<Vec<&'static str>> {
        let named = |first: &[&'static str], more: &mut dyn Iterator<Item = &'static str>| {
            Some(first.iter().copied().chain(more).collect())
        };
        let none = &mut std::iter::empty();
        match self {
            Kind::Numbers(_) => named(&["name", "label", "value"], none),
            Kind::Counts(counts) => {
                named(&["value", "label", "label_zh", "number"], &mut counts.by.iter().map(|(name, _)| *name))
            }
            Kind::Bars(_) => named(&["over", "to", "count"], none),
            Kind::Votes { .. } => named(&["value", "label", "label_zh", "votes", "percent"], none),
            Kind::Wins(wins) => {
                let shares = &mut wins.shares.iter().map(|(name, _)| *name);
                named(&["opponent", "items", "agreement", "marked", "marks"], shares)
            }
            Kind::Agreement { .. } => named(&["field", "items", "percent", "fleiss", "sample"], none),
            Kind::PooledAgreement(_) => named(&["items", "shares", "kappa", "sample"], none),
            Kind::JudgePairs(_) => named(&["judges", "individual", "mean"], none),
            Kind::Ratings(_) => named(&["judge", "model", "normal", "counts"], none),
            Kind::ScoresByPart(..) => named(&["model", "category", "questions", "score"], none),
            Kind::WordsKept(_) => named(&["value"], none),
            Kind::Shortcuts(_) | Kind::Reviews | Kind::PuzzleStatistics(_) | Kind::Labels | Kind::Columns => {
                Some(Vec::new())
            }
            Kind::Lines(_) => None,
        }
    }
}

impl Judged {
    fn expressions(&self) -> [&Expression; 5] {
        [&self.question, &self.normal, &self.model, &self.judges, &self.ratings]
    }
}

impl Figure {
    /// What it asks of the records of its step.
    pub fn expressions(&self) -> Vec<&Expression> {
        let mut asked: Vec<&Expression> = self.among.iter().collect();
        match &self.kind {
            Kind::Numbers(numbers) => {
                asked.extend(numbers.iter().filter_map(|number| match &number.measure {
                    Measure::Count(of) | Measure::Share(of) | Measure::Mean(of) | Measure::Lengths(of) => {
                        Some(of)
                    }
                    Measure::Items | Measure::Modified(_) | Measure::LookedAt(_) => None,
                }))
            }
            Kind::Counts(counts) => asked.extend(counts.by.iter().map(|(_, by)| by)),
            Kind::Bars(bars) => asked.push(&bars.of),
            Kind::Votes { of, .. } => asked.push(of),
            Kind::Wins(wins) => {
                asked.extend([&wins.opponents, &wins.verdicts]);
                asked.extend(wins.votes.iter().chain(&wins.marks));
            }
            Kind::Shortcuts(posed) => asked.extend(posed.iter().flat_map(|posed| {
                [&posed.question, &posed.options, &posed.gold].into_iter().chain(&posed.group)
            })),
            Kind::JudgePairs(judged) | Kind::Ratings(judged) => asked.extend(judged.expressions()),
            Kind::ScoresByPart(judged, _) => asked.extend(judged.expressions()),
            Kind::PuzzleStatistics(of) => asked.extend([&of.question, &of.answer, &of.options]),
            Kind::WordsKept(kept) => asked.extend([&kept.text, &kept.group, &kept.from, &kept.to]),
            Kind::Agreement { .. }
            | Kind::PooledAgreement(_)
            | Kind::Reviews
            | Kind::Labels
            | Kind::Columns
            | Kind::Lines(_) => {}
        }
        asked
    }

    /// What it asks of the records at the end, whatever its step.
    pub fn of_last(&self) -> Option<&Expression> {
        match &self.kind {
            Kind::ScoresByPart(_, parts) => Some(parts),
            _ => None,
        }
    }
}
