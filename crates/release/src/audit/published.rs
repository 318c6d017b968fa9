//! Reports on the rows of published sets: which were reproduced exactly, what is irregular in their files,
//! what the stages would have done with them, and which posts of the dumps they are.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use minijinja::{Environment, Value as TemplateValue, context};
use riddlemill_benchmarks::compat::{Compat, CompatFormat};
use riddlemill_benchmarks::notation;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::sources::{FoundPost, RowWithoutPost, attribute_rows};
use crate::config::Config;
use crate::layout::{self, Layout, oddity};
use crate::markup::compact_template;
use crate::recipe::Recipe;
use crate::record::{Entry, Overruled, Post, State, is_published};
use crate::stages::published::{Published, PublishedRow};
use crate::stages::{StageError, StageRows};
use crate::store::{Error, Filter, StageReader, Workspace, select_rows};
use crate::{CandidateManifest, Row};
use riddlemill_files::fence;

/// The report on the published rows of a recipe.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PublishedReport {
    pub recipe: String,
    /// Rows that were read.
    pub rows: usize,
    /// Rows that are exactly equal in the candidate's published form: keys, their order, values.
    pub equal: usize,
    /// Rows that differ or are missing, `file:position`, with the id.
    pub other: Vec<String>,
    /// Irregularities in the file, by rule, with the ids of the rows.
    pub oddities: BTreeMap<String, Vec<String>>,
    /// Unused numbers between the first and the last.
    pub missing: Vec<u64>,
    /// What stages would have done with rows that they passed because they are published.
    pub let_through: Vec<LetThrough>,
    /// Posts of other sources with the same text as a row, or a similar one.
    pub found: Vec<FoundPost>,
    /// Rows that no post of another source is, with the nearest post.
    pub without: Vec<RowWithoutPost>,
    /// Posts of other sources that every rule up to dedup kept and that are not, even nearly, a row: they
    /// could have been in the set, unless its people rejected them.
    pub kept: Vec<KeptPost>,
}

/// What a stage would have done with published rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LetThrough {
    pub stage: &'static str,
    /// The outcome, with the reason.
    pub what: String,
    pub records: Vec<String>,
}

/// A post that the rules keep and that is not a published row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeptPost {
    pub post: String,
    pub text: String,
    /// Its place: `source/file:position`.
    pub place: String,
    /// When it was written, by its source.
    pub time: Option<String>,
}

/// Examines the stages and the candidate of a recipe; `None` if it has no published rows.
///
/// # Errors
/// [`StageError`] if a stage, the candidate or a dump cannot be read.
pub fn examine_published(
    config: &Config,
    recipe: &'static Recipe,
) -> Result<Option<PublishedReport>, StageError> {
    let workspace = &Workspace::new(&config.root);
    let all = Published::load(workspace, recipe.name)?;
    let rows: Vec<&PublishedRow> = all.rows().iter().filter(|row| row.benchmark == recipe.name).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let mut report = PublishedReport { recipe: recipe.name.into(), rows: rows.len(), ..Default::default() };
    let candidate = workspace.candidate_folder(recipe.name);
    // Without a candidate every row counts as not reproduced.
    let read = |path: std::path::PathBuf| fence::read_to_string(path).unwrap_or_default();
    if let Some(layout) = layout::find_layout(recipe.name) {
        // Published rows are held as JSON, so that only files of it can be compared with them.
        let of_json = |compat: &&Compat| matches!(compat.form, CompatFormat::Json | CompatFormat::JsonLines);
        let forms = layout
            .compat
            .iter()
            .filter(of_json)
            .map(|compat| read(candidate.join("compat").join(compat.file)));
        report.compare_rows(&rows, &forms.collect::<Vec<_>>());
        let manifest = CandidateManifest::read_manifest(&candidate).ok().flatten();
        let files = manifest.map(|manifest| manifest.files_of(recipe.name)).unwrap_or_default();
        let lines: String = files.iter().map(|file| read(candidate.join(file))).collect();
        report.oddities = find_oddities(layout, &lines);
    }
    report.missing = missing_numbers(&rows);
    let steps = recipe.steps_made(workspace)?;
    for (at, step) in steps.iter().enumerate() {
        let Some(stage) = StageReader::open(&workspace.stage_folder(recipe.name, step.number, step.name))?
        else {
            break;
        };
        let entries: Vec<Entry> = select_rows(&stage, "ledger", &Filter::equals("reason", "published"))?;
        report.let_through.extend(let_through(step.name, entries));
        let merges = step.stage.compares_pairs();
        // Puzzles are posts only at the import, before they are merged.
        let posts = steps[..at].iter().rfind(|before| before.stage.rows() == StageRows::Posts);
        if let (true, Some(posts)) = (merges, posts)
            && let Some(posts) =
                StageReader::open(&workspace.stage_folder(recipe.name, posts.number, posts.name))?
        {
            let likeness = config.typed_settings(Some(recipe.name), "dedup");
            let attributed = attribute_rows(config, recipe, &posts, &likeness)?;
            (report.found, report.without) = (attributed.found, attributed.without);
            report.kept = find_kept_posts(&stage, &posts, &report.found)?;
        }
    }
    Ok(Some(report))
}

