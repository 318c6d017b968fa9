//! How often somebody may try a token: a few times, then once every while.
//!
//! A token is 256 random bits: nobody guesses one. What is bounded is what trying costs the server, and how often somebody
//! who knows how a token begins may try the rest. So tries are counted by client and by how the token begins, and
//! somebody's wrong ones lock out nobody who comes from the same address with another.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::crowd::network;

/// Wrong tokens that begin alike from one client before it has to wait.
const TRIES: u32 = 5;
/// Wrong tokens from one client before all its wrong ones have to wait.
const OF_CLIENT: u32 = 40;
/// How long one wrong token is remembered.
const MEMORY: Duration = Duration::from_secs(60);
/// What is remembered at once; beyond it a client is remembered alone.
const REMEMBERED: usize = 4096;
/// Characters by which tokens begin alike.
const PREFIX: usize = 8;

/// A client, and how the token began; nothing for all of the client's.
type Key = (IpAddr, Option<String>);

/// Wrong tokens by client and beginning.
#[derive(Debug, Default)]
pub(super) struct Tries {
    seen: Mutex<HashMap<Key, (u32, Instant)>>,
}

impl Tries {
    /// Whether a right token that comes from this client is let in now.
    pub(super) fn may(&self, client: IpAddr, token: &str, now: Instant) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|_, (_, last)| now.duration_since(*last) < MEMORY);
        seen.get(&(network(client), Some(prefix(token)))).is_none_or(|(wrong, _)| *wrong < TRIES)
    }

    /// Notes a wrong token; false where its sender has to wait.
    pub(super) fn wrong(&self, client: IpAddr, token: &str, now: Instant) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|_, (_, last)| now.duration_since(*last) < MEMORY);
        let client = network(client);
        let mut note = |key: Key, most: u32| {
            if !seen.contains_key(&key) && seen.len() >= REMEMBERED {
                return true;
            }
            let entry = seen.entry(key).or_insert((0, now));
            *entry = (entry.0.saturating_add(1), now);
            entry.0 <= most
        };
        let all = note((client, None), OF_CLIENT);
        // What a client has tried so often is not distinguished any more: it would fill the memory.
        all && note((client, Some(prefix(token))), TRIES)
    }
}

fn prefix(token: &str) -> String {
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
            assert!(tries.may(one, "0123456789", start));
            assert!(tries.wrong(one, &format!("01234567{n}"), start));
        }
        assert!(!tries.may(one, "0123456789", start) && !tries.wrong(one, "01234567x", start));
        assert!(tries.may(one, "another token", start), "the right one, from the same address");
        assert!(tries.may(other, "0123456789", start));
        assert!(tries.may(one, "0123456789", start + MEMORY));
    }

    #[test]
    fn a_crowd_of_tokens_and_addresses_fills_no_memory_and_locks_nobody_out() {
        let tries = Tries::default();
        let now = Instant::now();
        let greedy = IpAddr::from([1, 1, 1, 1]);
        let let_on = (0..1000).filter(|n| tries.wrong(greedy, &format!("{n:08}"), now)).count();
        assert_eq!(let_on, OF_CLIENT as usize);
        assert!(tries.seen.lock().unwrap().len() <= OF_CLIENT as usize + 1);
        assert!(tries.may(greedy, "a right token", now));
        for i in 0..10_000u32 {
            tries.wrong(IpAddr::from(i.to_be_bytes()), "x", now);
        }
        assert!(tries.seen.lock().unwrap().len() <= REMEMBERED);
        assert!(tries.may(IpAddr::from([200, 0, 0, 1]), "a right token", now));
    }
}
