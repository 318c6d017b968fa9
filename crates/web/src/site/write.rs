//! Renders the pages of a site and writes them.

use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::changes::{Changes, Entry, collect_changes};
use super::folder::{MARKER, Making, Mark};
use super::names::{PagePlace, changes_page, file_name, page_place, prompt_page, row_page, table_page};
use super::search::{ColumnFilter, ListedRow, list_filters, list_rows, split_scripts, text_of};
use super::set::{Set, id_of};
use super::shown::{Change, ColumnCell, Room, by_id, compare_row, row_cells};
use super::way::RowWay;
use super::{SiteError, reason_example};
use crate::assets;
use crate::config::Config;
use crate::i18n::Language;
use crate::release::layout;
use crate::release::read_rows::JsonRow;
use crate::release::{Raw, Yanked};
use crate::routes::counted::{Counted, count_config};
use crate::routes::releases::{AgreementRow, agreement_rows};
use crate::store::{Error, sha256_of_file};
use crate::view;

/// Rows on one page of the table.
const ROWS: usize = 50;
/// Rows in which the version differs from the one before that the overview lists.
const LATEST: usize = 12;
/// Both languages.
const LANGUAGES: [Language; 2] = [Language::En, Language::Zh];
/// The files that pages load, besides the index.
const STYLE: &[u8] = include_bytes!("../assets/site.css");
const SCRIPT: &[u8] = include_bytes!("../assets/site.js");

/// A site that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Rows that are shown.
    pub rows: usize,
    /// Rows with a page that says that they were withdrawn, or are in earlier versions only.
    pub gone: usize,
    /// Files of all kinds.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// What every page is given.
#[derive(Serialize)]
struct SitePage<'a, T> {
    /// The page from the root of its language.
    page: &'a str,
    recipe: &'static str,
    title: &'a str,
    version: &'a str,
    draft: bool,
    yanked: bool,
    /// What this page shows.
    it: &'a T,
}

/// Writes the site of a release: `folder` is that of the version, `out` that of the site.
///
/// # Errors
/// [`SiteError`] if the release or its workspace cannot be read, or `out` holds something else. Then nothing there was
/// changed.
pub fn write_site(config: &Config, folder: &Path, out: &Path) -> Result<Written, SiteError> {
    let set = Set::read_release(config, folder)?;
    let making = Making::begin_site(&config.root, folder, out, set.recipe.name)?;
    let release = sha256_of_file(&folder.join("SHA256SUMS"))?;
    let counted =
        set.configs.iter().map(|(name, rows)| count_config(config, set.recipe, name, rows)).collect();
    let agreement = agreement_rows(config, set.recipe)?;
    let site = Site { set: &set, making: &making, counted, agreement, changes: collect_changes(&set) };
    for language in LANGUAGES {
        site.write_overview(language, &release)?;
        site.left_out(language)?;
        site.write_table(language)?;
        site.write_rows(language)?;
        site.write_changes(language)?;
        for gone in &set.gone {
            site.write_page(language, &row_page(&gone.id), "site_gone.html", gone)?;
        }
        for prompt in &set.prompts {
            site.write_page(language, &prompt_page(&prompt.name), "site_prompt.html", prompt)?;
        }
    }
    site.write_data()?;
    for name in ["page.css", "parts.css", "icon.svg"] {
        making.write_file(name, assets::asset_bytes(name).unwrap_or_default())?;
    }
    making.write_file("site.css", STYLE)?;
    making.write_file("site.js", SCRIPT)?;
    // GitHub's pages would otherwise leave out files whose names begin with `_`.
    making.write_file(".nojekyll", b"")?;
    making.write_file("README.md", site.readme_text().as_bytes())?;
    let mark = Mark {
        recipe: set.recipe.name.into(),
        version: set.manifest.version.clone(),
        release,
        riddlemill: crate::VERSION.into(),
    };
    let mark = serde_json::to_string_pretty(&mark).map_err(|e| Error::io("write", out)(e.into()))?;
    making.write_file(MARKER, (mark + "\n").as_bytes())?;
    let (rows, gone) = (set.count_rows(), set.gone.len());
    let (files, bytes) = making.finish()?;
    Ok(Written { rows, gone, files, bytes })
}

