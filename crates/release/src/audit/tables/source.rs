//! What figures are computed from: the rows of a recipe's steps by the names of their columns, what is released of them, and
//! what people voted.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use minijinja::Value;
use minijinja::value::Serde;
use riddlemill_benchmarks::ballot::Field;
use riddlemill_benchmarks::scope::Scope;
use riddlemill_benchmarks::{Benchmark, Data, Expression, ExpressionError};
use serde_json::{Map, Value as Json};

use crate::config::{Config, sections};
use crate::pipeline::RunError;
use crate::recipe::{self, Recipe};
use crate::record::PostKind;
use crate::stages::StageRows;
use crate::stages::import::{kinds_of_files, source_kind};
use crate::stages::review::Votes;
use crate::stages::subject::take_language;
use crate::store::{StageReader, Workspace, json_parts};

/// A recipe that was made to its end.
pub(super) struct Source<'a> {
    pub config: &'a Config,
    pub recipe: &'static Recipe,
    pub benchmark: &'static Benchmark,
    pub workspace: Workspace,
    /// Of the options, for classifiers that guess them.
    pub seed: u64,
    /// The kind of each file that was imported.
    kinds: BTreeMap<String, String>,
    rows: RefCell<BTreeMap<usize, Rc<Vec<Value>>>>,
    items: RefCell<Option<Rc<Vec<Item>>>>,
    votes: RefCell<Option<Rc<Votes>>>,
}

/// A row of a release.
pub(super) type Item = Map<String, Json>;

