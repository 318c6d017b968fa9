//! The items of a set: a row, and its question for each task that the benchmark's folder declares.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::Serde;
use riddlemill_benchmarks::task::{AnswerParsing, PosedQuestion};
use riddlemill_benchmarks::{ColumnError, Expression, ExpressionError};
use serde_json::{Map, Value as Json};

use super::task::Task;

/// Why a row is not an item.
#[derive(Debug, thiserror::Error)]
pub enum ItemError {
    /// There are no tasks for this set.
    #[error("there are no tasks for {0:?}")]
    NoTasks(String),
    /// It has no id.
    #[error("id: missing")]
    NoId,
    /// It lacks a column that a task uses, or has it in another type.
    #[error(transparent)]
    Column(#[from] ColumnError),
    /// A value that the benchmark's folder declares cannot be computed.
    #[error(transparent)]
    Computed(#[from] ExpressionError),
}

/// A task that cannot be asked about an item.
#[derive(Debug)]
pub struct UnposedTask {
    /// Its name in flags and files.
    pub task: &'static str,
    /// What the row lacks for it.
    pub error: ItemError,
}

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its id in the release.
    pub id: String,
    /// The record it was made from if it is the only one of it, else its id: the key of a sample pack.
    pub record: String,
    /// The unit of drawing, limiting and resampling: items of one group stay together.
    pub group: String,
    /// Parts of the set that it belongs to, such as its categories.
    pub parts: Vec<String>,
    /// Its question; empty if the benchmark does not declare one.
    pub question: String,
    /// Its questions by the task's name; tasks that do not apply are missing.
    posed: Arc<BTreeMap<&'static str, PosedQuestion>>,
    row: Arc<Map<String, Json>>,
    /// Whether answers are parsed as by the paper's authors.
    pub paper: bool,
}

impl Item {
    /// Converts a row in the columns of a set, and says which tasks cannot be asked about it, and why: the others can.
    ///
    /// # Errors
    /// [`ItemError`] if the row is not an item, or none of its tasks can be asked.
    pub fn of_row(config: &str, row: &Map<String, Json>) -> Result<(Item, Vec<UnposedTask>), ItemError> {
        let benchmark =
            riddlemill_benchmarks::find_benchmark(config).filter(|benchmark| !benchmark.tasks.is_empty());
        let benchmark = benchmark.ok_or_else(|| ItemError::NoTasks(config.to_owned()))?;
        let id = row.get("id").and_then(Json::as_str).ok_or(ItemError::NoId)?.to_owned();
        let data = benchmark.data.as_ref();
        if let Some(wrong) = data.and_then(|data| {
            let of_parts = data.group.iter().chain(&data.parts).flat_map(Expression::names);
            let asked = data.poses.iter().map(|poses| poses.question);
            data.find_column_error(row, of_parts.map(String::as_str).chain(asked))
        }) {
            return Err(wrong.into());
        }
        let columns = Value::from(Serde(row));
        let (mut posed, mut unposed) = (BTreeMap::new(), Vec::new());
        for task in &benchmark.tasks {
            let lacking = data.and_then(|data| data.find_column_error(row, task.used_columns()));
            let question = match lacking {
                Some(lacking) => Err(lacking.into()),
                None => task.pose_question(&columns).map_err(ItemError::from),
            };
            match question {
                Ok(question) => posed.extend(question.map(|question| (task.name, question))),
                Err(error) => unposed.push(UnposedTask { task: task.name, error }),
            }
        }
        if posed.is_empty() && !unposed.is_empty() {
            return Err(unposed.remove(0).error);
        }
        let (group, parts) = match data {
            Some(data) => data.group_and_parts(&columns)?,
            None => (None, Vec::new()),
        };
        let source = row.get("source_id").and_then(Json::as_str).filter(|source| !source.is_empty());
        // The items of a group share their record.
        let record = source.filter(|_| group.is_none()).unwrap_or(&id).to_owned();
        let question = data.and_then(|data| row.get(data.poses.as_ref()?.question)?.as_str());
        let item = Item {
            record,
            group: group.unwrap_or_else(|| id.clone()),
            parts,
            question: question.unwrap_or_default().to_owned(),
            posed: Arc::new(posed),
            row: Arc::new(row.clone()),
            paper: false,
            id,
        };
        Ok((item, unposed))
    }

    /// Its row, by column.
    pub fn row(&self) -> &Map<String, Json> {
        &self.row
    }

    /// Its columns, for expressions.
    pub fn column_values(&self) -> Value {
        Value::from(Serde(&*self.row))
    }

    /// The list in a column; empty if it is not a list.
    pub fn list_of_column(&self, column: &str) -> &[Json] {
        self.row.get(column).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Its question for a task.
    pub fn question_of_task(&self, task: Task) -> Option<&PosedQuestion> {
        self.posed.get(task.name())
    }

    /// The options of a multiple-choice task, in the order of the release, and the index of the right one.
    pub fn options_of_task(&self, task: Task) -> Option<(&[String], usize)> {
        if !matches!(task.task_declaration().wants, AnswerParsing::Choice { .. }) {
            return None;
        }
        let posed = self.question_of_task(task)?;
        let place = |gold: &String| crate::options::LETTERS.iter().position(|letter| letter == gold);
        Some((&posed.options, posed.gold.as_ref().and_then(place)?))
    }

    /// The gold answer, in the form of an answer; `None` if the answer has to be judged.
    pub fn gold_answer(&self, task: Task) -> Option<String> {
        self.question_of_task(task)?.gold.clone()
    }

    /// Whether a task applies: a text without a type cannot be classified, and without a normal question
    /// there is none to answer.
    pub fn has_task(&self, task: Task) -> bool {
        self.posed.contains_key(task.name())
    }

    /// Whether it belongs to a part of the set.
    pub fn is_of(&self, part: &str) -> bool {
        self.parts.iter().any(|own| own == part)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_that_one_task_cannot_be_asked_about_is_asked_in_the_others() {
        let row = |letter: &str, more: Json| {
            let mut row = json!({
                "id": "t1", "text": "云会恐高吗？", "is_question": true, "type": "错误类比", "explanation": "云不会。",
                "options": ["甲", "乙", "丙", "丁"], "answer": letter,
            });
            row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            row.as_object().unwrap().clone()
        };
        let (item, unposed) = Item::of_row("flub", &row("B", json!({}))).unwrap();
        let all = item.posed.len();
        assert!(unposed.is_empty() && all > 2, "{unposed:?}");
        // A letter that no option has, and a label that is none: each is told, and costs its own task alone.
        for (wrong, says) in [
            (row("Z", json!({})), "not the position"),
            (row("B", json!({ "type": "谐趣" })), "unknown label"),
        ] {
            let (item, unposed) = Item::of_row("flub", &wrong).unwrap();
            assert!(
                !unposed.is_empty() && unposed.iter().all(|task| task.error.to_string().contains(says)),
                "{unposed:?}"
            );
            assert!(!item.posed.is_empty() && item.posed.len() + unposed.len() == all);
        }
    }
}
