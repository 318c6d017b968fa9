//! What is wrong with a file or a source as a whole: one entry of the ledger, with what to do.

use std::collections::BTreeMap;
use std::path::Path;

use super::cut::of_pages;
use super::files::Dump;
use super::rows::{self, RowFormat};
use super::thread::Threads;
use super::{columns, files, header, outcomes, shape, table};
use crate::config::SourceKind;
use riddlemill_files::reading::{Form, OtherEncoding, Packing, other_encoding, sniff_form};
use riddlemill_files::shell_path;
use riddlemill_harvest::warc::{Archive, RecordLimits};
use riddlemill_record::{Outcome, Post, Reason, State};
use riddlemill_tables::LedgerRecord;
use riddlemill_text::text::{count_with_noun, group_digits};

use super::ReadItem;

/// What is wrong with a file as a whole.
pub(super) struct Finding {
    pub(super) reason: Reason,
    pub(super) evidence: String,
    /// Whether its records are read all the same.
    pub(super) is_read: bool,
}

/// What is wrong with a file as a whole; `None` where nothing is. `limit` is the most bytes of a record, `given` the census of
/// the file.
pub(super) fn of_file(dump: &Dump, limit: u64, file_threads: Option<&Threads>) -> Option<Finding> {
    let unread = |reason, evidence| Some(Finding { reason, evidence, is_read: false });
    // Only files of sound records are cut; of their columns each piece knows some, and the census all.
    if let (true, Some(given)) = (dump.piece.is_cut, file_threads) {
        return of_columns(columns::missing_of(dump, given.columns()));
    }
    if !dump.piece.is_first() {
        return None;
    }
    if let Some(what) = describe_foreign_file(dump) {
        return unread(Reason::ForeignFile, what);
    }
    if of_pages(dump.kind) {
        return None;
    }
    if !matches!(rows::detect_format(dump), RowFormat::Workbook | RowFormat::Parquet | RowFormat::Numpy)
        && let Some((what, remedy)) = unread_encoding(&dump.path, &dump.named)
    {
        return unread(Reason::ForeignFile, format!("{what}, and the file was not read\n  hint: {remedy}"));
    }
    match rows::detect_format(dump) {
        RowFormat::Json => {
            if let Err(what) = shape::of_dump(dump) {
                return unread(Reason::ForeignFile, what.0);
            }
        }
        head @ (RowFormat::Csv | RowFormat::Workbook) => {
            let is_workbook = matches!(head, RowFormat::Workbook);
            if let Some(what) = is_workbook.then(|| rows::of_workbook(dump).err()).flatten() {
                return unread(Reason::ForeignFile, what.0);
            }
            let table_head = rows::read_table_head(dump).unwrap_or_default();
            if let Some(what) = header::missing_header(dump, &table_head) {
                return unread(Reason::ColumnMissing, what);
            }
        }
        _ => {}
    }
    of_columns(columns::find_missing_columns(dump, limit))
}

fn of_columns(missing: Option<columns::MissingColumns>) -> Option<Finding> {
    let columns::MissingColumns { what, is_read } = missing?;
    Some(Finding { reason: Reason::ColumnMissing, evidence: what, is_read })
}

/// Parts of a file that are not read although the rest is.
pub(super) fn of_parts(dump: &Dump) -> Vec<String> {
    if of_pages(dump.kind) || !dump.piece.is_first() {
        return Vec::new();
    }
    let mut parts = match rows::detect_format(dump) {
        RowFormat::Workbook => rows::of_workbook(dump).unwrap_or_default(),
        _ => Vec::new(),
    };
    parts.extend(shared_names(dump));
    parts
}

/// Columns that a field names and several have: of each row the last one with a value is read.
fn shared_names(dump: &Dump) -> Vec<String> {
    if dump.kind != SourceKind::Table {
        return Vec::new();
    }
    let names = rows::read_header(dump).unwrap_or_default();
    let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
    let is_shared = |at: usize| !names[..at].contains(&names[at]) && names[at + 1..].contains(&names[at]);
    let shared = (0..names.len()).filter(|at| is_shared(*at) && table::uses_column(&dump.fields, names[*at]));
    shared
        .map(|at| {
            format!(
                "several columns are called {:?}, and of each row the last one with a value is read\n  hint: give each a name of its own",
                names[at]
            )
        })
        .collect()
}

