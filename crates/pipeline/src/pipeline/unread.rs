//! What import could not read, and the remedy: the one that the cause states, else that of its kind.

use super::voting::Remedy;
use super::words::{Said, Word, short};
use crate::config::{Config, Source};
use riddlemill_record::Reason;

/// What was not read.
pub(super) struct What<'a> {
    /// The source's name.
    pub source: &'a str,
    /// The file, with its source.
    pub file: &'a str,
    /// Whether the whole file is meant.
    pub whole: bool,
    /// What is wrong with it.
    pub said: &'a str,
    /// What to do, where that is known.
    pub hint: Option<&'a str>,
}

/// The cause of a failed record or file of import, and its remedy. `empty`: whether import gave nothing at all; `look` shows
/// the failed records.
pub(super) fn cause(
    config: &Config,
    unread: &What<'_>,
    reason: Option<Reason>,
    empty: bool,
    look: Remedy,
) -> (Said, Remedy) {
    let code = reason.map_or("unreadable", Reason::code);
    let what = match (unread.whole, unread.said) {
        (_, "") => format!("{code}: {}", reason.map_or("", Reason::definition)),
        (true, what) => format!("{}: {what}", unread.file),
        (false, what) => format!("{code}: {}", short(what).en()),
    };
    let name = unread.source;
    let is_published = |of: &Source| of.name == name && of.published.is_some();
    let remedy = match (unread.hint, reason) {
        (Some(hint), _) => Remedy::First(Said::verbatim(hint)),
        (None, Some(Reason::Oversize)) => Remedy::First(Said::of(Word::RaiseKey, ["import.max_line_mib"])),
        (None, Some(Reason::Truncated)) => Remedy::First(Said::of(Word::GetAgain, [])),
        (None, Some(Reason::Unreadable)) if empty && config.sources.iter().any(is_published) => {
            Remedy::First(Said::of(Word::CheckPublished, [name]))
        }
        _ => look,
    };
    (Said::verbatim(what), remedy)
}
