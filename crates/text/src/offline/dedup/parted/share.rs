//! Shares of the keys, if all of them do not fit in memory at once.

use std::str::FromStr;

/// One of several shares of all keys, as `3/16`. A key is in one share, whichever row has it: what rows of one
/// share meet under, they meet under whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    own: u64,
    of: u64,
}

/// A text that names no share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a share is written as its number and the number of shares, such as 1/16")]
pub struct NoShare;

impl Share {
    /// All keys.
    pub const WHOLE: Share = Share { own: 0, of: 1 };

    /// Whether a key with this hash is in it.
    pub fn holds(self, hash: u64) -> bool {
        // By its highest bits, of which every hash makes the most.
        ((u128::from(hash) * u128::from(self.of)) >> 64) as u64 == self.own
    }
}

impl FromStr for Share {
    type Err = NoShare;

    fn from_str(text: &str) -> Result<Self, NoShare> {
        let (number, of) = text.split_once('/').ok_or(NoShare)?;
        let (number, of): (u64, u64) =
            (number.parse().map_err(|_| NoShare)?, of.parse().map_err(|_| NoShare)?);
        let own = number.checked_sub(1).filter(|own| *own < of).ok_or(NoShare)?;
        Ok(Share { own, of })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_hash_is_in_one_share(hash: u64, of in 1u64..50) {
            let shares = (1..=of).map(|n| format!("{n}/{of}").parse::<Share>().unwrap());
            prop_assert_eq!(shares.filter(|share| share.holds(hash)).count(), 1);
            prop_assert!(Share::WHOLE.holds(hash));
        }
    }

    #[test]
    fn what_names_no_share_is_refused() {
        for text in ["", "1", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b"] {
            assert_eq!(text.parse::<Share>(), Err(NoShare), "{text}");
        }
    }
}
