//! Batches that are worked on while the ones before them are taken.

use std::convert::Infallible;

/// Fewer records than this are not worth a core of their own.
#[cfg(feature = "tables")]
pub(crate) const SPLIT: usize = 1024;

/// Works on batches, and takes what was made of them in their order: the next one is worked on, with all cores
/// that are free, while the last one is taken.
pub(crate) fn ahead<B: Send, M: Send>(
    batches: impl Iterator<Item = B>,
    work: impl Fn(B) -> M + Sync,
    mut take: impl FnMut(M) + Send,
) {
    let take = |made| {
        take(made);
        Ok::<_, Infallible>(())
    };
    let Ok(()) = try_ahead(batches, |batch| Ok(work(batch)), take);
}

/// The same, until something fails.
///
/// # Errors
/// The first in the order of the batches.
pub(crate) fn try_ahead<B: Send, M: Send, E: Send>(
    mut batches: impl Iterator<Item = B>,
    work: impl Fn(B) -> Result<M, E> + Sync,
    mut take: impl FnMut(M) -> Result<(), E> + Send,
) -> Result<(), E> {
    let mut made: Option<M> = None;
    loop {
        let (batch, last) = (batches.next(), made.take());
        if batch.is_none() && last.is_none() {
            return Ok(());
        }
        let (next, taken) = rayon::join(|| batch.map(&work).transpose(), || last.map_or(Ok(()), &mut take));
        taken?;
        made = next?;
    }
}

/// Rows in batches of a size, each let go of with its batch.
pub(crate) fn batches<R>(rows: Vec<R>, size: usize) -> impl Iterator<Item = Vec<R>> {
    let mut rows = rows.into_iter();
    std::iter::from_fn(move || {
        let batch: Vec<R> = rows.by_ref().take(size).collect();
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_taken_in_order() {
        for rows in [0, 1, 7, 100] {
            let mut taken = Vec::new();
            let work = |batch: Vec<u32>| batch.into_iter().map(|row| row * 2).collect::<Vec<_>>();
            ahead(batches((0..rows).collect(), 7), work, |made| taken.extend(made));
            assert_eq!(taken, (0..rows).map(|row| row * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_fails_is_the_last() {
        let mut taken = Vec::new();
        let work = |n: u32| if n == 3 { Err(n) } else { Ok(n) };
        let ended = try_ahead(0..9, work, |n| {
            taken.push(n);
            Ok(())
        });
        assert_eq!((ended, taken), (Err(3), vec![0, 1, 2]));
        assert_eq!(try_ahead(0..9, Ok, |n| if n == 2 { Err(n) } else { Ok(()) }), Err(2));
    }
}
