//! The rows of each set: typed columns with their meanings, the published form, and the task.
//!
//! A benchmark's folder declares them (`[data]`, `[[compat]]`); the layout of candidate posts is in [`layout_of_posts`].

pub(crate) mod oddity;

pub use riddlemill_benchmarks::compat::Compat;
pub use riddlemill_benchmarks::data::{AnswerForm, ColumnKind};

pub use super::row::{Column, Layout};

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::Value as TemplateValue;
use minijinja::value::Serde;
use riddlemill_benchmarks::data::{self, PUBLISHED};
use riddlemill_benchmarks::requirement::unmet_sentence;
use riddlemill_benchmarks::scope::Scope;
use riddlemill_benchmarks::{Benchmark, Data, Derived, ExpressionError, Splits};
use serde_json::{Map, Value as Json};

use super::manifest::MADE_WITH;
use super::row::{Row, RowError, Value};
use crate::recipe::Recipe;
use crate::record::{Post, PostKind, Standing};
use crate::stages::StageRows;

const fn required_column(name: &'static str, kind: ColumnKind, about: &'static str) -> Column {
    Column { name, kind, nullable: false, about, values: &[] }
}

const fn nullable_column(name: &'static str, kind: ColumnKind, about: &'static str) -> Column {
    Column { name, kind, nullable: true, about, values: &[] }
}

const fn one_of(name: &'static str, values: &'static [&'static str], about: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text, nullable: false, about, values }
}

/// The layouts of every finished set: first that of its usual columns, then one for each choice of the
/// optional ones.
static ALL: Derived<Vec<Vec<Layout>>> = Derived::new(|| {
    let declared = riddlemill_benchmarks::all_benchmarks().iter();
    declared.filter_map(|benchmark| Some(declare_layouts(benchmark.name, benchmark.data.as_ref()?))).collect()
});

/// Layouts live as long as the program, like the folders from which they are made.
fn declare_layouts(config: &'static str, declared: &'static Data) -> Vec<Layout> {
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
        compat: &declared.compat.files,
        task: declared.poses.as_ref(),
        labels: &declared.labels,
        sometimes: sometimes.iter().map(|column| column.name).collect::<Vec<_>>().leak(),
        declared: Some(declared),
    };
    let choice = |chosen: usize| {
        let more: Vec<Column> =
            (0..sometimes.len()).filter(|at| chosen >> at & 1 == 1).map(|at| sometimes[at]).collect();
        let published = more.iter().any(|column| column.name == PUBLISHED);
        // A published file may lack values that are required here.
        let lacking = |(at, column): (usize, &Column)| Column {
            nullable: column.nullable || published && at > 0 && !column.kind.split_list_kind().0,
            ..*column
        };
        let columns: Vec<Column> = columns.iter().enumerate().map(lacking).chain(more).collect();
        Layout { columns: columns.leak(), ..usual }
    };
    std::iter::once(usual).chain((1..1 << sometimes.len()).map(choice)).collect()
}

/// The layout of candidate posts, for recipes that end at dedup.
pub fn layout_of_posts(recipe: &'static str) -> Layout {
    Layout { config: recipe, ..LAYOUT }
}

/// Every layout of a finished set.
pub fn finished_layouts() -> impl Iterator<Item = &'static Layout> {
    ALL.iter().filter_map(|layouts| layouts.first())
}

/// A finished set's layout by its config.
pub fn find_layout(config: &str) -> Option<&'static Layout> {
    finished_layouts().find(|layout| layout.config == config)
}

/// The columns with the texts of items, each once, in the order of the sets.
pub fn text_columns() -> &'static [&'static str] {
    static TEXTS: Derived<Vec<&str>> = Derived::new(|| {
        let mut texts: Vec<&str> = Vec::new();
        for text in finished_layouts().filter_map(Layout::text_column) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    });
    &TEXTS
}

/// The text of a row of a config; of a config of no known layout, the first that it has.
pub fn text_of<'r>(config: &str, row: &'r Map<String, Json>) -> Option<&'r Json> {
    match find_layout(config).and_then(Layout::text_column) {
        Some(text) => row.get(text),
        None => text_columns().iter().find_map(|text| row.get(*text)),
    }
}

