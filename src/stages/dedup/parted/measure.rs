//! What rows are compared by, and the keys that follow from it.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::line::{KeyLine, SAME};
use super::stats::PartStats;
use crate::config::sections;
use crate::join::{self, Order, Query, Role, Sketch, Threshold, Uncounted, default_joins, openings_of};
use crate::stages::dedup::likes::{Like, decimal, name, query};
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
    pub fn of(settings: &sections::Dedup) -> Measure {
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
    pub(super) fn compare(&self, a: &str, b: &str) -> Option<Like> {
        let like = |score, same, predicate, veto| Like { a: 0, b: 1, score, same, predicate, veto };
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
    fn digest(&self) -> String {
        let mut digest = Digest(blake3::Hasher::new());
        match self {
            Seen::Plain(text) => text.hash(&mut digest),
            Seen::Read(reading) => reading.hash(&mut digest),
        }
        digest.0.finalize().to_hex()[..32].to_string()
    }
}

/// A hash of what `Hash` shows of a value: 64 bits are too few to take two texts for one.
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

    /// The key that rows share which compare alike with every row; none where the text is like no other.
    pub fn same(measure: &Measure, rank: &str, text: &str) -> Option<KeyLine> {
        let read = measure.read(text);
        (!read.is_blank()).then(|| line(read.digest(), 0, rank, SAME, Sketch::default()))
    }

    /// The keys of a row: two rows that are alike share one, the smaller with role 0, the larger with 1.
    ///
    /// # Errors
    /// [`Uncounted`] where the statistics are not of this row.
    pub fn keys(&self, rank: &str, text: &str) -> Result<Vec<KeyLine>, Uncounted> {
        let read = self.measure.read(text);
        let mut lines = Vec::new();
        for (n, (join, order)) in self.measure.joins.iter().zip(&self.orders).enumerate() {
            let view = self.measure.view(join, &read);
            for key in join::keys(&view, order)? {
                // A group is of one join alone.
                let hash = format!("{n:x}{:016x}", key.hash);
                let role = u8::from(key.role == Role::Larger);
                lines.push(line(hash, role, rank, join.of, key.sketch));
            }
        }
        if let Seen::Read(reading) = &read {
            let part = |hash: u64, role| {
                line(format!("f{hash:016x}"), role, rank, Predicate::Opening.name(), Sketch::default())
            };
            let (own, beginnings) = openings_of(reading.folded());
            lines.extend(own.map(|hash| part(hash, 0)));
            lines.extend(beginnings.into_iter().map(|hash| part(hash, 1)));
            let mut digest = Digest(blake3::Hasher::new());
            reading.key().hash(&mut digest);
            let key = format!("e{}", &digest.0.finalize().to_hex()[..16]);
            lines.push(line(key, 0, rank, Predicate::Identical.name(), Sketch::default()));
        }
        Ok(lines)
    }
}

fn line(key: String, role: u8, rank: &str, of: &str, sketch: Sketch) -> KeyLine {
    let Sketch { size, skip, signature } = sketch;
    let signature = signature.map(|signature| signature.to_string()).unwrap_or_default();
    KeyLine { key, role, rank: rank.into(), of: of.into(), skip, size, signature, text: None }
}

/// The join that a line is of, where a need follows from sizes.
pub(super) fn join_of<'a>(measure: &'a Measure, of: &str) -> Option<&'a Join> {
    measure.joins.iter().find(|join| join.of == of)
}