struct Site<'a> {
    set: &'a Set,
    making: &'a Making,
    /// The figures of each config.
    counted: Vec<Counted>,
    agreement: Vec<AgreementRow>,
    /// What changed in each version after the first.
    changes: Vec<Changes>,
}

#[derive(Serialize)]
struct SiteOverview<'a> {
    about: &'static str,
    configs: &'a [Counted],
    /// The columns of each config, and what they mean.
    columns: Vec<Vec<(&'static str, &'static str)>>,
    agreement: &'a [AgreementRow],
    flow: Vec<Flow<'a>>,
    raw: &'a [Raw],
    licence: Option<&'a str>,
    draft: &'a [String],
    yanked: Option<&'a Yanked>,
    waiting: u64,
    versions: Vec<VersionRow<'a>>,
    /// The first rows in which the version differs from the one before.
    latest: &'a [Entry],
    rows: usize,
    withdrawn: usize,
    citation: Option<&'a str>,
    place: &'a str,
    config: &'a str,
    /// The splits of the set, if it is divided.
    splits: Vec<&'a str>,
    date: &'a str,
    release: &'a str,
    riddlemill: &'a str,
}

/// A stage in the flow from posts to rows.
#[derive(Serialize)]
struct Flow<'a> {
    stage: &'a str,
    records_in: u64,
    records_out: u64,
    /// What came out, in thousandths of the most that any stage read.
    share: u64,
    /// State, reason and number of what did not pass unchanged, most frequent first.
    reasons: Vec<(&'a str, &'a str, u64)>,
}

#[derive(Serialize)]
struct VersionRow<'a> {
    version: &'a str,
    /// The page with its changes; empty for the first version.
    page: String,
    date: &'a str,
    rows: usize,
    added: u64,
    changed: u64,
    removed: u64,
    moved: bool,
    licence: Option<&'a str>,
    yanked: Option<&'a Yanked>,
}

#[derive(Serialize)]
struct LeftOutPage<'a> {
    stages: Vec<(&'a str, Vec<Rule<'a>>)>,
    waiting: Vec<WaitingItems<'a>>,
}

/// A reason for which a stage left records out.
#[derive(Serialize)]
struct Rule<'a> {
    state: &'a str,
    code: &'a str,
    count: u64,
    example: Option<(&'static str, Option<&'static str>)>,
}

/// Items that a version lacks because they waited or failed. Their ids are not shown.
#[derive(Serialize)]
struct WaitingItems<'a> {
    stage: &'a str,
    state: &'a str,
    reason: &'a str,
    /// What that means, where the benchmark's folder says it.
    says: Option<&'a str>,
    count: u64,
}

#[derive(Serialize)]
struct SiteTable<'a> {
    config: &'a str,
    rows: &'a [ListedRow],
    all: usize,
    number: usize,
    pages: Vec<String>,
    labels: &'a [&'static str],
    filters: &'a [ColumnFilter],
    /// The pieces of the index.
    pieces: usize,
    index: String,
    data: Vec<String>,
    counted: Option<&'a Counted>,
}

#[derive(Serialize)]
struct RowPage<'a> {
    id: &'a str,
    config: &'a str,
    text: String,
    cells: Vec<ColumnCell>,
    /// The file with the whole row, where the page has no room for it.
    data: String,
    cut: bool,
    way: &'a RowWay,
    change: Change,
    /// The page of what changed in this version; none of the first.
    changes: Option<String>,
    fate: Option<&'static str>,
    previous: Option<String>,
    next: Option<String>,
    table: String,
}

