//! How often somebody may try a token: a few times, then once every while.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Wrong tokens from one address before it has to wait.
const TRIES: u32 = 5;
/// How long one wrong token is remembered.
const MEMORY: Duration = Duration::from_secs(60);
/// Addresses that are remembered at once; further ones share one place.
const ADDRESSES: usize = 4096;

/// Wrong tokens by address.
#[derive(Debug, Default)]
pub(super) struct Tries {
    seen: Mutex<HashMap<Option<IpAddr>, (u32, Instant)>>,
}

impl Tries {
    /// Whether this address may try now.
    pub(super) fn may(&self, address: IpAddr, now: Instant) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        seen.retain(|_, (_, last)| now.duration_since(*last) < MEMORY);
        let place = place(&seen, address);
        seen.get(&place).is_none_or(|(wrong, _)| *wrong < TRIES)
    }

    /// Notes a wrong token.
    pub(super) fn wrong(&self, address: IpAddr, now: Instant) {
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let place = place(&seen, address);
        let entry = seen.entry(place).or_insert((0, now));
        *entry = (entry.0.saturating_add(1), now);
    }
}

fn place(seen: &HashMap<Option<IpAddr>, (u32, Instant)>, address: IpAddr) -> Option<IpAddr> {
    // A site of the sixth version has a whole network of addresses to try from.
    let address = match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let mut octets = v6.octets();
            octets[8..].fill(0);
            IpAddr::from(octets)
        }
    };
    let known = Some(address);
    if seen.contains_key(&known) || seen.len() < ADDRESSES { known } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_wrong_tokens_make_an_address_wait_and_no_other() {
        let tries = Tries::default();
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([10, 0, 0, 1]));
        let start = Instant::now();
        for _ in 0..TRIES {
            assert!(tries.may(one, start));
            tries.wrong(one, start);
        }
        assert!(!tries.may(one, start));
        assert!(tries.may(other, start));
        assert!(tries.may(one, start + MEMORY));
    }

    #[test]
    fn a_crowd_of_addresses_fills_no_memory() {
        let tries = Tries::default();
        let now = Instant::now();
        for i in 0..10_000u32 {
            tries.wrong(IpAddr::from(i.to_be_bytes()), now);
        }
        assert!(tries.seen.lock().unwrap().len() <= ADDRESSES + 1);
        assert!(!tries.may(IpAddr::from([200, 0, 0, 1]), now));
    }
}
