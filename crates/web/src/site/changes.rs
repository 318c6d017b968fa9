//! What changed from one version to the next, for readers: rows that left, with the reason, rows that came, and rows with
//! other values.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::names::{changes_page, row_page};
use super::search::{EXCERPT, plain_line, text_of};
use super::set::{Gone, Set, id_of};
use super::shown::{Changed, differing_columns};
use crate::left::Left;
use crate::release::diff::of_rows;
use crate::release::read_rows::JsonRow;
use crate::release::{KeptVersion, layout};

/// Bytes of one page's entries, as rendered, about.
const BYTES: usize = 40_000;

/// What changed in a version.
pub(super) struct Changes {
    version: String,
    /// The version before.
    since: String,
    /// Rows of the version before, and of this one.
    rows: (u64, u64),
    moved: bool,
    columns_added: Vec<String>,
    columns_removed: Vec<String>,
    /// Rows that left first, then those that came, then those that changed.
    pub(super) entries: Vec<Entry>,
}

/// A row in which two versions differ.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Entry {
    /// `left`, `came` or `changed`.
    kind: &'static str,
    id: String,
    page: String,
    /// The beginning of its text, if the release that is shown has it.
    text: String,
    withdrawn: bool,
    why: Option<Left>,
    /// The columns that differ.
    columns: Vec<Changed>,
}

/// What changed in each version after the first, oldest first.
pub(super) fn collect_changes(set: &Set) -> Vec<Changes> {
    let config = set.configs.first().map(|(name, _)| name.as_str()).unwrap_or_default();
    let shown: FxHashMap<&str, &JsonRow> =
        set.configs.iter().flat_map(|(_, rows)| rows).map(|row| (id_of(row), row)).collect();
    let gone: FxHashMap<&str, &Gone> = set.gone.iter().map(|gone| (gone.id.as_str(), gone)).collect();
    let entry = |kind: &'static str, id: &str, columns: Vec<Changed>| Entry {
        kind,
        id: plain_line(id, EXCERPT),
        page: row_page(id),
        text: shown.get(id).map(|row| plain_line(&text_of(config, row), EXCERPT)).unwrap_or_default(),
        withdrawn: gone.get(id).is_some_and(|gone| gone.withdrawn),
        // Of a row that is back nothing is said of the time that it was away.
        why: gone.get(id).filter(|_| kind == "left").and_then(|gone| gone.why.clone()),
        columns,
    };
    let of_version = |before: &KeptVersion, version: &KeptVersion| {
        let found = of_rows(config.to_owned(), &before.rows, &version.rows, &|_| None);
        let (old, new) = (by_id(before), by_id(version));
        let columns = |id: &str| {
            // Of a row that is not shown, no value is.
            let (Some(old), Some(new), true) = (old.get(id), new.get(id), shown.contains_key(id)) else {
                return Vec::new();
            };
            let columns = differing_columns(layout::find_layout(config), old, new, set.originals);
            columns.into_iter().map(excerpt_column).collect()
        };
        let left = found.removed.iter().map(|side| entry("left", &side.id, Vec::new()));
        let came = found.added.iter().map(|side| entry("came", &side.id, Vec::new()));
        let changed = found.changed.iter().map(|row| entry("changed", &row.id, columns(&row.id)));
        Changes {
            version: version.version.clone(),
            since: before.version.clone(),
            rows: found.rows,
            moved: found.moved,
            columns_added: found.columns_added.clone(),
            columns_removed: found.columns_removed.clone(),
            entries: left.chain(came).chain(changed).collect(),
        }
    };
    set.versions.windows(2).map(|two| of_version(&two[0], &two[1])).collect()
}

fn by_id(version: &KeptVersion) -> FxHashMap<&str, &JsonRow> {
    super::shown::by_id(Some(version))
}

/// A column with the beginnings of its values.
fn excerpt_column(column: Changed) -> Changed {
    let cut = |text: Option<String>| text.map(|text| plain_line(&text, EXCERPT));
    let pairs = column.pairs.into_iter().map(|(was, is)| (cut(was), cut(is))).collect();
    Changed { pairs, ..column }
}

