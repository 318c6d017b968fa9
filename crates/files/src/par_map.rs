//! Parallel processing of batches, with results in order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, sync_channel};

/// Fewer records than this are not worth a core of their own.
pub const SPLIT: usize = 1024;

/// Processes batches and consumes the results in order: the next one is processed, on all free cores, while
/// the last result is consumed.
pub fn map_ahead<B: Send, M: Send>(
    mut batches: impl Iterator<Item = B>,
    work: impl Fn(B) -> M + Sync,
    mut take: impl FnMut(M) + Send,
) {
    let mut made: Option<M> = None;
    loop {
        let (batch, last) = (batches.next(), made.take());
        if batch.is_none() && last.is_none() {
            return;
        }
        made = rayon::join(|| batch.map(&work), || last.map(&mut take)).0;
    }
}

/// Processes items on all cores, one each, and consumes the results in order. A few more are started than
/// there are cores, so that none idles while the next result is awaited. Not to be called from a thread of
/// the pool.
///
/// # Errors
/// The first error in the order of the items.
pub fn par_map_ordered<I: Send, M: Send, E: Send>(
    mut items: impl Iterator<Item = I>,
    work: impl Fn(I) -> Result<M, E> + Sync,
    mut take: impl FnMut(M) -> Result<(), E>,
) -> Result<(), E> {
    let work = &work;
    rayon::in_place_scope_fifo(|scope| {
        let mut begin = || {
            let item = items.next()?;
            // With room for its result, a worker never waits until the result is consumed.
            let (sender, made) = sync_channel(1);
            // In the order of the items, because the oldest result is awaited first.
            scope.spawn_fifo(move |_| {
                // Nobody receives if an earlier one failed.
                let _ = sender.send(work(item));
            });
            Some(made)
        };
        let most = rayon::current_num_threads() + 2;
        let mut begun: VecDeque<Receiver<Result<M, E>>> = std::iter::from_fn(&mut begin).take(most).collect();
        while let Some(next) = begun.pop_front() {
            // A worker that panicked sends nothing; the scope propagates the panic.
            let Ok(made) = next.recv() else { break };
            begun.extend(begin());
            take(made?)?;
        }
        Ok(())
    })
}

/// Rows in batches of a size; each batch is freed after use.
pub fn split_batches<R>(rows: Vec<R>, size: usize) -> impl Iterator<Item = Vec<R>> {
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
            map_ahead(split_batches((0..rows).collect(), 7), work, |made| taken.extend(made));
            assert_eq!(taken, (0..rows).map(|row| row * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_made_one_by_one_is_taken_in_order() {
        for items in [0, 1, 7, 100] {
            let mut taken = Vec::new();
            // The first takes longest.
            let work = |n: u64| {
                std::thread::sleep(std::time::Duration::from_micros(100 * (items - n)));
                Ok::<_, ()>(n * 2)
            };
            let ended = par_map_ordered(0..items, work, |n| {
                taken.push(n);
                Ok(())
            });
            assert_eq!((ended, taken), (Ok(()), (0..items).map(|n| n * 2).collect()));
        }
    }

    #[test]
    fn what_fails_is_the_last() {
        let mut taken = Vec::new();
        let work = |n: u32| if n % 5 == 3 { Err(n) } else { Ok(n) };
        let ended = par_map_ordered(0..19, work, |n| {
            taken.push(n);
            Ok(())
        });
        assert_eq!((ended, taken), (Err(3), vec![0, 1, 2]));
        assert_eq!(par_map_ordered(0..9, Ok, |n| if n == 2 { Err(n) } else { Ok(()) }), Err(2));
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_is_passed_on() {
        let work = |n: u32| if n == 3 { panic!("the third") } else { Ok::<_, ()>(n) };
        let _ = par_map_ordered(0..9, work, |_| Ok(()));
    }
}
