//! What the rows of each set look like: typed columns with their meaning, the published form beside
//! them, and the task they pose.
//!
//! A benchmark's folder declares them (`[data]`, `[[compat]]`); the layout of candidate posts is in [`posts`].

mod columns;
pub(crate) mod oddity;
mod posts;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use minijinja::Value as TemplateValue;
use minijinja::value::Serde;
use riddlemill_benchmarks::data::{self, PUBLISHED};
use riddlemill_benchmarks::{Benchmark, Data, Trouble};
use serde_json::{Map, Value as Json};

use super::manifest::MADE_WITH;
use super::row::{Row, RowError, Value};
use crate::recipe::Recipe;
use crate::record::Standing;
use crate::stages::Rows;

pub use columns::{Column, Layout};
pub use posts::post_row;
pub use riddlemill_benchmarks::data::{Answer, Compat, Kind};

const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, nullable: false, about, values: &[] }
}

const fn maybe(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, nullable: true, about, values: &[] }
}

const fn one_of(name: &'static str, values: &'static [&'static str], about: &'static str) -> Column {
    Column { name, kind: Kind::Text, nullable: false, about, values }
}

/// The layouts of every finished set: first that of its usual columns, then one for each choice of those that are only
/// sometimes.
static ALL: LazyLock<Vec<Vec<Layout>>> = LazyLock::new(|| {
    let declared = riddlemill_benchmarks::all().iter();
    declared.filter_map(|benchmark| Some(declare(benchmark.name, benchmark.data.as_ref()?))).collect()
});

/// Layouts live as long as the program, as the folders do from which they are made.
fn declare(config: &'static str, declared: &'static Data) -> Vec<Layout> {
    let column = |column: &'static data::Column| Column {
        name: column.name,
        kind: column.kind,
        nullable: column.nullable,
        about: column.about,
        values: &column.values,
    };
    let columns: Vec<Column> = declared.columns.iter().map(column).collect();
    let sometimes: Vec<Column> = declared.sometimes.iter().map(column).collect();
    let usual = Layout {
        config,
        about: declared.about,
        standing: columns.iter().map(|column| column.name).find(|name| *name == "standing"),
        columns: columns.clone().leak(),
        compat: &declared.compat,
        task: declared.poses.as_ref(),
        labels: &declared.labels,
        sometimes: sometimes.iter().map(|column| column.name).collect::<Vec<_>>().leak(),
        declared: Some(declared),
    };
    let choice = |chosen: usize| {
        let more: Vec<Column> =
            (0..sometimes.len()).filter(|at| chosen >> at & 1 == 1).map(|at| sometimes[at]).collect();
        let published = more.iter().any(|column| column.name == PUBLISHED);
        // A published file may lack any value that a row built here must have.
        let lacking = |(at, column): (usize, &Column)| Column {
            nullable: column.nullable || published && at > 0 && !column.kind.item().0,
            ..*column
        };
        let columns: Vec<Column> = columns.iter().enumerate().map(lacking).chain(more).collect();
        Layout { columns: columns.leak(), ..usual }
    };
    std::iter::once(usual).chain((1..1 << sometimes.len()).map(choice)).collect()
}

/// Candidate posts, as the recipes that end at dedup bring them out.
pub fn posts(recipe: &'static str) -> Layout {
    Layout { config: recipe, ..posts::LAYOUT }
}

/// Every layout of a finished set.
pub fn all() -> impl Iterator<Item = &'static Layout> {
    ALL.iter().filter_map(|layouts| layouts.first())
}

/// A finished set's layout by its config.
pub fn find(config: &str) -> Option<&'static Layout> {
    all().find(|layout| layout.config == config)
}

/// The layouts of a recipe's candidates, where these are their rows.
pub fn layouts(recipe: &Recipe, rows: Rows) -> Vec<Layout> {
    match rows {
        Rows::Posts => vec![posts(recipe.name)],
        // No recipe ends at responses.
        Rows::Responses => Vec::new(),
        _ => find(recipe.name).copied().into_iter().collect(),
    }
}

/// An object of a published file as a row, and whose it is; `None` where it has no known form. The form with the most
/// keys that fits is it: RuozhiBench-MC has all those of RuozhiBench-Gen.
pub fn from_published(json: &Map<String, Json>) -> Option<(&'static Layout, Row)> {
    let keys = |layout: &&Layout| layout.compat.first().map_or(0, |compat| compat.keys.len());
    let mut layouts: Vec<&'static Layout> = all().collect();
    layouts.sort_by_key(|layout| std::cmp::Reverse(keys(layout)));
    layouts.into_iter().find_map(|layout| Some((layout, layout.back(json)?)))
}

