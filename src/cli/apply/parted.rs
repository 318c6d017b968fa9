//! `apply dedup-…`: the single steps of dedup.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ledger;
use super::lines::{BATCH, BadLineCount, Lines, encode_row, row_output, write_lines, write_rows};
use crate::cli::args::{Apply, ApplyStage};
use crate::cli::exit::{Exit, Failure};
use crate::config::sections;
use crate::join::Uncounted;
use crate::offline::dedup::tagged_text;
use crate::record::{Language, Post};
use crate::stages::apply::posts_of;
use crate::stages::parted::{
    Decision, Group, KeyLine, Keyer, Measure, MergeTarget, PairLine, PartStats, ResolveError, Share,
    StatError, StatLine, decide_merges, ledger_record, rank_of, verify_line,
};
use crate::store::{Error, LedgerRecord, LedgerRecordError, Plain};

pub(super) fn run_parted(
    stage: ApplyStage,
    args: &Apply,
    settings: &sections::Dedup,
) -> Result<Exit, Failure> {
    let measure = Measure::new(settings);
    match stage {
        ApplyStage::DedupStats => count_stats(&measure, settings.language),
        ApplyStage::DedupKeys => cut_keys(args, measure, settings),
        ApplyStage::DedupVerify => verify_pairs(args, &measure),
        ApplyStage::DedupResolve => resolve_pairs(args),
        _ => ledger::decide_lines(ledger_records),
    }
}

/// Counts rows, and adds earlier counts.
fn count_stats(measure: &Measure, language: Option<Language>) -> Result<Exit, Failure> {
    let (mut all, mut bad) = (PartStats::new(measure), BadLineCount::default());
    let mut lines = Lines::new();
    while let Some(batch) = lines.next_batch(BATCH)? {
        // One table of counts for each thread, not for each line, because all of them have to be merged.
        let share = batch.len().div_ceil(rayon::current_num_threads()).max(1);
        let counted: Vec<(PartStats, Vec<(u64, LineError)>)> = batch
            .par_chunks(share)
            .map(|lines| {
                let (mut stats, mut bad) = (PartStats::new(measure), Vec::new());
                for (n, line) in lines {
                    if let Err(error) = count_line(measure, language, line, &mut stats) {
                        bad.push((*n, error));
                    }
                }
                (stats, bad)
            })
            .collect();
        for (stats, wrong) in counted {
            all = all.merge(stats);
            wrong.into_iter().for_each(|(n, error)| bad.report_line(n, error));
        }
    }
    let mut out = row_output();
    write_rows(&mut out, &all.stat_lines().collect::<Vec<_>>())?;
    Ok(bad.exit_code())
}

