//! `[[table]]`: which figures of models' answers stand side by side.

use crate::data::Data;
use crate::expression::{Expression, Language};
use crate::reader::Keys;
use crate::task::{Task, Wants};

/// A table of an evaluation, a row a model.
#[derive(Debug)]
pub struct Table {
    /// Its name in files and links.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The paper's table or figure.
    pub paper: &'static str,
    /// How to read it.
    pub about: &'static str,
    /// The columns behind the model's name.
    pub columns: Vec<Column>,
    /// Whether the page draws its columns as bars.
    pub chart: bool,
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
    /// The column of the set that parts it: there is one such column for each value.
    pub each: Option<&'static str>,
}

/// What a column measures; earlier columns by their places, tasks by their whole names.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Percent of right answers.
    Accuracy(&'static str),
    /// Macro F1 over the labels, times 100.
    F1(&'static str),
    /// Pearson's correlation with people's ratings, times 100.
    Correlation(&'static str),
    /// Percent of answers in the form that was asked for.
    Format(Vec<&'static str>),
    /// One earlier column less another.
    Difference(usize, usize),
    /// The mean of earlier columns.
    Mean(Vec<usize>),
}

/// Reads the tables of a benchmark with these tasks.
pub(crate) fn read(language: Language, data: Option<&Data>, tasks: &[Task], keys: &Keys<'_>) -> Vec<Table> {
    let of_row: Vec<&str> = data.iter().flat_map(|data| &data.columns).map(|column| column.name).collect();
    let context = Context { language, of_row, tasks };
    let mut names: Vec<&str> = Vec::new();
    let table = |keys: &Keys<'_>| {
        let name = keys.needed("name");
        if names.contains(&name) {
            keys.problem("name", format!("two tables are named {name:?}"));
        }
        names.push(name);
        let mut columns: Vec<Column> = Vec::new();
        keys.tables("columns", |keys| columns.extend(context.column(&columns, keys)));
        if !keys.has("columns") {
            keys.problem("name", "`columns` is missing: what the table measures");
        }
        Table {
            name,
            title: keys.needed("title"),
            paper: keys.text("paper").unwrap_or_default(),
            about: keys.text("about").unwrap_or_default(),
            columns,
            chart: keys.flag("chart").unwrap_or(true),
        }
    };
    keys.tables("table", table).unwrap_or_default()
}

/// What the columns of a table may name.
struct Context<'a> {
    language: Language,
    of_row: Vec<&'static str>,
    tasks: &'a [Task],
}

const MEASURES: [&str; 6] = ["accuracy", "f1", "correlation", "format", "difference", "mean"];

impl Context<'_> {
    /// `None` where something is wrong with it, which is told.
    fn column(&self, before: &[Column], keys: &Keys<'_>) -> Option<Column> {
        let title = keys.needed("title");
        if before.iter().any(|column| column.title == title) {
            keys.problem("title", format!("two columns are named {title:?}"));
        }
        let named: Vec<&str> = MEASURES.into_iter().filter(|measure| keys.has(measure)).collect();
        let among = keys.text("among").and_then(|source| {
            let place = keys.place("among")?;
            Expression::parse(self.language, place, source).map_err(|what| keys.problem("among", what)).ok()
        });
        if let Some(problem) = among.as_ref().and_then(|e| e.unknown("column", self.of_row.iter().copied())) {
            keys.problem("among", problem);
        }
        let each = keys.text("each");
        if let Some(name) = each.filter(|name| !self.of_row.contains(name)) {
            let known = self.of_row.iter().copied();
            keys.problem("each", riddlemill_text::hint::unknown("column", name, known));
        }
        let [measure] = named[..] else {
            keys.problem("title", format!("a column has one of {}", MEASURES.join(", ")));
            return None;
        };
        let measure = match measure {
            "accuracy" => Measure::Accuracy(self.task(keys, measure, |task| {
                (!matches!(task.wants, Wants::Rating { .. })).then_some(()).ok_or("`choose` or `label`")
            })?),
            "f1" => Measure::F1(self.task(keys, measure, |task| {
                matches!(task.wants, Wants::Labels { .. }).then_some(()).ok_or("`label`")
            })?),
            "correlation" => Measure::Correlation(self.task(keys, measure, |task| {
                matches!(task.wants, Wants::Rating { .. }).then_some(()).ok_or("`rate`")
            })?),
            "format" => {
                let one = keys.is_text("format").then(|| keys.text("format").into_iter().collect());
                let named = one.or_else(|| keys.texts("format")).unwrap_or_default();
                let found: Vec<_> =
                    named.into_iter().filter_map(|name| self.found(keys, "format", name)).collect();
                if found.is_empty() {
                    return None;
                }
                Measure::Format(found.into_iter().map(|task| task.name).collect())
            }
            _ => {
                let named = keys.texts(measure)?;
                let of = |title: &&'static str| {
                    let place = before.iter().position(|column| column.title == *title);
                    if place.is_none() {
                        let known = before.iter().map(|column| column.title);
                        let what = riddlemill_text::hint::unknown("column before this one", title, known);
                        keys.problem(measure, what);
                    } else if before.iter().any(|column| column.title == *title && column.each.is_some()) {
                        keys.problem(measure, format!("{title:?} is several columns, one for each value"));
                    }
                    place
                };
                let places: Vec<usize> = named.iter().filter_map(of).collect();
                match (measure, &places[..]) {
                    ("mean", [_, ..]) => Measure::Mean(places),
                    ("difference", [first, second]) => Measure::Difference(*first, *second),
                    _ => {
                        if places.len() == named.len() {
                            keys.problem(measure, "`difference` names two columns, `mean` one or more");
                        }
                        return None;
                    }
                }
            }
        };
        let derived = matches!(measure, Measure::Difference(..) | Measure::Mean(_) | Measure::Format(_));
        if derived && (among.is_some() || each.is_some()) {
            keys.problem("title", "`among` and `each` go with accuracy, f1 and correlation alone");
        }
        Some(Column { title, measure, among, each })
    }

    /// The whole name of the task under a key, where it can be measured so.
    fn task(
        &self,
        keys: &Keys<'_>,
        key: &str,
        fits: impl Fn(&Task) -> Result<(), &'static str>,
    ) -> Option<&'static str> {
        let task = self.found(keys, key, keys.text(key)?)?;
        if let Err(kind) = fits(task) {
            keys.problem(key, format!("`{key}` measures tasks with {kind}"));
        }
        Some(task.name)
    }

    fn found(&self, keys: &Keys<'_>, key: &str, name: &str) -> Option<&Task> {
        let found = self.tasks.iter().find(|task| task.title == name);
        if found.is_none() {
            let known = self.tasks.iter().map(|task| task.title);
            keys.problem(key, riddlemill_text::hint::unknown("task", name, known));
        }
        found
    }
}
