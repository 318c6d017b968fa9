//! What rows are compared by, and the keys that follow from it; bigrams in so many rows that no two of these are
//! reworded copies by them have none.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHashSet;

use crate::join::{self, DefaultJoin, Query, Threshold, default_joins, joined_text};
use crate::offline::dedup::{SimilarPair, decimal_threshold, join_query, metric_name};
use crate::offline::settings;
use crate::text::language::split_tag;
use crate::text::normalise::{Fold, fold};
use crate::text::sameness::{
    Predicate, Predicates, PreparedText, Reading, Verdict, compare_among, compare_prepared,
};

/// The measure that settings name.
#[derive(Clone, Debug)]
pub struct Measure {
    pub(super) joins: Vec<MeasureJoin>,
    /// Those of the default similarity.
    defaults: Vec<DefaultJoin>,
    /// One metric: its name, and the threshold from which two rows are one.
    single: Option<(Query, Threshold)>,
    normalize: bool,
}

/// What a key is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// The join with this number.
    Join(u8),
    /// Texts of which one begins with the other.
    Opening,
    /// Texts with the same words.
    Identical,
}

impl KeyKind {
    /// Its number in blocks; in hex digits, what keys of lines begin with.
    pub fn code(self) -> u8 {
        match self {
            KeyKind::Join(n) => n,
            KeyKind::Opening => 0xF,
            KeyKind::Identical => 0xE,
        }
    }
}

/// How two texts compare that are the same or borderline.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Whether they are the same.
    pub same: bool,
    /// 0 to 1.
    pub score: f64,
    /// What decided.
    pub predicate: &'static str,
    /// What demoted them.
    pub veto: Option<&'static str>,
}

/// One join of a measure.
#[derive(Clone, Debug)]
pub(super) struct MeasureJoin {
    /// Its name in lines.
    pub of: &'static str,
    pub query: Query,
    /// What of a text is joined; empty where the text is in no pair.
    view: JoinView,
}

#[derive(Clone, Copy, Debug)]
enum JoinView {
    /// The text, folded if the settings require it.
    Text,
    /// What the join of the default similarity with this number sees.
    Predicate(usize),
}

impl Measure {
    /// The measure of dedup's settings.
    pub fn new(settings: &settings::Dedup) -> Measure {
        let normalize = settings.normalize;
        if let Some(query) = join_query(settings) {
            let joins = vec![MeasureJoin { of: metric_name(query.metric), query, view: JoinView::Text }];
            let single = Some((query, decimal_threshold(settings.threshold)));
            return Measure { joins, defaults: Vec::new(), single, normalize };
        }
        let defaults = default_joins();
        let join = |(number, part): (usize, &DefaultJoin)| MeasureJoin {
            of: part.predicate.name(),
            query: part.query,
            view: JoinView::Predicate(number),
        };
        Measure { joins: defaults.iter().enumerate().map(join).collect(), defaults, single: None, normalize }
    }

    /// What a join sees of a text.
    pub(super) fn view_text<'a>(&self, join: &MeasureJoin, text: &'a Seen<'a>) -> Cow<'a, str> {
        match (join.view, text) {
            (JoinView::Predicate(number), Seen::Read(reading)) => {
                joined_text(reading, &self.defaults[number])
            }
            (_, Seen::Plain(text)) => Cow::Borrowed(text),
            (JoinView::Text, Seen::Read(reading)) => Cow::Borrowed(reading.folded()),
        }
    }

