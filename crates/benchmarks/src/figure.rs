//! What a folder declares to be shown, in `report.toml` and in `[[table]]` alike: figures of its records, which `report` shows
//! below the funnel, and tables of models' answers, which `evaluate` computes (`table` has what is measured there). Parsed by
//! `figures` and `tables`.

pub(crate) mod reader;

use crate::choice::Choice;
use crate::expression::Expression;
use crate::record_kind::RecordKind;
use crate::table::{Drawn, Measures, RECORD_FIGURES};

/// The report section of a benchmark.
#[derive(Debug, Default)]
pub struct Report {
    /// Divisions of the records, for figures by part.
    pub parts: Vec<Division>,
    /// The figures, in display order.
    pub figures: Vec<Figure>,
}

/// A division of the records by a value.
#[derive(Debug)]
pub struct Division {
    /// The JSON key of the list of parts.
    pub name: &'static str,
    /// The key that names the part in each element of that list.
    pub key: &'static str,
    /// The part that a record belongs to.
    pub of: Expression,
    /// The parts, in order.
    pub values: Vec<&'static str>,
}

/// A figure or a table of figures: what is computed, its key in JSON, and how it is shown.
#[derive(Debug)]
pub struct Figure {
    /// Its JSON key, and its name in files and links; empty for figures that are printed but have no single value: several
    /// numbers, and lines.
    pub name: &'static str,
    /// The title as the file has it; empty without one.
    pub heading: &'static str,
    /// What it is called in files and on pages, where its title is a template over figures; empty without one.
    pub caption: &'static str,
    /// How to read it.
    pub about: &'static str,
    /// The paper's table or figure.
    pub paper: &'static str,
    /// The same, if models were asked in several settings.
    pub paper_of_settings: &'static str,
    /// Its charts.
    pub drawn: Vec<Drawn>,
    /// Its texts that are translated: English and Chinese, with `{}` as placeholder.
    pub words: Vec<(&'static str, &'static str)>,
    /// What is computed.
    pub kind: FigureKind,
    /// The step whose records are used; the last step if omitted.
    pub step: Option<&'static str>,
    /// The kind of that step's records, if it differs from the benchmark's.
    pub records: Option<&'static RecordKind>,
    /// Only records for which this is true.
    pub among: Option<Expression>,
    /// Index of the division for each of whose parts the figure is computed.
    pub part: Option<usize>,
    /// The keys of its value in JSON, computed from the cells of the kind; the cells themselves if empty.
    pub keys: Vec<(&'static str, Expression)>,
    /// The line above it, computed from all figures. Not printed if blank.
    pub title: Option<Expression>,
    /// The template of each line, computed from its cells and all figures. A blank line is not printed.
    pub line: Line,
    /// Spaces before each line.
    pub indent: usize,
}

/// How the lines of a figure are printed.
#[derive(Debug)]
pub enum Line {
    /// The default of its kind.
    Usual,
    /// Not printed.
    None,
    /// This template.
    Template(Expression),
}

/// A figure of one number, or of the lengths of texts.
#[derive(Debug)]
pub struct NumberFigure {
    /// Its key in JSON.
    pub name: &'static str,
    /// Its printed label.
    pub label: &'static str,
    /// What is counted.
    pub measure: NumberMeasure,
}

/// What a number measures.
#[derive(Debug)]
pub enum NumberMeasure {
    /// The records for which this is true.
    Count(Expression),
    /// The share for which this is true, 0 to 1, of the records where it is not null.
    Share(Expression),
    /// The mean of this number.
    Mean(Expression),
    /// The mean of this number, its maximum and its minimum.
    Lengths(Expression),
    /// The records that are items of a release.
    Items,
    /// The percentage of a ballot's decisions that the reviewer changed, of those reviewed.
    Modified(&'static str),
    /// The number of a ballot's decisions that were reviewed.
    LookedAt(&'static str),
}

/// The kinds of figures.
#[derive(Debug)]
pub enum FigureKind {
    /// Numbers with keys of their own.
    Numbers(Vec<NumberFigure>),
    /// How often each value occurs.
    Counts(Counts),
    /// A histogram of a number.
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
    /// How well the options of a multiple choice can be guessed without the question.
    Shortcuts(Option<Box<ChoiceColumns>>),
    /// The agreement of a ballot's voters in a field, or in each of several.
    Agreement {
        ballot: &'static str,
        /// The field, or the fields.
        fields: Vec<&'static str>,
        /// Whether the result is a list of fields, each with its agreement.
        listed: bool,
    },
    /// The agreement over all questions of a ballot that have the same options, and how often the first is
    /// chosen.
    PooledAgreement(&'static str),
    /// The outcome of the drafts, one line per ballot.
    Reviews,
    /// The agreement of judges, by pairs.
    JudgePairs(Box<RatedAnswers>),
    /// How often each judge gives each rating.
    Ratings(Box<RatedAnswers>),
    /// Judges' mean scores by model and part, from 0 to 100.
    ScoresByPart {
        judged: Box<RatedAnswers>,
        /// The parts of a question.
        parts: Expression,
        /// The step with the questions: `STEP`, or `BENCHMARK/STEP`; the last step if omitted.
        questions: Option<&'static str>,
    },
    /// Lengths of questions, answers and options in tokens.
    PuzzleStatistics(Box<Puzzles>),
    /// The share of a text's words that another text of its group keeps.
    WordsKept(Box<TextPair>),
    /// How often each value occurs in the columns that `[data] labels` names, over the items.
    Labels,
    /// Lengths of texts and ranges of numbers in the other columns, over the items.
    Columns,
    /// Lines computed from the figures above, without a value of their own.
    Lines(Expression),
    /// Figures of models' answers, which an evaluation computes.
    OfAnswers(Measures),
}

/// How often each value occurs.
#[derive(Debug)]
pub struct Counts {
    /// What is counted, each with the name of its cell: a text, or each element of a list.
    pub by: Vec<(&'static str, Expression)>,
    /// The options whose codes are counted, in order; every value if empty.
    pub options: Vec<Choice>,
    /// The column of the set whose published labels are read as the set's own.
    pub column: Option<&'static str>,
    /// Only the most frequent ones, followed by `Others`.
    pub most: Option<usize>,
}

/// A histogram.
#[derive(Debug)]
pub struct Bars {
    /// The number.
    pub of: Expression,
    /// The lower bound, exclusive.
    pub from: f64,
    /// The upper bound, inclusive.
    pub to: f64,
    /// The width of a bar.
    pub wide: f64,
}

/// Parallel lists of a record, one element per opponent.
#[derive(Debug)]
pub struct Wins {
    pub opponents: Expression,
    /// The majority's preference, one code each; blank if nobody voted.
    pub verdicts: Expression,
    /// The votes, codes separated by spaces.
    pub votes: Option<Expression>,
    /// The reviewer's marks, codes separated by spaces; blank if nobody reviewed.
    pub marks: Option<Expression>,
    /// Cells, and the codes whose share each one is.
    pub shares: Vec<(&'static str, &'static str)>,
}

/// A multiple choice.
#[derive(Debug)]
pub struct ChoiceColumns {
    pub question: Expression,
    /// The options in the order shown.
    pub options: Expression,
    /// The index of the right one; null for a record that is not a multiple choice.
    pub gold: Expression,
    /// Shared by the items made of one record; without it each item is its own group.
    pub group: Option<Expression>,
    /// Options that occur in every item and do not count as reuse.
    pub apart: Vec<&'static str>,
}

/// Rated answers: one record per answer.
#[derive(Debug)]
pub struct RatedAnswers {
    /// The question's id.
    pub question: Expression,
    /// Whether it is the paired normal question.
    pub normal: Expression,
    /// The model that answered.
    pub model: Expression,
    /// The judges, a list.
    pub judges: Expression,
    /// The rating of each judge.
    pub ratings: Expression,
}

/// Puzzles with their options.
#[derive(Debug)]
pub struct Puzzles {
    pub question: Expression,
    pub answer: Expression,
    pub options: Expression,
}

/// Two texts of a group.
#[derive(Debug)]
pub struct TextPair {
    /// Its printed label.
    pub label: &'static str,
    pub text: Expression,
    pub group: Expression,
    /// True for the record whose words are counted.
    pub from: Expression,
    /// True for the record that may keep them.
    pub to: Expression,
}

impl FigureKind {
    /// The names of the kinds in `report.toml`.
    pub(crate) const NAMES: [&str; 17] = RECORD_FIGURES;

    /// Whether it is drawn as bars, unless its folder says otherwise.
    pub(crate) fn is_drawn(&self) -> bool {
        matches!(
            self,
            FigureKind::Counts(_) | FigureKind::Bars(_) | FigureKind::Votes { .. } | FigureKind::Wins(_)
        )
    }

    /// Its name in `report.toml`.
    pub fn name(&self) -> &'static str {
        match self {
            FigureKind::Numbers(_) => "numbers",
            FigureKind::Counts(_) => "counts",
            FigureKind::Bars(_) => "bars",
            FigureKind::Votes { .. } => "votes",
            FigureKind::Wins(_) => "wins",
            FigureKind::Shortcuts(_) => "shortcuts",
            FigureKind::Agreement { .. } => "agreement",
            FigureKind::PooledAgreement(_) => "pooled-agreement",
            FigureKind::Reviews => "reviews",
            FigureKind::JudgePairs(_) => "judge-pairs",
            FigureKind::Ratings(_) => "ratings",
            FigureKind::ScoresByPart { .. } => "scores-by-part",
            FigureKind::PuzzleStatistics(_) => "puzzle-statistics",
            FigureKind::WordsKept(_) => "words-kept",
            FigureKind::Labels => "labels",
            FigureKind::Columns => "columns",
            FigureKind::Lines(_) => "lines",
            FigureKind::OfAnswers(_) => "columns of answers",
        }
    }

    /// The cells of its lines, or of its value; `None` if an expression gives the lines.
    pub(crate) fn cell_names(&self) -> Option<Vec<&'static str>> {
        let named = |first: &[&'static str], more: &mut dyn Iterator<Item = &'static str>| {
            Some(first.iter().copied().chain(more).collect())
        };
        let none = &mut std::iter::empty();
        match self {
            FigureKind::Numbers(_) => named(&["name", "label", "value"], none),
            FigureKind::Counts(counts) => {
                named(&["value", "label", "label_zh", "number"], &mut counts.by.iter().map(|(name, _)| *name))
            }
            FigureKind::Bars(_) => named(&["over", "to", "count"], none),
            FigureKind::Votes { .. } => named(&["value", "label", "label_zh", "votes", "percent"], none),
            FigureKind::Wins(wins) => {
                let shares = &mut wins.shares.iter().map(|(name, _)| *name);
                named(&["opponent", "items", "agreement", "marked", "marks"], shares)
            }
            FigureKind::Agreement { .. } => named(&["field", "items", "percent", "fleiss", "sample"], none),
            FigureKind::PooledAgreement(_) => named(&["items", "shares", "kappa", "sample"], none),
            FigureKind::JudgePairs(_) => named(&["judges", "individual", "mean"], none),
            FigureKind::Ratings(_) => named(&["judge", "model", "normal", "counts"], none),
            FigureKind::ScoresByPart { .. } => named(&["model", "category", "questions", "score"], none),
            FigureKind::WordsKept(_) => named(&["value"], none),
            FigureKind::Shortcuts(_)
            | FigureKind::Reviews
            | FigureKind::PuzzleStatistics(_)
            | FigureKind::Labels
            | FigureKind::Columns => Some(Vec::new()),
            FigureKind::Lines(_) | FigureKind::OfAnswers(_) => None,
        }
    }
}

impl RatedAnswers {
    fn record_expressions(&self) -> [&Expression; 5] {
        [&self.question, &self.normal, &self.model, &self.judges, &self.ratings]
    }
}

impl Figure {
    /// What it measures of models' answers; `None` of a figure of records.
    pub fn of_answers(&self) -> Option<&Measures> {
        match &self.kind {
            FigureKind::OfAnswers(measures) => Some(measures),
            _ => None,
        }
    }

    /// The expressions that are evaluated on the records of its step.
    pub fn record_expressions(&self) -> Vec<&Expression> {
        let mut asked: Vec<&Expression> = self.among.iter().collect();
        match &self.kind {
            FigureKind::Numbers(numbers) => {
                asked.extend(numbers.iter().filter_map(|number| match &number.measure {
                    NumberMeasure::Count(of)
                    | NumberMeasure::Share(of)
                    | NumberMeasure::Mean(of)
                    | NumberMeasure::Lengths(of) => Some(of),
                    NumberMeasure::Items | NumberMeasure::Modified(_) | NumberMeasure::LookedAt(_) => None,
                }))
            }
            FigureKind::Counts(counts) => asked.extend(counts.by.iter().map(|(_, by)| by)),
            FigureKind::Bars(bars) => asked.push(&bars.of),
            FigureKind::Votes { of, .. } => asked.push(of),
            FigureKind::Wins(wins) => {
                asked.extend([&wins.opponents, &wins.verdicts]);
                asked.extend(wins.votes.iter().chain(&wins.marks));
            }
            FigureKind::Shortcuts(posed) => asked.extend(posed.iter().flat_map(|posed| {
                [&posed.question, &posed.options, &posed.gold].into_iter().chain(&posed.group)
            })),
            FigureKind::JudgePairs(judged) | FigureKind::Ratings(judged) => {
                asked.extend(judged.record_expressions())
            }
            FigureKind::ScoresByPart { judged, .. } => asked.extend(judged.record_expressions()),
            FigureKind::PuzzleStatistics(of) => asked.extend([&of.question, &of.answer, &of.options]),
            FigureKind::WordsKept(kept) => asked.extend([&kept.text, &kept.group, &kept.from, &kept.to]),
            FigureKind::Agreement { .. }
            | FigureKind::PooledAgreement(_)
            | FigureKind::Reviews
            | FigureKind::Labels
            | FigureKind::Columns
            | FigureKind::Lines(_)
            | FigureKind::OfAnswers(_) => {}
        }
        asked
    }

    /// The expression that is evaluated on the last step's records, whatever its own step.
    pub fn of_last(&self) -> Option<&Expression> {
        match &self.kind {
            FigureKind::ScoresByPart { parts, questions: None, .. } => Some(parts),
            _ => None,
        }
    }
}
