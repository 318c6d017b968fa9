//! What rows are compared by, and the keys that follow from it.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::line::{KeyLine, SAME};
use super::share::Share;
use super::stats::PartStats;
use crate::join::{self, Order, Query, Role, RowKey, Threshold, Uncounted, default_joins, openings_of};
use crate::offline::dedup::{SimilarPair, decimal, name, query};
use crate::offline::settings;
use crate::text::normalise::{Fold, fold};
use crate::text::sameness::{Predicate, Prepared, Reading, Verdict, compare_prepared};

/// The measure that settings name.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The joins that it is made of.
    pub(super) joins: Vec<Join>,
    /// One metric: its name, and the threshold from which two rows are one.
    single: Option<(Query, Threshold)>,
    normalize: bool,
}

/// One join of a measure.
#[derive(Clone, Debug)]
pub(super) struct Join {
    /// Its name in lines.
    pub of: &'static str,
    pub query: Query,
    /// What of a text is joined; empty where the text is in no pair.
    view: View,
}

#[derive(Clone, Copy, Debug)]
enum View {
    /// The text, folded where the settings say so.
    Text,
    /// What a predicate of the default similarity looks at.
    Predicate(fn(&str) -> Cow<'_, str>, usize),
}

impl Measure {
    /// The measure of dedup's settings.
    pub fn of(settings: &settings::Dedup) -> Measure {
        let normalize = settings.normalize;
        if let Some(query) = query(settings) {
            let joins = vec![Join { of: name(query.metric), query, view: View::Text }];
            return Measure { joins, single: Some((query, decimal(settings.threshold))), normalize };
        }
        let joins = default_joins().into_iter().map(|part| Join {
            of: part.predicate.name(),
            query: part.query,
            view: View::Predicate(part.view, part.least_chars),
        });
        Measure { joins: joins.collect(), single: None, normalize }
    }

    /// What a join sees of a text.
    pub(super) fn view<'a>(&self, join: &Join, text: &'a Seen<'a>) -> Cow<'a, str> {
        match (join.view, text) {
            (View::Predicate(view, least), Seen::Read(reading)) => match reading.folded() {
                folded if folded.chars().take(least).count() < least => Cow::Borrowed(""),
                folded => view(folded),
            },
            (_, Seen::Plain(text)) => Cow::Borrowed(text),
            (View::Text, Seen::Read(reading)) => Cow::Borrowed(reading.folded()),
        }
    }

    /// A text as the joins see it.
    pub(super) fn read<'a>(&self, text: &'a str) -> Seen<'a> {
        match (&self.single, self.normalize) {
            (None, _) => Seen::Read(Reading::of(text)),
            (Some(_), true) => Seen::Plain(fold(text, Fold::KEY).into()),
            (Some(_), false) => Seen::Plain(text.into()),
        }
    }

    /// How two texts compare; nothing where they are not even borderline.
    pub(super) fn compare(&self, a: &str, b: &str) -> Option<SimilarPair> {
        let like = |score, same, predicate, veto| SimilarPair { a: 0, b: 1, score, same, predicate, veto };
        let Some((query, same)) = self.single else {
            let found = compare_prepared(&Prepared::new(a), &Prepared::new(b));
            let predicate = found.predicate.map_or("none", Predicate::name);
            return (found.verdict != Verdict::Different).then(|| {
                like(
                    found.score,
                    found.verdict == Verdict::Same,
                    predicate,
                    found.veto.map(|veto| veto.name()),
                )
            });
        };
        let (a, b) = (self.read(a), self.read(b));
        let score = join::compare(a.whole(), b.whole(), &query)?;
        Some(like(score.value(), same.admits(score), name(query.metric), None))
    }
}

/// A text, read once for all joins.
pub(super) enum Seen<'a> {
    /// As one metric takes it.
    Plain(Cow<'a, str>),
    /// As the default similarity takes it.
    Read(Reading),
}