/// Labels of published files that differ from those of the sets, with the sets' labels.
pub fn renamed_labels() -> BTreeMap<String, String> {
    let declared =
        finished_layouts().filter_map(|layout| layout.declared).flat_map(|declared| &declared.compat.renamed);
    declared
        .flat_map(|(_, labels)| labels)
        .map(|(theirs, ours)| (theirs.to_string(), ours.to_string()))
        .collect()
}

/// The layouts of a recipe's candidates with these rows.
pub fn layouts_of_recipe(recipe: &Recipe, rows: StageRows) -> Vec<Layout> {
    match rows {
        StageRows::Posts => vec![layout_of_posts(recipe.name)],
        // Nothing is released of the records of an earlier step.
        rows if rows != recipe.kind_of_rows() => Vec::new(),
        _ => find_layout(recipe.name).copied().into_iter().collect(),
    }
}

/// Converts an object of a published file into a row, with its layout; `None` if it has no known form. Of
/// several matching forms the one with most keys is taken: RuozhiBench-MC has all keys of RuozhiBench-Gen.
pub fn from_published(json: &Map<String, Json>) -> Option<(&'static Layout, Row)> {
    let keys = |layout: &&Layout| layout.compat.first().map_or(0, |compat| compat.keys.len());
    let mut layouts: Vec<&'static Layout> = finished_layouts().collect();
    layouts.sort_by_key(|layout| std::cmp::Reverse(keys(layout)));
    layouts.into_iter().find_map(|layout| Some((layout, layout.parse_published(json)?)))
}

/// The layout of a config with these columns, from the benchmark's folder inside a release; `None` if there
/// is none, as in older releases, or it cannot be read.
pub(super) fn made_with<'a>(
    folder: &Path,
    config: &str,
    keys: impl Iterator<Item = &'a str> + Clone,
) -> Option<Layout> {
    let standing = riddlemill_benchmarks::standing_in(&folder.join(MADE_WITH)).ok()?;
    let benchmark =
        standing.into_iter().find(|benchmark| benchmark.name == config && benchmark.data.is_some())?;
    // Leaked, because layouts are borrowed for the life of the program.
    let benchmark: &'static Benchmark = Box::leak(Box::new(benchmark));
    with_keys(declare_layouts(benchmark.name, benchmark.data.as_ref()?).iter(), keys)
}

fn with_keys<'l, 'a>(
    mut layouts: impl Iterator<Item = &'l Layout>,
    keys: impl Iterator<Item = &'a str> + Clone,
) -> Option<Layout> {
    layouts.find(|layout| keys.clone().eq(layout.columns.iter().map(|column| column.name))).copied()
}

impl Layout {
    /// A column's index.
    pub fn place_of_column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// The layout with these of the optional columns.
    pub fn with_columns(self, names: &[&str]) -> Layout {
        let matches = |layout: &&Layout| {
            self.sometimes.iter().all(|name| names.contains(name) == layout.place_of_column(name).is_some())
        };
        let layouts = ALL.iter().flatten().filter(|layout| layout.config == self.config);
        layouts.into_iter().find(matches).map_or(self, |layout| *layout)
    }

