//! From pairs in any order to decisions, sorted on disk.

use std::path::Path;

use super::{Decision, PairLine, id_of};
use crate::join::{DiskError, Likeness, LineSorter, SortedLines, resolve};

/// Why pairs could not be resolved.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError<E> {
    /// The sort's files.
    #[error(transparent)]
    Sort(#[from] DiskError),
    /// Whoever takes the decisions.
    #[error("{0}")]
    Take(E),
}

/// Decides from all pairs which rows are merged into which, in the order of rank: pairs as in [`resolve`], and a copy
/// into the row that its original is merged into, or into the original. Borderline and possibly similar pairs have no
/// effect; a pair that occurs twice counts once. Memory is for `memory` bytes of pairs that are sorted at once, and
/// for the rows that go.
///
/// # Errors
/// [`ResolveError`].
pub fn decide_merges<E>(
    pairs: impl Iterator<Item = Result<PairLine, E>>,
    folder: &Path,
    memory: usize,
    mut emit_decision: impl FnMut(Decision) -> Result<(), E>,
) -> Result<(), ResolveError<E>> {
    let mut similar_pairs = LineSorter::new(folder, "similar_pairs", memory / 2)?;
    let mut copies = LineSorter::new(folder, "copies", memory / 2)?;
    for pair in pairs {
        let PairLine { from, into, verdict, predicate, score, .. } = pair.map_err(ResolveError::Take)?;
        match verdict.as_str() {
            "same" => {
                let score = score.unwrap_or_default().to_bits();
                let fields = [from, into, format!("{score:016x}"), predicate.unwrap_or_default()];
                // A zero byte sorts before all others, so that lines sort field by field.
                similar_pairs.push(fields.join("\0").as_bytes())?;
            }
            "copy" => copies.push([into, from].join("\0").as_bytes())?,
            _ => {}
        }
    }
    let mut error = None;
    let mut sorted = similar_pairs.finish()?;
    let similar_pairs = std::iter::from_fn(|| match next_fields(&mut sorted) {
        Ok(fields) => parse_likeness(fields?),
        Err(e) => {
            error = Some(e);
            None
        }
    });
    let mut gone = resolve(similar_pairs).peekable();
    let mut copies = copies.finish()?;
    let mut copy = next_fields(&mut copies)?;
    let mut put = |from: &str, into: &str, score: f64, predicate: Option<String>| {
        let decision = Decision { id: id_of(from).into(), into: id_of(into).into(), score, predicate };
        emit_decision(decision).map_err(ResolveError::Take)
    };
    loop {
        let like = gone.next_if(|like| copy.as_ref().is_none_or(|copy| like.from <= copy[0]));
        if let Some(Likeness { from, into, score, with }) = like {
            put(&from, &into, score, Some(with.clone()))?;
            while let Some([_, own]) = copy.as_deref().filter(|copy| copy[0] == from) {
                put(own, &into, score, Some(with.clone()))?;
                copy = next_fields(&mut copies)?;
            }
        } else if let Some([head, own]) = copy.as_deref() {
            put(own, head, 1.0, None)?;
            copy = next_fields(&mut copies)?;
        } else {
            break;
        }
    }
    // Ends the borrow of `error`.
    drop(gone);
    error.map_or(Ok(()), |error| Err(ResolveError::Sort(error)))
}

fn parse_likeness(fields: Vec<String>) -> Option<Likeness<String, String>> {
    let [from, into, score, with] = <[String; 4]>::try_from(fields).ok()?;
    let score = f64::from_bits(u64::from_str_radix(&score, 16).ok()?);
    Some(Likeness { into, from, score, with })
}

/// The fields of the next line.
fn next_fields(lines: &mut SortedLines) -> Result<Option<Vec<String>>, DiskError> {
    let Some(line) = lines.next()? else { return Ok(None) };
    Ok(Some(String::from_utf8_lossy(&line).split('\0').map(str::to_string).collect()))
}
