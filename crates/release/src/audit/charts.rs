//! The figures of the report page: how many records each stage kept, lengths, similarities, and the effect of other thresholds.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashSet;
use serde::Serialize;
use serde_json::Value;

use super::show::{Shown, draw_examples};
use super::ways::MadeStage;
use crate::recipe::{Recipe, Step};
use crate::record::{Counts, Entry, State};
use crate::stages::{NearPair, define_code};
use crate::store::{Error, Filter, Manifest, Workspace, json_parts, select_parts};

/// The figures of one recipe.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    pub recipe: String,
    /// What it builds.
    pub about: String,
    /// The same in Chinese.
    pub about_zh: String,
    /// Its stages that were made.
    pub stages: Vec<FunnelStage>,
    /// Why records are dropped or changed, by stage, most frequent first.
    pub reasons: Vec<ReasonRow>,
    /// Lengths of the texts in characters, as they entered the first stage after import and as they left the
    /// last: bins of [`LENGTH_BIN`], the last bin open.
    pub lengths: Vec<Bar>,
    /// Scores of the pairs that dedup found: merged, and close but separate.
    pub likeness: Vec<Bar>,
    /// Records that would be merged at each threshold.
    pub sweep: Vec<Bar>,
    /// Records that are merged now.
    pub merged: u64,
}

/// A reason with its count, definition and examples.
#[derive(Clone, Debug, Serialize)]
pub struct ReasonRow {
    pub stage: String,
    pub state: String,
    pub code: String,
    /// How many records.
    pub count: u64,
    /// What the code means.
    pub definition: String,
    /// Some of them.
    pub examples: Vec<Shown>,
}

/// A bar of a chart, of two parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bar {
    /// The label below it.
    pub label: String,
    /// The first part.
    pub value: u64,
    /// The second.
    pub other: u64,
}

/// The similarities of a step's records.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LikenessChart {
    /// Pairs by score: merged, and close but separate.
    pub pairs: Vec<Bar>,
    /// Records that would be merged at each threshold.
    pub merged: Vec<Bar>,
}

/// Characters per bar of the lengths.
pub const LENGTH_BIN: usize = 10;

const LENGTH_BARS: usize = 21;

/// Scores begin here, in hundredths: lower ones are in the first bar.
const LEAST_SCORE: u32 = 50;

/// Hundredths per bar of the scores.
const SCORE_BIN: u32 = 2;

const SCORE_BARS: u32 = 26;

/// The score at which a bar begins.
fn score_of(bar: u32) -> f64 {
    f64::from(LEAST_SCORE + SCORE_BIN * bar) / 100.0
}

/// Where a score lies among the bars of the scores, of which the first begins at 0.
pub fn place_of_score(score: f64) -> f64 {
    (score - score_of(0)) / (f64::from(SCORE_BIN) / 100.0)
}

/// Computes the figures.
///
/// # Errors
/// [`Error`] if a stage is damaged.
pub fn compute_figures(
    workspace: &Workspace,
    recipe: &'static Recipe,
    size: usize,
) -> Result<Figures, Error> {
    let (stages, steps) = (read_funnel(workspace, recipe)?.stages, recipe.steps_made(workspace)?);
    let mut reasons = Vec::new();
    for (stage, step) in stages.iter().zip(steps) {
        let mut some = draw_examples(workspace, recipe, step, size)?;
        let mut rows = Vec::new();
        for (key, count) in &stage.counts.reasons {
            let (state, code) = key.split_once('/').unwrap_or((key, ""));
            rows.push(ReasonRow {
                stage: stage.stage.clone(),
                state: state.into(),
                code: code.into(),
                count: *count,
                definition: define_code(code).unwrap_or_default().into(),
                examples: some.remove(key).unwrap_or_default(),
            });
        }
        rows.sort_by(|x, y| (y.count, &x.code).cmp(&(x.count, &y.code)));
        reasons.append(&mut rows);
    }
    let made = &steps[..stages.len()];
    let mut lengths = length_bars();
    if let (Some(first), Some(last)) = (made.first(), made.last()) {
        measure_lengths(workspace, recipe, first.name, |bar| &mut bar.other, &mut lengths)?;
        measure_lengths(workspace, recipe, last.name, |bar| &mut bar.value, &mut lengths)?;
    }
    let mut figures = Figures {
        recipe: recipe.name.into(),
        about: recipe.about.into(),
        about_zh: recipe.about_zh.into(),
        stages,
        reasons,
        lengths,
        likeness: Vec::new(),
        sweep: Vec::new(),
        merged: 0,
    };
    for step in made {
        if let Some(found) = likeness_of(workspace, recipe, step)? {
            let stage = figures.stages.iter().find(|stage| stage.stage == step.name);
            figures.merged = stage.map_or(0, |stage| stage.counts.records_in_state(State::Merged));
            (figures.likeness, figures.sweep) = (found.pairs, found.merged);
            break;
        }
    }
    Ok(figures)
}

