//! `apply dedup`: all rows at once, in memory or on disk.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use super::lines::{BATCH, Lines, parse_line, row_output, write_rows};
use crate::cli::args::{Apply, Global};
use crate::cli::exit::{Exit, Failure};
use crate::cli::progress::TaskProgress;
use crate::config::{Config, sections};
use crate::stages::apply::{RowObject, apply_dedup, row_of};
use crate::stages::embed::refuse_in_parts;
use crate::stages::same_joke;
use crate::stages::{JoinProgress, OnDiskError, Output, Stop, apply_on_disk};
use crate::store::Error;

/// The settings of dedup, overridden by the flags.
pub(super) fn dedup_settings(
    args: &Apply,
    config: &Config,
    recipe: Option<&str>,
) -> Result<sections::Dedup, Failure> {
    let parts = [refuse_in_parts(config, recipe), same_joke::refuse_in_parts(config, recipe)];
    parts.into_iter().collect::<Result<(), _>>().map_err(|e| Failure::usage(e.to_string()))?;
    let mut settings: sections::Dedup = config.typed_settings(recipe, "dedup");
    if let Some(metric) = args.metric.as_deref().and_then(sections::DedupMetric::from_name) {
        settings.metric = metric;
    }
    if let Some(threshold) = args.threshold {
        // At 0 every pair would be a duplicate.
        if !(0.0..=1.0).contains(&threshold) || threshold == 0.0 {
            return Err(Failure::usage(format!("--threshold must be over 0 and at most 1, not {threshold}")));
        }
        settings.threshold = threshold;
    }
    if let Some(how) = &args.normalize {
        settings.normalize = how == "default";
    }
    Ok(settings)
}

pub(super) fn dedup_posts(
    args: &Apply,
    config: &Config,
    recipe: Option<&str>,
    global: &Global,
) -> Result<Exit, Failure> {
    let mut settings = dedup_settings(args, config, recipe)?;
    // Borderline pairs are only of interest in a run.
    settings.margin = 0.0;
    let pairs = args.pairs.as_deref().map(PairFile::create_file).transpose()?;
    match &args.on_disk {
        Some(folder) => dedup_on_disk(&settings, folder, args.memory_bytes(2048), pairs),
        None => dedup_in_memory(args, &settings, pairs, global),
    }
}

fn dedup_in_memory(
    args: &Apply,
    settings: &sections::Dedup,
    mut pairs: Option<PairFile>,
    global: &Global,
) -> Result<Exit, Failure> {
    let against = args.against.as_deref().map(read_rows).transpose()?;
    let mut rows = Vec::new();
    let mut bad = Vec::new();
    let mut lines = Lines::new();
    while let Some(batch) = lines.next_batch(BATCH)? {
        let parsed: Vec<Result<RowObject, RowObject>> =
            batch.into_par_iter().map(|(n, line)| parse_line(n, &line)).collect();
        for row in parsed {
            match row {
                Ok(row) => rows.push(row),
                Err(row) => bad.push((rows.len() + bad.len(), row)),
            }
        }
    }
    let (stop, bar) = (Stop::default(), TaskProgress::of_verb("dedup", rows.len() as u64, global));
    let waiting = JoinProgress::new(&stop, &bar, rows.len() as u64);
    let mut rows = apply_dedup(rows, settings, against.as_deref(), &waiting, |a, b, score| {
        if let Some(pairs) = &mut pairs {
            pairs.write_pair(a, b, score);
        }
    });
    bar.clear_bar();
    if let Some(pairs) = pairs {
        pairs.finish()?;
    }
    let partial = !bad.is_empty();
    // In ascending order, so that each row is inserted at its final place.
    for (place, row) in bad {
        rows.insert(place, row);
    }
    write_rows(&mut row_output(), rows.iter())?;
    Ok(if partial { Exit::Partial } else { Exit::Done })
}

/// The rows to compare with. An invalid row would silently match nothing, so it is an error.
fn read_rows(path: &Path) -> Result<Vec<RowObject>, Failure> {
    let text = std::fs::read(path).map_err(Error::io("read", path))?;
    // Numbered before blank lines are left out, so that messages name the line of the file.
    let lines = text.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.trim_ascii().is_empty());
    lines
        .map(|(line, n)| {
            row_of(line).map_err(|e| Failure::usage(format!("{}:{n}: not a row: {e}", path.display())))
        })
        .collect()
}

fn dedup_on_disk(
    settings: &sections::Dedup,
    folder: &Path,
    memory: usize,
    pairs: Option<PairFile>,
) -> Result<Exit, Failure> {
    let mut input = Lines::new();
    let (mut batch, mut error) = (Vec::new().into_iter(), None);
    let lines = std::iter::from_fn(|| {
        if batch.len() == 0 {
            match input.next_batch(BATCH) {
                Ok(more) => batch = more.unwrap_or_default().into_iter(),
                // An iterator cannot return the error: it ends here, and the error is reported below.
                Err(failure) => error = Some(failure),
            }
        }
        batch.next()
    });
    let mut sink = Sink { rows: row_output(), pairs };
    let wanted = sink.pairs.is_some();
    let bad = match apply_on_disk(lines, settings, folder, memory, wanted, &mut sink) {
        Ok(bad) => bad,
        Err(OnDiskError::Put(e)) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Done),
        Err(e) => return Err(Failure { exit: Exit::Io, message: e.to_string() }),
    };
    // To `apply_on_disk` a failed read looks like the end of the input.
    if let Some(error) = error {
        return Err(error);
    }
    if let Some(pairs) = sink.pairs {
        pairs.finish()?;
    }
    write_rows::<RowObject>(&mut sink.rows, [])?;
    Ok(if bad > 0 { Exit::Partial } else { Exit::Done })
}

/// Writes rows to stdout, pairs to their file.
struct Sink {
    rows: BufWriter<io::StdoutLock<'static>>,
    pairs: Option<PairFile>,
}

impl Output for Sink {
    fn write_pair(&mut self, a: &Value, b: &Value, score: f64) -> io::Result<()> {
        let Some(pairs) = &mut self.pairs else { return Ok(()) };
        pairs.write_pair(a, b, score);
        pairs.error.take().map_or(Ok(()), Err)
    }

    fn write_row(&mut self, row: &RowObject) -> io::Result<()> {
        serde_json::to_writer(&mut self.rows, row)?;
        self.rows.write_all(b"\n")
    }
}

/// Writes pairs as JSON Lines; the first error is kept and reported at the end.
struct PairFile {
    path: PathBuf,
    out: BufWriter<File>,
    error: Option<io::Error>,
}

impl PairFile {
    fn create_file(path: &Path) -> Result<PairFile, Failure> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        Ok(PairFile { path: path.into(), out: BufWriter::new(file), error: None })
    }

    fn write_pair(&mut self, a: &Value, b: &Value, score: f64) {
        if self.error.is_none() {
            self.error =
                writeln!(self.out, "{}", serde_json::json!({ "a": a, "b": b, "score": score })).err();
        }
    }

    fn finish(mut self) -> Result<(), Failure> {
        let done = self.error.take().map_or(Ok(()), Err).and_then(|()| self.out.flush());
        Ok(done.map_err(Error::io("write", &self.path))?)
    }
}