/// What a file is that is none of its source's kind, and what to do.
fn describe_foreign_file(dump: &Dump) -> Option<String> {
    let kind = files::kind_name(dump.kind);
    let profile = "a [[source]] with kind = \"profile\" and a `profile` reads it";
    let table = "a [[source]] with kind = \"table\" and `fields` reads it";
    let form = sniff_form(&dump.path);
    if form == Form::Warc
        && of_pages(dump.kind)
        && let Some((what, remedy)) = unread_packing(&dump.path, &dump.named)
    {
        return Some(format!("the file is {what}\n  hint: {remedy}"));
    }
    let (what, remedy) = match (form, of_pages(dump.kind)) {
        (Form::Foreign(foreign), _) => {
            return Some(format!("the file is {}\n  hint: {}", foreign.what, foreign.remedy));
        }
        (Form::Warc | Form::Wacz, false) => ("a web archive", profile),
        (Form::Html, false) => ("a page, perhaps one that came in place of a download", profile),
        (Form::Mhtml, false) => ("a page saved by a browser (MHTML)", profile),
        (Form::Xml, false) => {
            ("XML", "a [[source]] with kind = \"profile\" and a profile with format = \"xml\" reads it")
        }
        (Form::Html, true) if dump.kind == SourceKind::Warc => ("a page and no web archive", profile),
        (Form::Mhtml, true) if dump.kind == SourceKind::Warc => {
            ("a page saved by a browser (MHTML) and no web archive", profile)
        }
        (Form::Xml, true) if dump.kind == SourceKind::Warc => ("XML and no web archive", profile),
        (Form::Json, true) if dump.kind == SourceKind::Warc => ("JSON and no web archive", table),
        (Form::Workbook, true) => ("a workbook", table),
        (Form::Parquet, true) => ("a table (Parquet)", table),
        (Form::Numpy, true) => ("an array of numpy's", table),
        _ => return None,
    };
    Some(format!("the file is {what}, which kind = \"{kind}\" does not read\n  hint: {remedy}"))
}

/// What a web archive is whose packing is not read, and what to do: records are found by offsets in plain files, gzip and zstd.
pub(super) fn unread_packing(path: &Path, named: &Path) -> Option<(String, String)> {
    let packing = Packing::of_file(path);
    if matches!(packing, Packing::Plain | Packing::Gzip | Packing::Zstd) {
        return None;
    }
    let to = named.with_extension("");
    // A name without an ending would be that of the file itself.
    let to = if to == named || to.extension().is_none() { named.with_extension("warc") } else { to };
    let command = format!("{} {} > {}", packing.unpacks_by(), shell_path(named), shell_path(&to));
    Some((
        format!("a web archive packed with {}, which archives are not read in", packing.name()),
        format!("`{command}` unpacks it; then name that file as `path`"),
    ))
}

/// What is wrong with a file whose lines are in another encoding than any that is read, and what to do.
pub(super) fn unread_encoding(path: &Path, named: &Path) -> Option<(String, String)> {
    let OtherEncoding { lines, wrong, names } = other_encoding(path)?;
    let packing = Packing::of_file(path);
    let file = named.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = match packing {
        Packing::Plain => file.as_str(),
        _ => file.rsplit_once('.').map_or(file.as_str(), |(unpacked, _)| unpacked),
    };
    let to = match file.split_once('.') {
        Some((stem, ends)) => format!("{stem}-utf8.{ends}"),
        None => format!("{file}-utf8"),
    };
    let (read, from) = packing.feed_command(named);
    let (reads, encoding) = match names[..] {
        [name] => (format!("they read as {name}"), name),
        _ => (format!("their encoding is not clear, and may be {}", names.join(", ")), "ENCODING"),
    };
    let command =
        format!("{read}iconv -f {encoding} -t UTF-8{from} > {}", shell_path(&named.with_file_name(to)));
    Some((
        format!(
            "{} of {} are not UTF-8: {reads}",
            group_digits(wrong as i64),
            count_with_noun(lines, "line")
        ),
        match encoding {
            "ENCODING" => format!(
                "`{command}` writes it as UTF-8, with the one of these for ENCODING in which the texts are what was written; then name \
                 that file as `path`"
            ),
            _ => format!("`{command}` writes it as UTF-8; then name that file as `path`"),
        },
    ))
}

