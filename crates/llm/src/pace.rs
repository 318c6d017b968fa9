//! Requests and tokens per minute, and the pauses that a server asks for. One pace is shared by all requests
//! to an endpoint: if one has to wait, all do.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

/// The pace of one endpoint.
pub(super) struct Pace {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    closed_until: Mutex<Option<Instant>>,
}

impl Pace {
    /// `None` means no limit; a limit of 0 is treated as 1.
    pub(super) fn new(requests_a_minute: Option<u32>, tokens_a_minute: Option<u32>) -> Pace {
        Pace {
            requests: requests_a_minute.map(Bucket::new),
            tokens: tokens_a_minute.map(Bucket::new),
            closed_until: Mutex::new(None),
        }
    }

    /// Whether tokens are limited at all.
    pub(super) fn counts_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Returns when one more request of this many tokens may be sent.
    pub(super) async fn wait_for_tokens(&self, tokens: u64) {
        if let Some(bucket) = &self.tokens {
            bucket.take_tokens(tokens).await;
        }
        if let Some(bucket) = &self.requests {
            bucket.take_tokens(1).await;
        }
        // Last, because a pause may begin while the buckets are waited for.
        self.wait_for_pause().await;
    }

    /// Returns when no pause is in force.
    pub(super) async fn wait_for_pause(&self) {
        // A loop, because a pause may be prolonged while it is waited for.
        while let Some(until) = self.pause_end().filter(|&until| until > Instant::now()) {
            tokio::time::sleep_until(until).await;
        }
    }

    /// Sends nothing for this long.
    pub(super) fn pause_for(&self, wait: Duration) {
        let mut closed = self.closed_until.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + wait;
        // A short pause that one request brings must not end the longer one of another.
        *closed = Some(closed.map_or(until, |before| before.max(until)));
    }

    fn pause_end(&self) -> Option<Instant> {
        *self.closed_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bucket that holds a second's worth, so that no minute exceeds its limit by more than that. Requests
/// larger than the bucket are taken in pieces, one after the other.
struct Bucket {
    limiter: RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>,
    clock: TokioClock,
    size: u32,
    turn: tokio::sync::Mutex<()>,
}

impl Bucket {
    fn new(a_minute: u32) -> Bucket {
        let rate = NonZeroU32::new(a_minute).unwrap_or(NonZeroU32::MIN);
        let size = NonZeroU32::new(a_minute / 60).unwrap_or(NonZeroU32::MIN);
        let clock = TokioClock(Instant::now());
        let quota = Quota::per_minute(rate).allow_burst(size);
        Bucket {
            limiter: RateLimiter::direct_with_clock(quota, clock.clone()),
            clock,
            size: size.get(),
            turn: tokio::sync::Mutex::new(()),
        }
    }

    async fn take_tokens(&self, mut amount: u64) {
        // One request at a time: the pieces of several large ones would delay each other.
        let _turn = self.turn.lock().await;
        while amount > 0 {
            let piece = amount.min(self.size.into()) as u32;
            let Some(cells) = NonZeroU32::new(piece) else { return };
            match self.limiter.check_n(cells) {
                Ok(Ok(())) => amount -= u64::from(piece),
                Ok(Err(not_until)) => tokio::time::sleep(not_until.wait_time_from(self.clock.now())).await,
                // A piece is never larger than the bucket.
                Err(_) => return,
            }
        }
    }
}

/// Tokio's clock, which tests pause.
#[derive(Clone, Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn secs(pace: &Pace, requests: u32, tokens: u64) -> f64 {
        let start = Instant::now();
        for _ in 0..requests {
            pace.wait_for_tokens(tokens).await;
        }
        start.elapsed().as_secs_f64()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_are_spread_over_the_minute() {
        let took = secs(&Pace::new(Some(120), None), 121, 0).await;
        assert!((59.0..=61.0).contains(&took), "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_are_spread_over_the_minute_even_when_one_request_takes_most() {
        let took = secs(&Pace::new(None, Some(6_000)), 3, 4_000).await;
        assert!((118.0..=121.0).contains(&took), "{took}");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_without_limits() {
        assert_eq!(secs(&Pace::new(None, None), 1_000, 1_000_000).await, 0.0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_everybody_and_is_never_shortened() {
        let pace = Pace::new(None, None);
        pace.pause_for(Duration::from_secs(30));
        pace.pause_for(Duration::from_secs(5));
        assert_eq!(secs(&pace, 1, 0).await, 30.0);
        assert_eq!(secs(&pace, 1, 0).await, 0.0);
    }
}