/// The layout of a config whose columns these are, as the folder of a release says that it was made; `None` where it
/// holds no benchmark's folder, as those of older programs, or one that cannot be read.
pub(super) fn made_with<'a>(
    folder: &Path,
    config: &str,
    keys: impl Iterator<Item = &'a str> + Clone,
) -> Option<Layout> {
    let standing = riddlemill_benchmarks::standing_in(&folder.join(MADE_WITH)).ok()?;
    let benchmark =
        standing.into_iter().find(|benchmark| benchmark.name == config && benchmark.data.is_some())?;
    // As long as the program, as today's: a layout's parts are borrowed everywhere.
    let benchmark: &'static Benchmark = Box::leak(Box::new(benchmark));
    with_keys(declare(benchmark.name, benchmark.data.as_ref()?).iter(), keys)
}

fn with_keys<'l, 'a>(
    mut layouts: impl Iterator<Item = &'l Layout>,
    keys: impl Iterator<Item = &'a str> + Clone,
) -> Option<Layout> {
    layouts.find(|layout| keys.clone().eq(layout.columns.iter().map(|column| column.name))).copied()
}

impl Layout {
    /// A column's place.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// The layout where those of these columns stand too that are only sometimes.
    pub fn with(self, names: &[&str]) -> Layout {
        let stands = |layout: &&Layout| {
            self.sometimes.iter().all(|name| names.contains(name) == layout.place(name).is_some())
        };
        let layouts = ALL.iter().flatten().filter(|layout| layout.config == self.config);
        layouts.into_iter().find(stands).map_or(self, |layout| *layout)
    }

    /// The layout whose columns these are, for rows that were released with or without those that are only sometimes.
    pub fn of_keys<'a>(self, keys: impl Iterator<Item = &'a str> + Clone) -> Layout {
        let layouts = ALL.iter().flatten().filter(|layout| layout.config == self.config);
        with_keys(layouts, keys).unwrap_or(self)
    }

    /// What must hold within a row beyond its types.
    ///
    /// # Errors
    /// [`RowError::Check`] where it does not.
    pub fn check(&self, row: &Row) -> Result<(), RowError> {
        // A published row is what it is; what does not hold of it is told by `riddlemill published`.
        if self.standing_of(row) == Some(Standing::Published.code()) {
            return Ok(());
        }
        self.findings(row).into_iter().next().map_or(Ok(()), |finding| Err(RowError::Check(finding)))
    }

    /// How sure a row is.
    fn standing_of<'r>(&self, row: &'r Row) -> Option<&'r str> {
        match row.0.get(self.place(self.standing?)?)? {
            Value::Text(standing) => Some(standing),
            _ => None,
        }
    }

    /// All that does not hold within a row, in words.
    pub fn findings(&self, row: &Row) -> Vec<String> {
        let checks = self.declared.map(|declared| declared.checks.as_slice()).unwrap_or_default();
        let over = if checks.is_empty() { TemplateValue::UNDEFINED } else { self.given(row) };
        let finding = |check: &data::Check| match check.holds.holds(&over) {
            Ok(true) => None,
            Ok(false) => {
                Some(check.says.value(&over).map_or_else(|e| e.to_string(), |says| says.to_string()))
            }
            Err(e) => Some(e.to_string()),
        };
        checks.iter().filter_map(finding).collect()
    }

    /// A row in a published form; `None` where it is not in that file.
    ///
    /// # Errors
    /// [`Trouble`] where a value cannot be computed.
    pub fn published(&self, compat: &Compat, row: &Row) -> Result<Option<Map<String, Json>>, Trouble> {
        compat.published(&self.given(row))
    }

    /// A row's line in a published form: what its published file says is where that is more than its columns give.
    /// `None` where the row is not in that file.
    ///
    /// # Errors
    /// [`Trouble`] where a value cannot be computed.
    pub fn published_line(&self, compat: &Compat, row: &Row) -> Result<Option<String>, Trouble> {
        let Some(computed) = self.published(compat, row)? else { return Ok(None) };
        let beside = self.place(PUBLISHED).and_then(|at| match row.0.get(at)? {
            Value::Text(beside) => Some(beside.as_str()),
            _ => None,
        });
        Ok(Some(match beside {
            None => Json::Object(computed).to_string(),
            Some(beside) => oddity::line(&computed, beside),
        }))
    }

    /// Reads an object of the published file; `None` where it has another form.
    fn back(&self, json: &Map<String, Json>) -> Option<Row> {
        let declared = self.declared.filter(|declared| !declared.back.is_empty())?;
        let over =
            with_this(json.iter().map(|(key, value)| (key.clone(), TemplateValue::from(Serde(value)))));
        let value = |column: &Column| {
            let back = declared.back.iter().find(|(name, _)| *name == column.name);
            let value = match back {
                Some((_, back)) => typed(column.kind, &back.value(&over).ok()?)?,
                None => Value::Null,
            };
            (column.nullable || value != Value::Null).then_some(value)
        };
        self.columns.iter().map(value).collect::<Option<_>>().map(Row)
    }

    /// What is read back of an object that says nothing, by column: values that replace what the published form does
    /// not say (`'confirmed'`). Of two options the first may be the right one, and that is said.
    pub fn stand_ins(&self) -> BTreeMap<&'static str, Value> {
        let nothing = with_this(std::iter::empty());
        let gold = match self.task.map(|task| task.answer) {
            Some(Answer::Choice { gold, .. }) => Some(gold),
            _ => None,
        };
        let back = self.declared.map(|declared| declared.back.as_slice()).unwrap_or_default();
        let stand_in = |column: &Column| {
            let Some((_, back)) = back.iter().find(|(name, _)| *name == column.name) else {
                return Some((column.name, Value::Null));
            };
            let value = typed(column.kind, &back.value(&nothing).ok()?)?;
            (value != Value::Null && gold != Some(column.name)).then_some((column.name, value))
        };
        self.columns.iter().filter_map(stand_in).collect()
    }

    /// A row as expressions see it: a name is a column.
    fn given(&self, row: &Row) -> TemplateValue {
        with_this(
            self.columns.iter().zip(&row.0).map(|(column, value)| (column.name.to_owned(), given(value))),
        )
    }
}