/// For a step that compares records: the scores of its pairs, and the records that would be merged at each
/// threshold. `None` if the step was not made or compares nothing.
///
/// # Errors
/// [`Error`] if a part is missing or damaged.
pub fn likeness_of(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
) -> Result<Option<LikenessChart>, Error> {
    let Some(MadeStage { stage, .. }) = MadeStage::open(workspace, recipe, step)? else { return Ok(None) };
    if !stage.manifest().tables.contains_key("pairs") {
        return Ok(None);
    }
    let mut pairs = Vec::new();
    for part in select_parts::<NearPair>(&stage, "pairs", None) {
        pairs.append(&mut part?);
    }
    let paired: FxHashSet<&str> = pairs.iter().flat_map(|p| [p.a.as_str(), p.b.as_str()]).collect();
    let mut equal = 0;
    for part in select_parts::<Entry>(&stage, "ledger", Some(Filter::equals("outcome", "merged"))) {
        // Records with equal texts form a group, of which one is in the pairs.
        equal += part?.iter().filter(|e| !paired.contains(e.id.as_str())).count() as u64;
    }
    Ok(Some(LikenessChart { pairs: likeness_bars(&pairs), merged: sweep_thresholds(&pairs, equal) }))
}

fn length_bars() -> Vec<Bar> {
    let label = |i: usize| match i + 1 == LENGTH_BARS {
        true => format!("{}+", i * LENGTH_BIN),
        false => format!("{}", i * LENGTH_BIN),
    };
    (0..LENGTH_BARS).map(|i| Bar { label: label(i), ..Bar::default() }).collect()
}

fn measure_lengths(
    workspace: &Workspace,
    recipe: &'static Recipe,
    name: &str,
    side: impl Fn(&mut Bar) -> &mut u64,
    bars: &mut [Bar],
) -> Result<(), Error> {
    let Some((_, step)) = recipe.find_step(name) else { return Ok(()) };
    let Some(MadeStage { stage, .. }) = MadeStage::open(workspace, recipe, step)? else { return Ok(()) };
    for part in json_parts(&stage, "rows", &["text"]) {
        for row in part? {
            let chars = row.get("text").and_then(Value::as_str).map_or(0, |text| text.chars().count());
            *side(&mut bars[(chars / LENGTH_BIN).min(LENGTH_BARS - 1)]) += 1;
        }
    }
    Ok(())
}

/// Pairs by score; lower scores are in the first bar.
fn likeness_bars(pairs: &[NearPair]) -> Vec<Bar> {
    let bar = |at: u32| Bar { label: format!("{:.2}", score_of(at)), ..Bar::default() };
    let mut bars: Vec<Bar> = (0..SCORE_BARS).map(bar).collect();
    let last = bars.len() - 1;
    for pair in pairs {
        // A score of 0.58 may be stored slightly below it, but belongs to its own bin.
        let bar = &mut bars[((place_of_score(pair.score) + 1e-9).floor().max(0.0) as usize).min(last)];
        match pair.verdict.as_str() {
            "same" => bar.value += 1,
            _ => bar.other += 1,
        }
    }
    bars
}

/// Records that would be merged if the score alone decided, at thresholds from 0.50 to 1. `equal` is the
/// number of those with the same text as another: they are merged at every threshold.
///
/// The rule is dedup's own: in order of rank a record is merged into a kept one that is directly similar.
fn sweep_thresholds(pairs: &[NearPair], equal: u64) -> Vec<Bar> {
    let order = order_by_rank(pairs);
    let at = |i: u32| {
        // A veto does not depend on the score, so no threshold lifts it.
        let free = |pair: &&&NearPair| pair.veto.is_none() && pair.score >= score_of(i) - 1e-9;
        Bar {
            label: format!("{:.2}", score_of(i)),
            value: equal + count_merged(&order, |pair| free(&pair)),
            other: 0,
        }
    };
    (0..SCORE_BARS).map(at).collect()
}

