//! The splits of a set's rows: which row is in which file, which are in none, what a release registers of it, and whether a set
//! is so small a share of what it could be that a stable release of it has to be asked for.

use std::collections::{BTreeMap, BTreeSet};

use riddlemill_benchmarks::splits::{Splits, WHOLE};
use riddlemill_text::options::{InSplit, LeftApart, SplitRow, SplitSize, divide_rows};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value as Json;

use super::layout::Layout;
use super::manifest::CandidateManifest;
use super::row::{Row, Value};
use crate::config::{Config, sections};
use crate::join::Unwatched;
use crate::offline::dedup::similar_pairs;
use crate::recipe::Recipe;
use crate::store::Workspace;
use crate::text::language::{detect, tag_language};

/// A row that a release put into a split: the row's id, its record's, the split.
pub(super) type Allotted = (String, String, String);

/// What is registered of a row that was drawn into no split.
const NOWHERE: &str = "";

/// A row with what it was made from.
pub(super) struct MadeRow {
    pub row: Row,
    /// The id of what it was made from.
    pub record: String,
    /// The post of the record.
    pub post: String,
}

/// The rows of a set by split.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Division {
    /// The splits that have rows, in order; if none has any, the first.
    pub names: Vec<&'static str>,
    /// The place of each row's split in `names`, by the row's id.
    places: BTreeMap<String, usize>,
    /// Records whose rows are in no split, and why.
    pub out: Vec<(String, &'static str)>,
    /// Rows of two splits that became near after they had been released there, by their ids: both stay.
    pub crossing: Vec<(String, String)>,
    /// What a release registers.
    new: Vec<Allotted>,
}

impl Division {
    /// Divides a set's rows, in their order. `known`: what earlier releases registered. `pairs`: the records that dedup noted
    /// as near, by whatever it compared. `dedup`: how near duplicates are found in the rows.
    pub fn new(
        splits: &Splits,
        layout: &Layout,
        made: &[MadeRow],
        known: &[Allotted],
        pairs: &[(String, String)],
        dedup: &sections::Dedup,
    ) -> Division {
        let mut of_row: FxHashMap<&str, &str> = FxHashMap::default();
        let mut of_record: FxHashMap<&str, &str> = FxHashMap::default();
        for (row, record, split) in known {
            of_row.entry(row).or_insert(split);
            of_record.entry(record).or_insert(split);
        }
        let text_in = |row: &Row, column: Option<&str>| {
            let value = column.and_then(|column| row.0.get(layout.place_of_column(column)?));
            value.map(Value::as_text).unwrap_or_default()
        };
        // A rewritten text may have another id, and the same text another record: either stays where it was.
        let released = |made: &MadeRow| {
            let split = of_row.get(made.row.id()).or_else(|| of_record.get(made.record.as_str())).copied()?;
            Some(match (split, splits.index_of_split(split)) {
                (NOWHERE, _) => InSplit::Nowhere,
                (_, place) => place.map_or(InSplit::Undeclared, InSplit::At),
            })
        };
        let row = |made: &MadeRow| {
            let group = layout.group_of(&made.row).map(|group| format!("group {group}"));
            // What `verify` sees of a row's origin; a folder may say it otherwise than by the post.
            let source = text_in(&made.row, Some("source_id"));
            let source = Some(source).filter(|id| !id.is_empty()).map(|id| format!("source {id}"));
            SplitRow {
                key: made.record.clone(),
                groups: group.into_iter().chain(source).chain([format!("post {}", made.post)]).collect(),
                stratum: text_in(&made.row, splits.stratify),
                released: released(made),
                said: splits
                    .column
                    .and_then(|column| splits.index_of_split(&text_in(&made.row, Some(column)))),
            }
        };
        let rows: Vec<SplitRow> = made.iter().map(row).collect();
        let texts: Vec<&str> = made.iter().map(|made| text_of(layout, &made.row)).collect();
        let mut near = near_pairs(&texts, dedup);
        let mut of_records: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (at, made) in made.iter().enumerate() {
            of_records.entry(&made.record).or_default().push(at);
        }
        let at = |record: &str| of_records.get(record).map(Vec::as_slice).unwrap_or_default();
        for (a, b) in pairs {
            near.extend(at(a).iter().flat_map(|a| at(b).iter().map(move |b| (*a, *b))));
        }
        // Rows that became near after they were released, by other settings of dedup or by a rewrite, are not taken back.
        let is_open = |(a, b): &(usize, usize)| rows[*a].released.is_none() || rows[*b].released.is_none();
        let (near, between_released): (Vec<_>, Vec<_>) = near.into_iter().partition(is_open);
        let sizes: Vec<SplitSize> = splits.splits.iter().map(|split| split.size).collect();
        let examples = splits.fewshot.and_then(|name| splits.index_of_split(name));
        let placed = divide_rows(&sizes, examples, splits.seed, &rows, &near);
        let used: BTreeSet<usize> = placed.iter().flatten().copied().collect();
        let mut names: Vec<&'static str> = used.iter().map(|place| splits.splits[*place].name).collect();
        if names.is_empty() {
            names.push(splits.splits.first().map_or(WHOLE, |split| split.name));
        }
        let mut division = Division { names, ..Division::default() };
        for (made, split) in made.iter().zip(&placed) {
            let (id, record) = (made.row.id(), made.record.as_str());
            let name = match split {
                Ok(place) => {
                    division.places.insert(id.to_owned(), used.range(..place).count());
                    Some(splits.splits[*place].name)
                }
                Err(why) => {
                    division.out.push((record.to_owned(), why.reason()));
                    // Drawn into none, for good: the other reasons may pass.
                    (*why == LeftApart::Untaken).then_some(NOWHERE)
                }
            };
            if let Some(name) = name.filter(|_| !of_row.contains_key(id) || !of_record.contains_key(record)) {
                division.new.push((id.to_owned(), record.to_owned(), name.to_owned()));
            }
        }
        division.crossing = find_crossing_pairs(&division, made, &between_released);
        division
    }

