//! Messages about requests in flight, while a run works and while Ctrl-C waits for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use riddlemill_llm::Progress;
use riddlemill_text::text::group_digits;

/// What an endpoint is at: items finished, requests on their way, and the longest that one may take.
#[derive(Default)]
pub(in crate::stages) struct EndpointLoad {
    pub finished: AtomicUsize,
    pub now: AtomicUsize,
    pub longest: Duration,
}

/// What a Ctrl-C waits for: nothing is sent any more, and what was sent is paid for.
pub(in crate::stages) fn stop_message(flights: &[EndpointLoad]) -> String {
    let up: Vec<&EndpointLoad> =
        flights.iter().filter(|flight| flight.now.load(Ordering::Relaxed) > 0).collect();
    let requests: usize = up.iter().map(|flight| flight.now.load(Ordering::Relaxed)).sum();
    match up.iter().map(|flight| flight.longest.as_secs()).max() {
        None => "nothing more is sent, and no request is in flight".into(),
        Some(longest) => format!(
            "nothing more is sent; waiting for {requests} request{} in flight, {longest} s at most; press Ctrl-C again \
             to abandon {}",
            if requests == 1 { "" } else { "s" },
            if requests == 1 { "it (it is charged)" } else { "them (they are charged)" },
        ),
    }
}

/// `412 asked, 80 stored, 3 failed, 64 in flight, 120,400 tokens, $0.0312`. The progress bar shows the time left.
pub(in crate::stages) fn describe_progress(progress: &Progress) -> String {
    let tokens = group_digits((progress.prompt_tokens + progress.completion_tokens) as i64);
    format!(
        "{} asked, {} stored, {} failed, {} in flight, {tokens} tokens, {}",
        progress.done, progress.stored, progress.failed, progress.in_flight, progress.charged
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stops_sees_what_is_waited_for() {
        let flight = |now: usize, secs| EndpointLoad {
            now: AtomicUsize::new(now),
            longest: Duration::from_secs(secs),
            ..EndpointLoad::default()
        };
        assert_eq!(
            stop_message(&[flight(11, 60), flight(1, 300), flight(0, 600)]),
            "nothing more is sent; waiting for 12 requests in flight, 300 s at most; press Ctrl-C again to abandon them (they are charged)"
        );
        assert_eq!(stop_message(&[flight(0, 600)]), "nothing more is sent, and no request is in flight");
    }
}