    /// The layout with exactly these columns, for rows released with or without the optional ones.
    pub fn of_keys<'a>(self, keys: impl Iterator<Item = &'a str> + Clone) -> Layout {
        let layouts = ALL.iter().flatten().filter(|layout| layout.config == self.config);
        with_keys(layouts, keys).unwrap_or(self)
    }

    /// Checks a row beyond its types.
    ///
    /// # Errors
    /// [`RowError::Check`] if a check fails.
    pub fn check_row(&self, row: &Row) -> Result<(), RowError> {
        // A published row is kept unchanged; `riddlemill published` reports its failed checks.
        if self.standing_of(row) == Some(Standing::Published.code()) {
            return Ok(());
        }
        self.failed_checks(row).into_iter().next().map_or(Ok(()), |finding| Err(RowError::Check(finding)))
    }

    /// A row's standing.
    fn standing_of<'r>(&self, row: &'r Row) -> Option<&'r str> {
        match row.0.get(self.place_of_column(self.standing?)?)? {
            Value::Text(standing) => Some(standing),
            _ => None,
        }
    }

    /// The sentence of the first requirement that a row does not meet.
    pub fn unmet_requirement(&self, row: &Row) -> Option<String> {
        let requires = self.declared.map(|declared| declared.requires.as_slice()).unwrap_or_default();
        if requires.is_empty() {
            return None;
        }
        unmet_sentence(requires, &Scope::new(self.row_variables(row), &[])).map(|says| says.en.to_owned())
    }

    /// All failed checks of a row, as text.
    pub fn failed_checks(&self, row: &Row) -> Vec<String> {
        let checks = self.declared.map(|declared| declared.checks.as_slice()).unwrap_or_default();
        let over = if checks.is_empty() { TemplateValue::UNDEFINED } else { self.row_variables(row) };
        let finding = |check: &data::Check| match check.holds.is_true(&over) {
            Ok(true) => None,
            Ok(false) => {
                Some(check.says.compute_value(&over).map_or_else(|e| e.to_string(), |says| says.to_string()))
            }
            Err(e) => Some(e.to_string()),
        };
        checks.iter().filter_map(finding).collect()
    }

    /// A row in a published form; `None` if it is not in that file.
    ///
    /// # Errors
    /// [`ExpressionError`] if a value cannot be computed.
    pub fn published_form(
        &self,
        compat: &Compat,
        row: &Row,
    ) -> Result<Option<Map<String, Json>>, ExpressionError> {
        compat.to_published_row(&self.row_variables(row))
    }

    /// A row's line in a published form: the original of its published file if that contains more than its
    /// columns. `None` if the row is not in that file.
    ///
    /// # Errors
    /// [`ExpressionError`] if a value cannot be computed.
    pub fn published_line(&self, compat: &Compat, row: &Row) -> Result<Option<String>, ExpressionError> {
        let Some(computed) = self.published_form(compat, row)? else { return Ok(None) };
        let deviations = self.place_of_column(PUBLISHED).and_then(|at| match row.0.get(at)? {
            Value::Text(deviations) => Some(deviations.as_str()),
            _ => None,
        });
        Ok(Some(match deviations {
            None => Json::Object(computed).to_string(),
            Some(deviations) => oddity::apply_deviations(&computed, deviations),
        }))
    }

    /// Parses an object of the published file; `None` if it has another form.
    fn parse_published(&self, json: &Map<String, Json>) -> Option<Row> {
        let declared = self.declared.filter(|declared| !declared.compat.back.is_empty())?;
        let over =
            with_this(json.iter().map(|(key, value)| (key.clone(), TemplateValue::from(Serde(value)))));
        let value = |column: &Column| {
            let back = declared.compat.back.iter().find(|(name, _)| *name == column.name);
            let value = match back {
                Some((_, back)) => to_column_value(column.kind, &back.compute_value(&over).ok()?)?,
                None => Value::Null,
            };
            (column.nullable || value != Value::Null).then_some(value)
        };
        self.columns.iter().map(value).collect::<Option<_>>().map(Row)
    }

    /// The column with an item's text: the first one with any text behind the id.
    pub fn text_column(&self) -> Option<&'static str> {
        let any_text = |column: &&Column| column.kind == ColumnKind::Text && column.values.is_empty();
        self.columns.iter().skip(1).find(any_text).map(|column| column.name)
    }

    /// The set's label for one of a published file, if it is another one.
    pub fn label_for(&self, column: &str, theirs: &str) -> Option<&'static str> {
        self.declared?.compat.label_for(column, theirs)
    }

    /// For columns that the published form lacks, the constant that parsing gives them (`'confirmed'`), or
    /// null. The index of the right option is not among them: the form states it by listing that option
    /// first.
    pub fn stand_ins(&self) -> BTreeMap<&'static str, Value> {
        let nothing = with_this(std::iter::empty());
        let gold = match self.task.map(|task| task.answer) {
            Some(AnswerForm::Choice { gold, .. }) => Some(gold),
            _ => None,
        };
        let back = self.declared.map(|declared| declared.compat.back.as_slice()).unwrap_or_default();
        let stand_in = |column: &Column| {
            let Some((_, back)) = back.iter().find(|(name, _)| *name == column.name) else {
                return Some((column.name, Value::Null));
            };
            let value = to_column_value(column.kind, &back.compute_value(&nothing).ok()?)?;
            (value != Value::Null && gold != Some(column.name)).then_some((column.name, value))
        };
        self.columns.iter().filter_map(stand_in).collect()
    }

    /// The group of a row, if the set's rows are in groups.
    pub fn group_of(&self, row: &Row) -> Option<String> {
        let group = self.declared?.group.as_ref()?;
        riddlemill_benchmarks::scope::text_of_value(&group.compute_value(&self.row_variables(row)).ok()?)
    }

    /// How its rows are divided, if they are.
    pub fn declared_splits(&self) -> Option<&'static Splits> {
        self.declared?.splits.as_ref()
    }

    /// A row's columns as variables of expressions.
    fn row_variables(&self, row: &Row) -> TemplateValue {
        with_this(
            self.columns
                .iter()
                .zip(&row.0)
                .map(|(column, value)| (column.name.to_owned(), template_value(value))),
        )
    }
}

