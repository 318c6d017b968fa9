//! What a model is asked of a set, and in which setting.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One task on one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// RuozhiBench-Gen: the tricky question, answered freely (3.1).
    Answer,
    /// RuozhiBench-Gen: the paired normal question, answered freely (3.3).
    AnswerNormal,
    /// RuozhiBench-MC with the good answer first (5, table 4).
    GoodFirst,
    /// RuozhiBench-MC with the bad answer first.
    BadFirst,
    /// FLUB task 1: which of four explanations is right (2.3).
    Select,
    /// FLUB task 2: the type of cunning.
    Classify,
    /// FLUB task 3: an explanation, judged from 1 to 10.
    Explain,
    /// Chumor: a joke explained in two sentences (3).
    ExplainJoke,
    /// BrainTeaser: which of four options solves the puzzle (4).
    Solve,
    /// BrainTeaser: a context reconstruction answered freely, scored from 0 to 5 (appendix A.5).
    SolveOpen,
    /// What the folder of a benchmark declares, by its whole name.
    Declared(&'static str),
}

impl Task {
    /// All of the five benchmarks that are built in, set by set.
    pub const ALL: [Task; 10] = [
        Task::Answer,
        Task::AnswerNormal,
        Task::GoodFirst,
        Task::BadFirst,
        Task::Select,
        Task::Classify,
        Task::Explain,
        Task::ExplainJoke,
        Task::Solve,
        Task::SolveOpen,
    ];

    /// Its name in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Task::Answer => "answer",
            Task::AnswerNormal => "answer-normal",
            Task::GoodFirst => "good-first",
            Task::BadFirst => "bad-first",
            Task::Select => "select",
            Task::Classify => "classify",
            Task::Explain => "explain",
            Task::ExplainJoke => "explain-joke",
            Task::Solve => "solve",
            Task::SolveOpen => "solve-open",
            Task::Declared(name) => name,
        }
    }

    /// What the folder of its benchmark says about it.
    pub fn declared(self) -> Option<&'static riddlemill_benchmarks::task::Task> {
        match self {
            Task::Declared(name) => riddlemill_benchmarks::task(name),
            _ => None,
        }
    }

    /// The tasks of a set, by its config.
    pub fn of_config(config: &str) -> Vec<Task> {
        match config {
            "ruozhibench-gen" => vec![Task::Answer, Task::AnswerNormal],
            "ruozhibench-mc" => vec![Task::GoodFirst, Task::BadFirst],
            "flub" => vec![Task::Select, Task::Classify, Task::Explain],
            "chumor" => vec![Task::ExplainJoke],
            "brainteaser" => vec![Task::Solve, Task::SolveOpen],
            other => {
                let tasks = riddlemill_benchmarks::find(other).map(|benchmark| benchmark.tasks.iter());
                tasks.into_iter().flatten().map(|task| Task::Declared(task.name)).collect()
            }
        }
    }

    /// Whether the answer is one of some options, right or wrong; else it is text that somebody has to judge.
    pub fn is_choice(self) -> bool {
        let free = matches!(self, Task::Answer | Task::AnswerNormal | Task::Explain | Task::ExplainJoke);
        !free && self != Task::SolveOpen
    }

    /// Whether the task is put only where it is named: what the paper asks of a few items beside its tables.
    pub fn is_on_request(self) -> bool {
        self == Task::SolveOpen
    }

    /// Whether the task is also put with chain of thought (FLUB 2.3).
    pub fn takes_cot(self) -> bool {
        matches!(self, Task::Select | Task::Classify | Task::Explain)
    }

    /// Whether the task is also put with solved examples (FLUB 3.3; BrainTeaser, table 8).
    pub fn takes_shots(self) -> bool {
        self.takes_cot() || self == Task::Solve
    }

    /// The prompt that puts it.
    pub fn template(self, setting: Setting) -> &'static str {
        match (self, setting.cot) {
            (Task::Answer | Task::AnswerNormal, _) => "ruozhibench/respond",
            (Task::GoodFirst | Task::BadFirst, _) => "ruozhibench/choose",
            (Task::Select, false) => "flub/choose",
            (Task::Select, true) => "flub/choose_cot",
            (Task::Classify, false) => "flub/classify",
            (Task::Classify, true) => "flub/classify_cot",
            (Task::Explain, false) => "flub/explain",
            (Task::Explain, true) => "flub/explain_cot",
            (Task::ExplainJoke, _) => "chumor/explanation",
            (Task::Solve, _) => "brainteaser/choose",
            (Task::SolveOpen, _) => "brainteaser/answer",
            (Task::Declared(name), _) => self.declared().map_or(name, |task| task.template),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no such task or setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unknown(String);

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Task {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Task, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Task {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Task, Unknown> {
        let declared = || riddlemill_benchmarks::task(name).map(|task| Task::Declared(task.name));
        Task::ALL.into_iter().find(|task| task.name() == name).or_else(declared).ok_or_else(|| {
            let own = riddlemill_benchmarks::all()
                .iter()
                .flat_map(|benchmark| &benchmark.tasks)
                .map(|task| task.name);
            let known: Vec<&str> = Task::ALL.iter().map(|task| task.name()).chain(own).collect();
            Unknown(format!("no task {name:?}\n  hint: there are {}", known.join(", ")))
        })
    }
}

/// How a task is put: how many solved examples go before it, and whether the model shall reason first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// Whether it shall reason first (FLUB figure 5).
    pub cot: bool,
    /// Solved examples (FLUB 3.3).
    pub shots: u8,
}

impl Setting {
    /// So many solved examples, without chain of thought.
    pub fn shots(shots: u8) -> Setting {
        Setting { cot: false, shots }
    }

    /// Chain of thought, without examples.
    pub const COT: Setting = Setting { cot: true, shots: 0 };
}

/// `0-shot`, `5-shot`, `cot`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cot, self.shots) {
            (true, 0) => f.write_str("cot"),
            (true, shots) => write!(f, "cot {shots}-shot"),
            (false, shots) => write!(f, "{shots}-shot"),
        }
    }
}

impl FromStr for Setting {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Setting, Unknown> {
        let (cot, rest) = match text.strip_prefix("cot") {
            Some(rest) => (true, rest.trim()),
            None => (false, text),
        };
        let shots = match rest {
            "" if cot => Some(0),
            rest => rest.strip_suffix("-shot").and_then(|shots| shots.parse().ok()),
        };
        let unknown =
            || Unknown(format!("no setting {text:?}\n  hint: 0-shot, 1-shot, 2-shot, 5-shot or cot"));
        Ok(Setting { cot, shots: shots.ok_or_else(unknown)? })
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Setting, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for task in Task::ALL {
            assert_eq!(task.name().parse(), Ok(task));
            assert_eq!(serde_json::to_value(task).unwrap(), task.name());
        }
        for setting in [Setting::default(), Setting::shots(5), Setting::COT, Setting { cot: true, shots: 2 }]
        {
            assert_eq!(setting.to_string().parse(), Ok(setting));
        }
        assert!("".parse::<Setting>().is_err() && "two-shot".parse::<Setting>().is_err());
    }
}