impl Seen<'_> {
    fn whole(&self) -> &str {
        match self {
            Seen::Plain(text) => text,
            Seen::Read(reading) => reading.key(),
        }
    }

    /// Whether it is like no other text.
    pub(super) fn is_blank(&self) -> bool {
        self.whole().is_empty()
    }

    /// The same for texts that compare alike with every other.
    fn digest(&self) -> u128 {
        match self {
            Seen::Plain(text) => digest(text),
            Seen::Read(reading) => digest(reading),
        }
    }
}

/// A hash of what `Hash` shows of a value: 64 bits are too few to take two texts for one.
fn digest(value: &impl Hash) -> u128 {
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

/// Cuts keys of rows.
#[derive(Clone, Debug)]
pub struct Keyer {
    measure: Measure,
    orders: Vec<Order>,
}

impl Keyer {
    /// A keyer for the corpus of these statistics.
    pub fn new(measure: Measure, stats: &PartStats) -> Keyer {
        let orders = stats.orders(&measure);
        Keyer { measure, orders }
    }

    /// The key that rows share which compare alike with every row; none where the text is like no other, or
    /// the key is of another share.
    pub fn same<'a>(measure: &Measure, rank: &'a str, text: &str, share: Share) -> Option<KeyLine<'a>> {
        let read = measure.read(text);
        let digest = (!read.is_blank()).then(|| read.digest())?;
        let key = || Row { rank, of: SAME, signature: "" }.line(format!("{digest:032x}"), 0, (0, 0));
        share.holds((digest >> 64) as u64).then(key)
    }

    /// Takes the keys of a row that are of this share: two rows that are alike have a key in common, the smaller
    /// with role 0, the larger with 1.
    ///
    /// # Errors
    /// [`Uncounted`] where the statistics are not of this row.
    pub fn keys(
        &self,
        rank: &str,
        text: &str,
        share: Share,
        mut take: impl FnMut(KeyLine),
    ) -> Result<(), Uncounted> {
        let read = self.measure.read(text);
        for (n, (join, order)) in self.measure.joins.iter().zip(&self.orders).enumerate() {
            let view = self.measure.view(join, &read);
            let keys = join::keys(&view, order)?;
            let signature = keys.first().and_then(|key| key.sketch.signature);
            let signature = signature.map(|signature| signature.to_string()).unwrap_or_default();
            let row = Row { rank, of: join.of, signature: &signature };
            for RowKey { hash, role, sketch } in keys.into_iter().filter(|key| share.holds(key.hash)) {
                // A group is of one join alone.
                let role = u8::from(role == Role::Larger);
                take(row.line(format!("{n:x}{hash:016x}"), role, (sketch.size, sketch.skip)));
            }
        }
        if let Seen::Read(reading) = &read {
            let row = Row { rank, of: Predicate::Opening.name(), signature: "" };
            let (own, beginnings) = openings_of(reading.folded());
            let openings =
                own.into_iter().map(|hash| (hash, 0)).chain(beginnings.into_iter().map(|hash| (hash, 1)));
            for (hash, role) in openings.filter(|(hash, _)| share.holds(*hash)) {
                take(row.line(format!("f{hash:016x}"), role, (0, 0)));
            }
            let hash = (digest(&reading.key()) >> 64) as u64;
            if share.holds(hash) {
                let row = Row { of: Predicate::Identical.name(), ..row };
                take(row.line(format!("e{hash:016x}"), 0, (0, 0)));
            }
        }
        Ok(())
    }
}

/// What the lines of a row have in common.
struct Row<'a> {
    rank: &'a str,
    of: &'a str,
    signature: &'a str,
}

impl<'a> Row<'a> {
    fn line(&self, key: String, role: u8, (size, skip): (u32, u32)) -> KeyLine<'a> {
        let Row { rank, of, signature } = *self;
        KeyLine {
            key,
            role,
            rank: rank.into(),
            of: of.into(),
            skip,
            size,
            signature: signature.into(),
            text: None,
        }
    }
}

/// The join that a line is of, where a need follows from sizes.
pub(super) fn join_of<'a>(measure: &'a Measure, of: &str) -> Option<&'a Join> {
    measure.joins.iter().find(|join| join.of == of)
}