/// Variables, and `this`, which contains all of them, because some names are not valid in an expression.
fn with_this(names: impl Iterator<Item = (String, TemplateValue)>) -> TemplateValue {
    let mut over: BTreeMap<String, TemplateValue> = names.collect();
    let this = TemplateValue::from(over.clone());
    over.insert("this".to_owned(), this);
    TemplateValue::from(over)
}

fn template_value(value: &Value) -> TemplateValue {
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

/// The result of an expression as a value of a column; `None` if it has another type.
pub(super) fn to_column_value(kind: ColumnKind, given: &TemplateValue) -> Option<Value> {
    fn to_list<T>(given: &TemplateValue, item: impl Fn(&TemplateValue) -> Option<T>) -> Option<Vec<T>> {
        // A text must not become a list of its letters, nor a map one of its keys.
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
        ColumnKind::Text => text(given)?.into(),
        ColumnKind::Count => count(given)?.into(),
        ColumnKind::Real => real(given)?.into(),
        ColumnKind::Flag => Value::Flag(bool::try_from(given.clone()).ok()?),
        ColumnKind::Texts => to_list(given, text)?.into(),
        ColumnKind::Counts => to_list(given, count)?.into(),
        ColumnKind::Reals => to_list(given, real)?.into(),
    })
}

const COLUMNS: &[Column] = &[
    required_column("id", ColumnKind::Text, "The record's id, from its source or from its text."),
    required_column("text", ColumnKind::Text, "Its text, after the stages of the card."),
    one_of(
        "kind",
        &["thread", "numbered", "plain", "riddle"],
        "A thread, a numbered post of one, a plain text, or a text with its answer.",
    ),
    nullable_column("score", ColumnKind::Real, "The score its readers gave it, on the source's own scale."),
    nullable_column("number", ColumnKind::Count, "Its number in its thread."),
    nullable_column("time", ColumnKind::Text, "When it was written, as the source says."),
    required_column("source", ColumnKind::Text, "The source's name."),
    required_column("file", ColumnKind::Text, "The file of the source."),
    required_column(
        "position",
        ColumnKind::Count,
        "The line in that file, or the item of its array, from 1.",
    ),
    nullable_column("licence", ColumnKind::Text, "The licence its source states."),
];

/// The config is renamed to the recipe.
const LAYOUT: Layout = Layout {
    config: "posts",
    about: "A record that is a candidate for the benchmark; no person has looked at it yet.",
    columns: COLUMNS,
    compat: &[],
    task: None,
    labels: &["kind"],
    standing: None,
    sometimes: &[],
    declared: None,
};

/// A post as a released row.
pub fn post_row(post: Post) -> Row {
    let kind = match post.kind {
        PostKind::Thread => "thread",
        PostKind::Numbered => "numbered",
        PostKind::Plain => "plain",
        PostKind::Riddle => "riddle",
    };
    Row(vec![
        post.id.into(),
        post.text.into(),
        kind.to_string().into(),
        post.score.into(),
        post.number.into(),
        post.time.into(),
        post.source.into(),
        post.file.into(),
        post.position.into(),
        post.licence.into(),
    ])
}
