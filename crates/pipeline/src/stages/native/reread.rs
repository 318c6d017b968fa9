//! A text as rules would write it today: what a run would change is known before it runs.

use std::any::Any;

use super::riddle::shown;
use riddlemill_text::record::{Declared, Outcome, Post, Puzzle};

/// How an operation would write a record today; `None` where the record does not go on.
pub type Reread = Box<dyn Fn(Written) -> Option<Written> + Sync>;

/// A record among those whose texts rules write.
pub enum Written {
    /// What was imported.
    Post(Post),
    /// A riddle with columns.
    Puzzle(Box<Puzzle>),
    /// A record that a folder declares.
    Declared(Declared),
}

impl From<Puzzle> for Written {
    fn from(puzzle: Puzzle) -> Written {
        Written::Puzzle(Box::new(puzzle))
    }
}

impl Written {
    /// What it says.
    pub fn text(&self) -> String {
        match self {
            Written::Post(post) => post.text.clone(),
            Written::Puzzle(puzzle) => shown(&puzzle.question, &puzzle.answer),
            Written::Declared(record) => record.text.clone(),
        }
    }

    /// The record, where it is of this type.
    pub fn into_record<R: 'static>(self) -> Option<R> {
        let mut record: Box<dyn Any> = match self {
            Written::Post(post) => Box::new(Some(post)),
            Written::Puzzle(puzzle) => Box::new(Some(*puzzle)),
            Written::Declared(record) => Box::new(Some(record)),
        };
        record.downcast_mut::<Option<R>>()?.take()
    }
}

/// The record as it leaves a stage; `None` where it does not pass.
pub(super) fn goes_on<T>(outcome: Outcome<T>) -> Option<T> {
    match outcome {
        Outcome::Kept(row) | Outcome::Changed { row, .. } => Some(row),
        _ => None,
    }
}