/// Every second-ranking record of a pair, in order, with the pairs in which it ranks second.
fn order_by_rank(pairs: &[NearPair]) -> Vec<(&str, Vec<&NearPair>)> {
    let mut above: BTreeMap<&str, Vec<&NearPair>> = BTreeMap::new();
    let mut below: HashMap<&str, Vec<&str>> = HashMap::new();
    for pair in pairs {
        above.entry(&pair.a).or_default();
        above.entry(&pair.b).or_default().push(pair);
        below.entry(&pair.a).or_default().push(&pair.b);
    }
    // A record's fate depends on all that rank above it, so it waits until they are decided.
    let mut waits: HashMap<&str, usize> = above.iter().map(|(id, pairs)| (*id, pairs.len())).collect();
    let mut ready: Vec<&str> =
        above.iter().filter(|(_, pairs)| pairs.is_empty()).map(|(id, _)| *id).collect();
    let mut order = Vec::with_capacity(above.len());
    while let Some(id) = ready.pop() {
        for next in below.get(id).into_iter().flatten() {
            if let Some(waits) = waits.get_mut(next) {
                *waits -= 1;
                if *waits == 0 {
                    ready.push(next);
                }
            }
        }
        order.push((id, above.remove(id).unwrap_or_default()));
    }
    order
}

fn count_merged(order: &[(&str, Vec<&NearPair>)], counts: impl Fn(&&NearPair) -> bool) -> u64 {
    let mut removed: FxHashSet<&str> = FxHashSet::default();
    for (id, pairs) in order {
        if pairs.iter().any(|pair| counts(pair) && !removed.contains(pair.a.as_str())) {
            removed.insert(id);
        }
    }
    removed.len() as u64
}

/// A recipe's stages, from dump to candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Funnel {
    pub recipe: String,
    pub stages: Vec<FunnelStage>,
}

/// The counts of one stage.
#[derive(Clone, Debug, Serialize)]
pub struct FunnelStage {
    /// The stage's name.
    pub stage: String,
    /// Its counts of records.
    pub counts: Counts,
    /// Number of user names searched for in every text, for the stage that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<u64>,
}

/// The funnel of the stages in staged/.
///
/// # Errors
/// [`Error`] if a manifest cannot be read.
pub fn read_funnel(workspace: &Workspace, recipe: &'static Recipe) -> Result<Funnel, Error> {
    let mut stages = Vec::new();
    for step in recipe.steps_made(workspace)? {
        match Manifest::read_from_stage(&workspace.stage_folder(recipe.name, step.number, step.name))? {
            Some(manifest) => {
                let names = manifest.tables.get("names").map(|t| t.parts.iter().map(|part| part.rows).sum());
                stages.push(FunnelStage { stage: step.name.into(), counts: manifest.counts, names });
            }
            None => break,
        }
    }
    Ok(Funnel { recipe: recipe.name.into(), stages })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: &str, b: &str, score: f64) -> NearPair {
        NearPair { a: a.into(), b: b.into(), score, verdict: "same".into(), ..NearPair::default() }
    }

    fn at(bars: &[Bar], label: &str) -> u64 {
        bars.iter().find(|b| b.label == label).map(|b| b.value).unwrap()
    }

    #[test]
    fn a_sweep_merges_into_kept_records_only() {
        // 1 ~ 2 ~ 3 without 1 ~ 3: if 2 is merged, 3 is kept.
        let bars = sweep_thresholds(&[pair("1", "2", 0.8), pair("2", "3", 0.9)], 5);
        assert_eq!(at(&bars, "0.70"), 6);
        assert_eq!(at(&bars, "0.80"), 6);
        assert_eq!(at(&bars, "0.86"), 6, "now 2 is kept, and takes 3");
        assert_eq!(at(&bars, "0.92"), 5);
    }

    #[test]
    fn a_veto_holds_at_every_threshold() {
        let vetoed = NearPair { veto: Some("series".into()), ..pair("1", "2", 1.0) };
        assert!(sweep_thresholds(&[vetoed], 0).iter().all(|bar| bar.value == 0));
    }

    #[test]
    fn scores_fall_into_their_bins() {
        let bars = likeness_bars(&[pair("1", "2", 1.0), pair("1", "3", 0.9), pair("1", "4", 0.1)]);
        assert_eq!((at(&bars, "1.00"), at(&bars, "0.90"), at(&bars, "0.50")), (1, 1, 1));
        let places = [0.5, 0.6, 1.0].map(place_of_score);
        assert!(places.iter().zip([0.0, 5.0, 25.0]).all(|(place, want)| (place - want).abs() < 1e-9));
    }
}
