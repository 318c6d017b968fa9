//! Rows of a published file as posts: texts that come with finished annotations.
//!
//! A file is read completely before its first row becomes a post, because the rows of a group are one record, and two rows
//! with the same id are two records.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value as TemplateValue;
use minijinja::value::Serde;
use riddlemill_benchmarks::Expression;
use riddlemill_benchmarks::notation::{self, NotationError};

use super::{Dump, Parsed, RawPost, walk};
use crate::config::{SourceKind, sections};
use crate::stages::published::PublishedRow;
use crate::stages::withdrawal::Withdrawals;
use riddlemill_benchmarks::paper::Published;
use riddlemill_record::{Post, PostKind, published_id, text_id};

/// The rows of a published file, and what becomes of each.
#[derive(Debug, Default)]
pub(super) struct PublishedRows {
    rows: BTreeMap<u64, DraftedRow>,
    /// The names so far with their parts: two rows of one are two records.
    members: BTreeSet<(String, String)>,
    /// The records so far.
    groups: BTreeSet<String>,
}

#[derive(Debug)]
struct DraftedRow {
    row: PublishedRow,
    /// Whether the record is made from it; the other rows of its group are joined into that record.
    first: bool,
    draft: RawPost,
}

impl PublishedRows {
    /// Reads a file. Lines that cannot be read are reported when it is read again.
    pub(super) fn read_rows(dump: &Dump, settings: &sections::Import) -> PublishedRows {
        let mut read = PublishedRows::default();
        let Some((set, published)) = declared_set(dump) else { return read };
        walk::fold_dump(
            dump,
            settings.max_line_mib << 20,
            &mut read,
            |_, item| {
                let text = std::str::from_utf8(item.bytes.ok()?).ok()?;
                Some((item.position, PublishedContent::parse(text, published).ok()?, text.trim().to_owned()))
            },
            |_, _| None,
            |read, (position, found, json)| read.add_row(dump, set, position, found, json),
        );
        read
    }

    fn add_row(&mut self, dump: &Dump, set: &str, position: u64, found: PublishedContent, json: String) {
        let mut name = found.group.clone().unwrap_or_else(|| found.name.clone());
        // Two rows of one name, or of one part of a group, are two records.
        let mut again = 1;
        while self.members.contains(&(name.clone(), found.role.clone())) {
            again += 1;
            name = format!("{}#{again}", found.group.as_ref().unwrap_or(&found.name));
        }
        let first = self.groups.insert(name.clone());
        self.members.insert((name.clone(), found.role.clone()));
        let record = published_id(set, &name);
        let mark = crate::stages::native::ROLES.iter().find(|(role, _)| *role == found.role);
        let row = PublishedRow {
            id: format!("{record}{}", mark.map_or("", |(_, mark)| mark)),
            record: record.clone(),
            benchmark: dump.published.unwrap_or_default().into(),
            role: found.role,
            source: dump.source.clone(),
            file: dump.file.clone(),
            position,
            sha256: dump.sha256.clone(),
            number: found.number,
            json,
        };
        let draft = RawPost { id: Some(record), ..found.draft };
        self.rows.insert(position, DraftedRow { row, first, draft });
    }

    /// A row in the form of its file's set; a row that could not be read is returned unchanged.
    pub(super) fn settle_row(&self, position: u64, parsed: Parsed) -> Parsed {
        match self.rows.get(&position) {
            Some(row) if row.first => Parsed::Post(Box::new(row.draft.clone())),
            Some(row) => Parsed::Part(row.row.record.clone()),
            None => parsed,
        }
    }
}

/// The published rows of all files, without withdrawn ones, for the stage's table.
pub fn published_rows(
    dumps: &[Dump],
    settings: &sections::Import,
    withdrawn: &Withdrawals,
) -> Vec<PublishedRow> {
    let mut all = Vec::new();
    for dump in dumps.iter().filter(|dump| dump.kind == SourceKind::Published) {
        let rows = PublishedRows::read_rows(dump, settings);
        let gone = |row: &DraftedRow| {
            let text = Post::join_title_and_content(row.draft.title.as_deref(), row.draft.content.as_deref());
            withdrawn.of_post(&row.row.record, &text).is_some()
        };
        let withdrawn: Vec<String> =
            rows.rows.values().filter(|row| gone(row)).map(|row| row.row.record.clone()).collect();
        let kept = rows.rows.into_values().map(|row| row.row).filter(|row| !withdrawn.contains(&row.record));
        all.extend(kept);
    }
    all
}