impl<'a> Source<'a> {
    /// `None` where the recipe makes posts or did not get to its end.
    pub fn open(config: &'a Config, recipe: &'static Recipe) -> Result<Option<Source<'a>>, RunError> {
        let workspace = Workspace::new(&config.root);
        let Some((last, benchmark)) =
            recipe.steps().last().zip(riddlemill_benchmarks::find_benchmark(recipe.name))
        else {
            return Ok(None);
        };
        let end = workspace.stage_folder(recipe.name, last.number, last.name);
        if recipe.kind_of_rows() == StageRows::Posts || StageReader::open(&end)?.is_none() {
            return Ok(None);
        }
        let import = StageReader::open(&workspace.stage_folder(recipe.name, 1, recipe.steps()[0].name))?;
        let kinds = import.as_ref().map(kinds_of_files).transpose()?.unwrap_or_default();
        let seed = config.typed_settings::<sections::Options>(Some(recipe.name), "options").seed;
        let (rows, items, votes) = (RefCell::default(), RefCell::default(), RefCell::default());
        Ok(Some(Source { config, recipe, benchmark, workspace, seed, kinds, rows, items, votes }))
    }

    /// From a benchmark with these records after the steps of these numbers, and these items.
    #[cfg(test)]
    pub fn from_records(
        config: &'a Config,
        recipe: &'static Recipe,
        benchmark: &'static Benchmark,
        steps: Vec<(usize, Vec<Map<String, Json>>)>,
        items: Vec<Item>,
    ) -> Source<'a> {
        let kinds = BTreeMap::new();
        let seen = |rows: Vec<_>| {
            Rc::new(rows.into_iter().map(|row| row_variables(row, &kinds)).collect::<Vec<_>>())
        };
        let rows = steps.into_iter().map(|(number, rows)| (number, seen(rows))).collect();
        Source {
            config,
            recipe,
            benchmark,
            workspace: Workspace::new(&config.root),
            seed: 1,
            kinds: BTreeMap::new(),
            rows: RefCell::new(rows),
            items: RefCell::new(Some(Rc::new(items))),
            votes: RefCell::default(),
        }
    }

    /// What the benchmark releases.
    pub fn data(&self) -> Option<&'static Data> {
        self.benchmark.data.as_ref()
    }

    /// The records behind a step, or behind the last one, as the names of their columns; none where it was not made.
    pub fn rows_of_step(&self, step: Option<&str>) -> Result<Rc<Vec<Value>>, RunError> {
        let step = match step {
            None => self.recipe.steps().last(),
            Some(name) => self.recipe.find_step(name).map(|(_, step)| step),
        };
        let number = step.map_or(0, |step| step.number);
        // Many figures look at the same step, whose files are read once.
        if let Some(rows) = self.rows.borrow().get(&number) {
            return Ok(Rc::clone(rows));
        }
        let mut rows = Vec::new();
        if let Some(step) = step
            && let Some(stage) =
                StageReader::open(&self.workspace.stage_folder(self.recipe.name, number, step.name))?
        {
            for part in json_parts(&stage, "rows", &[]) {
                rows.extend(part?.into_iter().map(|row| row_variables(row, &self.kinds)));
            }
        }
        let rows = Rc::new(rows);
        self.rows.borrow_mut().insert(number, Rc::clone(&rows));
        Ok(rows)
    }

    /// The records with the questions of a figure, behind `STEP` or `BENCHMARK/STEP`; none where it was not made.
    pub fn rows_of_questions(&self, step_name: Option<&str>) -> Result<Rc<Vec<Value>>, RunError> {
        let Some((recipe, step)) = step_name.and_then(|named| named.split_once('/')) else {
            return self.rows_of_step(step_name);
        };
        let mut rows = Vec::new();
        if let Some(recipe) = recipe::find_recipe(recipe)
            && let Some((_, step)) = recipe.find_step(step)
            && let Some(stage) =
                StageReader::open(&self.workspace.stage_folder(recipe.name, step.number, step.name))?
        {
            for part in json_parts(&stage, "rows", &[]) {
                rows.extend(part?.into_iter().map(|row| row_variables(row, &self.kinds)));
            }
        }
        Ok(Rc::new(rows))
    }

    /// The records that are items among the questions of a figure, by their ids. `None` where rows do not name their
    /// records, or are not made yet.
    pub fn items_of_questions(&self, step_name: Option<&str>) -> Result<Option<BTreeSet<String>>, RunError> {
        let named = |row: &Item| row.get("source_id").and_then(Json::as_str).map(str::to_owned);
        let names_records =
            |data: Option<&Data>| data.is_some_and(|data| data.columns.iter().any(|c| c.name == "source_id"));
        let Some((other, _)) =
            step_name.and_then(|of| of.split_once('/')).filter(|(other, _)| *other != self.recipe.name)
        else {
            let known = names_records(self.data());
            return Ok(if known {
                Some(self.released_items()?.iter().filter_map(named).collect())
            } else {
                None
            });
        };
        let data = riddlemill_benchmarks::find_benchmark(other).and_then(|benchmark| benchmark.data.as_ref());
        let Some(recipe) = recipe::find_recipe(other).filter(|_| names_records(data)) else {
            return Ok(None);
        };
        let Some(last) = recipe.steps().last() else { return Ok(None) };
        if StageReader::open(&self.workspace.stage_folder(recipe.name, last.number, last.name))?.is_none() {
            return Ok(None);
        }
        let rows = crate::rows_json(&self.workspace, recipe)?;
        Ok(Some(rows.iter().filter_map(named).collect()))
    }

    /// What the benchmark of a figure's questions calls a code in its lists and ballots, if it has one name alone.
    pub fn name_of_code(&self, step_name: Option<&str>, code: &str) -> Option<&'static str> {
        let other = step_name.and_then(|named| named.split_once('/')).map(|(other, _)| other);
        let ballots = &other.map_or(Some(self.benchmark), riddlemill_benchmarks::find_benchmark)?.ballots;
        let fields = ballots.steps.iter().flat_map(|ballot| &ballot.fields);
        let all = ballots.lists.values().flatten().chain(fields.flat_map(Field::options));
        let mut names = all.filter(|choice| choice.code == code).map(|choice| choice.label.en);
        let name = names.next()?;
        names.all(|other| other == name).then_some(name)
    }

    /// What would be released; nothing of a benchmark that releases nothing.
    pub fn released_items(&self) -> Result<Rc<Vec<Item>>, RunError> {
        if let Some(items) = self.items.borrow().as_ref() {
            return Ok(Rc::clone(items));
        }
        let items = Rc::new(match self.data() {
            Some(_) => crate::rows_json(&self.workspace, self.recipe)?,
            None => Vec::new(),
        });
        *self.items.borrow_mut() = Some(Rc::clone(&items));
        Ok(items)
    }

    /// What people voted in the recipe.
    pub fn load_votes(&self) -> Result<Rc<Votes>, RunError> {
        if let Some(votes) = self.votes.borrow().as_ref() {
            return Ok(Rc::clone(votes));
        }
        let votes = Rc::new(Votes::load(self.config, self.recipe.name)?);
        *self.votes.borrow_mut() = Some(Rc::clone(&votes));
        Ok(votes)
    }
}

