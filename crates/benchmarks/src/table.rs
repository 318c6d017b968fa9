//! What a table measures of models' answers, and how tables are drawn. `tables` parses it.

pub(crate) mod reader;

use crate::expression::Expression;

/// The figures of a table.
#[derive(Debug)]
pub enum Measures {
    /// One figure per column.
    Columns {
        /// The columns after the model's name.
        columns: Vec<TableColumn>,
        /// Whether each setting (number of solved examples, reasoning) is a row of its own.
        by_setting: bool,
        /// The part of the set that it covers.
        part: Option<Part>,
    },
    /// A kind that cannot be declared as a list of columns.
    Native(NativeTable),
}

/// A part of the set, as in `[data] parts`.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its key in a figure's origin: `part`, or another one.
    pub key: &'static str,
    /// The part.
    pub is: &'static str,
}

/// A column of a table.
#[derive(Debug)]
pub struct TableColumn {
    /// Its heading.
    pub title: &'static str,
    /// The figure.
    pub measure: ColumnMeasure,
    /// The condition for rows of the set; none means all.
    pub among: Option<Expression>,
    /// The part of the set that it covers.
    pub part: Option<&'static str>,
    /// The column of the set by whose values it is split into several columns.
    pub each: Option<&'static str>,
}

/// The figure of a column; earlier columns by index, tasks by qualified names.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnMeasure {
    /// Percent of correct answers.
    Accuracy(&'static str),
    /// Macro F1 over the labels, times 100.
    F1 {
        task: &'static str,
        /// Over all labels in the set, whatever part is covered: labels missing from the part count as 0.
        of_set: bool,
    },
    /// A figure of labels as classes, times 100.
    Classes { task: &'static str, score: ClassScore, over: Classes },
    /// A figure of all answers to a row together, or of the confidence that they state, times 100.
    Answers { task: &'static str, score: AnswerScore },
    /// Percent of correct answers among those that name an option or a label.
    OfAttempted(&'static str),
    /// Pearson's correlation with people's ratings, times 100.
    Correlation(&'static str),
    /// The mean of the judges' means.
    Score(&'static str),
    /// Percent of the groups in which all these parts are correct, of those in which all are answered.
    Groups(&'static str, Vec<&'static str>),
    /// Percent of the groups in which some of these parts are wrong, of those in which the `solved` ones are correct.
    Failed {
        task: &'static str,
        /// The parts of which some are wrong.
        failed: Vec<&'static str>,
        /// The parts that are all correct.
        solved: Vec<&'static str>,
    },
    /// Percent of answers in the requested format.
    Format(Vec<&'static str>),
    /// One earlier column minus another.
    Difference(usize, usize),
    /// The mean of earlier columns.
    Mean(Vec<usize>),
    /// Their geometric mean.
    Geometric(Vec<usize>),
}

/// A figure of right and predicted classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassScore {
    /// The share of what was named that is right.
    Precision,
    /// The share of what is right that was named.
    Recall,
    /// The harmonic mean of both.
    F1,
    /// Matthews' correlation coefficient, from -1 to 1.
    Mcc,
    /// The share of what is not of the class that was named as it.
    FalsePositives,
    /// The share of the class that was not named.
    FalseNegatives,
}

/// A figure of several answers to a row, or of stated confidences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerScore {
    /// Some of so many answers are right: the unbiased estimator of pass@k.
    PassAt(usize),
    /// The most frequent answer is right.
    Majority,
    /// The expected calibration error.
    Calibration,
    /// Brier's score.
    Brier,
}

/// The classes over which a figure is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// All answers together.
    Micro,
    /// The mean of the classes, each counted alike.
    Macro,
    /// One of the labels, by its place among the task's, against all others.
    One(usize),
}

/// A table of a kind built into the program.
#[derive(Debug)]
pub struct NativeTable {
    /// What it is.
    pub kind: Layout,
    /// The tasks whose answers it uses, by qualified names.
    pub tasks: Vec<&'static str>,
    /// The parts of the set, one column each.
    pub parts: Vec<&'static str>,
    /// Headings of its columns.
    pub columns: Vec<&'static str>,
    /// The same table for each judge, if there are several.
    pub by_judge: Option<ByJudge>,
    /// The columns of the set with the models, judges and numbers of a row's ratings.
    pub ratings: Option<[&'static str; 3]>,
    /// A task of another set evaluated together with this one.
    pub other: Option<&'static str>,
}

/// The titles of a table of one judge; `{}` is the judge.
#[derive(Clone, Copy, Debug)]
pub struct ByJudge {
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The paper's figure.
    pub paper: &'static str,
}

/// The layouts of tables that are built into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Judges' means by part, from 0 to 100; best model first.
    ScoresByPart,
    /// Judges' means of two tasks on the items that have both, and their difference, by model and judge.
    TwoScores,
    /// How often each judge gives each rating.
    Ratings,
    /// Agreement of judges, by pairs.
    JudgePairs,
    /// Models' figures by their sizes.
    Sizes,
    /// Two tasks with both orders of the same two options.
    BothOrders,
    /// The mean of both orders by part, relative to chance.
    BothOrdersByPart,
    /// Models' figures here compared with those of another set, or with the ratings in the rows.
    Against,
    /// People's ratings compared with judges'.
    PeopleAndJudges,
    /// Whose text is preferred, by people and by judges.
    Wins,
    /// Agreement on preferences.
    Preferences,
    /// Answers in free text: people's and judges' ratings, and missing answers.
    FreeAnswers,
}

impl Layout {
    /// Their names in folders, the number of tasks, and the number of headings.
    pub(crate) const ALL: [(&'static str, Layout, usize, usize); 12] = [
        ("scores-by-part", Layout::ScoresByPart, 1, 1),
        ("two-scores", Layout::TwoScores, 2, 3),
        ("ratings", Layout::Ratings, 1, 0),
        ("judge-pairs", Layout::JudgePairs, 1, 0),
        ("sizes", Layout::Sizes, 1, 1),
        ("both-orders", Layout::BothOrders, 2, 0),
        ("both-orders-by-part", Layout::BothOrdersByPart, 2, 1),
        ("against", Layout::Against, 1, 2),
        ("people-and-judges", Layout::PeopleAndJudges, 1, 0),
        ("wins", Layout::Wins, 1, 0),
        ("preferences", Layout::Preferences, 1, 0),
        ("free-answers", Layout::FreeAnswers, 1, 0),
    ];
}

/// A chart.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Its heading; each `{}` is replaced by something drawn.
    pub title: &'static str,
    pub shape: Shape,
}

/// The shape of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A bar for each of the first columns.
    Bars(usize),
    /// The columns of a row, stacked.
    Stacked,
    /// The first column over the number of solved examples.
    Lines,
    /// One point per model, or per item.
    Scatter,
}

/// The kinds of figures of records.
pub(crate) const RECORD_FIGURES: [&str; 17] = [
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

/// Whether a kind is one of records, and no layout of a table of answers has the same name.
pub(crate) fn is_only_of_records(kind: &str) -> bool {
    RECORD_FIGURES.contains(&kind) && Layout::ALL.iter().all(|(layout, ..)| *layout != kind)
}