    /// A text as the joins see it.
    pub(super) fn read_text<'a>(&self, text: &'a str) -> Seen<'a> {
        match (&self.single, self.normalize) {
            (None, _) => Seen::Read(Reading::new(text)),
            (Some(_), true) => Seen::Plain(fold(split_tag(text).1, Fold::KEY).into()),
            (Some(_), false) => Seen::Plain(split_tag(text).1.into()),
        }
    }

    /// The kind of key with this number.
    pub(super) fn kind_of_code(&self, code: u8) -> Option<KeyKind> {
        match code {
            0xF if self.single.is_none() => Some(KeyKind::Opening),
            0xE if self.single.is_none() => Some(KeyKind::Identical),
            n => self.joins.get(usize::from(n)).map(|_| KeyKind::Join(n)),
        }
    }

    /// What rows that share a key of this kind are like by, where it follows from their sizes.
    pub(super) fn query_of_kind(&self, kind: KeyKind) -> Option<&Query> {
        let KeyKind::Join(n) = kind else { return None };
        self.joins.get(usize::from(n)).map(|join| &join.query)
    }

    /// The same for copies; none if the text has no similar one.
    pub fn digest_text(&self, text: &str) -> Option<u128> {
        let read = self.read_text(text);
        (!read.is_blank()).then(|| read.copy_digest())
    }

    /// Whether a comparison depends on what many rows hold.
    pub fn needs_counts(&self) -> bool {
        self.single.is_none()
    }

    /// The comparison of each pair of texts, of rows that hold these bigrams in common; `None` if the two are
    /// not even borderline. What a text shows is computed once for pairs in a row that have it as their first.
    pub fn compare_pairs<'a>(
        &self,
        common: &CommonPairs,
        pairs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Vec<Option<Compared>> {
        let mut last: Option<(&str, PreparedText)> = None;
        let mut compared = |a: &'a str, b: &'a str| {
            if self.single.is_some() {
                return self.compare_texts(common, a, b);
            }
            if last.as_ref().is_none_or(|(text, _)| *text != a) {
                last = Some((a, PreparedText::new(a)));
            }
            last.as_ref().and_then(|(_, a)| by_default(common, a, &PreparedText::new(b)))
        };
        let figures =
            |SimilarPair { score, same, predicate, veto, .. }| Compared { same, score, predicate, veto };
        pairs.map(|(a, b)| compared(a, b).map(figures)).collect()
    }

    /// The comparison of two texts; `None` if they are not even borderline.
    pub(super) fn compare_texts(&self, common: &CommonPairs, a: &str, b: &str) -> Option<SimilarPair> {
        let Some((query, same)) = self.single else {
            return by_default(common, &PreparedText::new(a), &PreparedText::new(b));
        };
        let (a, b) = (self.read_text(a), self.read_text(b));
        let score = join::compare(a.key_text(), b.key_text(), &query)?;
        let (predicate, same) = (metric_name(query.metric), same.admits(score));
        Some(SimilarPair { a: 0, b: 1, score: score.value(), same, predicate, veto: None })
    }
}

/// The comparison of two texts by the default similarity; `None` if they are not even borderline.
fn by_default(common: &CommonPairs, a: &PreparedText, b: &PreparedText) -> Option<SimilarPair> {
    let mut found = compare_prepared(a, b);
    if found.predicate == Some(Predicate::Reworded) && !common.may_be_reworded(a, b) {
        found = compare_among(a, b, Predicates::ALL.without(Predicate::Reworded), None);
    }
    (found.verdict != Verdict::Different).then(|| SimilarPair {
        a: 0,
        b: 1,
        score: found.score,
        same: found.verdict == Verdict::Same,
        predicate: found.predicate.map_or("none", Predicate::name),
        veto: found.veto.map(|veto| veto.name()),
    })
}

/// A text, read once for all joins.
pub(super) enum Seen<'a> {
    /// As one metric takes it.
    Plain(Cow<'a, str>),
    /// As the default similarity takes it.
    Read(Reading),
}

impl Seen<'_> {
    fn key_text(&self) -> &str {
        match self {
            Seen::Plain(text) => text,
            Seen::Read(reading) => reading.key(),
        }
    }

    /// Whether it is like no other text.
    pub(super) fn is_blank(&self) -> bool {
        self.key_text().is_empty()
    }

    /// The same for copies.
    pub(super) fn copy_digest(&self) -> u128 {
        match self {
            Seen::Plain(text) => digest_value(text),
            Seen::Read(reading) => digest_value(reading),
        }
    }
}

/// A hash of what `Hash` shows of a value: 64 bits are too few to take two texts for one.
pub(super) fn digest_value(value: &impl Hash) -> u128 {
    let mut digest = Digest(blake3::Hasher::new());
    value.hash(&mut digest);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.0.finalize().as_bytes()[..16]);
    u128::from_be_bytes(bytes)
}

struct Digest(blake3::Hasher);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// The join that a line is of, where a need follows from sizes.
pub(super) fn join_of<'a>(measure: &'a Measure, of: &str) -> Option<&'a MeasureJoin> {
    measure.joins.iter().find(|join| join.of == of)
}

/// The bigrams of a corpus that more rows hold than the default similarity allows: what remains of its
/// statistics for who compares two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonPairs(FxHashSet<[u32; 2]>);

/// Bytes that are no whole number of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes are not common pairs; they come from the counts of all rows")]
pub struct NoCommonPairs(usize);

/// Two letters, four bytes each.
const PAIR: usize = 8;

impl CommonPairs {
    /// These pairs, as the numbers of their letters.
    pub(super) fn new(pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        Self(pairs.map(|(first, second)| [first, second]).collect())
    }