/// A row as expressions see it: its columns; of a declared record its groups, and what import left below `post`. Where
/// it has a source, `source_kind` says of which kind that is.
fn row_variables(row: Map<String, Json>, kinds: &BTreeMap<String, String>) -> Value {
    let text = |name: &str| row.get(name).and_then(Json::as_str).unwrap_or_default();
    let kind = row
        .contains_key("source")
        .then(|| source_kind(kinds, text("kind") == PostKind::Numbered.code(), text("source"), text("file")));
    let named =
        |row: Map<String, Json>| row.into_iter().map(|(name, value)| (name, Value::from(Serde(value))));
    let mut names: BTreeMap<String, Value> = named(row).collect();
    let groups = names.remove("groups");
    if let Some(groups) = groups.as_ref().and_then(Value::as_str) {
        let mut groups: Map<String, Json> = serde_json::from_str(groups).unwrap_or_default();
        // Before the groups are added, which may have columns of the same names.
        let mut post = names.clone();
        let texts = ["text", "title", "content"].map(|name| names.get(name).and_then(Value::as_str));
        let language = take_language(&mut groups, texts);
        post.insert("language".to_owned(), Value::from(language));
        names.insert("post".to_owned(), Value::from(post));
        names.extend(named(groups));
    }
    names.extend(kind.map(|kind| ("source_kind".to_owned(), Value::from(kind))));
    Value::from(names)
}

/// Records that a figure looks at.
pub(super) struct Records<'r> {
    rows: Vec<&'r Value>,
    fields: &'r [(&'static str, Expression)],
}

impl<'r> Records<'r> {
    pub fn new(rows: &'r [Value], fields: &'r [(&'static str, Expression)]) -> Records<'r> {
        Records { rows: rows.iter().collect(), fields }
    }

    /// Those of which an expression is true; all where there is none.
    pub fn filter_by(self, condition: Option<&Expression>) -> Result<Records<'r>, ExpressionError> {
        let Some(condition) = condition else { return Ok(self) };
        let holds = self.values_of_expression(condition)?;
        let rows = self.rows.into_iter().zip(holds).filter(|(_, holds)| holds.is_true());
        Ok(Records { rows: rows.map(|(row, _)| row).collect(), fields: self.fields })
    }

    /// Those of a part.
    pub fn of_part(&self, expression: &Expression, part: &str) -> Result<Records<'r>, ExpressionError> {
        let values = self.values_of_expression(expression)?;
        let rows = self.rows.iter().zip(values).filter(|(_, value)| value.as_str() == Some(part));
        Ok(Records { rows: rows.map(|(row, _)| *row).collect(), fields: self.fields })
    }

    /// An expression's value for each record.
    pub fn values_of_expression(&self, expression: &Expression) -> Result<Vec<Value>, ExpressionError> {
        self.rows
            .iter()
            .map(|row| Scope::new((*row).clone(), self.fields).compute_value(expression))
            .collect()
    }

    /// The records' ids.
    pub fn record_ids(&self) -> Vec<String> {
        let id = |row: &&Value| row.get_attr("id").ok()?.as_str().map(str::to_owned);
        self.rows.iter().map(|row| id(row).unwrap_or_default()).collect()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }
}
