//! Settle, clean, anonymise and filter in one pass, so that each record is read once and not once per stage.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use super::ledger::{TASK, settle_line, unreadable_record};
use super::lines::{BATCH, BUFFER, BadLineCount, Lines, encode_row, row_output, write_lines};
use crate::cli::exit::{Exit, Failure};
use crate::record::Post;
use crate::stages::apply::{Applied, decide_post};
use crate::store::{Error, LedgerRecord, LedgerRecordError};

/// The files of the folder, one per stage.
const FILES: [&str; 4] = ["import", "clean", "anonymise", "filter"];

/// The fields of a post that dedup needs.
#[derive(Serialize)]
struct DedupPost<'a> {
    id: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<&'a str>,
}

/// The output for some lines.
#[derive(Default)]
struct LineOutput {
    /// The ledger records of each stage, as lines.
    ledgers: [Vec<u8>; 4],
    rows: Vec<u8>,
    wrong: Vec<(u64, LedgerRecordError)>,
}

/// Reads import's ledger records, writes those of the four stages into `folder` and the remaining rows to
/// stdout. `stages` are clean, anonymise and filter.
pub(super) fn apply_stages(stages: &[Applied; 3], folder: &Path) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    for name in FILES {
        let path = folder.join(name);
        let file = File::create(&path).map_err(Error::io("write", &path))?;
        files.push((BufWriter::with_capacity(BUFFER, file), path));
    }
    let mut bad = BadLineCount::default();
    let mut out = row_output();
    let mut lines = Lines::new();
    while let Some(batch) = lines.next_batch(BATCH)? {
        let made: Vec<LineOutput> =
            batch.par_chunks(TASK).map(|lines| apply_to_lines(lines, stages)).collect::<Result<_, _>>()?;
        for made in made {
            for ((file, path), ledger) in files.iter_mut().zip(&made.ledgers) {
                file.write_all(ledger).map_err(Error::io("write", path))?;
            }
            made.wrong.into_iter().for_each(|(n, error)| bad.report_line(n, error));
            if !write_lines(&mut out, &[made.rows])? {
                return Ok(Exit::Done);
            }
        }
    }
    // Explicitly, because dropping a BufWriter ignores errors.
    for (mut file, path) in files {
        file.flush().map_err(Error::io("write", &path))?;
    }
    Ok(bad.exit_code())
}

fn apply_to_lines(lines: &[(u64, Vec<u8>)], stages: &[Applied; 3]) -> Result<LineOutput, Failure> {
    let mut made = LineOutput::default();
    for (n, line) in lines {
        let records = settle_line(line).unwrap_or_else(|error| {
            let failed = unreadable_record(*n, &error);
            made.wrong.push((*n, error));
            vec![failed]
        });
        let mut posts: Vec<Post> = Vec::new();
        for record in records {
            encode_row(&mut made.ledgers[0], &record)?;
            posts.extend(record.rows);
        }
        for (stage, ledger) in stages.iter().zip(&mut made.ledgers[1..]) {
            let mut left = Vec::with_capacity(posts.len());
            for post in posts {
                let id = post.id.clone();
                let Some(outcome) = decide_post(stage, post) else { continue };
                let record = LedgerRecord::new(id, outcome);
                encode_row(ledger, &record)?;
                left.extend(record.rows);
            }
            posts = left;
        }
        for post in &posts {
            let row =
                DedupPost { id: &post.id, text: &post.text, score: post.score, time: post.time.as_deref() };
            encode_row(&mut made.rows, &row)?;
        }
    }
    Ok(made)
}
