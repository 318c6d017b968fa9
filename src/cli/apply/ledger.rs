//! Books in, books out: stages whose decision on a record depends on that record alone.

use rayon::prelude::*;
use serde::Deserialize;

use super::lines::{BATCH, Bad, Lines, encode, output, put};
use crate::cli::exit::{Exit, Failure};
use crate::record::{Outcome, Post, Reason};
use crate::stages::apply::{Applied, decide, posts_of};
use crate::stages::import::{Again, settle_again};
use crate::store::{LedgerRecord, LedgerRecordError, LedgerRecordLine};

/// Lines that one task books.
const TASK: usize = 256;

/// Applies a stage to every post that a line holds.
pub(super) fn each(what: &Applied) -> Result<Exit, Failure> {
    if decide(what, Post::default()).is_none() {
        return Err(Failure::usage("--books is for clean, anonymise and filter"));
    }
    let book = |post: Post| {
        let id = post.id.clone();
        decide(what, post).map(|outcome| LedgerRecord::new(id, outcome))
    };
    lines(|line| Ok(posts_of(line)?.into_iter().filter_map(book).collect()))
}

/// A line of import's books, with the posts on it whose ids came before.
#[derive(Deserialize)]
struct Marked {
    again: Vec<Again>,
    booked: LedgerRecordLine<Post>,
}

/// Sets aside the posts that are known.
pub(super) fn settle() -> Result<Exit, Failure> {
    lines(|line| {
        if line.starts_with(b"{\"entry\"") {
            return Ok(vec![LedgerRecord::read(line)?]);
        }
        let marked: Marked =
            serde_json::from_slice(line).map_err(|e| LedgerRecordError::Unreadable(e.to_string()))?;
        Ok(settle_again(marked.booked.checked()?, &marked.again))
    })
}

/// Books line by line. What is no line of this kind is told on stderr and booked as failed, so that the books
/// of the stage do not close without it.
pub(super) fn lines(
    book: impl Fn(&[u8]) -> Result<Vec<LedgerRecord<Post>>, LedgerRecordError> + Sync,
) -> Result<Exit, Failure> {
    let mut bad = Bad::default();
    let mut out = output();
    let mut lines = Lines::new();
    while let Some(batch) = lines.batch(BATCH)? {
        let encoded: Vec<Encoded> =
            batch.par_chunks(TASK).map(|lines| encoded(lines, &book)).collect::<Result<_, _>>()?;
        let (lines, wrong): (Vec<_>, Vec<_>) = encoded.into_iter().unzip();
        wrong.into_iter().flatten().for_each(|(n, error)| bad.tell(n, error));
        if !put(&mut out, &lines)? {
            return Ok(Exit::Done);
        }
    }
    Ok(bad.exit())
}

/// Books as lines, and the numbers of the lines that are none, with what is wrong.
type Encoded = (Vec<u8>, Vec<(u64, LedgerRecordError)>);

/// The books of some lines.
fn encoded(
    lines: &[(u64, Vec<u8>)],
    book: &impl Fn(&[u8]) -> Result<Vec<LedgerRecord<Post>>, LedgerRecordError>,
) -> Result<Encoded, Failure> {
    let mut out = Vec::with_capacity(lines.iter().map(|(_, line)| line.len() + 64).sum());
    let mut wrong = Vec::new();
    for (n, line) in lines {
        let booked = book(line).unwrap_or_else(|error| {
            let outcome = Outcome::Failed { reason: Reason::Unreadable, evidence: error.to_string() };
            wrong.push((*n, error));
            vec![LedgerRecord::new(format!("line {n}"), outcome)]
        });
        booked.iter().try_for_each(|booked| encode(&mut out, booked))?;
    }
    Ok((out, wrong))
}
