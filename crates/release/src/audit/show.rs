//! `show`: the records of one stage with their outcomes, and close pairs.

use std::collections::{BTreeMap, HashMap};

use regex::Regex;
use rustc_hash::FxHashSet;
use serde::Serialize;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::texts::SoughtText;
use super::ways::MadeStage;
use crate::pipeline::Withheld;
use crate::recipe::{Recipe, Step};
use crate::record::{Entry, State};
use crate::stages::NearPair;
use crate::store::{Error, Filter, Workspace, json_parts, select_parts};

/// The records to show.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only those that left the stage in this state.
    pub outcome: Option<String>,
    /// Only those with this reason or rule.
    pub reason: Option<String>,
    /// Only those whose text or evidence matches.
    pub grep: Option<Regex>,
    /// Only those similar to this text, most similar first.
    pub like: Option<String>,
    /// A sample of this size, drawn by the seed.
    pub sample: Option<usize>,
    /// The seed of the sample.
    pub seed: u64,
}

/// A record that entered a stage.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// Its ledger entry.
    #[serde(flatten)]
    pub entry: Entry,
    /// Its text: as it left the stage, else as it entered.
    pub text: Option<String>,
    /// For a merge, the text of the kept record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into_text: Option<String>,
    /// Its similarity to the wanted text, 0 to 1, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likeness: Option<f64>,
    /// The whole row, if the record went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Map<String, Value>>,
}

/// Two records that dedup found similar and kept separate.
#[derive(Clone, Debug, Serialize)]
pub struct NearTexts {
    /// The figures.
    #[serde(flatten)]
    pub pair: NearPair,
    /// The text of `a`.
    pub text_a: String,
    /// The text of `b`.
    pub text_b: String,
    /// The two texts as one list of pieces: common, only in `a`, only in `b`.
    pub diff: Vec<Piece>,
}

/// A run of characters of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Which text it is from.
    pub side: PieceSide,
    /// The characters.
    pub text: String,
}

/// Which of two texts a piece is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceSide {
    /// Both.
    Both,
    /// The first.
    A,
    /// The second.
    B,
}

impl MadeStage {
    /// Calls `take` with the id and text of every record that entered or left the stage, the latter last.
    fn visit_texts(&self, mut take: impl FnMut(&str, &str)) -> Result<(), Error> {
        for stage in self.inputs.iter().chain([&self.stage]) {
            for part in json_parts(stage, "rows", &["id", "text", "question", "title"]) {
                for row in part? {
                    if let (Some(id), Some(text)) = (row.get("id").and_then(Value::as_str), text_of(&row)) {
                        take(id, text);
                    }
                }
            }
        }
        Ok(())
    }

    /// Fills in the texts, and whole rows if requested.
    fn fill_shown(&self, shown: &mut [Shown], rows: bool) -> Result<(), Error> {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        let mut keepers: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, one) in shown.iter().enumerate() {
            places.entry(one.entry.id.clone()).or_default().push(i);
            if let Some(into) = one.entry.into.as_ref().filter(|_| one.entry.outcome != "merged") {
                places.entry(into.clone()).or_default().push(i);
            }
            // A merged record keeps its own text, and that of the kept one is shown beside it.
            if let Some(into) = one.entry.into.as_ref().filter(|_| one.entry.outcome == "merged") {
                keepers.entry(into.clone()).or_default().push(i);
            }
        }
        self.visit_texts(|id, text| {
            for &i in places.get(id).into_iter().flatten() {
                shown[i].text = Some(text.to_string());
            }
            for &i in keepers.get(id).into_iter().flatten() {
                shown[i].into_text = Some(text.to_string());
            }
        })?;
        if !rows {
            return Ok(());
        }
        for part in json_parts(&self.stage, "rows", &[]) {
            for row in part? {
                let places = row.get("id").and_then(Value::as_str).and_then(|id| places.get(id));
                for &i in places.into_iter().flatten() {
                    shown[i].row = Some(row.clone());
                }
            }
        }
        Ok(())
    }
}

/// The text of a row of any stage.
fn text_of(row: &Map<String, Value>) -> Option<&str> {
    ["text", "question", "title"].into_iter().find_map(|name| row.get(name)?.as_str())
}

