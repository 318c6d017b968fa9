//! Two baselines that need no endpoint and have known figures.
//!
//! `random` chooses every option equally likely: 25 % of four options, 6.25 % of groups of two, 1.5625 % of
//! groups of three, 50 % of RuozhiBench-MC, 12.5 % of FLUB's eight types. `first-option` always takes the
//! first: 100 % of RuozhiBench-MC with the good answer first, 0 % with the bad one, 50 % together, a
//! positional bias of 100. Neither writes text that could be judged.

use super::item::Item;
use super::read::at_place;
use super::task::{Setting, Task};
use crate::options::DrawStream;
use riddlemill_benchmarks::task::AnswerParsing;

/// A baseline without an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// Uniform, drawn separately for each item, task and setting.
    Random,
    FirstOption,
}

impl BuiltIn {
    /// Both.
    pub const ALL: [BuiltIn; 2] = [BuiltIn::Random, BuiltIn::FirstOption];

    /// Its name after `--model`.
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::Random => "random",
            BuiltIn::FirstOption => "first-option",
        }
    }

    /// The baseline with a name.
    pub fn find_baseline(name: &str) -> Option<BuiltIn> {
        BuiltIn::ALL.into_iter().find(|model| model.name() == name)
    }

    /// One of its answers in the task's format; `None` for tasks without options.
    pub fn answer_item(
        self,
        item: &Item,
        task: Task,
        setting: Setting,
        seed: u64,
        sample: u32,
    ) -> Option<String> {
        let options = match &task.task_declaration().wants {
            AnswerParsing::Choice { .. } => item.question_of_task(task)?.options.len(),
            AnswerParsing::Tag { names, .. } => names.len(),
            AnswerParsing::Labels { codes, .. } => codes.len(),
            AnswerParsing::Rating { .. } | AnswerParsing::Words { .. } => return None,
        };
        let place = match self {
            BuiltIn::FirstOption => 0,
            BuiltIn::Random => {
                // The first answer is that of a task with one alone.
                let further = if sample == 0 { String::new() } else { format!(" {sample}") };
                DrawStream::new(seed, &format!("random model {task} {setting}{further}"), &item.id)
                    .draw_below(options)
            }
        };
        let chosen = at_place(item, task, place).ok()??;
        Some(match task.task_declaration().wants {
            AnswerParsing::Tag { .. } => format!("<choice>{chosen}</choice>"),
            _ => chosen,
        })
    }
}
