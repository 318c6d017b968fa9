//! `compare`: compares a set with a published one. Which items are found, exactly or approximately; how far
//! labels agree; which texts drifted; what is missing, and where it was lost.
//!
//! Items are matched by their texts. A puzzle and its reconstructions are matched as a group: originals are
//! compared with originals, and if two groups match, so do their variants, however they are worded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use minijinja::value::Serde;
use minijinja::{Environment, Value as TemplateValue, context};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value as Json;

pub use groups::{GroupFigures, same_form};
pub use labels::LabelFigures;
pub use options::OptionFigures;

use self::groups::{Groups, Role};
use super::fates::fates_of_texts;
use super::layout;
use super::read_rows::JsonRow;
use crate::config::{Config, sections};
use crate::join::Watch;
use crate::markup::compact_template;
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::review::agreement::{Confusion, Weights};
use crate::stages::similar_pairs;
use crate::text::{count_with_noun, format_decimals};
mod groups;
mod labels;
mod options;
#[cfg(test)]
mod perturbed;
#[cfg(test)]
mod tests;

/// Columns with labels.
const LABELS: &[&str] =
    &["type", "is_question", "answer", "label", "category", "categories", "category_names"];
/// Columns with the right option.
const GOLD: [&str; 2] = ["answer", "label"];
/// Columns of names, whose differences are ignored.
const NAMES: &[&str] = &["id", "index", "source_id", "standing"];

/// The result of comparing a set with a reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Items in the set.
    pub items: u64,
    /// Items in the reference.
    pub reference: u64,
    /// Items of the reference that are found with exactly the same text.
    pub exact: u64,
    /// Items that are found with a similar text: the texts drifted.
    pub near: Vec<NearItem>,
    /// Items that are not found.
    pub missing: Vec<Missing>,
    /// Items of the set that are not in the reference.
    pub extra: u64,
    /// Agreement on labels, by column.
    pub labels: BTreeMap<String, LabelAgreement>,
    /// How far the options of matched items are equal; `None` if no item has options on both sides.
    pub options: Option<OptionFigures>,
    /// How many groups are found; `None` if no item belongs to a group.
    pub groups: Option<GroupFigures>,
    /// Fields of matched items that differ.
    pub differing: Vec<ComparedField>,
}

/// An item that is found with another text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearItem {
    /// The reference's name for it.
    pub item: String,
    /// The reference's text.
    pub reference: String,
    /// The set's text.
    pub text: String,
    /// Their similarity, 0 to 1; `None` if only their groups match.
    pub score: Option<f64>,
}

/// An item that is not found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Missing {
    /// The reference's name for it.
    pub item: String,
    pub text: String,
    /// What became of the post with this text, from its dump through merges, edits and votes to its end; `None` if it is
    /// in no dump that was read.
    pub lost: Option<String>,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedField {
    /// The reference's name for the item.
    pub item: String,
    pub column: String,
    /// The reference's value.
    pub reference: Json,
    /// The set's value.
    pub value: Json,
    /// Whether the two differ only in spaces and a final full stop.
    pub spelling: bool,
}

/// Agreement of two sets of labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LabelAgreement {
    /// Items with a label on both sides.
    pub items: u64,
    /// The share that agrees, 0 to 1.
    pub percent: Option<f64>,
    /// Cohen's kappa, if it is defined.
    pub kappa: Option<f64>,
    /// Reference, set, count.
    pub matrix: Vec<(String, String, u64)>,
    /// The figures of each label.
    pub by_label: Vec<LabelFigures>,
}