    /// The place in `names` of the split that a row is in.
    pub fn split_of_row(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// What a release of these rows registers.
    pub fn new_splits(&self) -> &[Allotted] {
        &self.new
    }

    /// The splits with the ids of their rows: what determines a folder besides its stages.
    pub fn fingerprint_json(&self) -> Json {
        match self.crossing.is_empty() {
            true => serde_json::json!([self.names, self.places, self.out]),
            false => serde_json::json!([self.names, self.places, self.out, self.crossing]),
        }
    }
}

/// The pairs of rows that are in two splits, each once and in order.
fn find_crossing_pairs(
    division: &Division,
    made: &[MadeRow],
    pairs: &[(usize, usize)],
) -> Vec<(String, String)> {
    let mut found = BTreeSet::new();
    for (a, b) in pairs {
        let [a, b] = [a, b].map(|at| made[*at].row.id());
        if let (Some(of_a), Some(of_b)) = (division.split_of_row(a), division.split_of_row(b))
            && of_a != of_b
        {
            found.insert((a.min(b).to_owned(), a.max(b).to_owned()));
        }
    }
    found.into_iter().collect()
}

/// How rows are divided, in words of both languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Divided {
    pub en: String,
    pub zh: String,
}

impl Divided {
    pub(super) fn describe_splits(splits: &Splits) -> Divided {
        let (mut en, mut zh) = match splits.column {
            Some(column) => (
                format!("The column `{column}` says the split of a row."),
                format!("划分由列 `{column}` 给出。"),
            ),
            None => {
                let seed = splits.seed;
                let (part, part_zh) = match splits.stratify {
                    Some(column) => (
                        format!(", with each value of `{column}` in proportion"),
                        format!("，`{column}` 的各个取值保持原有比例"),
                    ),
                    None => Default::default(),
                };
                (format!("Drawn by the seed {seed}{part}."), format!("按随机种子 {seed} 抽取{part_zh}。"))
            }
        };
        en.push_str(" Near duplicates, rows of one group and of one post are never in two splits.");
        zh.push_str("近似重复的行、同一组的行、同一帖子的行不会分属两个划分。");
        if let Some(name) = splits.fewshot {
            en.push_str(&format!(" Solved examples are taken from `{name}`."));
            zh.push_str(&format!("带答案的示例取自 `{name}`。"));
        }
        en.push_str(
            " A released row never moves; a later one goes where those are that it belongs to, and between two splits into none.",
        );
        zh.push_str("已发布的行不再移动；之后加入的行归入与其相关的行所在的划分，若介于两个划分之间则不归入任何划分。");
        Divided { en, zh }
    }
}

