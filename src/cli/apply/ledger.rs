//! Filters on ledger records: stages that decide every record independently.

use rayon::prelude::*;
use serde::Deserialize;

use super::lines::{BATCH, BadLineCount, Lines, encode_row, row_output, write_lines};
use crate::cli::exit::{Exit, Failure};
use crate::record::{Outcome, Post, Reason};
use crate::stages::apply::{Applied, decide_post, posts_of};
use crate::stages::import::{RepeatedPost, settle_again};
use crate::store::{LedgerRecord, LedgerRecordError, LedgerRecordLine};

/// Lines that one task decides.
pub(super) const TASK: usize = 256;

/// Applies a stage to every post on a line.
pub(super) fn apply_each(stage: &Applied) -> Result<Exit, Failure> {
    // An empty post shows whether the stage decides single posts at all.
    if decide_post(stage, Post::default()).is_none() {
        return Err(Failure::usage("--ledger is for clean, anonymise and filter"));
    }
    let record = |post: Post| {
        // `decide` consumes the post, and the outcome of a dropped one does not contain it.
        let id = post.id.clone();
        decide_post(stage, post).map(|outcome| LedgerRecord::new(id, outcome))
    };
    decide_lines(|line| Ok(posts_of(line)?.into_iter().filter_map(record).collect()))
}

/// A ledger record of import, with the posts on it whose ids occurred before.
#[derive(Deserialize)]
struct MarkedRecord {
    again: Vec<RepeatedPost>,
    #[serde(alias = "booked")]
    record: LedgerRecordLine<Post>,
}

/// Merges the posts whose ids occurred before.
pub(super) fn settle_posts() -> Result<Exit, Failure> {
    decide_lines(settle_line)
}

/// The ledger records of a line of import's.
pub(super) fn settle_line(line: &[u8]) -> Result<Vec<LedgerRecord<Post>>, LedgerRecordError> {
    // The first bytes distinguish the two forms, so that no line is parsed twice.
    if line.starts_with(b"{\"entry\"") {
        return Ok(vec![LedgerRecord::parse_line(line)?]);
    }
    let marked: MarkedRecord =
        serde_json::from_slice(line).map_err(|e| LedgerRecordError::Unreadable(e.to_string()))?;
    Ok(settle_again(marked.record.into_checked()?, &marked.again))
}

/// Decides line by line. A line that cannot be read is reported on stderr and recorded as failed, so that the
/// accounting of the stage includes it.
pub(super) fn decide_lines(
    decide: impl Fn(&[u8]) -> Result<Vec<LedgerRecord<Post>>, LedgerRecordError> + Sync,
) -> Result<Exit, Failure> {
    let mut bad = BadLineCount::default();
    let mut out = row_output();
    let mut lines = Lines::new();
    while let Some(batch) = lines.next_batch(BATCH)? {
        let encoded: Vec<Encoded> =
            batch.par_chunks(TASK).map(|lines| encode_lines(lines, &decide)).collect::<Result<_, _>>()?;
        let (lines, wrong): (Vec<_>, Vec<_>) = encoded.into_iter().unzip();
        // Reported here and not by the tasks, so that the warnings are in the order of the lines.
        wrong.into_iter().flatten().for_each(|(n, error)| bad.report_line(n, error));
        if !write_lines(&mut out, &lines)? {
            return Ok(Exit::Done);
        }
    }
    Ok(bad.exit_code())
}

/// Ledger records as lines, and the numbers of the lines that could not be read, with the errors.
type Encoded = (Vec<u8>, Vec<(u64, LedgerRecordError)>);

/// The ledger records of some lines.
fn encode_lines(
    lines: &[(u64, Vec<u8>)],
    decide: &impl Fn(&[u8]) -> Result<Vec<LedgerRecord<Post>>, LedgerRecordError>,
) -> Result<Encoded, Failure> {
    let mut out = Vec::with_capacity(lines.iter().map(|(_, line)| line.len() + 64).sum());
    let mut wrong = Vec::new();
    for (n, line) in lines {
        let records = decide(line).unwrap_or_else(|error| {
            let failed = unreadable_record(*n, &error);
            wrong.push((*n, error));
            vec![failed]
        });
        records.iter().try_for_each(|record| encode_row(&mut out, record))?;
    }
    Ok((out, wrong))
}

/// The ledger record of a line that cannot be read.
pub(super) fn unreadable_record(line: u64, error: &LedgerRecordError) -> LedgerRecord<Post> {
    let outcome = Outcome::Failed { reason: Reason::Unreadable, evidence: error.to_string().into() };
    LedgerRecord::new(format!("line {line}"), outcome)
}
