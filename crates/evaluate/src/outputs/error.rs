//! Why a line of outputs is set aside.

use serde_json::Value as Json;

use riddlemill_benchmarks::expression::ExpressionError;

use crate::llm::parse::Unreadable;
use crate::reading::RowFault;
use crate::task::{Task, UnknownTask};

/// The format of plain lines of outputs.
pub(super) const HINT: &str = "a line is {\"item\": …, \"model\": …, \"task\": …, \"text\": …}, with \"setting\": \"5-shot\" or \"cot\" where it is not 0-shot";

/// What is wrong with a line, with a hint. The caller adds the line's place.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutputError {
    /// The line is not JSON.
    #[error("not JSON: {0}\n  hint: {hint}", hint = HINT)]
    NoJson(serde_json::Error),
    /// The line is JSON, but has none of the formats.
    #[error("not an output: {0}\n  hint: {hint}", hint = HINT)]
    NoForm(serde_json::Error),
    /// The row of a table cannot be read.
    #[error(transparent)]
    Row(#[from] RowFault),
    /// The line names a task that there is not.
    #[error(transparent)]
    UnknownTask(UnknownTask),
    /// A log of inspect_ai that did not come to its end.
    #[error(
        "the log's status is {0:?}: it did not come to its end, and only the samples in it are read\n  hint: `inspect eval-retry` of the log asks for the others"
    )]
    LogUnfinished(String),
    /// A model was shown other options than the item has.
    #[error(
        "{item:?} has other options than the model was shown: {choices}\n  hint: ask the rows of this set; options may be in any order"
    )]
    OtherChoices {
        /// The item's id.
        item: String,
        /// The options in the log.
        choices: String,
    },
    /// An answer of a model beyond those that its task takes: one, unless the folder says more.
    #[error("{}\n  hint: `samples` of the task says how many answers of a model count", further(*samples, task))]
    FurtherAnswer { task: Task, samples: u32 },
    /// The file was read before, and its answers have no numbers.
    #[error(
        "the file is given twice, and its answers count once\n  hint: name it once; further answers are in files of their own"
    )]
    GivenTwice,
    /// A sample of inspect_ai lacks a field.
    #[error("the sample has no {0}")]
    SampleLacks(&'static str),
    /// A sample failed in inspect_ai, for this reason.
    #[error("the sample ended in an error: {0}")]
    SampleFailed(String),
    /// lm_eval only keeps an item's id for tasks exported here.
    #[error("the document has no \"id\"\n  hint: the release's own eval/lm_eval files keep it")]
    DocumentUnnamed,
    /// None of the possible keys of the text exists.
    #[error("neither {:?} nor {:?} holds {wanted}", keys[0], keys[1])]
    NothingSaid {
        /// The keys tried.
        keys: [&'static str; 2],
        /// What they should contain.
        wanted: &'static str,
    },
    /// A client wrote null or false because the model did not answer.
    #[error("{key} is {value}: the model did not answer")]
    Unanswered {
        /// The key of the answer.
        key: &'static str,
        /// The value found.
        value: Json,
    },
    /// A rating is not on the task's scale: scripts write -1 for one that they could not parse.
    #[error(
        "{key} {value} is not a rating from {} to {}\n  hint: the judge's reply could not be parsed; the response is also in the file without ratings",
        scale[0],
        scale[1]
    )]
    NoRating {
        /// The key of the rating.
        key: &'static str,
        /// The value found.
        value: Json,
        /// The lowest and the highest rating.
        scale: [u32; 2],
    },
    /// A judge's reply contains no rating.
    #[error("{key}: {what}\n  hint: the response is also in the file without ratings")]
    UnreadableRating {
        /// The key of the reply.
        key: &'static str,
        /// What is wrong with it.
        what: Unreadable,
    },
    /// The file's name, without extension, is not one of the authors' scripts.
    #[error("{stem:?} names no task of {benchmark}\n  hint: the authors' script writes {example}")]
    FileName {
        /// The name.
        stem: String,
        /// The benchmark whose script writes such lines.
        benchmark: &'static str,
        /// Such a name.
        example: &'static str,
    },
    /// A declared expression over the line cannot be computed.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// No item has this id or record.
    #[error("no item {name:?} in {set}")]
    NoItem {
        /// The id or record in the line.
        name: String,
        /// The set and its version.
        set: String,
    },
    /// No item has this question.
    #[error("no item of {set} asks {question:?}")]
    NotAsked {
        /// The question in the line.
        question: String,
        /// The set and its version.
        set: String,
    },
    /// Several items have this question, and none of them the line's id.
    #[error("{count} items of {set} ask {question:?}")]
    AskedBySeveral {
        /// How many do.
        count: usize,
        /// The question in the line.
        question: String,
        /// The set and its version.
        set: String,
    },
    /// The line names no task, and none of the set's default tasks applies to the item.
    #[error("the item has no task")]
    NoTask,
    /// The task does not apply to the item.
    #[error("{task} cannot be asked about {item:?} of {set}")]
    TaskUnfit {
        task: Task,
        /// The item's id.
        item: String,
        /// The set and its version.
        set: String,
    },
    /// Neither the line nor the command line names the model.
    #[error("no model is named\n  hint: --outputs MODEL=FILE names it for the whole file")]
    NoModel,
    /// The answer is one text, but the task is a conversation.
    #[error(
        "{0} is a conversation, of which one text says too little\n  hint: `--join` takes the answers of another evaluation whole"
    )]
    Conversation(Task),
    /// An option is chosen, but the task has none.
    #[error("{0} has no options to choose from")]
    NoChoice(Task),
    /// The text of the chosen option is not one of the item's.
    #[error("{item:?} has no option {option:?}")]
    NoOption {
        /// The item's id.
        item: String,
        /// The text.
        option: String,
    },
    /// The same model has already answered this.
    #[error("the same item, task and model as {first}{}", unlike.describe())]
    Again {
        /// The place of the first answer.
        first: String,
        /// Why the two are not one answer with several ratings.
        unlike: NotMergeable,
    },
}

fn further(samples: u32, task: &Task) -> String {
    match samples {
        1 => "a further answer of a model: the first is evaluated".to_owned(),
        _ => format!("a further answer of a model: {task} takes the first {samples}"),
    }
}

/// Why two answers of a model cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotMergeable {
    /// Their texts differ.
    Words,
    /// A judge rated both.
    Judge,
}

impl NotMergeable {
    fn describe(self) -> &'static str {
        match self {
            NotMergeable::Words => ", in other words",
            NotMergeable::Judge => ", rated by the same judge",
        }
    }
}
