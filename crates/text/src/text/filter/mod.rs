//! Posts without a joke to keep: empty, too short or long, managing the forum, or pointing elsewhere. One
//! rule per file if it needs more than a line. Precision comes first: a post that might be a joke passes, and
//! is left to people and later stages.
//!
//! The rules expect cleaned texts.

pub mod jokeless;

use super::anonymise::DataKind;
use crate::text::count_with_noun;
use crate::text::is_letter;
use riddlemill_record::Reason;

/// Lengths, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterSettings {
    /// Fewer letters and digits than this are too short.
    pub min_chars: usize,
    /// More characters than this, punctuation included, are too long.
    pub max_chars: usize,
    /// Drop posts that manage the forum.
    pub management: bool,
    /// Drop posts that promise something that is elsewhere.
    pub promised: bool,
}

impl Default for FilterSettings {
    fn default() -> FilterSettings {
        FilterSettings { min_chars: 4, max_chars: 500, management: true, promised: true }
    }
}

/// Facts about a post that are not in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// How many images were in the post.
    pub images: usize,
}

/// The reason to drop a text, with evidence, or `None` if it passes.
///
/// ```
/// # use riddlemill_record::Reason;
/// # use riddlemill_text::text::filter::{filter, Context, FilterSettings};
/// let settings = FilterSettings::default();
/// assert_eq!(filter("云会恐高吗", &settings, Context::default()), None);
/// let (reason, evidence) = filter("云飞", &settings, Context::default()).unwrap();
/// assert_eq!((reason, evidence.as_str()), (Reason::TooShort, "2 of at least 4 characters"));
/// ```
pub fn filter(text: &str, settings: &FilterSettings, context: Context) -> Option<(Reason, String)> {
    find_rule(text, settings, context).map(|(rule, evidence)| (rule.reason(), evidence))
}

/// The rule that drops a text, with evidence, or `None` if it passes.
pub fn find_rule(text: &str, settings: &FilterSettings, context: Context) -> Option<(FilterRule, String)> {
    // Marks left by anonymising are not the author's words.
    let marked = text.contains('[') && text.contains(DataKind::Link.mark());
    let unmarked = marked.then(|| text.replace(DataKind::Link.mark(), " "));
    // Counting stops when a text is long enough.
    let enough = settings.min_chars.max(2);
    let letters = letters_of(unmarked.as_deref().unwrap_or(text)).take(enough).count();
    if unmarked.is_some() && letters <= 1 {
        return Some((FilterRule::LinkOnly, "nothing but a link".to_owned()));
    }
    if letters == 0 && context.images > 0 {
        return Some((
            FilterRule::LinkOnly,
            format!("{} and no text", count_with_noun(context.images as u64, "image")),
        ));
    }
    if letters == 0 {
        return Some((FilterRule::Empty, "no letter and no digit".to_owned()));
    }
    let linked = memchr::memchr2(b':', b'w', text.as_bytes()).is_some();
    if linked && (text.contains("://") || text.contains("www.")) && without_links(text) == 0 {
        return Some((FilterRule::LinkOnly, "nothing but a link".to_owned()));
    }
    if letters < settings.min_chars {
        return Some((
            FilterRule::TooShort,
            format!("{letters} of at least {} characters", settings.min_chars),
        ));
    }
    // A text has at least as many bytes as characters, so a short one need not be counted.
    if text.len() > settings.max_chars {
        let chars = text.chars().count();
        if chars > settings.max_chars {
            return Some((
                FilterRule::TooLong,
                format!("{chars} of at most {} characters", settings.max_chars),
            ));
        }
    }
    if settings.management
        && let Some(ground) = jokeless::find_management(text)
    {
        return Some((FilterRule::Management, ground));
    }
    if settings.promised
        && let Some(ground) = jokeless::find_promise(text)
    {
        return Some((FilterRule::PromisedElsewhere, ground));
    }
    None
}

fn letters_of(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| is_letter(*c))
}

/// Number of letters of a text outside its links.
fn without_links(text: &str) -> usize {
    let linked = |word: &&str| !word.contains("://") && !word.starts_with("www.");
    text.split_whitespace().filter(linked).map(|word| letters_of(word).count()).sum()
}

/// A rule of the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FilterRule {
    /// Nothing to read.
    Empty,
    /// Only a link or an image.
    LinkOnly,
    /// Too short.
    TooShort,
    /// Too long.
    TooLong,
    /// The post manages the forum.
    Management,
    /// The text promises something that is elsewhere.
    PromisedElsewhere,
}

impl FilterRule {
    /// Every rule, in the order in which they run.
    pub const ALL: &[FilterRule] = &[
        FilterRule::Empty,
        FilterRule::LinkOnly,
        FilterRule::TooShort,
        FilterRule::TooLong,
        FilterRule::Management,
        FilterRule::PromisedElsewhere,
    ];

    /// The reason that a ledger names.
    pub fn reason(self) -> Reason {
        match self {
            FilterRule::Empty => Reason::Empty,
            FilterRule::LinkOnly => Reason::LinkOnly,
            FilterRule::TooShort => Reason::TooShort,
            FilterRule::TooLong => Reason::TooLong,
            FilterRule::Management => Reason::Management,
            FilterRule::PromisedElsewhere => Reason::PromisedElsewhere,
        }
    }

    /// The stable name in ledgers and reports.
    pub fn code(self) -> &'static str {
        self.reason().code()
    }

    /// What the rule drops, in one sentence.
    pub fn definition(self) -> &'static str {
        self.reason().definition()
    }

    /// A text that the rule drops, and a similar one that it keeps.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            FilterRule::Empty => ("……", "云会恐高吗"),
            FilterRule::LinkOnly => ("http://example.com/p/1", "云会恐高吗 http://example.com/p/1"),
            FilterRule::TooShort => ("云飞", "云会飞吗"),
            FilterRule::TooLong => (LONG, "云会恐高吗"),
            FilterRule::Management => ("【发帖必看】本吧吧规第三版", "如果给云加精，它会不会下雨"),
            FilterRule::PromisedElsewhere => {
                ("我家的云长这样，如图", "画家说他的心情如图所示，房东说房租也是")
            }
        }
    }
}

/// Longer than the default settings allow.
const LONG: &str = include_str!("long.txt");

#[cfg(test)]
mod tests;