/// The records of a step that match a query, in the order of the ledger (or of similarity, if a text is
/// given), and their number without the sample. `None` if the step was not made.
///
/// Reads the ledger and the texts a part at a time; only the shown records are held and, with a pattern, the
/// matching ids.
///
/// # Errors
/// [`Error`] if a part is missing or damaged.
pub fn show_records(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
    query: &Query,
) -> Result<Option<(Vec<Shown>, u64)>, Error> {
    let Some(made) = MadeStage::open(workspace, recipe, step)? else { return Ok(None) };
    let likeness = query.like.as_deref().map(SoughtText::for_text);
    let mut found: FxHashSet<String> = FxHashSet::default();
    let mut scores: HashMap<String, f64> = HashMap::new();
    if query.grep.is_some() || likeness.is_some() {
        made.visit_texts(|id, text| {
            if query.grep.as_ref().is_some_and(|re| re.is_match(text)) {
                found.insert(id.into());
            }
            if let Some(score) = likeness.as_ref().and_then(|l| l.score_text(text)) {
                scores.insert(id.into(), score);
            }
        })?;
    }
    let score = |entry: &Entry| {
        [Some(&entry.id), entry.into.as_ref()].into_iter().flatten().find_map(|id| scores.get(id))
    };
    let greps = |entry: &Entry| match &query.grep {
        None => true,
        Some(re) => {
            // A merged record is matched by its own text, not by that of the kept record.
            let own = found.contains(&entry.id)
                || (entry.outcome != "merged" && entry.into.as_ref().is_some_and(|id| found.contains(id)));
            own || [&entry.evidence, &entry.before, &entry.after]
                .into_iter()
                .flatten()
                .any(|text| re.is_match(text))
        }
    };
    let withheld = Withheld::open(workspace, recipe)?;
    let mut draw = Draw::new(query.sample, query.seed);
    for part in select_parts::<Entry>(&made.stage, "ledger", filter_of_query(query)) {
        let entries = part?.into_iter().filter(|e| greps(e) && (likeness.is_none() || score(e).is_some()));
        // Withdrawn records are removed before the draw, so that the sample keeps its size.
        shown_entries(&withheld, entries.collect())?.into_iter().for_each(|entry| draw.offer_item(entry));
    }
    let all = draw.seen;
    let mut shown: Vec<Shown> = draw
        .finish()
        .into_iter()
        .map(|entry| Shown {
            likeness: score(&entry).copied(),
            entry,
            text: None,
            into_text: None,
            row: None,
        })
        .collect();
    if likeness.is_some() {
        shown.sort_by(|x, y| y.likeness.unwrap_or(0.0).total_cmp(&x.likeness.unwrap_or(0.0)));
    }
    made.fill_shown(&mut shown, true)?;
    // A withdrawal may name only a text, and the texts are known only now.
    hide_withdrawn(&withheld, &mut shown)?;
    Ok(Some((shown, all)))
}

/// The entries of records that are not withdrawn.
fn shown_entries(withheld: &Withheld, entries: Vec<Entry>) -> Result<Vec<Entry>, Error> {
    let named = entries.iter().flat_map(|entry| [Some(entry.id.as_str()), own_name(entry)]).flatten();
    let withdrawn: FxHashSet<String> =
        withheld.withdrawn_among(named)?.into_iter().map(str::to_owned).collect();
    let stays = |entry: &Entry| {
        !withdrawn.contains(&entry.id) && own_name(entry).is_none_or(|name| !withdrawn.contains(name))
    };
    Ok(entries.into_iter().filter(stays).collect())
}

/// The new id of a record that is kept under another one.
fn own_name(entry: &Entry) -> Option<&str> {
    entry.into.as_deref().filter(|_| entry.outcome != State::Merged.code())
}

/// Removes withdrawn texts, including the other side of a merge.
fn hide_withdrawn(withheld: &Withheld, shown: &mut Vec<Shown>) -> Result<(), Error> {
    let is_withdrawn =
        |text: &Option<String>| text.as_deref().is_some_and(|text| withheld.is_withdrawn_text(text));
    shown.retain(|one| ![&one.text, &one.entry.before, &one.entry.after].into_iter().any(is_withdrawn));
    let into = shown.iter().filter(|one| one.into_text.is_some()).filter_map(|one| one.entry.into.as_deref());
    let withdrawn: FxHashSet<String> =
        withheld.withdrawn_among(into)?.into_iter().map(str::to_owned).collect();
    for one in shown {
        let into = one.entry.into.as_ref();
        if into.is_some_and(|into| withdrawn.contains(into)) || is_withdrawn(&one.into_text) {
            one.into_text = None;
        }
    }
    Ok(())
}

