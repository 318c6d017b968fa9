//! Runs of characters that a text holds, as hashes.
//!
//! Two neighbours where one of them is no ASCII character, three where all are: so many Chinese characters
//! there are that two tell texts apart, and so few Latin letters that three must. A single character that is
//! no ASCII one counts, too.

/// The hashes of the runs in a folded text. Every run of a text is a run of each text that holds it, except that
/// a word of one or two ASCII characters has none.
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

/// What is in a filter for a whole text: three hashes, so that hardly a filter says that it is there which is not.
pub(super) fn whole(folded: &str) -> [u64; 3] {
    let hash = blake3::hash(folded.as_bytes());
    let word = |n: usize| {
        hash.as_bytes()[n * 8..][..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    [word(0), word(1), word(2)]
}

/// Runs of another length or other characters have another number before they are mixed.
fn hash(run: &[char; 3]) -> u64 {
    let number = run.iter().fold(0, |number, c| number << 21 | u64::from(u32::from(*c)));
    // The finaliser of splitmix64.
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Bits of a filter that a run takes.
const BITS: usize = 8;
/// Bits that a run sets.
const PROBES: u64 = 3;

/// A Bloom filter of runs: it may say that a run is there which is not, never that one is missing which is there.
pub(super) fn filter(runs: &[u64]) -> Vec<u64> {
    let mut words = vec![0; (runs.len() * BITS).div_ceil(64).max(1)];
    for run in runs {
        for bit in probes(*run, words.len()) {
            words[bit / 64] |= 1 << (bit % 64);
        }
    }
    words
}

/// The bits of a run in a filter of so many words.
pub(super) fn probes(run: u64, words: usize) -> impl Iterator<Item = usize> {
    let bits = words as u64 * 64;
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
            let held = filter(&runs);
            for run in grams(&part) {
                prop_assert!(runs.contains(&run));
                prop_assert!(probes(run, held.len()).all(|bit| held[bit / 64] & 1 << (bit % 64) != 0));
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