/// Compares two lists of items. `types` maps published labels to the set's, on both sides; `likeness` are the
/// recipe's dedup settings, which decide whether two texts are one joke; `watch` receives the progress of the join.
/// [`Comparison::follow`] then says what became of missing items.
pub fn compare<'a>(
    rows: &'a [JsonRow],
    reference: &'a [JsonRow],
    types: &BTreeMap<String, String>,
    likeness: &sections::Dedup,
    watch: &dyn Watch,
) -> Comparison {
    // A table without texts, such as that of preferences, is matched by its rows' ids.
    let named = |side: &[JsonRow]| {
        side.first().is_some_and(|row| layout::text_columns().iter().all(|text| !row.contains_key(*text)))
    };
    let by_name = named(rows) || named(reference);
    let id = |row: &'a JsonRow| row.get("id").and_then(Json::as_str).unwrap_or_default();
    let key = |row: &'a JsonRow, other: &[JsonRow]| if by_name { id(row) } else { text(row, other) };
    let ours: Vec<&str> = rows.iter().map(|row| key(row, reference)).collect();
    let theirs: Vec<&str> = reference.iter().map(|row| key(row, rows)).collect();
    let groups = Groups::pair_up(reference, rows);
    let mut comparison =
        Comparison { items: rows.len() as u64, reference: reference.len() as u64, ..Comparison::default() };
    let mut found: Vec<Option<usize>> = vec![None; theirs.len()];
    let mut free: FxHashMap<(Role, &str), VecDeque<usize>> = FxHashMap::default();
    for (i, text) in ours.iter().enumerate() {
        free.entry((groups.role_of_ours(i), text)).or_default().push_back(i);
    }
    for (i, text) in theirs.iter().enumerate() {
        found[i] = free.get_mut(&(groups.role_of_theirs(i), *text)).and_then(VecDeque::pop_front);
    }
    let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
    let nearly = match by_name {
        true => Vec::new(),
        false => nearly(&ours, &theirs, &found, &groups, likeness, watch),
    };
    for (theirs_at, ours_at, score) in nearly {
        found[theirs_at] = Some(ours_at);
        scores.insert(theirs_at, score);
    }
    groups.extend_to_groups(&mut found);
    comparison.groups = groups.group_figures(&found);
    for (at, ours_at) in found.iter().enumerate().filter_map(|(at, ours)| Some((at, (*ours)?))) {
        if theirs[at] == ours[ours_at] {
            comparison.exact += 1;
            continue;
        }
        comparison.near.push(NearItem {
            item: name(&reference[at], at),
            reference: theirs[at].into(),
            text: ours[ours_at].into(),
            score: scores.get(&at).copied(),
        });
    }
    for (i, row) in reference.iter().enumerate() {
        match found[i] {
            Some(at) => comparison.fields(&name(row, i), row, &rows[at], types, theirs[i] != ours[at]),
            None => {
                comparison.missing.push(Missing { item: name(row, i), text: theirs[i].into(), lost: None })
            }
        }
    }
    comparison.extra = comparison.items - found.iter().flatten().count() as u64;
    comparison.labels = reference
        .first()
        .zip(rows.first())
        .map(|(a, b)| {
            LABELS.iter().filter(|l| a.contains_key(**l) && b.contains_key(**l)).copied().collect::<Vec<_>>()
        })
        .unwrap_or_default()
        .into_iter()
        .map(|label| {
            let pairs = found.iter().enumerate().filter_map(|(i, at)| Some((&reference[i], &rows[(*at)?])));
            // A letter is meaningless if options are reordered; `options` covers that. An answer in words is
            // not a label.
            let pairs = pairs.filter(|(a, b)| {
                !GOLD.contains(&label)
                    || options::compare_options(a, b).is_none()
                        && [a, b].iter().all(|row| is_place(&row[label]))
            });
            let sets = |row: &JsonRow| row.get(label).map(|value| labels::parse_labels(value, types));
            (label.to_string(), agreement(pairs.filter_map(|(a, b)| sets(a).zip(sets(b))).collect()))
        })
        .filter(|(_, agreement): &(String, LabelAgreement)| agreement.items > 0)
        .collect();
    comparison
}

/// Whether most letters of the texts are Latin.
fn is_latin(texts: &[&str]) -> bool {
    let letters = || texts.iter().flat_map(|text| text.chars()).filter(|c| c.is_alphabetic());
    2 * letters().filter(char::is_ascii).count() > letters().count()
}

/// Pairs of a reference item and an item that are the same joke in other words, best first; each item is in
/// one pair.
fn nearly(
    ours: &[&str],
    theirs: &[&str],
    found: &[Option<usize>],
    groups: &Groups,
    likeness: &sections::Dedup,
    watch: &dyn Watch,
) -> Vec<(usize, usize, f64)> {
    let taken: BTreeSet<usize> = found.iter().flatten().copied().collect();
    let left: Vec<usize> = (0..ours.len()).filter(|i| !taken.contains(i)).collect();
    let open: Vec<usize> = (0..theirs.len()).filter(|i| found[*i].is_none()).collect();
    let texts: Vec<&str> = left.iter().map(|i| ours[*i]).chain(open.iter().map(|i| theirs[*i])).collect();
    // Translations are compared by their letters: they share no characters with the posts.
    let metric = match likeness.metric {
        sections::DedupMetric::Default if is_latin(&texts) => sections::DedupMetric::Indel,
        metric => metric,
    };
    let (same, similar_pairs) = similar_pairs(&texts, &sections::Dedup { metric, ..likeness.clone() }, watch);
    let mut candidates: Vec<(f64, usize, usize)> = Vec::new();
    let mut put = |a: u32, b: u32, score: f64| {
        let (first, second) = (a.min(b) as usize, a.max(b) as usize);
        if first < left.len() && second >= left.len() {
            let (theirs, ours) = (open[second - left.len()], left[first]);
            if groups.role_of_theirs(theirs) == groups.role_of_ours(ours) {
                candidates.push((score, theirs, ours));
            }
        }
    };
    // Rows ascend in a group with those of the reference last, and only these are paired, even if a post
    // occurs a thousand times.
    let of_reference = |rows: &[u32]| rows.partition_point(|row| (*row as usize) < left.len());
    let mut put_all = |rows: &[u32], others: &[u32], score: f64| {
        for theirs in &others[of_reference(others)..] {
            rows[..of_reference(rows)].iter().for_each(|ours| put(*ours, *theirs, score));
        }
    };
    same.iter().for_each(|rows| put_all(rows, rows, 1.0));
    for pair in similar_pairs.iter().filter(|like| like.same) {
        let (a, b) = (&same[pair.a as usize], &same[pair.b as usize]);
        put_all(a, b, pair.score);
        put_all(b, a, pair.score);
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut used_theirs, mut used_ours) = (BTreeSet::new(), BTreeSet::new());
    let mut matched: Vec<(usize, usize, f64)> = Vec::new();
    for (score, theirs, ours) in candidates {
        if !used_theirs.contains(&theirs) && used_ours.insert(ours) {
            used_theirs.insert(theirs);
            matched.push((theirs, ours, score));
        }
    }
    matched.sort_by_key(|m| m.0);
    matched
}