/// Whether a reason is that of a row in no split.
pub(super) fn is_apart(reason: &str) -> bool {
    LeftApart::all_reasons().iter().any(|why| why.reason() == reason)
}

/// The text of a row that near duplicates are found by.
fn text_of<'r>(layout: &Layout, row: &'r Row) -> &'r str {
    layout
        .text_column()
        .and_then(|column| layout.place_of_column(column))
        .map(|place| row.text_of_column(place))
        .unwrap_or_default()
}

/// The pairs of texts that are near duplicates: those that are merged, and those that are only shown to a person.
pub(super) fn near_pairs(texts: &[&str], dedup: &sections::Dedup) -> Vec<(usize, usize)> {
    let language = |text: &str| dedup.language.unwrap_or_else(|| detect(text).language);
    let texts: Vec<_> = texts.iter().map(|text| tag_language(text, language(text))).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let (groups, similar) = similar_pairs(&texts, dedup, &Unwatched);
    let mut pairs = Vec::new();
    for rows in &groups {
        pairs.extend(rows.windows(2).map(|two| (two[0] as usize, two[1] as usize)));
    }
    // Each of one group with each of the other: of a group some may be left out.
    for pair in &similar {
        for a in &groups[pair.a as usize] {
            pairs.extend(groups[pair.b as usize].iter().map(|b| (*a as usize, *b as usize)));
        }
    }
    pairs
}

/// How a chain of stages compared its records, by the settings of the first that did; the defaults if none did.
pub(super) fn comparison_settings<'s>(
    stages: impl IntoIterator<Item = &'s BTreeMap<String, Json>>,
) -> sections::Dedup {
    let mut dedup = sections::Dedup::default();
    let stated =
        stages.into_iter().find(|stated| stated.contains_key("metric") && stated.contains_key("threshold"));
    let Some(stated) = stated else { return dedup };
    let metric = stated.get("metric").cloned().map(serde_json::from_value);
    dedup.metric = metric.and_then(Result::ok).unwrap_or(dedup.metric);
    for (key, value) in [("threshold", &mut dedup.threshold), ("margin", &mut dedup.margin)] {
        if let Some(number) = stated.get(key).and_then(Json::as_f64) {
            *value = number;
        }
    }
    if let Some(normalize) = stated.get("normalize").and_then(Json::as_bool) {
        dedup.normalize = normalize;
    }
    let language = stated.get("language").cloned().map(serde_json::from_value);
    dedup.language = language.and_then(Result::ok).unwrap_or_default();
    dedup
}

/// Whether a stable release of a candidate has to be asked for with `--partial`.
pub fn is_partial(config: &Config, recipe: &'static Recipe) -> bool {
    let place = Workspace::new(&config.root).candidate_folder(recipe.name);
    let candidate = CandidateManifest::read_manifest(&place).ok().flatten();
    candidate.is_some_and(|candidate| is_below_share(config, recipe, candidate.rows, candidate.waiting))
}

/// Whether rows are a smaller share of what could be rows than the settings name.
pub(super) fn is_below_share(config: &Config, recipe: &'static Recipe, rows: u64, waiting: u64) -> bool {
    let settings: sections::Release = config.typed_settings(Some(recipe.name), "release");
    let all = rows + waiting;
    all > 0 && (rows as f64) < settings.whole_share * all as f64
}