impl PublishedReport {
    /// Compares rows with their published forms.
    fn compare_rows(&mut self, rows: &[&PublishedRow], forms: &[String]) {
        // A published set may contain a row twice, and each needs a counterpart of its own.
        let mut written: BTreeMap<String, usize> = BTreeMap::new();
        for form in forms {
            // Published files are one JSON array, or JSON Lines.
            let lines = notation::split_elements(form).unwrap_or_else(|_| form.lines().collect());
            lines.iter().for_each(|line| *written.entry(normalise_line(line)).or_default() += 1);
        }
        for row in rows {
            match written.get_mut(&normalise_line(&row.json)) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    self.equal += 1;
                }
                _ => self.other.push(format!("{}:{} {}", row.file, row.position, row.id)),
            }
        }
    }
}

/// A row as its keys and values, independent of spacing.
fn normalise_line(line: &str) -> String {
    let value = |text: &str| match serde_json::from_str::<Json>(text) {
        Ok(value) => value.to_string(),
        // Published files contain NaN and Infinity, which are no JSON.
        Err(_) => text.split_whitespace().collect(),
    };
    let members = notation::split_members(line).unwrap_or_default();
    members.iter().map(|(key, text)| format!("{key}\u{1f}{}\u{1e}", value(text))).collect()
}

/// Irregularities of published rows: deviations of their file from the columns, and failed checks within a
/// row.
fn find_oddities(layout: &Layout, data: &str) -> BTreeMap<String, Vec<String>> {
    let mut oddities: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let parsed = |line: &str| serde_json::from_str::<Map<String, Json>>(line).ok();
    for json in data.lines().filter_map(parsed) {
        let layout = layout.of_keys(json.keys().map(String::as_str));
        let text = |key: &str| json.get(key).and_then(Json::as_str);
        if text("standing") != Some("published") {
            continue;
        }
        let id = text("id").unwrap_or_default();
        let mut odd = |rule: String| oddities.entry(rule).or_default().push(id.to_owned());
        if let Some(published) = text("published") {
            for key in oddity::deviating_keys(published) {
                odd(format!("{key}: only in compat/ as in the file"));
            }
            if !notation::is_json(published) {
                odd("NaN or Infinity, which JSON does not allow: only in compat/, null elsewhere".into());
            }
        }
        if let Ok(row) = Row::from_json(&layout, &json) {
            // Messages with values would make every row a rule of its own.
            layout.failed_checks(&row).into_iter().for_each(&mut odd);
        }
    }
    oddities
}

/// The unused numbers, if rows have numbers.
fn missing_numbers(rows: &[&PublishedRow]) -> Vec<u64> {
    let mut series: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for row in rows {
        // Each file numbers its own rows.
        series.entry(&row.file).or_default().extend(row.number);
    }
    let gaps = |numbers: BTreeSet<u64>| {
        let (first, last) = (numbers.first().copied(), numbers.last().copied());
        let all = first.zip(last).map(|(first, last)| first..=last);
        all.into_iter().flatten().filter(|n| !numbers.contains(n)).collect::<Vec<_>>()
    };
    series.into_values().flat_map(gaps).collect()
}

fn let_through(stage: &'static str, entries: Vec<Entry>) -> Vec<LetThrough> {
    let mut by_evidence: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in entries {
        let evidence = entry.evidence.unwrap_or_default();
        let Some((_, overruled)) = Overruled::parse_evidence(&evidence).filter(|(_, rule)| !rule.by_votes)
        else {
            continue;
        };
        // The target of a merge is left out, so that rows can be grouped.
        let what = match overruled.reason {
            Some(reason) => format!("{} ({reason})", overruled.state),
            None => overruled.state.to_owned(),
        };
        by_evidence.entry(what).or_default().push(entry.id);
    }
    by_evidence.into_iter().map(|(what, records)| LetThrough { stage, what, records }).collect()
}

fn place_of_post(post: &Post) -> String {
    format!("{}/{}:{}", post.source, post.file, post.position)
}

/// Posts that dedup kept and that are not, even nearly, a published record.
fn find_kept_posts(
    dedup: &StageReader,
    posts: &StageReader,
    found: &[FoundPost],
) -> Result<Vec<KeptPost>, Error> {
    let on = Filter::any_of("outcome", [State::Kept.code(), State::Changed.code()]);
    let on: Vec<Entry> = select_rows(dedup, "ledger", &on)?;
    let near: BTreeSet<&str> = found.iter().map(|found| found.post.as_str()).collect();
    let ids = on.iter().map(|entry| entry.id.as_str()).filter(|id| !is_published(id) && !near.contains(id));
    let ids: Vec<&str> = ids.collect();
    let posts: Vec<Post> = select_rows(posts, "rows", &Filter::any_of("id", ids))?;
    let kept = posts.into_iter().map(|post| KeptPost {
        place: place_of_post(&post),
        time: post.time,
        post: post.id,
        text: post.text,
    });
    Ok(kept.collect())
}

/// Most posts that a page lists of those that are not rows.
const SHOWN: usize = 5000;

const TEMPLATE: &str = include_str!("templates/published.html");
const STYLE: &str = include_str!("templates/published.css");

/// The reports as one self-contained page.
///
/// # Errors
/// If the template does not match.
pub fn published_page(reports: &[PublishedReport]) -> Result<String, minijinja::Error> {
    let [style, template] = [STYLE, TEMPLATE].map(compact_template);
    let mut env = Environment::new();
    env.add_template("published.css", &style)?;
    env.add_template("published.html", &template)?;
    let reports = TemplateValue::from(Serde(reports));
    env.get_template("published.html")?
        .render(context! { reports, shown => SHOWN, version => crate::VERSION })
}
