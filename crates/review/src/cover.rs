//! Digests as they are handed out: nobody without the workspace's secret can compute or compare them.

use riddlemill_files::Digest;

/// What a covered digest begins with, which no digest does: sheets from before covers have none.
const COVERED: char = 'k';

/// Rounds of the permutation. Four make it indistinguishable from a random one (Luby and Rackoff, 1988).
const ROUNDS: u8 = 6;

/// A keyed permutation of digests, of one item.
#[derive(Clone, PartialEq)]
pub(super) struct Cover([u8; 32]);

impl Cover {
    pub(super) fn new(key: [u8; 32]) -> Cover {
        Cover(key)
    }

    fn half(&self, round: u8, half: [u8; 8]) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&[round]);
        hasher.update(&half);
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A digest as it is handed out.
    pub(super) fn hide(&self, digest: Digest) -> String {
        let [mut left, mut right] = halves(digest);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.half(round, right.to_le_bytes()));
        }
        format!("{COVERED}{}", joined([left, right]))
    }

    /// The digest that was handed out like this; `None` if it was handed out uncovered.
    pub(super) fn reveal(&self, handed: &str) -> Option<Digest> {
        let [mut left, mut right] = halves(handed.strip_prefix(COVERED)?.parse().ok()?);
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.half(round, left.to_le_bytes()), left);
        }
        Some(joined([left, right]))
    }
}

fn halves(digest: Digest) -> [u64; 2] {
    let bits = u128::from_le_bytes(digest.to_bytes());
    [bits as u64, (bits >> 64) as u64]
}

fn joined([left, right]: [u64; 2]) -> Digest {
    Digest::from_bytes((u128::from(left) | (u128::from(right) << 64)).to_le_bytes())
}

impl std::fmt::Debug for Cover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cover")
    }
}
