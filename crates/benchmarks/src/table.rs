//! `[[table]]`: which figures of models' answers stand side by side. `tables` reads it.

use crate::expression::Expression;

/// A table of an evaluation, a row a model.
#[derive(Debug)]
pub struct Table {
    /// Its name in files and links.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The paper's table or figure.
    pub paper: &'static str,
    /// The same where models were asked in several settings.
    pub paper_of_settings: &'static str,
    /// How to read it.
    pub about: &'static str,
    /// What it measures.
    pub measures: Measures,
    /// The charts of it on the page.
    pub drawn: Vec<Drawn>,
    /// Its words that are said in Chinese, too: in English and in Chinese, with `{}` where something stands in.
    pub words: Vec<(&'static str, &'static str)>,
}

/// What a table measures.
#[derive(Debug)]
pub enum Measures {
    /// A figure a column.
    Columns {
        /// The columns behind the model's name.
        columns: Vec<Column>,
        /// Whether each number of solved examples, and reasoning, is a row of its own.
        by_setting: bool,
        /// The part of the set that it is about.
        part: Option<Part>,
    },
    /// What no list of columns says.
    Native(Native),
}

/// A part of a set: what `[data] parts` says of its rows.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What the figures' origin calls it: `part`, or another key.
    pub key: &'static str,
    /// The part.
    pub is: &'static str,
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    /// What is measured.
    pub measure: Measure,
    /// Among which rows of the set; all where nothing is said.
    pub among: Option<Expression>,
    /// The part of the set that it is about.
    pub part: Option<&'static str>,
    /// The column of the set that parts it: there is one such column for each value.
    pub each: Option<&'static str>,
}

/// What a column measures; earlier columns by their places, tasks by their whole names.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Percent of right answers.
    Accuracy(&'static str),
    /// Macro F1 over the labels, times 100.
    F1 {
        /// The task.
        task: &'static str,
        /// Over the labels that rows of the set have, whatever part is looked at: one that the part lacks counts as 0.
        of_set: bool,
    },
    /// Pearson's correlation with people's ratings, times 100.
    Correlation(&'static str),
    /// The mean of the judges' means.
    Score(&'static str),
    /// Percent of the groups of which all these parts are right, among those of which all are answered.
    Groups(&'static str, Vec<&'static str>),
    /// Percent of answers in the form that was asked for.
    Format(Vec<&'static str>),
    /// One earlier column less another.
    Difference(usize, usize),
    /// The mean of earlier columns.
    Mean(Vec<usize>),
    /// Their geometric mean.
    Geometric(Vec<usize>),
}

/// A table of a kind that the program knows.
#[derive(Debug)]
pub struct Native {
    /// What it is.
    pub kind: Kind,
    /// The tasks whose answers it is drawn from, by their whole names.
    pub tasks: Vec<&'static str>,
    /// The parts of the set, a column each.
    pub parts: Vec<&'static str>,
    /// Headings of its columns.
    pub columns: Vec<&'static str>,
    /// The same table of each judge, where there are several.
    pub by_judge: Option<ByJudge>,
    /// The columns of the set with the models, the judges and the numbers of ratings that a row holds.
    pub ratings: Option<[&'static str; 3]>,
    /// A task of another set that was evaluated beside it.
    pub other: Option<&'static str>,
}

/// What a table of one judge is called; `{}` is the judge.
#[derive(Clone, Copy, Debug)]
pub struct ByJudge {
    /// Its name.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The paper's figure.
    pub paper: &'static str,
}

/// The kinds of tables that the program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Judges' means by part, from 0 to 100; the best model first.
    ScoresByPart,
    /// Judges' means of two tasks on the items that both ask about, and their difference, by model and judge.
    TwoScores,
    /// How often each judge gives each rating.
    Ratings,
    /// How far judges agree, by pairs.
    JudgePairs,
    /// Models' figures against their sizes.
    Sizes,
    /// Two tasks that show the same two options in both orders.
    BothOrders,
    /// The mean of both orders by part, set against chance.
    BothOrdersByPart,
    /// Models' figures here against those of another set, or of the ratings that rows hold.
    Against,
    /// People's ratings against judges'.
    PeopleAndJudges,
    /// Whose text is preferred, by people and by judges.
    Wins,
    /// How far preferences agree.
    Preferences,
    /// Answers in free words: people's and judges' ratings, and who gave none.
    FreeAnswers,
}

impl Kind {
    /// What a folder calls them, how many tasks each takes, and how many headings.
    pub(crate) const ALL: [(&'static str, Kind, usize, usize); 12] = [
        ("scores-by-part", Kind::ScoresByPart, 1, 1),
        ("two-scores", Kind::TwoScores, 2, 3),
        ("ratings", Kind::Ratings, 1, 0),
        ("judge-pairs", Kind::JudgePairs, 1, 0),
        ("sizes", Kind::Sizes, 1, 1),
        ("both-orders", Kind::BothOrders, 2, 0),
        ("both-orders-by-part", Kind::BothOrdersByPart, 2, 1),
        ("against", Kind::Against, 1, 2),
        ("people-and-judges", Kind::PeopleAndJudges, 1, 0),
        ("wins", Kind::Wins, 1, 0),
        ("preferences", Kind::Preferences, 1, 0),
        ("free-answers", Kind::FreeAnswers, 1, 0),
    ];
}

/// A chart.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Its heading; each `{}` is something of what is drawn.
    pub title: &'static str,
    /// How it is drawn.
    pub shape: Shape,
}

/// How a table is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A bar for each of the first columns.
    Bars(usize),
    /// The columns of a row behind each other.
    Stacked,
    /// The first column over the number of solved examples.
    Lines,
    /// A point a model, or an item.
    Scatter,
}
