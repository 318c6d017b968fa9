//! Pairs of vectors that point nearly the same way, such as embeddings of texts. Exact: every vector is
//! compared with every other.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::join::Watch;

/// Number of rows compared with as many others while both fit in a core's own cache.
const BLOCK: usize = 64;

/// Number of products summed in parallel, the same on every processor, so that sums are the same everywhere.
const LANES: usize = 16;

/// The largest error of a sum in single precision, for vectors of many thousand dimensions.
const SLACK: f32 = 1e-3;

/// Every pair of vectors whose cosine is at least the threshold, ascending by index, with the cosine. A
/// vector that is missing, zero or of another length is similar to none.
///
/// `watch` is asked every few milliseconds whether to stop, since 100,000 vectors take minutes; once it says so, what is
/// returned is of no use.
pub fn similar_vectors(
    vectors: &[Option<Vec<f32>>],
    threshold: f64,
    watch: &dyn Watch,
) -> Vec<(usize, usize, f64)> {
    let arch = Arch::new();
    let units: Vec<Unit> = vectors.par_iter().enumerate().filter_map(|(row, v)| Unit::new(row, v)).collect();
    let blocks: Vec<&[Unit]> = units.chunks(BLOCK).collect();
    let least = threshold as f32 - SLACK;
    // Of blocks, each with itself and with all after it.
    let comparisons = (blocks.len() * (blocks.len() + 1) / 2) as f64;
    let of_block = |at: usize| {
        let mut near = Vec::new();
        for other in &blocks[at..] {
            if watch.is_stopped() {
                break;
            }
            arch.dispatch(NearFinder { block: blocks[at], other, least, near: &mut near });
        }
        watch.report_share((blocks.len() - at) as f64 / comparisons);
        let exact = |(a, b): (usize, usize)| {
            let cosine = cosine_of(vectors[a].as_deref()?, vectors[b].as_deref()?)?;
            (cosine >= threshold).then_some((a, b, cosine.min(1.0)))
        };
        near.into_iter().filter_map(exact).collect::<Vec<_>>()
    };
    let mut found: Vec<_> = (0..blocks.len()).into_par_iter().flat_map_iter(of_block).collect();
    found.sort_unstable_by_key(|&(a, b, _)| (a, b));
    found
}

/// A vector of length 1.
struct Unit {
    row: usize,
    values: Vec<f32>,
}

impl Unit {
    fn new(row: usize, vector: &Option<Vec<f32>>) -> Option<Unit> {
        let unit = unit_vector(vector.as_deref()?)?;
        Some(Unit { row, values: unit.into_iter().map(|x| x as f32).collect() })
    }
}

/// Finds candidate pairs of two blocks.
struct NearFinder<'a> {
    block: &'a [Unit],
    other: &'a [Unit],
    least: f32,
    near: &'a mut Vec<(usize, usize)>,
}

impl WithSimd for NearFinder<'_> {
    type Output = ();

    /// Plain loops: compiled again for processors with wider registers.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for a in self.block {
            for b in self.other.iter().filter(|b| b.row > a.row && b.values.len() == a.values.len()) {
                if dot_product(&a.values, &b.values) >= self.least {
                    self.near.push((a.row, b.row));
                }
            }
        }
    }
}

#[inline(always)]
fn dot_product(left: &[f32], right: &[f32]) -> f32 {
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// The cosine of two vectors of one length.
fn cosine_of(a: &[f32], b: &[f32]) -> Option<f64> {
    let (left, right) = unit_vector(a).zip(unit_vector(b))?;
    (left.len() == right.len()).then(|| left.iter().zip(&right).map(|(x, y)| x * y).sum())
}

fn unit_vector(vector: &[f32]) -> Option<Vec<f64>> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    (length > 0.0 && length.is_finite()).then(|| vector.iter().map(|x| f64::from(*x) / length).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::join::Unwatched;

    struct Stopped;

    impl Watch for Stopped {
        fn is_stopped(&self) -> bool {
            true
        }

        fn report_share(&self, _: f64) {}
    }

    #[test]
    fn all_shares_of_a_comparison_sum_to_one() {
        #[derive(Default)]
        struct Shares(std::sync::Mutex<f64>);
        impl Watch for Shares {
            fn is_stopped(&self) -> bool {
                false
            }

            fn report_share(&self, share: f64) {
                *self.0.lock().unwrap() += share;
            }
        }
        let vectors: Vec<_> = (0..1000).map(|n| Some(vec![1.0, n as f32])).collect();
        let shares = Shares::default();
        similar_vectors(&vectors, 0.9, &shares);
        let all = *shares.0.lock().unwrap();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn vectors_of_one_direction_are_near() {
        let vectors =
            [Some(vec![3.0, 4.0]), Some(vec![6.0, 8.0]), None, Some(vec![4.0, -3.0]), Some(vec![1.0])];
        assert_eq!(similar_vectors(&vectors, 0.9, &Unwatched), [(0, 1, 1.0)]);
        assert!(similar_vectors(&vectors, 0.9, &Stopped).is_empty());
        let of_no_length = [Some(vec![0.0]), Some(vec![0.0]), Some(vec![f32::NAN])];
        assert!(similar_vectors(&of_no_length, 0.0, &Unwatched).is_empty());
    }

    proptest! {
        /// Sizes cover several blocks, lanes and a remainder.
        #[test]
        fn it_is_each_pair_that_is_near(
            vectors in prop::collection::vec(
                prop::option::weighted(0.95, prop::sample::select(vec![3, 16, 35])
                    .prop_flat_map(|dimensions: usize| prop::collection::vec(-1.0f32..1.0, dimensions))),
                0..150,
            ),
            threshold in 0.0f64..1.0,
        ) {
            let mut expected = Vec::new();
            for a in 0..vectors.len() {
                for b in a + 1..vectors.len() {
                    let Some((x, y)) = vectors[a].as_deref().zip(vectors[b].as_deref()) else { continue };
                    if let Some(cosine) = cosine_of(x, y).filter(|cosine| *cosine >= threshold) {
                        expected.push((a, b, cosine.min(1.0)));
                    }
                }
            }
            prop_assert_eq!(similar_vectors(&vectors, threshold, &Unwatched), expected);
        }
    }
}