/// A few records of each state and reason of a step, as examples, by `state/reason`. One pass over the
/// ledger, whatever the number of reasons.
///
/// # Errors
/// [`Error`] if a part is missing or damaged.
pub fn draw_examples(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
    size: usize,
) -> Result<BTreeMap<String, Vec<Shown>>, Error> {
    let mut draws: BTreeMap<String, Draw<Entry>> = BTreeMap::new();
    let withheld = Withheld::open(workspace, recipe)?;
    let Some(made) = MadeStage::open(workspace, recipe, step)? else { return Ok(BTreeMap::new()) };
    for part in select_parts::<Entry>(&made.stage, "ledger", Some(Filter::Present("reason"))) {
        for entry in shown_entries(&withheld, part?)? {
            let key = format!("{}/{}", entry.outcome, entry.reason.as_deref().unwrap_or_default());
            draws.entry(key).or_insert_with(|| Draw::new(Some(size), 0)).offer_item(entry);
        }
    }
    let mut keys = Vec::new();
    let mut shown = Vec::new();
    for (key, draw) in draws {
        for entry in draw.finish() {
            keys.push(key.clone());
            shown.push(Shown { entry, text: None, into_text: None, likeness: None, row: None });
        }
    }
    made.fill_shown(&mut shown, false)?;
    let mut examples: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
    for (key, one) in keys.into_iter().zip(shown) {
        // One at a time: `hide` removes records, and the others would no longer match their keys.
        let mut one = vec![one];
        hide_withdrawn(&withheld, &mut one)?;
        examples.entry(key).or_default().append(&mut one);
    }
    Ok(examples)
}

fn filter_of_query(query: &Query) -> Option<Filter> {
    let outcome = query.outcome.as_ref().map(|code| Filter::equals("outcome", code));
    let reason = query.reason.as_ref().map(|code| Filter::equals("reason", code));
    [outcome, reason].into_iter().flatten().reduce(Filter::and)
}

/// The close pairs of a step that were kept separate, most similar first, and their number without the
/// sample. `None` if the step was not made or compares nothing.
///
/// # Errors
/// [`Error`] if a part is missing or damaged.
pub fn borderline_pairs(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
    query: &Query,
) -> Result<Option<(Vec<NearTexts>, u64)>, Error> {
    let Some(made) = MadeStage::open(workspace, recipe, step)? else { return Ok(None) };
    if !made.stage.manifest().tables.contains_key("pairs") {
        return Ok(None);
    }
    let mut pairs = Vec::new();
    for part in select_parts::<NearPair>(&made.stage, "pairs", Some(Filter::equals("verdict", "borderline")))
    {
        pairs.append(&mut part?);
    }
    let withheld = Withheld::open(workspace, recipe)?;
    let sides = pairs.iter().flat_map(|pair: &NearPair| [pair.a.as_str(), pair.b.as_str()]);
    let withdrawn: FxHashSet<String> =
        withheld.withdrawn_among(sides)?.into_iter().map(str::to_owned).collect();
    pairs.retain(|pair| ![&pair.a, &pair.b].into_iter().any(|side| withdrawn.contains(side)));
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let wanted: FxHashSet<&str> = pairs.iter().flat_map(|p| [p.a.as_str(), p.b.as_str()]).collect();
    made.visit_texts(|id, text| {
        if wanted.contains(id) {
            texts.insert(id.into(), text.into());
        }
    })?;
    let text = |id: &String| texts.get(id).map(String::as_str).unwrap_or_default();
    let likeness = query.like.as_deref().map(SoughtText::for_text);
    let fits = |pair: &NearPair| {
        let both = [text(&pair.a), text(&pair.b)];
        !both.iter().any(|text| withheld.is_withdrawn_text(text))
            && query.grep.as_ref().is_none_or(|re| both.iter().any(|t| re.is_match(t)))
            && likeness.as_ref().is_none_or(|l| both.iter().any(|t| l.score_text(t).is_some()))
    };
    let mut draw = Draw::new(query.sample, query.seed);
    pairs.iter().filter(|pair| fits(pair)).for_each(|pair| draw.offer_item(pair.clone()));
    let all = draw.seen;
    let mut near: Vec<NearTexts> = draw
        .finish()
        .into_iter()
        .map(|pair| {
            let (text_a, text_b) = (text(&pair.a).to_string(), text(&pair.b).to_string());
            NearTexts { diff: diff_texts(&text_a, &text_b), pair, text_a, text_b }
        })
        .collect();
    near.sort_by(|x, y| y.pair.score.total_cmp(&x.pair.score));
    Ok(Some((near, all)))
}

