//! When a host may be requested: one request at a time, each a delay after the end of the last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep_until};

/// The gates of all hosts. A host is its name without the port: two ports are one machine.
#[derive(Clone, Default)]
pub(super) struct Gates(Arc<Mutex<HashMap<String, Gate>>>);

type Gate = Arc<tokio::sync::Mutex<Instant>>;

/// Permission for one request. The host's delay starts at its end.
pub(super) struct Turn {
    opens: OwnedMutexGuard<Instant>,
}

impl Gates {
    /// Waits for the host's turn.
    pub async fn await_turn(&self, host: &str) -> Turn {
        // The map is free again before the wait, so that other hosts are not delayed.
        let gate = {
            let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = || Arc::new(tokio::sync::Mutex::new(Instant::now()));
            gates.entry(host.to_string()).or_insert_with(fresh).clone()
        };
        let opens = gate.lock_owned().await;
        sleep_until(*opens).await;
        Turn { opens }
    }
}

impl Turn {
    /// Ends the request: the next one to the host is sent after `delay` at the earliest.
    pub fn end_turn(mut self, delay: Duration) {
        *self.opens = Instant::now() + delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_to_a_host_follow_one_another_at_a_delay() {
        let gates = Gates::default();
        let start = Instant::now();
        let ask = |host: &'static str| {
            let gates = gates.clone();
            async move {
                let turn = gates.await_turn(host).await;
                let began = start.elapsed();
                tokio::time::sleep(Duration::from_secs(3)).await;
                turn.end_turn(Duration::from_secs(2));
                began.as_secs()
            }
        };
        let (a, b, c, other) = tokio::join!(ask("a"), ask("a"), ask("a"), ask("b"));
        let mut same = [a, b, c];
        same.sort_unstable();
        assert_eq!((same, other), ([0, 5, 10], 0));
    }
}