/// A page of what changed in a version.
#[derive(Serialize)]
pub(super) struct ChangesPage<'a> {
    of: &'a str,
    since: &'a str,
    rows: (u64, u64),
    /// Rows that left, came and changed, of all pages.
    counts: [usize; 3],
    moved: bool,
    columns_added: &'a [String],
    columns_removed: &'a [String],
    entries: &'a [Entry],
    number: usize,
    pages: Vec<String>,
}

impl Changes {
    /// Its pages, with the address of each.
    pub(super) fn list_pages(&self) -> Vec<(String, ChangesPage<'_>)> {
        let count = |kind: &str| self.entries.iter().filter(|entry| entry.kind == kind).count();
        let parts = self.split_entries();
        let pages: Vec<String> = (1..=parts.len()).map(|n| changes_page(&self.version, n)).collect();
        let mut shown = Vec::new();
        for (entries, number) in parts.into_iter().zip(1..) {
            let page = ChangesPage {
                of: &self.version,
                since: &self.since,
                rows: self.rows,
                counts: ["left", "came", "changed"].map(count),
                moved: self.moved,
                columns_added: &self.columns_added,
                columns_removed: &self.columns_removed,
                entries,
                number,
                pages: pages.clone(),
            };
            shown.push((changes_page(&self.version, number), page));
        }
        shown
    }

    /// The entries in parts that leave a page small; one if there are none.
    fn split_entries(&self) -> Vec<&[Entry]> {
        let mut parts = Vec::new();
        let (mut from, mut bytes) = (0, 0);
        for (at, entry) in self.entries.iter().enumerate() {
            let more = entry.page_bytes();
            if at > from && bytes + more > BYTES {
                parts.push(&self.entries[from..at]);
                (from, bytes) = (at, 0);
            }
            bytes += more;
        }
        parts.push(&self.entries[from..]);
        parts
    }
}

impl Entry {
    /// Its bytes on a page, at most: every character may be escaped, and every one of a difference marked.
    fn page_bytes(&self) -> usize {
        let pairs = self.columns.iter().flat_map(|column| &column.pairs);
        let values = pairs.flat_map(|(was, is)| [was, is]).flatten().map(|text| text.chars().count());
        let texts: usize = values.map(|n| 60 + 18 * n).sum();
        let names: usize = self.columns.iter().map(|column| 120 + column.name.len()).sum();
        800 + self.page.len() + 6 * (self.id.chars().count() + self.text.chars().count()) + names + texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_any_number_of_changes_stay_small_and_are_all_entries() {
        let entry = |n: usize| Entry {
            kind: "changed",
            id: format!("id{n}"),
            page: row_page(&format!("id{n}")),
            text: "字".repeat(EXCERPT),
            withdrawn: false,
            why: None,
            columns: vec![Changed {
                name: "text".into(),
                pairs: vec![(Some("<".repeat(n % EXCERPT)), Some("字".repeat(EXCERPT)))],
            }],
        };
        let changes = Changes {
            version: "2.0.0".into(),
            since: "1.0.0".into(),
            rows: (1, 1),
            moved: false,
            columns_added: Vec::new(),
            columns_removed: Vec::new(),
            entries: (0..1_000).map(entry).collect(),
        };
        let parts = changes.split_entries();
        assert_eq!(parts.iter().map(|part| part.len()).sum::<usize>(), 1_000);
        assert!(parts.iter().all(|part| part.iter().map(Entry::page_bytes).sum::<usize>() <= BYTES));
        let pages = changes.list_pages();
        assert_eq!(
            (pages[0].0.as_str(), pages[1].0.as_str()),
            ("changes/2.0.0.html", "changes/2.0.0-2.html")
        );
        let none = Changes { entries: Vec::new(), ..changes };
        assert_eq!(none.list_pages().len(), 1, "a version without changes says so");
    }
}
