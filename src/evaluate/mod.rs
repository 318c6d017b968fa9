//! Models on a set, and the papers' tables of what they answer.
//!
//! In reading order: [`Set`] and [`Item`] are what is asked about, [`Task`] and [`Setting`] what is asked; [`Plan`]
//! puts it to endpoints and built-in models, [`outputs`] reads what was answered elsewhere, [`ballots`] what people
//! answer; `read` says what an answer chooses; [`judge`] has the others judged; [`metrics`] and [`tables`] make
//! figures of plain numbers and of answers; [`write`] puts a results folder together.
//!
//! What reads, scores and counts builds without tables of stages; what asks, loads and writes needs the workspace.
//!
//! Invariants:
//! - a figure follows from the set, the answers and the seed; how they were asked for, and in which order they came,
//!   leaves no trace;
//! - an answer that cannot be read is a format error, counted apart, and never a guess;
//! - every figure has its n, and its interval wherever it is drawn from items;
//! - every answer says where its words come from, every figure from which answers it is.

mod answer;
mod builtin;
mod charts;
mod chinese;
mod item;
pub mod metrics;
mod pair_order;
mod prompt;
mod read;
mod set;
mod skipped;
pub mod tables;
mod task;
#[cfg(test)]
mod testing;

mod ask;
pub mod ballots;
mod error;
mod evaluation;
mod folder;
mod judge;
mod load;
pub mod outputs;
mod page;
mod results;

pub use answer::{Answer, Rating, RawAnswer};
pub use builtin::BuiltIn;
pub use item::Item;
pub use pair_order::person_first;
pub use prompt::{Form, about, ask as request, shots};
pub use read::read;
pub use set::Set;
pub use skipped::SetAside;
pub use task::{Setting, Task, Unknown};

pub use ask::{Missing, Model, Plan};
pub use error::EvaluateError;
pub use evaluation::{Evaluated, Means, Settings, estimates, evaluate};
pub use folder::write;
pub use load::load;
pub use results::{Results, describe_cell, format_errors};
