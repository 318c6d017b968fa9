//! Books in, books out: stages whose decision on a record depends on that record alone.

use std::io::{self, BufWriter};

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::lines::{BATCH, Bad, Lines, write};
use crate::cli::exit::{Exit, Failure};
use crate::record::{Outcome, Post, Reason};
use crate::stages::apply::{Applied, decide, posts_of};
use crate::stages::import::{Again, settle_again};
use crate::store::{Booked, BookedError};

/// Applies a stage to every post that a line holds.
pub(super) fn each(what: &Applied) -> Result<Exit, Failure> {
    if decide(what, Post::default()).is_none() {
        return Err(Failure::usage("--books is for clean, anonymise and filter"));
    }
    let book = |post: Post| {
        let id = post.id.clone();
        decide(what, post).map(|outcome| Booked::of(id, outcome))
    };
    lines(|line| Ok(posts_of(line)?.into_iter().filter_map(book).collect()))
}

/// A line of import's books, with the posts on it whose ids came before.
#[derive(Deserialize)]
struct Marked {
    again: Vec<Again>,
    booked: Map<String, Value>,
}

/// Sets aside the posts that are known.
pub(super) fn settle() -> Result<Exit, Failure> {
    lines(|line| {
        if line.starts_with(b"{\"entry\"") {
            return Ok(vec![Booked::read(line)?]);
        }
        let marked: Marked =
            serde_json::from_slice(line).map_err(|e| BookedError::Unreadable(e.to_string()))?;
        Ok(settle_again(Booked::from_object(marked.booked)?, &marked.again))
    })
}

/// Books line by line. What is no line of this kind is told on stderr and booked as failed, so that the books
/// of the stage do not close without it.
pub(super) fn lines(
    book: impl Fn(&[u8]) -> Result<Vec<Booked<Post>>, BookedError> + Sync,
) -> Result<Exit, Failure> {
    let mut bad = Bad::default();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut lines = Lines::new();
    while let Some(batch) = lines.batch(BATCH)? {
        let booked: Vec<_> = batch.into_par_iter().map(|(n, line)| (n, book(&line))).collect();
        let mut rows = Vec::with_capacity(booked.len());
        for (n, booked) in booked {
            rows.append(&mut booked.unwrap_or_else(|error| {
                bad.tell(n, &error);
                let outcome = Outcome::Failed { reason: Reason::Unreadable, evidence: error.to_string() };
                vec![Booked::of(format!("line {n}"), outcome)]
            }));
        }
        if !write(&mut out, &rows)? {
            return Ok(Exit::Done);
        }
    }
    Ok(bad.exit())
}
