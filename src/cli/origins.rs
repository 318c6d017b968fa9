//! Tells of endpoints whose model changed behind the same name.

use std::time::{Duration, UNIX_EPOCH};

use super::output::count;
use super::terminal::HANG;
use crate::pages::time::format_utc;
use crate::report::{EndpointOrigins, OriginSince};

/// What answers now, and what did before.
pub(super) fn origins_line(changed: &EndpointOrigins) -> String {
    let told = |one: &OriginSince| format!("{} ({})", one.origin, count(one.replies, "reply"));
    let [before @ .., last] = &changed.origins[..] else { return String::new() };
    let day = format_utc(UNIX_EPOCH + Duration::from_millis(last.since_ms));
    let before: Vec<String> = before.iter().rev().map(told).collect();
    format!(
        "llm.{}: {HANG}{:?} is answered by {} since {} ({}), before by {}",
        changed.endpoint,
        changed.model,
        last.origin,
        &day[..10],
        count(last.replies, "reply"),
        before.join(", ")
    )
}