/// Why a line cannot be used.
#[derive(Debug, thiserror::Error)]
enum LineError {
    /// It is not a row.
    #[error(transparent)]
    Row(#[from] LedgerRecordError),
    /// It is not a table of counts.
    #[error(transparent)]
    NoCounts(#[from] serde_json::Error),
    /// Its counts cannot be added.
    #[error(transparent)]
    Counts(#[from] StatError),
    /// The counts lack one of its keys.
    #[error(transparent)]
    Uncounted(#[from] Uncounted),
    /// Its keys cannot be written.
    #[error("{}", .0.message)]
    Unwritable(Failure),
}

fn count_line(
    measure: &Measure,
    language: Option<Language>,
    line: &[u8],
    stats: &mut PartStats,
) -> Result<(), LineError> {
    // The output of an earlier call, whose counts are added to those of the rows.
    if line.starts_with(b"{\"stats\"") {
        let line: StatLine = serde_json::from_slice(line)?;
        return Ok(stats.add_line(&line)?);
    }
    posts_of(line)?.iter().for_each(|post| stats.add(measure, &tagged_text(post, language)));
    Ok(())
}

/// Cuts the keys of each row.
fn cut_keys(args: &Apply, measure: Measure, settings: &sections::Dedup) -> Result<Exit, Failure> {
    let share = args.share.unwrap_or(Share::WHOLE);
    let Some(path) = &args.stats else {
        return each_row(|post, take| {
            let text = tagged_text(post, settings.language);
            Keyer::copy_key(&measure, &rank_of(post, settings.keep), &text, share).into_iter().for_each(take);
            Ok(())
        });
    };
    let keyer = Keyer::new(measure.clone(), &read_stats(&measure, path)?);
    each_row(|post, take| {
        let tagged = tagged_text(post, settings.language);
        let text = args.texts.then_some(Cow::Borrowed(&*tagged));
        let take = |line: KeyLine| take(KeyLine { text: text.clone(), ..line });
        keyer.emit_keys(&rank_of(post, settings.keep), &tagged, share, take)
    })
}

fn read_stats(measure: &Measure, path: &Path) -> Result<PartStats, Failure> {
    let mut stats = PartStats::new(measure);
    let file = File::open(path).map_err(Error::io("read", path))?;
    for (line, n) in BufReader::new(file).lines().zip(1..) {
        let line = line.map_err(Error::io("read", path))?;
        let wrong = |what: String| Failure::usage(format!("{}:{n}: {what}", path.display()));
        let line: StatLine = serde_json::from_str(&line).map_err(|e| wrong(e.to_string()))?;
        stats.add_line(&line).map_err(|e| wrong(e.to_string()))?;
    }
    Ok(stats)
}

/// The keys of each row, in order.
fn each_row(
    cut: impl Fn(&Post, &mut dyn FnMut(KeyLine)) -> Result<(), Uncounted> + Sync,
) -> Result<Exit, Failure> {
    let encoded = |line: &[u8]| -> Result<Vec<u8>, LineError> {
        let (mut out, mut failed) = (Vec::new(), None);
        for post in posts_of(line)? {
            // The callback cannot return an error, so it is kept until the row is done.
            let mut take = |line: KeyLine| failed = encode_row(&mut out, &line).err().or(failed.take());
            cut(&post, &mut take)?;
        }
        failed.map_or(Ok(out), |failure| Err(LineError::Unwritable(failure)))
    };
    let mut bad = BadLineCount::default();
    let mut out = row_output();
    let mut lines = Lines::new();
    // Smaller batches, because a row has hundreds of keys.
    while let Some(batch) = lines.next_batch(BATCH / 16)? {
        let cut: Vec<_> = batch.into_par_iter().map(|(n, line)| (n, encoded(&line))).collect();
        let mut keys = Vec::with_capacity(cut.len());
        for (n, row) in cut {
            match row {
                Ok(lines) => keys.push(lines),
                Err(error) => bad.report_line(n, error),
            }
        }
        if !write_lines(&mut out, &keys)? {
            return Ok(Exit::Done);
        }
    }
    Ok(bad.exit_code())
}

/// Pairs among rows of one key, group by group.
fn verify_pairs(args: &Apply, measure: &Measure) -> Result<Exit, Failure> {
    let stats = args.stats.as_deref().map(|path| read_stats(measure, path)).transpose()?;
    let common = stats.map(|stats| stats.common_pairs());
    let (mut bad, mut group, mut pairs) = (BadLineCount::default(), Group::default(), Vec::new());
    let mut out = row_output();
    let mut lines = Lines::new();
    while let Some(batch) = lines.next_batch(BATCH)? {
        let parsed: Vec<(u64, Result<KeyLine<'static>, _>)> =
            batch.into_par_iter().map(|(n, line)| (n, serde_json::from_slice(&line))).collect();
        for (n, line) in parsed {
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    bad.report_line(n, error);
                    continue;
                }
            };
            verify_line(measure, common.as_ref(), &mut group, line, |pair| pairs.push(pair))
                .map_err(|e| Failure::usage(format!("line {n}: {e}")))?;
            // Rows with one key may make many more pairs than there are lines.
            if pairs.len() >= BATCH {
                if !write_rows(&mut out, &pairs)? {
                    return Ok(Exit::Done);
                }
                pairs.clear();
            }
        }
    }
    write_rows(&mut out, &pairs)?;
    Ok(bad.exit_code())
}

/// Decisions from pairs.
fn resolve_pairs(args: &Apply) -> Result<Exit, Failure> {
    let mut bad = BadLineCount::default();
    let mut lines = Lines::new();
    let mut batch = Vec::new().into_iter();
    let mut out = row_output();
    let pairs = std::iter::from_fn(|| {
        loop {
            if batch.len() == 0 {
                match lines.next_batch(BATCH) {
                    Ok(more) => batch = more?.into_iter(),
                    Err(failure) => return Some(Err(failure)),
                }
            }
            let (n, line): (u64, Vec<u8>) = batch.next()?;
            match serde_json::from_slice::<PairLine>(&line) {
                Ok(pair) => return Some(Ok(pair)),
                Err(error) => bad.report_line(n, error),
            }
        }
    });
    let folder = args.on_disk.clone().unwrap_or_else(std::env::temp_dir);
    let mut waiting: Vec<Decision> = Vec::new();
    let decided = decide_merges(pairs, &folder, args.memory_bytes(256), |decision| {
        waiting.push(decision);
        if waiting.len() >= BATCH {
            write_rows(&mut out, &waiting)?;
            waiting.clear();
        }
        Ok(())
    });
    match decided {
        Ok(()) => {}
        Err(ResolveError::Take(failure)) => return Err(failure),
        Err(ResolveError::Sort(error)) => return Err(Failure { exit: Exit::Io, message: error.to_string() }),
    }
    write_rows(&mut out, &waiting)?;
    Ok(bad.exit_code())
}

/// A row with its decision.
#[derive(Deserialize)]
struct DecidedRow<'a> {
    #[serde(borrow)]
    row: &'a RawValue,
    into: Option<Plain<Post>>,
    score: Option<f64>,
    predicate: Option<String>,
}

fn ledger_records(line: &[u8]) -> Result<Vec<LedgerRecord<Post>>, LedgerRecordError> {
    let line: DecidedRow =
        serde_json::from_slice(line).map_err(|e| LedgerRecordError::Unreadable(e.to_string()))?;
    let decided = line.into.map(|into| MergeTarget {
        into: into.0,
        score: line.score.unwrap_or(1.0),
        predicate: line.predicate,
    });
    let posts = posts_of(line.row.get().as_bytes())?;
    Ok(posts.into_iter().map(|post| ledger_record(post, decided.clone())).collect())
}
