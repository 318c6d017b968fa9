//! What to do next, on a terminal.

use super::commands::runnable_commands;
use super::terminal::{HANG, Tone, tint_text};
use crate::report::{KeptBack, Next, RecipeState};

/// `next: riddlemill release flub  (flub is complete …)`, after `first: ` and what no command does.
pub(super) fn next_lines(next: &Next) -> Vec<String> {
    let first = next
        .first
        .iter()
        .map(|first| format!("{} {HANG}{}", tint_text(Tone::Head, "first:"), runnable_commands(first)));
    let command = format!(
        "{} {HANG}{}  ({})",
        tint_text(Tone::Head, "next:"),
        runnable_commands(&next.command),
        runnable_commands(&next.why)
    );
    first.chain([command]).collect()
}

/// What waits or failed, one line per cause, under a heading.
pub(super) fn kept_back(standings: &[RecipeState]) -> Vec<String> {
    let kept_back = crate::report::kept_back(standings);
    let line = |kept: &KeptBack| {
        let tone = if kept.failed { Tone::Bad } else { Tone::Waits };
        format!("  {}: {HANG}{}", tint_text(tone, &kept.place), runnable_commands(&kept.words))
    };
    let heading = (!kept_back.is_empty()).then(|| tint_text(Tone::Head, KEPT_BACK));
    heading.into_iter().chain(kept_back.iter().map(line)).collect()
}

/// The heading of what waits or failed.
const KEPT_BACK: &str = "what waits or failed:";
