//! Hashes of the n-grams of a text.
//!
//! Two neighbours if one of them is not ASCII, three if all are: there are so many Chinese characters that
//! two distinguish texts, and so few Latin letters that three are needed. A single non-ASCII character counts
//! too.

/// The hashes of a folded text's n-grams. All n-grams of a text occur in every text that contains it, except
/// that a word of one or two ASCII characters has none.
pub(super) fn grams(folded: &str) -> impl Iterator<Item = u64> + '_ {
    let mut before = ['\0'; 2];
    folded.chars().flat_map(move |c| {
        let [first, second] = before;
        before = [second, c];
        let latin = |c: char| c != '\0' && c.is_ascii();
        let one = (!c.is_ascii()).then(|| hash(&['\0', '\0', c]));
        let two = (second != '\0' && !(second.is_ascii() && c.is_ascii())).then(|| hash(&['\0', second, c]));
        let three = (latin(first) && latin(second) && c.is_ascii()).then(|| hash(&[first, second, c]));
        [one, two, three].into_iter().flatten()
    })
}

/// Entries for a whole text: three hashes, so that false positives are rare.
pub(super) fn whole(folded: &str) -> [u64; 3] {
    let hash = blake3::hash(folded.as_bytes());
    let word = |n: usize| {
        hash.as_bytes()[n * 8..][..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    [word(0), word(1), word(2)]
}

/// N-grams of different lengths or characters have different numbers before mixing.
fn hash(run: &[char; 3]) -> u64 {
    let number = run.iter().fold(0, |number, c| number << 21 | u64::from(u32::from(*c)));
    // The finaliser of splitmix64.
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Bits of a filter per entry.
const BITS: usize = 8;
/// Bits set per entry.
const PROBES: u64 = 3;

/// A Bloom filter of n-grams: false positives only.
pub(super) fn filter(runs: &[u64]) -> Vec<u64> {
    let mut bits = vec![0; (runs.len() * BITS).div_ceil(64).max(1)];
    for run in runs {
        for bit in probes(*run, bits.len()) {
            bits[bit / 64] |= 1 << (bit % 64);
        }
    }
    bits
}

/// The bits of an entry in a filter with this many words.
pub(super) fn probes(run: u64, size: usize) -> impl Iterator<Item = usize> {
    let bits = size as u64 * 64;
    let step = run >> 32 | 1;
    (0..PROBES).map(move |n| (run.wrapping_add(n.wrapping_mul(step)) % bits) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_has_every_run_of_what_it_holds(text in "[a-c云雨会恐高1-3]{0,40}", from in 0usize..40, length in 0usize..40) {
            let part: String = text.chars().skip(from).take(length).collect();
            let runs: Vec<u64> = grams(&text).collect();
            let filter_of_text = filter(&runs);
            for run in grams(&part) {
                prop_assert!(runs.contains(&run));
                prop_assert!(probes(run, filter_of_text.len()).all(|bit| filter_of_text[bit / 64] & 1 << (bit % 64) != 0));
            }
        }
    }

    #[test]
    fn runs_tell_texts_apart() {
        let runs = |text: &str| grams(text).collect::<Vec<_>>();
        assert_eq!((runs("云").len(), runs("云会").len(), runs("ab").len(), runs("abc").len()), (1, 3, 0, 1));
        assert_ne!(runs("云会"), runs("会云"));
    }
}
