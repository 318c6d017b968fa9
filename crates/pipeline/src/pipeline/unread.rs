//! What import could not read, and the remedy: the one that the cause states, else that of its kind.

use super::voting::Remedy;
use crate::config::{Config, Source};
use riddlemill_text::record::{Entry, Reason};

/// Most characters of a cause worded by somebody else.
const CHARS: usize = 200;

/// The cause of a failed record or file of import, and its remedy. `empty`: whether import gave nothing at all; `look` shows
/// the failed records.
pub(super) fn cause(
    config: &Config,
    entry: &Entry,
    reason: Option<Reason>,
    empty: bool,
    look: Remedy,
) -> (String, Remedy) {
    let evidence = entry.evidence.as_deref().unwrap_or_default();
    let (what, hint) = match evidence.split_once("\n  hint: ") {
        Some((what, hint)) => (what, Some(hint)),
        None => (evidence, None),
    };
    let code = reason.map_or("unreadable", Reason::code);
    let whole = matches!(reason, Some(Reason::ForeignFile | Reason::ColumnMissing | Reason::NothingRead));
    let what = match (whole, what.trim()) {
        (_, "") => format!("{code}: {}", reason.map_or("", Reason::definition)),
        (true, what) => format!("{}: {what}", file(entry)),
        (false, what) => format!("{code}: {}", short(what)),
    };
    let name = source(entry);
    let is_published = |of: &Source| of.name == name && of.published.is_some();
    let remedy = match (hint, reason) {
        (Some(hint), _) => Remedy::First(hint.to_owned()),
        (None, Some(Reason::Oversize)) => Remedy::First("raise import.max_line_mib in pipeline.toml".into()),
        (None, Some(Reason::Truncated)) => {
            Remedy::First("get the file again: what is behind this place is missing".into())
        }
        (None, Some(Reason::Unreadable)) if empty && config.sources.iter().any(is_published) => {
            Remedy::First(format!("check `benchmark` and `path` of [[published]] {name}"))
        }
        _ => look,
    };
    (what, remedy)
}

/// A line of at most [`CHARS`] characters.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= CHARS {
        return line;
    }
    line.chars().take(CHARS).chain(['…']).collect()
}

/// `source/file` of an entry of import.
fn file(entry: &Entry) -> &str {
    entry.id.rsplit_once(':').map_or(entry.id.as_str(), |(file, _)| file)
}

/// The source of an entry of import.
pub(super) fn source(entry: &Entry) -> &str {
    entry.id.split(['/', ':']).next().unwrap_or_default()
}
