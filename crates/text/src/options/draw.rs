//! Random choices that depend on a seed, a purpose and an id, and on nothing else, so that adding
//! one item changes no other item's draw.

/// A stream of draws for one purpose and one id.
#[derive(Debug)]
pub struct Draw(blake3::OutputReader);

impl Draw {
    /// The stream of `(seed, purpose, id)`.
    pub fn new(seed: u64, purpose: &str, id: &str) -> Draw {
        let mut hasher = blake3::Hasher::new_derive_key("riddlemill review draw v1");
        hasher.update(&seed.to_le_bytes());
        hasher.update(&(purpose.len() as u64).to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(id.as_bytes());
        Draw(hasher.finalize_xof())
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below `n` (at least 1), each equally likely.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n.max(1) as u64;
        // The last, incomplete run of 0..n in the range of u64 would favour small numbers, so it is rejected.
        let limit = u64::MAX - u64::MAX % n;
        loop {
            let drawn = self.bits();
            if drawn < limit {
                return (drawn % n) as usize;
            }
        }
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_depend_on_every_part_and_nothing_else() {
        let first = |seed, purpose, id| Draw::new(seed, purpose, id).bits();
        assert_eq!(first(1, "order", "a"), first(1, "order", "a"));
        assert_ne!(first(1, "order", "a"), first(2, "order", "a"));
        assert_ne!(first(1, "order", "a"), first(1, "ordera", ""));
        assert_ne!(first(1, "order", "a"), first(1, "order", "b"));
    }

    /// Orders of options stand in releases: what was drawn once is drawn again by every version.
    #[test]
    fn what_is_drawn_never_changes() {
        let stream = || Draw::new(7, "order", "tieba:1");
        let mut draw = stream();
        let first = [0; 3].map(|_| draw.bits());
        assert_eq!(
            first,
            [12_587_316_097_847_420_014, 15_319_037_748_409_590_461, 7_961_275_397_610_095_246]
        );
        let (mut numbers, mut units) = (stream(), stream());
        assert_eq!([0; 4].map(|_| numbers.below(6)), [4, 5, 2, 2]);
        assert_eq!([0; 2].map(|_| units.unit()), [0.682_359_772_952_396_7, 0.830_446_700_360_656_4]);
    }

    /// Only what the range of u64 has too much of is drawn again.
    #[test]
    fn a_draw_is_rejected_only_beyond_the_last_whole_run() {
        for n in [0, 1, 2, 3, 7, 1 << 20, (1 << 62) + 1, usize::MAX] {
            let runs = n.max(1) as u64;
            let whole = u64::MAX - u64::MAX % runs;
            let (mut draw, mut bits) = (Draw::new(3, "runs", "x"), Draw::new(3, "runs", "x"));
            for _ in 0..200 {
                let kept = std::iter::repeat_with(|| bits.bits()).find(|bits| *bits < whole).unwrap();
                assert_eq!(draw.below(n) as u64, kept % runs, "{n}");
            }
        }
    }

    #[test]
    fn below_is_close_to_uniform() {
        let mut draw = Draw::new(7, "test", "");
        let mut counts = [0usize; 6];
        for _ in 0..60_000 {
            counts[draw.below(6)] += 1;
        }
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
    }
}