/// One row by itself, for callers that look into a file.
pub(super) fn parse_row(dump: &Dump, text: &str) -> Parsed {
    let Some((set, published)) = declared_set(dump) else {
        return Parsed::Bad("no benchmark says how its published rows are read".into());
    };
    match PublishedContent::parse(text, published) {
        Err(error) => Parsed::Bad(error.to_string()),
        Ok(found) => {
            let name = found.group.unwrap_or(found.name);
            Parsed::Post(Box::new(RawPost { id: Some(published_id(set, &name)), ..found.draft }))
        }
    }
}

/// The keys of its rows that hold texts.
pub(super) fn text_keys(dump: &Dump) -> Vec<&'static str> {
    let Some((_, published)) = declared_set(dump) else { return Vec::new() };
    let texts = [&published.text, &published.question, &published.answer];
    texts.into_iter().flatten().map(Expression::source).collect()
}

/// The set whose records a file's rows are, and how they are read. Rows of a benchmark that continues another one are
/// records of that.
fn declared_set(dump: &Dump) -> Option<(&'static str, &'static Published)> {
    let name = dump.published?;
    let origin = riddlemill_benchmarks::find_benchmark(name)?.find_origin().name;
    Some((origin, riddlemill_benchmarks::find_benchmark(name)?.published.as_ref()?))
}

/// Why a row has no record.
#[derive(Debug, thiserror::Error)]
enum RowError {
    #[error("not a JSON object: {0}")]
    NoObject(#[from] NotationError),
    /// What the benchmark takes as the text or the question is not there.
    #[error("it has no {key} ({declared})")]
    Lacks { key: &'static str, declared: &'static str },
    /// The benchmark declares neither.
    #[error("nothing says what its text is")]
    Undeclared,
}

/// The published values of a row.
struct PublishedContent {
    name: String,
    group: Option<String>,
    role: String,
    number: Option<u64>,
    draft: RawPost,
}

impl PublishedContent {
    fn parse(text: &str, published: &Published) -> Result<PublishedContent, RowError> {
        let members = notation::split_members(text)?;
        let names: serde_json::Map<String, serde_json::Value> =
            members.into_iter().filter_map(|(key, text)| Some((key, notation::parse_value(text)?))).collect();
        let mut over: BTreeMap<String, TemplateValue> = names
            .iter()
            .map(|(key, value)| (key.clone(), TemplateValue::from(Serde(value.clone()))))
            .collect();
        over.insert("this".into(), TemplateValue::from(Serde(names)));
        let over = TemplateValue::from(over);
        let value = |is: Option<&Expression>| {
            let value = is?.compute_value(&over).ok()?;
            (!value.is_none() && !value.is_undefined()).then_some(value)
        };
        let words = |is: Option<&Expression>| {
            let value = value(is)?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let lacks = |key, is: &Expression| RowError::Lacks { key, declared: is.source() };
        let draft = match (&published.text, &published.question) {
            (Some(is), _) => RawPost {
                kind: PostKind::Plain,
                content: Some(words(Some(is)).ok_or_else(|| lacks("text", is))?),
                ..RawPost::default()
            },
            (None, Some(is)) => RawPost {
                kind: PostKind::Riddle,
                title: Some(words(Some(is)).ok_or_else(|| lacks("question", is))?),
                content: words(published.answer.as_ref()),
                ..RawPost::default()
            },
            (None, None) => return Err(RowError::Undeclared),
        };
        let written = Post::join_title_and_content(draft.title.as_deref(), draft.content.as_deref());
        let hash = || text_id(&written).trim_start_matches("text:").to_owned();
        let name = words(published.id.as_ref()).filter(|name| !name.trim().is_empty()).unwrap_or_else(hash);
        let number = value(published.number.as_ref())
            .filter(TemplateValue::is_integer)
            .and_then(|number| u64::try_from(number).ok());
        Ok(PublishedContent {
            name,
            group: words(published.group.as_ref()).filter(|group| !group.trim().is_empty()),
            role: words(published.role.as_ref()).unwrap_or_default(),
            number,
            draft,
        })
    }
}