/// Names with their values, and `this`, which holds all of them: some are no names in an expression.
fn with_this(names: impl Iterator<Item = (String, TemplateValue)>) -> TemplateValue {
    let mut over: BTreeMap<String, TemplateValue> = names.collect();
    let this = TemplateValue::from(over.clone());
    over.insert("this".to_owned(), this);
    TemplateValue::from(over)
}

fn given(value: &Value) -> TemplateValue {
    match value {
        Value::Null => TemplateValue::from(()),
        Value::Text(text) => TemplateValue::from(text.as_str()),
        Value::Count(n) => TemplateValue::from(*n),
        Value::Real(x) => TemplateValue::from(*x),
        Value::Flag(flag) => TemplateValue::from(*flag),
        Value::Texts(list) => list.iter().map(String::as_str).collect(),
        Value::Counts(list) => list.iter().copied().collect(),
        Value::Reals(list) => list.iter().copied().collect(),
    }
}

/// What an expression gave as a value of a column; `None` where it is of another type.
pub(super) fn typed(kind: Kind, given: &TemplateValue) -> Option<Value> {
    fn list<T>(given: &TemplateValue, item: impl Fn(&TemplateValue) -> Option<T>) -> Option<Vec<T>> {
        // A text is no list of its letters, nor a map one of its keys.
        let is_list =
            matches!(given.kind(), minijinja::value::ValueKind::Seq | minijinja::value::ValueKind::Iterable);
        if is_list { given.try_iter().ok()?.map(|one| item(&one)).collect() } else { None }
    }
    let text = |given: &TemplateValue| given.as_str().map(str::to_owned);
    let count =
        |given: &TemplateValue| given.is_integer().then(|| u64::try_from(given.clone()).ok()).flatten();
    let real = |given: &TemplateValue| given.is_number().then(|| f64::try_from(given.clone()).ok()).flatten();
    if given.is_none() || given.is_undefined() {
        return Some(Value::Null);
    }
    Some(match kind {
        Kind::Text => text(given)?.into(),
        Kind::Count => count(given)?.into(),
        Kind::Real => real(given)?.into(),
        Kind::Flag => Value::Flag(bool::try_from(given.clone()).ok()?),
        Kind::Texts => list(given, text)?.into(),
        Kind::Counts => list(given, count)?.into(),
        Kind::Reals => list(given, real)?.into(),
    })
}
