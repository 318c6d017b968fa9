//! The decisions that count in one stage of one recipe.

use rustc_hash::FxHashMap;

use super::{Decision, Question, Verdict, seen_pair};
use crate::Digest;

/// The decisions about a stage's records and pairs that count, one per question.
#[derive(Clone, Debug, Default)]
pub struct StageDecisions {
    records: FxHashMap<String, Vec<Decision>>,
    pairs: Vec<Decision>,
    count: usize,
    hash: String,
}

/// The decisions about one record with its current text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ruling<'a> {
    /// Whether it is kept, dropped or held.
    pub outcome: Option<&'a Decision>,
    /// What the text is.
    pub text: Option<&'a Decision>,
    /// What the title is.
    pub title: Option<&'a Decision>,
    /// What the content or answer is.
    pub answer: Option<&'a Decision>,
}

/// A decision about two records, by their indices in the stage's input.
#[derive(Clone, Copy, Debug)]
pub struct Pairing<'a> {
    /// The first record.
    pub a: u32,
    /// The second record.
    pub b: u32,
    /// Whether they are one.
    pub one: bool,
    pub decision: &'a Decision,
}

impl StageDecisions {
    pub(super) fn new(decisions: impl Iterator<Item = Decision>) -> StageDecisions {
        let mut stage = StageDecisions::default();
        let mut ids = Vec::new();
        for decision in decisions {
            ids.extend_from_slice(decision.id.to_string().as_bytes());
            stage.count += 1;
            match decision.verdict.is_of_pair() {
                true => stage.pairs.push(decision),
                false => stage.records.entry(decision.record.clone()).or_default().push(decision),
            }
        }
        stage.hash = blake3::hash(&ids).to_hex()[..16].to_string();
        stage
    }

    /// Whether nothing was decided.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many decisions count.
    pub fn len(&self) -> usize {
        self.count
    }

    /// For manifests: `<count> <hash of their ids>`; `None` without decisions, so that such a workspace's
    /// manifests do not change.
    pub fn evidence(&self) -> Option<String> {
        (!self.is_empty()).then(|| format!("{} {}", self.count, self.hash))
    }

    /// The decisions about a record with this current text; `None` if there are none, or only about another
    /// text.
    pub fn ruling_on(&self, id: &str, seen: impl FnOnce() -> Digest) -> Option<Ruling<'_>> {
        let decisions = self.records.get(id)?;
        let seen = seen();
        let mut ruling = Ruling::default();
        let mut any = false;
        for decision in decisions.iter().filter(|decision| decision.seen == seen) {
            any = true;
            let place = match decision.verdict.question() {
                Question::Outcome => &mut ruling.outcome,
                Question::Text => &mut ruling.text,
                Question::Title => &mut ruling.title,
                Question::Answer => &mut ruling.answer,
                Question::Pair => continue,
            };
            *place = Some(decision);
        }
        any.then_some(ruling)
    }

    /// The decisions about pairs of these records, latest last. `seen` hashes two of them with their current
    /// texts; pairs that have changed, or of which one record is missing, are left out.
    pub fn find_pairings<'a>(
        &'a self,
        ids: impl Iterator<Item = &'a str>,
        seen: impl Fn(u32, u32) -> Digest,
    ) -> Vec<Pairing<'a>> {
        if self.pairs.is_empty() {
            return Vec::new();
        }
        let mut wanted: FxHashMap<&str, Option<u32>> = FxHashMap::default();
        for decision in &self.pairs {
            wanted.insert(&decision.record, None);
            wanted.extend(decision.other.as_deref().map(|other| (other, None)));
        }
        for (id, row) in ids.zip(0u32..) {
            if let Some(place) = wanted.get_mut(id) {
                *place = Some(row);
            }
        }
        let row = |id: &str| wanted.get(id).copied().flatten();
        let pairing = |decision: &'a Decision| {
            let (a, b) = (row(&decision.record)?, row(decision.other.as_deref()?)?);
            let holds = a != b && seen(a, b) == decision.seen;
            holds.then_some(Pairing { a, b, one: decision.verdict == Verdict::One, decision })
        };
        self.pairs.iter().filter_map(pairing).collect()
    }

    /// The decisions about pairs as they would be of other texts of the same records: `shown` is what people saw of a
    /// record, `compared` what a stage compares. Those about a text that a record no longer has are left out.
    #[must_use]
    pub fn restate_pairs<'t>(
        &self,
        shown: impl Fn(&str) -> Option<&'t str>,
        compared: impl Fn(&str) -> Option<&'t str>,
    ) -> StageDecisions {
        let retold = |decision: &Decision| {
            let (a, b) = (decision.record.as_str(), decision.other.as_deref()?);
            (decision.seen == seen_pair((a, shown(a)?), (b, shown(b)?))).then_some(())?;
            Some(Decision { seen: seen_pair((a, compared(a)?), (b, compared(b)?)), ..decision.clone() })
        };
        StageDecisions { pairs: self.pairs.iter().filter_map(retold).collect(), ..self.clone() }
    }
}