/// What became of the records of a source.
#[derive(Debug, Default)]
pub struct Tally {
    posts: u64,
    /// Those that failed, or were withdrawn: a cause is stated already.
    told: u64,
    dropped: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(super) fn count_outcome(&mut self, read: &ReadItem) {
        self.posts += read.fingerprints.len() as u64;
        match &read.outcome {
            Outcome::Failed { .. } | Outcome::Dropped { reason: Reason::Withdrawn, .. } => self.told += 1,
            Outcome::Dropped { reason, .. } => *self.dropped.entry(reason.code()).or_default() += 1,
            Outcome::Merged { .. } => self.posts += 1,
            _ => {}
        }
    }

    /// Counts a record of the ledger, which other machines made.
    pub fn count_record(&mut self, record: &LedgerRecord<Post>) {
        let is_post = !record.rows.is_empty() || !record.links.is_empty();
        self.posts += u64::from(is_post || record.entry.outcome == State::Merged.code());
        match record.entry.reason.as_deref() {
            _ if record.entry.outcome == State::Failed.code() => self.told += 1,
            Some(reason) if record.entry.outcome == State::Dropped.code() => {
                match Reason::from_code(reason) {
                    Some(Reason::Withdrawn) => self.told += 1,
                    reason => *self.dropped.entry(reason.map_or("other", Reason::code)).or_default() += 1,
                }
            }
            _ => {}
        }
    }

    /// Adds the records that another thread or machine counted.
    pub fn add(&mut self, other: &Tally) {
        self.posts += other.posts;
        self.told += other.told;
        other.dropped.iter().for_each(|(reason, count)| *self.dropped.entry(reason).or_default() += count);
    }

    /// The entry of a source whose files gave nothing; `None` if they did, or if it is said already why not.
    pub fn entry_of_empty_source(&self, dumps: &[&Dump]) -> Option<(String, Outcome<Post>)> {
        let first = dumps.first().filter(|dump| self.posts + self.told == 0 && dump.piece.is_first())?;
        let count: u64 = self.dropped.values().sum();
        let evidence = if count > 0 {
            let reasons: Vec<String> = self
                .dropped
                .iter()
                .map(|(code, count)| {
                    let words = Reason::from_code(code).map_or("", Reason::definition).trim_end_matches('.');
                    format!("{} {code} ({words})", group_digits(*count as i64))
                })
                .collect();
            let blocked = self.dropped.contains_key(Reason::PageBlocked.code());
            let remedy = match blocked && self.dropped.len() == 1 {
                true => "save these pages with a browser, or fetch them again later; ",
                false => "",
            };
            format!(
                "no record of the source is a post: {}\n  hint: {remedy}`riddlemill show import --outcome dropped` shows them",
                reasons.join(", ")
            )
        } else {
            let (what, remedy) = describe_contents(first);
            let more = if dumps.len() > 1 {
                format!(" ({} files; this is the first)", dumps.len())
            } else {
                String::new()
            };
            format!("{} {what}{more}\n  hint: {remedy}", first.file)
        };
        let evidence = outcomes::unread_evidence(first, Reason::NothingRead, evidence);
        Some((first.locator_of_item(0), Outcome::Failed { reason: Reason::NothingRead, evidence }))
    }
}

/// What is in a file without records, and what to do.
fn describe_contents(dump: &Dump) -> (String, &'static str) {
    const AGAIN: &str = "was it downloaded or written to its end?";
    match sniff_form(&dump.path) {
        Form::Empty => ("is empty".into(), AGAIN),
        Form::Warc | Form::Wacz => {
            let mut pages = Archive::new(vec![dump.path.clone()], RecordLimits::default()).pages();
            pages.by_ref().for_each(drop);
            let kinds = pages.counts_by_kind();
            let list: Vec<String> =
                kinds.iter().map(|(kind, count)| format!("{count} of type {kind}")).collect();
            let remedy = if kinds.contains_key("conversion") {
                "texts without their pages (WET) name no posts: take the WARC files of the same crawl"
            } else if kinds.contains_key("response") {
                "none of its responses is a page: are they pictures and scripts, or was the archive written to its end?"
            } else {
                "an archive has pages in its records of type response; is it another file of the crawl that has them?"
            };
            (format!("is a web archive without a page; its records: {}", list.join(", ")), remedy)
        }
        Form::Json => ("has no record in it".into(), AGAIN),
        Form::Xml => (
            "has no item of its profile in it".into(),
            "`riddlemill crawl --try FILE --profile NAME` shows what the profile finds",
        ),
        Form::Text | Form::Workbook => ("has no rows below the names of its columns".into(), AGAIN),
        _ => ("has no record in it".into(), AGAIN),
    }
}