impl Comparison {
    /// Says of every missing item what became of the post with its text.
    ///
    /// # Errors
    /// [`RunError`] if dumps or stages of the workspace cannot be read.
    pub fn follow(&mut self, config: &Config, recipe: &'static Recipe) -> Result<(), RunError> {
        let texts: Vec<&str> = self.missing.iter().map(|missing| missing.text.as_str()).collect();
        let found = fates_of_texts(config, recipe, &texts)?;
        self.missing.iter_mut().zip(found).for_each(|(missing, fate)| missing.lost = fate);
        Ok(())
    }

    /// The differences in a matched item; its drifted text (`near`) is reported as such.
    fn fields(
        &mut self,
        item: &str,
        reference: &JsonRow,
        row: &JsonRow,
        types: &BTreeMap<String, String>,
        near: bool,
    ) {
        let options = options::compare_options(reference, row);
        if let Some(same) = options {
            self.options.get_or_insert_default().push(same);
        }
        let shown = layout::text_columns()
            .iter()
            .copied()
            .find(|text| reference.contains_key(*text) && row.contains_key(*text));
        for (column, theirs) in reference {
            let Some(value) = row.get(column).filter(|_| !NAMES.contains(&column.as_str())) else { continue };
            let same = match (column.as_str(), options) {
                ("options" | "choice_list", Some(options)) => options.contents,
                (label, Some(options)) if GOLD.contains(&label) && is_place(theirs) => options.right,
                // The order of options has its own figure.
                ("choice_order", Some(_)) => true,
                (column, Some(_)) if column.starts_with("option_") => {
                    options::values_by_option(reference, column) == options::values_by_option(row, column)
                }
                (label, _) if LABELS.contains(&label) && (is_place(theirs) || !GOLD.contains(&label)) => {
                    labels::parse_labels(theirs, types) == labels::parse_labels(value, types)
                }
                _ => theirs == value,
            };
            let drifted = near && shown == Some(column.as_str());
            if !same && !drifted {
                let spelling =
                    theirs.as_str().zip(value.as_str()).is_some_and(|(a, b)| a != b && plain(a) == plain(b));
                let (reference, value) = (theirs.clone(), value.clone());
                let column = column.clone();
                self.differing.push(ComparedField { item: item.into(), column, reference, value, spelling });
            }
        }
    }

    /// Whether both sets are equal.
    pub fn is_perfect(&self) -> bool {
        self.near.is_empty() && self.missing.is_empty() && self.extra == 0 && self.differing.is_empty()
    }

