//! Limits attempts to log in with a token: a few at once, then one at intervals.
//!
//! A token is 256 random bits, so guessing is hopeless. The limits bound the server's cost, and the attempts
//! of somebody who knows how a token begins. Attempts are counted by client and by the token's prefix, so
//! that wrong ones do not lock out others at the same address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::crowd::client_network;

/// Wrong tokens with the same prefix from one client before it has to wait.
const TRIES: u32 = 5;
/// Wrong tokens from one client before all its wrong ones have to wait.
const OF_CLIENT: u32 = 40;
/// How long a wrong token is remembered.
const MEMORY: Duration = Duration::from_secs(60);
/// Most remembered entries; beyond that only clients are counted.
const REMEMBERED: usize = 4096;
/// Length of a token's prefix.
const PREFIX: usize = 8;

/// A client, and the token's prefix; `None` for all of the client's.
type Key = (IpAddr, Option<String>);

/// Wrong tokens by client and prefix.
#[derive(Debug, Default)]
pub(super) struct Tries {
    seen: Mutex<HashMap<Key, (u32, Instant)>>,
}

impl Tries {
    /// Whether a right token from this client is accepted now.
    pub(super) fn may_try(&self, client: IpAddr, token: &str, now: Instant) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|_, (_, last)| now.duration_since(*last) < MEMORY);
        // The count of the whole client is ignored, so that a right token works from a busy address.
        seen.get(&(client_network(client), Some(token_prefix(token)))).is_none_or(|(wrong, _)| *wrong < TRIES)
    }

    /// Records a wrong token; false if its sender has to wait.
    pub(super) fn record_failure(&self, client: IpAddr, token: &str, now: Instant) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|_, (_, last)| now.duration_since(*last) < MEMORY);
        let client = client_network(client);
        let mut note = |key: Key, most: u32| {
            // When the memory is full, unknown clients pass: refusing them would lock out everybody.
            if !seen.contains_key(&key) && seen.len() >= REMEMBERED {
                return true;
            }
            let entry = seen.entry(key).or_insert((0, now));
            *entry = (entry.0.saturating_add(1), now);
            entry.0 <= most
        };
        let all = note((client, None), OF_CLIENT);
        // Prefixes are not recorded for a client with many attempts: they would fill the memory.
        all && note((client, Some(token_prefix(token))), TRIES)
    }
}

fn token_prefix(token: &str) -> String {
    token.chars().take(PREFIX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_tokens_make_their_like_wait_and_no_other() {
        let tries = Tries::default();
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([10, 0, 0, 1]));
        let start = Instant::now();
        for n in 0..TRIES {
            assert!(tries.may_try(one, "0123456789", start));
            assert!(tries.record_failure(one, &format!("01234567{n}"), start));
        }
        assert!(!tries.may_try(one, "0123456789", start) && !tries.record_failure(one, "01234567x", start));
        assert!(tries.may_try(one, "another token", start), "the right one, from the same address");
        assert!(tries.may_try(other, "0123456789", start));
        assert!(tries.may_try(one, "0123456789", start + MEMORY));
    }

    #[test]
    fn a_crowd_of_tokens_and_addresses_fills_no_memory_and_locks_nobody_out() {
        let tries = Tries::default();
        let now = Instant::now();
        let greedy = IpAddr::from([1, 1, 1, 1]);
        let let_on = (0..1000).filter(|n| tries.record_failure(greedy, &format!("{n:08}"), now)).count();
        assert_eq!(let_on, OF_CLIENT as usize);
        assert!(tries.seen.lock().unwrap().len() <= OF_CLIENT as usize + 1);
        assert!(tries.may_try(greedy, "a right token", now));
        for i in 0..10_000u32 {
            tries.record_failure(IpAddr::from(i.to_be_bytes()), "x", now);
        }
        assert!(tries.seen.lock().unwrap().len() <= REMEMBERED);
        assert!(tries.may_try(IpAddr::from([200, 0, 0, 1]), "a right token", now));
    }
}