    /// As bytes, for [`CommonPairs::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut pairs: Vec<[u32; 2]> = self.0.iter().copied().collect();
        pairs.sort_unstable();
        pairs.into_iter().flatten().flat_map(u32::to_le_bytes).collect()
    }

    /// Of bytes from [`CommonPairs::to_bytes`].
    ///
    /// # Errors
    /// [`NoCommonPairs`] where they are not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NoCommonPairs> {
        let (pairs, rest) = bytes.as_chunks::<PAIR>();
        if !rest.is_empty() {
            return Err(NoCommonPairs(bytes.len()));
        }
        let pair = |&[a, b, c, d, e, f, g, h]: &[u8; PAIR]| {
            [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
        };
        Ok(Self(pairs.iter().map(pair).collect()))
    }

    /// Whether two texts may be reworded copies: equal ones, and those that share another pair.
    pub(super) fn may_be_reworded(&self, a: &PreparedText, b: &PreparedText) -> bool {
        if self.0.is_empty() || a.folded() == b.folded() {
            return true;
        }
        let pairs = |text: &str| -> Vec<[u32; 2]> {
            text.chars().zip(text.chars().skip(1)).map(|(x, y)| [x.into(), y.into()]).collect()
        };
        let held: FxHashSet<[u32; 2]> =
            pairs(a.folded()).into_iter().filter(|pair| !self.0.contains(pair)).collect();
        pairs(b.folded()).iter().any(|pair| held.contains(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Measure, PartStats};
    use super::*;
    use crate::join::{Spill, Unwatched};
    use crate::offline::dedup::{SimilarPair, similar_pairs, similar_pairs_on_disk};
    use crate::offline::settings;
    use crate::text::sameness::MOST_POSTS;

    /// Posts of one frame, each with two letters that no other has.
    fn framed(count: u32) -> Vec<String> {
        let own = |n: u32| char::from_u32('\u{5000}' as u32 + n).expect("a letter");
        let post = |n: u32| format!("{}为什么冰箱里的灯会亮{}", own(2 * n), own(2 * n + 1));
        (0..count).map(post).collect()
    }

    #[test]
    fn what_too_many_rows_hold_makes_no_pair_of_two() {
        let settings = settings::Dedup::default();
        let measure = Measure::new(&settings);
        for (count, is_pair) in [(MOST_POSTS, true), (MOST_POSTS + 1, false)] {
            let texts = framed(count);
            let rows: Vec<&str> = texts.iter().map(String::as_str).collect();
            let (groups, found) = similar_pairs(&rows, &settings, &Unwatched);
            assert_eq!(groups.len(), rows.len());
            // Where two letters sound alike, the posts are a pair of another predicate.
            let reworded =
                |found: &[SimilarPair]| found.iter().filter(|pair| pair.predicate == "reworded").count();
            assert_eq!(reworded(&found) > 0, is_pair, "{count} posts");

            let folder = tempfile::tempdir().expect("a folder");
            let spill = Spill { folder: folder.path(), memory: 1 << 20, texts: rows.len() };
            let on_disk =
                similar_pairs_on_disk(&texts, &settings, spill, &Unwatched).expect("room on disk").1;
            let on_disk = on_disk.into_memory().expect("what was written");
            assert_eq!(format!("{on_disk:?}"), format!("{found:?}"), "{count} posts");

            let mut stats = PartStats::new(&measure);
            rows.iter().for_each(|row| stats.add(&measure, row));
            let common = CommonPairs::from_bytes(&stats.common_pairs().to_bytes()).expect("its own bytes");
            let some: Vec<(u32, u32)> = (0..60).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
            let texts = some.iter().map(|&(a, b)| (rows[a as usize], rows[b as usize]));
            for (&(a, b), compared) in some.iter().zip(measure.compare_pairs(&common, texts)) {
                let found = found.iter().find(|pair| (pair.a, pair.b) == (a, b));
                let found = found.map(|pair| (pair.score, pair.same, pair.predicate, pair.veto));
                let compared = compared.map(|pair| (pair.score, pair.same, pair.predicate, pair.veto));
                assert_eq!(compared, found, "{count} posts");
            }
        }
    }

    #[test]
    fn half_a_pair_is_refused() {
        assert_eq!(CommonPairs::from_bytes(&[0; 9]), Err(NoCommonPairs(9)));
        assert_eq!(CommonPairs::from_bytes(&[]), Ok(CommonPairs::default()));
    }
}
