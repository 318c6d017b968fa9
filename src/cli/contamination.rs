//! `contamination`: which rows of a set published sets or other releases have, too.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::args::{Contamination, Global};
use super::exit::{Exit, Failure};
use super::export::hide_of;
use super::output::{self, count};
use super::progress::TaskProgress;
use super::terminal::visible_line;
use crate::join::Spill;
use crate::recipe::{self, Recipe};
use crate::release::contamination::{self as shared, ComparisonSettings, NotCompared, OtherSet};
use crate::release::read_rows;
use crate::stages::embed::refuse_in_parts;
use crate::stages::import::{RowsOfFile, rows_of_file};
use crate::stages::{JoinProgress, Stop};
use crate::store::Error;

/// Most rows shown for each file; `--json` has all.
const SHOWN: usize = 20;

pub(super) fn find_contamination(args: &Contamination, global: &Global) -> Result<Exit, Failure> {
    let name = args.set.display().to_string();
    // Before anything is compared, which may take long.
    for path in &args.against {
        std::fs::metadata(path).map_err(Error::io("read", path))?;
    }
    let set = read_set(&args.set, global)?;
    let config = output::load_or_default(global)?;
    let recipe = recipe_of(&args.set)?.map(|recipe| recipe.name);
    refuse_in_parts(&config, recipe).map_err(|e| Failure::usage(e.to_string()))?;
    let mut likeness: crate::config::sections::Dedup = config.typed_settings(recipe, "dedup");
    // Borderline pairs are of interest in a run only.
    likeness.margin = 0.0;
    let mut pairs = args.pairs.as_deref().map(create_file).transpose()?;
    let mut found = shared::Contamination::of_set(&set);
    for path in &args.against {
        let other = read_set(path, global)?;
        let records = (set.rows.len() + other.rows.len()) as u64;
        let (stop, bar) = (Stop::default(), TaskProgress::of_verb("contamination", records, global));
        let watch = JoinProgress::new(&stop, &bar, records);
        let spill = args.on_disk.as_deref().map(|folder| Spill {
            folder,
            memory: args.memory_bytes(),
            texts: records as usize,
        });
        let how = ComparisonSettings {
            column: args.column.as_deref(),
            likeness: &likeness,
            spill,
            pairs: pairs.is_some(),
        };
        let done = found.add(&name, &set.rows, other, how, &watch, |pair| match &mut pairs {
            Some(out) => {
                serde_json::to_writer(&mut *out, pair)?;
                out.write_all(b"\n")
            }
            None => Ok(()),
        });
        bar.clear_bar();
        done.map_err(|error| match error {
            NotCompared::NoTexts { .. } | NotCompared::NoColumn(_) => Failure::usage(error.to_string()),
            other => Failure { exit: Exit::Io, message: other.to_string() },
        })?;
    }
    if let (Some(mut out), Some(path)) = (pairs, &args.pairs) {
        out.flush().map_err(Error::io("write", path))?;
    }
    match global.json {
        true => output::print_json(&found)?,
        false => output::print_text(&describe_contamination(&name, &found))?,
    }
    Ok(match found.found > 0 {
        true => Exit::Gap,
        false if found.is_whole() => Exit::Done,
        false => Exit::Partial,
    })
}

fn create_file(path: &Path) -> Result<BufWriter<File>, Failure> {
    Ok(BufWriter::new(File::create(path).map_err(Error::io("create", path))?))
}

/// The recipe of a folder's rows.
fn recipe_of(path: &Path) -> Result<Option<&'static Recipe>, Failure> {
    Ok(if path.is_dir() { read_rows::recipe_of_folder(path)? } else { None })
}

/// The rows of a set, without withdrawn ones.
fn read_set(path: &Path, global: &Global) -> Result<OtherSet, Failure> {
    let RowsOfFile { mut rows, unread, .. } = match path.is_dir() {
        true => RowsOfFile { rows: read_rows::of_path(path)?, ..RowsOfFile::default() },
        false => rows_of_file(path)?,
    };
    let file = path.display().to_string();
    if rows.is_empty() && unread.is_empty() {
        let hint = "name a set that has rows; `riddlemill status` says what a candidate waits for";
        return Err(Failure::usage(format!("{file} has no rows, so nothing would be found\n  hint: {hint}")));
    }
    // Files of no recipe are checked for withdrawn texts by those of any.
    if let Some(recipe) = recipe_of(path)?.or_else(|| recipe::RECIPES.iter().next()) {
        let hidden = hide_of(recipe, global, &mut rows)?;
        if hidden > 0 && !global.quiet {
            eprintln!("{file}: {} left out: withdrawn", count(hidden as u64, "row"));
        }
    }
    Ok(OtherSet { file, rows, unread })
}

fn describe_contamination(name: &str, found: &shared::Contamination) -> String {
    let mut text =
        format!("{name}: {} of {} shared\n", output::format_count(found.found), count(found.rows, "row"));
    not_compared(&mut text, found.without_text, &found.unread);
    for file in &found.against {
        let _ = writeln!(
            text,
            "{}: {}, {} of the set among them ({})",
            file.file,
            count(file.rows, "row"),
            output::format_count(file.found.len() as u64),
            count(file.pairs, "pair")
        );
        not_compared(&mut text, file.without_text, &file.unread);
        for row in file.found.iter().take(SHOWN) {
            let (id, other) = (visible_line(&row.id), visible_line(&row.other));
            let _ = writeln!(text, "  {:.3} {}  {id}: {}", row.score, row.predicate, visible_line(&row.text));
            let _ = writeln!(text, "        as {other}: {}", visible_line(&row.other_text));
        }
        if file.found.len() > SHOWN {
            let more = output::format_count((file.found.len() - SHOWN) as u64);
            let _ = writeln!(text, "  … and {more} more: --json has all");
        }
    }
    text
}

fn not_compared(text: &mut String, without_text: u64, unread: &[String]) {
    if without_text > 0 {
        let rows = count(without_text, "row");
        let _ = writeln!(text, "  not compared: {rows} without a text (--column names the column of texts)");
    }
    if let Some(first) = unread.first() {
        let lines = count(unread.len() as u64, "row");
        let _ = writeln!(text, "  not compared: {lines} that cannot be read; line {}", visible_line(first));
    }
}
