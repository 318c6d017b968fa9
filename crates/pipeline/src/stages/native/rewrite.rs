//! A text as the present rules would write it, to show what a run would change before it runs.

use riddlemill_record::{Outcome, Post, Row};

/// How an operation would write a record today; `None` if the record is not kept.
pub type Rewrite = Box<dyn Fn(WrittenRecord) -> Option<WrittenRecord> + Sync>;

/// A record among those whose texts rules write.
pub enum WrittenRecord {
    /// What was imported.
    Post(Box<Post>),
    /// A record made from it.
    Row(Row),
}

impl From<Post> for WrittenRecord {
    fn from(post: Post) -> WrittenRecord {
        WrittenRecord::Post(Box::new(post))
    }
}

impl WrittenRecord {
    /// What it says.
    pub fn text(&self) -> String {
        match self {
            WrittenRecord::Post(post) => post.text.clone(),
            WrittenRecord::Row(row) => full_text(row),
        }
    }
}

/// The record as it leaves a stage; `None` where it does not pass.
pub(in crate::stages) fn continued_row<T>(outcome: Outcome<T>) -> Option<T> {
    match outcome {
        Outcome::Kept(row) | Outcome::Changed { row, .. } => Some(row),
        _ => None,
    }
}

/// Question and answer as a ledger shows them.
pub fn show_riddle(question: &str, answer: &str) -> String {
    if answer.is_empty() { question.to_owned() } else { format!("{question}\n{answer}") }
}

/// The whole text of a record: its text, or its question and answer.
pub fn full_text(record: &Row) -> String {
    let text = |name| record.text(name).unwrap_or_default();
    if record.has_column("text") {
        text("text").to_owned()
    } else {
        show_riddle(text("question"), text("answer"))
    }
}