impl Site<'_> {
    /// Renders a page in a language and writes it.
    fn write_page<T: Serialize>(
        &self,
        language: Language,
        page: &str,
        template: &str,
        it: &T,
    ) -> Result<(), SiteError> {
        let PagePlace { path, root, home, other } = page_place(language, page);
        let manifest = &self.set.manifest;
        let shown = SitePage {
            page,
            recipe: self.set.recipe.name,
            title: &self.set.title,
            version: &manifest.version,
            draft: !manifest.draft.is_empty(),
            yanked: self.yanked().is_some(),
            it,
        };
        self.making.write_file(
            &path,
            view::render_static(language, template, [&root, &home, &other], &shown)?.as_bytes(),
        )
    }

    fn yanked(&self) -> Option<&Yanked> {
        self.set.versions.last().and_then(|version| version.yanked.as_ref())
    }

    fn write_overview(&self, language: Language, release: &str) -> Result<(), SiteError> {
        let set = self.set;
        let manifest = &set.manifest;
        let most = manifest.stages.iter().map(|link| link.counts.records_in.max(link.counts.records_out));
        let most = most.max().unwrap_or(1).max(1);
        let flow = manifest.stages.iter().map(|link| {
            let mut reasons: Vec<(&str, &str, u64)> =
                link.counts.reasons.iter().map(|(key, n)| split_count(key, *n)).collect();
            reasons.sort_by_key(|(_, code, n)| (std::cmp::Reverse(*n), *code));
            Flow {
                stage: &link.stage,
                records_in: link.counts.records_in,
                records_out: link.counts.records_out,
                share: link.counts.records_out * 1000 / most,
                reasons,
            }
        });
        let is_first = |version: &str| set.versions.first().is_some_and(|first| first.version == version);
        let page = |version: &str| if is_first(version) { String::new() } else { changes_page(version, 1) };
        let latest = self.changes.last().map_or(&[][..], |changes| &changes.entries[..]);
        let versions = set.versions.iter().rev().map(|version| VersionRow {
            version: &version.version,
            page: page(&version.version),
            date: &version.date,
            rows: version.rows.len(),
            added: version.changes.added.count,
            changed: version.changes.changed.count,
            removed: version.changes.removed.count,
            moved: version.changes.moved,
            licence: version.changes.licence.as_deref(),
            yanked: version.yanked.as_ref(),
        });
        let overview = SiteOverview {
            about: language.pick_text(set.recipe.about, set.recipe.about_zh),
            configs: &self.counted,
            columns: set.configs.iter().map(|(name, _)| describe_columns(name)).collect(),
            agreement: &self.agreement,
            flow: flow.collect(),
            raw: &manifest.raw,
            licence: manifest.licence.as_deref(),
            draft: &manifest.draft,
            yanked: self.yanked(),
            waiting: manifest.waiting,
            versions: versions.collect(),
            latest: &latest[..latest.len().min(LATEST)],
            rows: set.count_rows(),
            withdrawn: set.gone.iter().filter(|gone| gone.of_this).count(),
            citation: set.citation.as_deref(),
            place: &set.place,
            config: set.configs.first().map(|(name, _)| name.as_str()).unwrap_or_default(),
            splits: manifest
                .splits
                .values()
                .next()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str())
                .collect(),
            date: manifest.date.as_deref().unwrap_or_default(),
            release,
            riddlemill: &manifest.riddlemill,
        };
        self.write_page(language, "index.html", "site_overview.html", &overview)
    }

    fn left_out(&self, language: Language) -> Result<(), SiteError> {
        let manifest = &self.set.manifest;
        let mut stages = Vec::new();
        for link in &manifest.stages {
            let rules = link.counts.reasons.iter().map(|(key, n)| split_count(key, *n));
            let rules = rules.filter(|(state, ..)| ["dropped", "merged", "held", "failed"].contains(state));
            let mut rules: Vec<Rule<'_>> = rules
                .map(|(state, code, count)| Rule { state, code, count, example: reason_example(code) })
                .collect();
            rules.sort_by_key(|rule| (std::cmp::Reverse(rule.count), rule.code));
            if !rules.is_empty() {
                stages.push((link.stage.as_str(), rules));
            }
        }
        let waiting = manifest.left_out.iter().map(|left| WaitingItems {
            stage: &left.stage,
            state: &left.state,
            reason: &left.reason,
            says: left.says.as_deref(),
            count: left.items.count,
        });
        let page = LeftOutPage { stages, waiting: waiting.collect() };
        self.write_page(language, "left-out.html", "site_left_out.html", &page)
    }

    /// What changed in each version, in pages that stay small.
    fn write_changes(&self, language: Language) -> Result<(), SiteError> {
        for (path, page) in self.changes.iter().flat_map(Changes::list_pages) {
            self.write_page(language, &path, "site_changes.html", &page)?;
        }
        Ok(())
    }

    /// The table of rows, in pages that need no script, and the index for the search.
    fn write_table(&self, language: Language) -> Result<(), SiteError> {
        let mut number = 0;
        for (at, (name, rows)) in self.set.configs.iter().enumerate() {
            let (listed, filters, pieces) =
                (list_rows(name, rows), list_filters(name, rows), split_scripts(name, rows));
            let first = number + 1;
            let parts: Vec<&[ListedRow]> =
                if listed.is_empty() { vec![&listed[..]] } else { listed.chunks(ROWS).collect() };
            let pages: Vec<String> = (first..first + parts.len()).map(table_page).collect();
            for part in &parts {
                number += 1;
                let table = SiteTable {
                    config: name,
                    rows: part,
                    all: rows.len(),
                    number: number + 1 - first,
                    pages: pages.clone(),
                    labels: layout::find_layout(name).map_or(&[][..], |layout| layout.labels),
                    filters: &filters,
                    pieces: pieces.len(),
                    index: index_file(at),
                    data: self.set.configs.iter().map(|(name, _)| data_file(name)).collect(),
                    counted: self.counted.get(at).filter(|_| number == first),
                };
                self.write_page(language, &table_page(number), "site_rows.html", &table)?;
            }
            // Both languages load the same index.
            if language == Language::En {
                for (part, piece) in pieces.iter().enumerate() {
                    self.making.write_file(&format!("{}{part}.js", index_file(at)), piece.as_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// A page for each row.
    fn write_rows(&self, language: Language) -> Result<(), SiteError> {
        let set = self.set;
        let before = set.version_before();
        let old = by_id(before);
        let none = RowWay::default();
        let mut pages_before = 0;
        for (name, rows) in &set.configs {
            let layout = layout::find_layout(name);
            let first = pages_before;
            pages_before += rows.len().div_ceil(ROWS).max(1);
            let page = |(at, row): (usize, &JsonRow)| {
                let id = id_of(row);
                let mut room = Room::new();
                let text = room.fit_text(&text_of(name, row)).0;
                let cells = row_cells(layout, row, &mut room);
                let page = RowPage {
                    id,
                    config: name,
                    text,
                    cut: cells.iter().any(ColumnCell::is_cut),
                    cells,
                    data: data_file(name),
                    way: set.ways.get(id).unwrap_or(&none),
                    change: compare_row(layout, before, old.get(id).copied(), row, set.originals, &mut room),
                    changes: before.map(|_| changes_page(&set.manifest.version, 1)),
                    fate: set.fates.get(id).copied(),
                    previous: at.checked_sub(1).and_then(|at| rows.get(at)).map(|row| row_page(id_of(row))),
                    next: rows.get(at + 1).map(|row| row_page(id_of(row))),
                    table: table_page(first + at / ROWS + 1),
                };
                self.write_page(language, &row_page(id), "site_row.html", &page)
            };
            rows.par_iter().enumerate().try_for_each(page)?;
        }
        Ok(())
    }

    /// The rows to download: those that are shown.
    fn write_data(&self) -> Result<(), SiteError> {
        for (name, rows) in &self.set.configs {
            let lines: String = rows.iter().map(|row| json!(row).to_string() + "\n").collect();
            self.making.write_file(&data_file(name), lines.as_bytes())?;
        }
        Ok(())
    }

    /// What a static Space of the Hub reads; others show it.
    fn readme_text(&self) -> String {
        let Set { title, recipe, manifest, .. } = self.set;
        let title = json!(format!("{title} {}", manifest.version));
        format!(
            "---\ntitle: {title}\nsdk: static\napp_file: index.html\npinned: false\n---\n\nThe pages of {} {}, written by \
             `riddlemill site`. Open index.html.\n",
            recipe.name, manifest.version
        )
    }
}

/// The columns of a config, and what they mean.
fn describe_columns(config: &str) -> Vec<(&'static str, &'static str)> {
    let columns = layout::find_layout(config).map_or(&[][..], |layout| layout.columns);
    columns.iter().map(|column| (column.name, column.about)).collect()
}

/// State, reason and number of a count, from its key `state/reason`.
fn split_count(key: &str, n: u64) -> (&str, &str, u64) {
    let (state, code) = key.split_once('/').unwrap_or((key, ""));
    (state, code, n)
}

/// The beginning of the names of a config's pieces of the index.
fn index_file(config: usize) -> String {
    format!("index/{config}-")
}

fn data_file(config: &str) -> String {
    format!("data/{}.jsonl", file_name(config))
}