    /// The comparison for a terminal.
    pub fn text(&self) -> String {
        let mut out = format!(
            "{}, {} in the reference: {} found exactly, {} nearly, {} missing; {} not in the reference\n",
            count_with_noun(self.items, "item"),
            self.reference,
            self.exact,
            self.near.len(),
            self.missing.len(),
            self.extra,
        );
        // Writing into a string cannot fail.
        for (label, a) in &self.labels {
            let percent = a.percent.map_or_else(|| "-".into(), |p| format!("{:.1} %", p * 100.0));
            let why = match a.items {
                0 => "not defined (no item has labels on both sides)",
                _ => {
                    "not defined (every item has the same label on both sides, so there is no agreement beyond chance)"
                }
            };
            let kappa = a.kappa.map_or_else(|| why.into(), |k| format_decimals(k, 3));
            let _ = writeln!(out, "{label}: {percent} of {} agree, kappa {kappa}", a.items);
            for (theirs, ours, n) in a.matrix.iter().filter(|(theirs, ours, _)| theirs != ours) {
                let _ = writeln!(out, "  {theirs} -> {ours}: {n}");
            }
            for one in a.by_label.iter().filter(|one| one.reference != one.both || one.set != one.both) {
                let share = |value: Option<f64>| value.map_or_else(|| "-".into(), |v| format_decimals(v, 3));
                let _ = writeln!(
                    out,
                    "  {}: precision {}, recall {}, kappa {}",
                    one.label,
                    share(one.precision),
                    share(one.recall),
                    share(one.kappa)
                );
            }
        }
        if let Some(g) = self.groups {
            let _ = writeln!(
                out,
                "groups of {}: {} found whole, {} in part, {} missing",
                g.reference, g.whole, g.part, g.missing
            );
        }
        if let Some(o) = self.options {
            let _ = writeln!(
                out,
                "options of {}: {} are equal, {} with the same right answer, {} in the same order",
                o.items, o.contents, o.right, o.order
            );
        }
        for near in &self.near {
            let score = near.score.map_or_else(|| "by its group".into(), |score| format!("{score:.3}"));
            let _ = writeln!(out, "near {} ({score}): {} -> {}", near.item, near.reference, near.text);
        }
        for field in &self.differing {
            let _ = writeln!(
                out,
                "{} {} {}: {} -> {}",
                if field.spelling { "spelt otherwise" } else { "other" },
                field.item,
                field.column,
                field.reference,
                field.value
            );
        }
        for missing in &self.missing {
            let lost = missing.lost.as_deref().unwrap_or("in no dump that was read");
            let _ = writeln!(out, "missing {}: {} ({lost})", missing.item, missing.text);
        }
        out
    }
}

/// An item's text: the first text column that the other side has too, else the first it has.
fn text<'a>(row: &'a JsonRow, other: &[JsonRow]) -> &'a str {
    let shared = layout::text_columns()
        .iter()
        .find(|t| row.contains_key(**t) && other.first().is_some_and(|o| o.contains_key(**t)));
    let own = || layout::text_columns().iter().find(|t| row.contains_key(**t));
    shared.or_else(own).and_then(|t| row[*t].as_str()).unwrap_or_default()
}

/// The id of an item, or its number.
pub(super) fn name(row: &JsonRow, place: usize) -> String {
    ["id", "index"]
        .iter()
        .find_map(|key| row.get(*key))
        .map_or_else(|| format!("item {}", place + 1), as_text)
}

fn as_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// Whether a value is the letter or the index of an option.
fn is_place(value: &Json) -> bool {
    value.is_u64() || value.as_str().is_some_and(|text| text.len() == 1)
}

/// A text without spaces and final full stops, which a copy may lose without changing its meaning.
fn plain(text: &str) -> String {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    bare.trim_end_matches(['.', '。', '．']).to_string()
}

fn agreement(pairs: Vec<(BTreeSet<String>, BTreeSet<String>)>) -> LabelAgreement {
    let by_label = labels::label_figures(&pairs);
    let joined = |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    pairs.iter().for_each(|(a, b)| *counts.entry((joined(a), joined(b))).or_default() += 1);
    let sets: BTreeSet<&String> = counts.keys().flat_map(|(a, b)| [a, b]).collect();
    let places: BTreeMap<&String, usize> = sets.into_iter().enumerate().map(|(i, set)| (set, i)).collect();
    let mut confusion = Confusion::new(places.len());
    for ((a, b), n) in &counts {
        (0..*n).for_each(|_| confusion.push(places[a], places[b]));
    }
    LabelAgreement {
        items: counts.values().sum(),
        percent: confusion.percent_agreement(),
        kappa: confusion.cohen_kappa(Weights::None),
        matrix: counts.into_iter().map(|((a, b), n)| (a, b, n)).collect(),
        by_label,
    }
}

/// The page: drifted texts, differences and missing items side by side.
const TEMPLATE: &str = include_str!("templates/compare.html");
const STYLE: &str = include_str!("templates/compare.css");

impl Comparison {
    /// The page. `set` and `reference` are the names of the two sides.
    ///
    /// # Errors
    /// If the template does not match.
    pub fn html(&self, set: &str, reference: &str) -> Result<String, minijinja::Error> {
        let [style, template] = [STYLE, TEMPLATE].map(compact_template);
        let mut env = Environment::new();
        env.add_filter("score", |figure: f64| format_decimals(figure, 3));
        env.add_template("compare.css", &style)?;
        env.add_template("compare.html", &template)?;
        let found = TemplateValue::from(Serde(self));
        env.get_template("compare.html")?
            .render(context! { found, set, reference, version => crate::VERSION })
    }
}
