//! Why a line of outputs is set aside.

use serde_json::Value as Json;

use crate::evaluate::task::Task;
use crate::llm::parse::Unreadable;

/// How plain lines of outputs are written.
pub(super) const HINT: &str = "a line is {\"item\": …, \"model\": …, \"task\": …, \"text\": …}, with \"setting\": \"5-shot\" or \"cot\" where it is not 0-shot";

/// What is wrong with a line, and what would help. The line's place is told by whoever reads the file.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutputError {
    /// The line is no JSON at all.
    #[error("no JSON: {0}\n  hint: {hint}", hint = HINT)]
    NoJson(serde_json::Error),
    /// The line is JSON, and in none of the forms.
    #[error("no output: {0}\n  hint: {hint}", hint = HINT)]
    NoForm(serde_json::Error),
    /// One model's second answer to the same.
    #[error("a further answer of a model: the first is evaluated")]
    FurtherAnswer,
    /// inspect_ai asked everything again.
    #[error("a further epoch: the first is evaluated")]
    FurtherEpoch,
    /// A sample of inspect_ai lacks a part.
    #[error("the sample has no {0}")]
    SampleLacks(&'static str),
    /// inspect_ai gave up on the sample, for this reason.
    #[error("the sample ended in an error: {0}")]
    SampleFailed(String),
    /// lm_eval keeps an item's id where the task is one that was exported here.
    #[error("the document has no \"id\"\n  hint: the release's own eval/lm_eval files keep it")]
    DocumentUnnamed,
    /// Of the keys that may hold what was said none does.
    #[error("neither {:?} nor {:?} holds {wanted}", keys[0], keys[1])]
    NothingSaid {
        /// Where it is looked for.
        keys: [&'static str; 2],
        /// What is looked for.
        wanted: &'static str,
    },
    /// A client wrote null or false where the model did not answer.
    #[error("{key} is {value}: the model did not answer")]
    Unanswered {
        /// The key of the answer.
        key: &'static str,
        /// What is there instead.
        value: Json,
    },
    /// RuozhiBench's scripts write -1 for a rating that they could not read.
    #[error(
        "{key} {value} is not a rating from 0 to 4\n  hint: the judge's reply could not be parsed; the response itself is in response_*/"
    )]
    NoRating {
        /// The key of the rating.
        key: &'static str,
        /// What is there instead.
        value: Json,
    },
    /// What FLUB's judge said holds no rating.
    #[error("evaluation_response: {0}\n  hint: the response itself is in outputs/")]
    UnreadableRating(#[from] Unreadable),
    /// The name of one of FLUB's files, without its ending, is not as its scripts write them.
    #[error(
        "{0:?} names no task of FLUB\n  hint: its authors' tasks.py writes TASK_output_MODEL.jsonl, as selection_output_MODEL.jsonl"
    )]
    NoFlubTask(String),
    /// No item has the name.
    #[error("no item {name:?} in {set}")]
    NoItem {
        /// Its id or record, as the line says it.
        name: String,
        /// The set and its version.
        set: String,
    },
    /// No item asks the question.
    #[error("no item of {set} asks {question:?}")]
    NotAsked {
        /// What the line says was asked.
        question: String,
        /// The set and its version.
        set: String,
    },
    /// More than one item asks the question, and the line's id is of none of them.
    #[error("{count} items of {set} ask {question:?}")]
    AskedBySeveral {
        /// How many do.
        count: usize,
        /// What the line says was asked.
        question: String,
        /// The set and its version.
        set: String,
    },
    /// The line names no task, and none of the set's is put on the item.
    #[error("the item has no task")]
    NoTask,
    /// The task asks for what the item has not.
    #[error("{task} cannot be asked about {item:?} of {set}")]
    TaskUnfit {
        /// The task.
        task: Task,
        /// The item's id.
        item: String,
        /// The set and its version.
        set: String,
    },
    /// Neither the line nor the command line names the model.
    #[error("no model is named\n  hint: --outputs MODEL=FILE names it for the whole file")]
    NoModel,
    /// An option is chosen, and the task has none.
    #[error("{0} has no options to choose from")]
    NoChoice(Task),
    /// The words of the option that is chosen are none of the item's.
    #[error("{item:?} has no option {option:?}")]
    NoOption {
        /// The item's id.
        item: String,
        /// The words.
        option: String,
    },
    /// The same was answered before by the same model.
    #[error("the same item, task and model as {first}{}", unlike.told())]
    Again {
        /// The place of the first answer.
        first: String,
        /// Why the two are not one answer that was rated twice.
        unlike: Unlike,
    },
}

/// Why two answers of a model to the same cannot be taken as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlike {
    /// They are not worded alike.
    Words,
    /// A judge rated both.
    Judge,
}

impl Unlike {
    fn told(self) -> &'static str {
        match self {
            Unlike::Words => ", in other words",
            Unlike::Judge => ", rated by the same judge",
        }
    }
}
