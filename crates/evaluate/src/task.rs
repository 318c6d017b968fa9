//! The questions that models are asked about a set, and their settings.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use riddlemill_benchmarks::task::{self as declared, Conversation};
use riddlemill_benchmarks::template::Template;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One task on one set, as declared in its benchmark's folder. Tasks are equal if their names are.
#[derive(Clone, Copy, Debug)]
pub struct Task(&'static declared::Task);

impl Task {
    /// The task with a name.
    pub fn find_task(name: &str) -> Option<Task> {
        riddlemill_benchmarks::find_task(name).map(Task)
    }

    /// Its name in flags and files.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its declaration in its benchmark's folder.
    pub fn task_declaration(self) -> &'static declared::Task {
        self.0
    }

    /// The tasks of a set, by its config.
    pub fn of_config(config: &str) -> Vec<Task> {
        let tasks = riddlemill_benchmarks::find_benchmark(config).map(|benchmark| benchmark.tasks.iter());
        tasks.into_iter().flatten().map(Task).collect()
    }

    /// Whether the answer is correct or incorrect, or a number; else it is text that has to be judged.
    pub fn is_choice(self) -> bool {
        self.0.wants.is_choice()
    }

    /// Whether the task only runs on request: additional questions of the paper about a few items.
    pub fn is_on_request(self) -> bool {
        self.0.on_request
    }

    /// Whether the task also runs with chain of thought (FLUB 2.3).
    pub fn takes_cot(self) -> bool {
        self.0.reasoned.is_some()
    }

    /// Whether the task also runs with solved examples (FLUB 3.3; BrainTeaser, table 8).
    pub fn takes_shots(self) -> bool {
        self.0.shots.is_some()
    }

    /// Its conversation, if a model answers it in several turns.
    pub fn conversation(self) -> Option<&'static Conversation> {
        self.0.conversation.as_ref()
    }

    /// How many answers every model gives to an item.
    pub fn samples_per_item(self) -> u32 {
        self.0.samples
    }

    /// Its prompt.
    pub fn prompt_template(self, setting: Setting) -> &'static Template {
        self.0.reasoned.as_ref().filter(|_| setting.cot).unwrap_or(&self.0.template)
    }

    /// The scale of its judges; `None` without ratings.
    pub fn scale_of_judges(self) -> Option<[u32; 2]> {
        self.0.judged.as_ref()?.rating_scale()
    }

    /// Whether judges and people choose the better of two texts, this answer and a person's.
    pub fn is_compared(self) -> bool {
        self.0.judged.as_ref().is_some_and(|judged| judged.rating_scale().is_none())
    }

    /// The two tasks with both orders of the same options, including this one; `None` for a task with one
    /// order.
    pub fn option_orders(self) -> Option<[Task; 2]> {
        if let Some(other) = self.0.other_order_of {
            return Some([Task::find_task(other)?, self]);
        }
        let all = riddlemill_benchmarks::all_benchmarks().iter().flat_map(|benchmark| &benchmark.tasks);
        let second = all.into_iter().find(|task| task.other_order_of == Some(self.0.name))?;
        Some([self, Task(second)])
    }
}

impl PartialEq for Task {
    fn eq(&self, other: &Task) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Task {}

impl PartialOrd for Task {
    fn partial_cmp(&self, other: &Task) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Task {
    fn cmp(&self, other: &Task) -> Ordering {
        self.0.name.cmp(other.0.name)
    }
}

impl Hash for Task {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.0.name.hash(to);
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
pub struct UnknownTask(String);

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
    type Err = UnknownTask;

    fn from_str(name: &str) -> Result<Task, UnknownTask> {
        Task::find_task(name).ok_or_else(|| {
            let all = riddlemill_benchmarks::all_benchmarks().iter().flat_map(|benchmark| &benchmark.tasks);
            let known: Vec<&str> = all.map(|task| task.name).collect();
            UnknownTask(format!("no task {name:?}\n  hint: there are {}", known.join(", ")))
        })
    }
}

/// A task's setting: the number of solved examples before it, and whether the model is asked to reason first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// Whether to reason first (FLUB figure 5).
    pub cot: bool,
    /// Solved examples (FLUB 3.3).
    pub shots: u8,
}

impl Setting {
    /// This many solved examples, without chain of thought.
    pub fn with_shots(shots: u8) -> Setting {
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
    type Err = UnknownTask;

    fn from_str(text: &str) -> Result<Setting, UnknownTask> {
        let (cot, rest) = match text.strip_prefix("cot") {
            Some(rest) => (true, rest.trim()),
            None => (false, text),
        };
        let shots = match rest {
            "" if cot => Some(0),
            rest => rest.strip_suffix("-shot").and_then(|shots| shots.parse().ok()),
        };
        let unknown =
            || UnknownTask(format!("no setting {text:?}\n  hint: 0-shot, 1-shot, 2-shot, 5-shot or cot"));
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
        let all = riddlemill_benchmarks::all_benchmarks()
            .iter()
            .flat_map(|benchmark| Task::of_config(benchmark.name));
        let all: Vec<Task> = all.collect();
        assert_eq!(all.len(), 10);
        for task in all {
            assert_eq!(task.name().parse(), Ok(task));
            assert_eq!(serde_json::to_value(task).unwrap(), task.name());
        }
        for setting in
            [Setting::default(), Setting::with_shots(5), Setting::COT, Setting { cot: true, shots: 2 }]
        {
            assert_eq!(setting.to_string().parse(), Ok(setting));
        }
        assert!("".parse::<Setting>().is_err() && "two-shot".parse::<Setting>().is_err());
    }
}
