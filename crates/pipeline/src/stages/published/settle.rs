//! Published records pass each stage as they were published; the ledger records what the rule would have done.

use super::super::overrule::by_rule;
use super::Published;
use riddlemill_record::{Outcome, Post, Reason, Record, Row, row_digest};

/// Lets a record through with the values of its published row at a step; the evidence names the outcome by rule.
pub fn let_through<T: Record>(
    published: &Published,
    step: &str,
    record: &T,
    rule: &Outcome<T>,
) -> Outcome<T> {
    let row = published.apply_to_record(record, step);
    let evidence = match rule {
        // The rule may still add a drawn order, a draft or a correction if nothing is published.
        Outcome::Kept(_) => published.basis_of_record(record.id()),
        rule => format!("{}; {}", published.basis_of_record(record.id()), by_rule(rule)),
    };
    // No evidence where the rule would have kept it and the row adds nothing new.
    if matches!(rule, Outcome::Kept(_))
        && row_digest(row.columns(), [&row]) == row_digest(record.columns(), [record])
    {
        return Outcome::Kept(row);
    }
    let (before, after) = (String::new(), String::new());
    Outcome::Changed { row, rule: Reason::Published.code(), evidence: evidence.into(), before, after }
}

/// A record that passes a stage of its own kind as it was published.
pub trait Publishable: Record + Clone {
    /// The record as it goes on, whatever the stage's rule says.
    fn as_published(&self) -> Self;
}

impl Publishable for Row {
    fn as_published(&self) -> Row {
        self.clone()
    }
}

impl Publishable for Post {
    fn as_published(&self) -> Post {
        let mut post = self.clone();
        if post.title.is_some() || post.content.is_some() {
            post.text =
                Post::join_title_and_content(post.title.take().as_deref(), post.content.take().as_deref());
        }
        // Names found by import are for marking; nothing in a published text is marked.
        post.mentions.clear();
        post
    }
}