/// The differences of two texts as one list of pieces, by character, or by word for texts with spaces.
pub fn diff_texts(a: &str, b: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    // In texts with spaces, a changed word says more than a changed letter.
    let in_words = |text: &str| text.contains(' ') && text.chars().all(|c| c < '\u{2e80}');
    let found =
        if in_words(a) && in_words(b) { TextDiff::from_words(a, b) } else { TextDiff::from_chars(a, b) };
    for change in found.iter_all_changes() {
        let side = match change.tag() {
            ChangeTag::Equal => PieceSide::Both,
            ChangeTag::Delete => PieceSide::A,
            ChangeTag::Insert => PieceSide::B,
        };
        match pieces.last_mut().filter(|last| last.side == side) {
            Some(last) => last.text.push_str(change.value()),
            None => pieces.push(Piece { side, text: change.value().into() }),
        }
    }
    pieces
}

/// Something with a name by which it is drawn.
pub(super) trait Named {
    fn name(&self) -> String;
}

impl Named for Entry {
    fn name(&self) -> String {
        self.id.clone()
    }
}

impl Named for NearPair {
    fn name(&self) -> String {
        format!("{} {}", self.a, self.b)
    }
}

/// A sample of fixed size. Each record draws a number from the seed and its own name, and the smallest are
/// kept: adding or removing a record changes at most one of the sample.
pub(super) struct Draw<T> {
    size: Option<usize>,
    seed: u64,
    pub(super) seen: u64,
    kept: BTreeMap<([u8; 16], u64), T>,
}

impl<T: Named> Draw<T> {
    pub(super) fn new(size: Option<usize>, seed: u64) -> Draw<T> {
        Draw { size, seed, seen: 0, kept: BTreeMap::new() }
    }

    pub(super) fn offer_item(&mut self, item: T) {
        let mut key = [0; 16];
        // Without a size everything is kept, so no hash is needed.
        if self.size.is_some() {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&self.seed.to_le_bytes()).update(item.name().as_bytes());
            key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        }
        // The place keeps records of one name apart, and restores the order at the end.
        self.kept.insert((key, self.seen), item);
        self.seen += 1;
        if self.size.is_some_and(|size| self.kept.len() > size) {
            self.kept.pop_last();
        }
    }

    /// The sample, in order of arrival.
    pub(super) fn finish(self) -> Vec<T> {
        let mut kept: Vec<_> = self.kept.into_iter().map(|((_, place), item)| (place, item)).collect();
        kept.sort_by_key(|(place, _)| *place);
        kept.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ids: impl Iterator<Item = u32>, size: usize, seed: u64) -> Vec<String> {
        let mut draw = Draw::new(Some(size), seed);
        ids.for_each(|id| draw.offer_item(Entry { id: id.to_string(), ..Entry::default() }));
        draw.finish().into_iter().map(|e| e.id).collect()
    }

    #[test]
    fn a_sample_depends_on_the_seed_and_the_ids_alone() {
        let first = sample(0..1000, 10, 7);
        assert_eq!(first.len(), 10);
        assert_eq!(first, sample(0..1000, 10, 7));
        assert_ne!(first, sample(0..1000, 10, 8));
        let more = sample(0..1001, 10, 7);
        assert!(
            first.iter().filter(|id| more.contains(id)).count() >= 9,
            "one record more changes at most one"
        );
        assert_eq!(sample(0..3, 10, 7), ["0", "1", "2"]);
    }

    #[test]
    fn differences_are_marked_by_the_character() {
        let piece = |side, text: &str| Piece { side, text: text.into() };
        let want = [
            piece(PieceSide::Both, "雨伞"),
            piece(PieceSide::A, "怕"),
            piece(PieceSide::B, "爱"),
            piece(PieceSide::Both, "淋雨"),
        ];
        assert_eq!(diff_texts("雨伞怕淋雨", "雨伞爱淋雨"), want);
        assert!(diff_texts("", "").is_empty());
    }
}
