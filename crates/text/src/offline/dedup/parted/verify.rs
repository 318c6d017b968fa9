//! Rows that share a key: which of them are, or may be, one.

use std::borrow::Cow;

use super::measure::{CommonPairs, Measure, join_of};
use super::{KeyLine, PAIR, PairLine, SAME};
use crate::join::{RowSketch, can_meet};
use crate::offline::dedup::SimilarPair;
use crate::offline::dedup::measure_witness;
use crate::text::language::split_tag;
use crate::text::sameness::Predicate;
use riddlemill_record::Witness;

/// Why a group cannot be verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// Lines of one key are in another order than that of their bytes.
    #[error(
        "the rows of key {key} are out of order at {rank:?}; sort the lines by their bytes (LC_ALL=C sort)"
    )]
    Unsorted {
        key: String,
        /// The row that comes too late.
        rank: String,
    },
    /// Keys of another measure.
    #[error(
        "a key of {0:?}, which the measure does not use; verify with the settings that keys were cut with"
    )]
    Join(String),
    /// Nobody says how many rows hold what the texts share.
    #[error(
        "the default similarity of two texts depends on how many rows hold what they share: name the counts that keys \
         were cut with (--stats FILE)"
    )]
    Uncounted,
}

/// The rows of one key, as they come. Holds those that others look for, which are few however many look.
#[derive(Debug, Default)]
pub struct Group {
    key: Option<(String, Cow<'static, str>)>,
    held: Vec<(RowSketch, KeyLine<'static>)>,
    larger: bool,
}

/// Takes the next line of a sorted file, and returns the pairs that it completes. Only lines with texts need to know what
/// too many rows hold.
///
/// # Errors
/// [`VerifyError`].
pub fn verify_line(
    measure: &Measure,
    common: Option<&CommonPairs>,
    group: &mut Group,
    line: KeyLine<'static>,
    mut emit_pair: impl FnMut(PairLine),
) -> Result<(), VerifyError> {
    if !group.key.as_ref().is_some_and(|(key, of)| *key == line.key && *of == line.of) {
        *group = Group { key: Some((line.key.clone(), line.of.clone())), ..Group::default() };
    }
    let unsorted = || VerifyError::Unsorted { key: line.key.clone(), rank: line.rank.to_string() };
    match &*line.of {
        SAME => match group.held.first() {
            None => group.held.push((RowSketch::default(), line)),
            Some((_, head)) if head.rank > line.rank => return Err(unsorted()),
            Some((_, head)) if head.rank == line.rank => {}
            Some((_, head)) => emit_pair(bare_pair(&line.rank, &head.rank, "copy")),
        },
        of if of == PAIR || of == Predicate::Identical.name() => {
            for (_, held) in &group.held {
                compare_entries(measure, common, held, &line, &mut emit_pair)?;
            }
            group.held.push((RowSketch::default(), line));
        }
        of => {
            let join = join_of(measure, of);
            if join.is_none() && of != Predicate::Opening.name() {
                return Err(VerifyError::Join(of.into()));
            }
            if line.role == 0 {
                if group.larger {
                    return Err(unsorted());
                }
                group.held.push((sketch_of(&line), line));
                return Ok(());
            }
            group.larger = true;
            let own = sketch_of(&line);
            for (held, other) in &group.held {
                if join.is_none_or(|join| can_meet(&join.query, own, *held)) {
                    compare_entries(measure, common, other, &line, &mut emit_pair)?;
                }
            }
        }
    }
    Ok(())
}

fn sketch_of(line: &KeyLine) -> RowSketch {
    // Without a signature a row is compared once more than it need be.
    RowSketch { size: line.size, skip: line.skip, signature: line.signature.parse().ok() }
}

/// Two rows that share a key: compared where their texts are at hand, else named.
fn compare_entries(
    measure: &Measure,
    common: Option<&CommonPairs>,
    a: &KeyLine,
    b: &KeyLine,
    emit_pair: &mut impl FnMut(PairLine),
) -> Result<(), VerifyError> {
    if a.rank == b.rank {
        return Ok(());
    }
    let (into, from) = if a.rank < b.rank { (a, b) } else { (b, a) };
    let (Some(kept), Some(gone)) = (&into.text, &from.text) else {
        emit_pair(bare_pair(&from.rank, &into.rank, "maybe"));
        return Ok(());
    };
    let none = CommonPairs::default();
    let common = if measure.needs_counts() { common.ok_or(VerifyError::Uncounted)? } else { &none };
    let Some(SimilarPair { score, same, predicate, veto, .. }) = measure.compare_texts(common, kept, gone)
    else {
        return Ok(());
    };
    let Witness { levenshtein, jaro_winkler, sorensen_dice } =
        measure_witness(split_tag(kept).1, split_tag(gone).1);
    emit_pair(PairLine {
        predicate: Some(predicate.into()),
        score: Some(score),
        veto: veto.map(Into::into),
        levenshtein: Some(levenshtein),
        jaro_winkler: Some(jaro_winkler),
        sorensen_dice: Some(sorensen_dice),
        ..bare_pair(&from.rank, &into.rank, if same { "same" } else { "borderline" })
    });
    Ok(())
}

fn bare_pair(from: &str, into: &str, verdict: &str) -> PairLine {
    PairLine {
        from: from.into(),
        into: into.into(),
        verdict: verdict.into(),
        predicate: None,
        score: None,
        veto: None,
        levenshtein: None,
        jaro_winkler: None,
        sorensen_dice: None,
    }
}
