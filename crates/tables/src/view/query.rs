//! Which records of a stage a page shows, and in which order.

use memchr::memmem;
use regex::{Regex, RegexBuilder};

use riddlemill_text::text::normalise::{Fold, fold};

/// The order of a page's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// As they entered.
    #[default]
    Entered,
    /// The longest text first.
    Longest,
    /// The shortest text first.
    Shortest,
    /// The highest score of a merge first.
    Score,
    /// The lowest score of a merge first: the most doubtful.
    Lowest,
}

impl Sort {
    /// Every order.
    pub const ALL: [Sort; 5] = [Sort::Entered, Sort::Longest, Sort::Shortest, Sort::Score, Sort::Lowest];

    /// Its name in a URL.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Entered => "entered",
            Sort::Longest => "longest",
            Sort::Shortest => "shortest",
            Sort::Score => "score",
            Sort::Lowest => "lowest",
        }
    }

    /// The order with this name.
    pub fn from_name(name: &str) -> Option<Sort> {
        Sort::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// A page's query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query {
    /// Only records that left in this state.
    pub outcome: String,
    /// Only those with this reason.
    pub reason: String,
    /// Only those whose text or id contains this.
    pub words: String,
    /// Fewest characters; 0 for any.
    pub min: u32,
    /// Most characters; 0 for any.
    pub max: u32,
    /// The order.
    pub sort: Sort,
}

impl Query {
    /// Whether every record is included, in the original order.
    pub(super) fn is_all(&self) -> bool {
        *self == Query::default()
    }

    /// A finder for the words: unchanged, ignoring case, and with script and width folded as for comparison.
    pub(super) fn finder(&self) -> Option<Finder> {
        let text = self.words.trim();
        if text.is_empty() {
            return None;
        }
        let mut forms = vec![text.to_string()];
        let folded = fold(text, Fold::KEY);
        // A character that folding drops was typed on purpose.
        if folded != text && folded.chars().count() == text.chars().count() {
            forms.push(folded);
        }
        // Bytes are searched much faster than a pattern, which is only needed for letters with case.
        let one_case = |c: char| c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]);
        if forms.iter().flat_map(|form| form.chars()).all(one_case) {
            return Some(Finder::Plain(
                forms.iter().map(|form| memmem::Finder::new(form).into_owned()).collect(),
            ));
        }
        let escaped: Vec<String> = forms.iter().map(|form| regex::escape(form)).collect();
        RegexBuilder::new(&escaped.join("|")).case_insensitive(true).build().ok().map(Finder::Cased)
    }
}

/// Finds one of a few words in a text.
#[derive(Clone)]
pub(super) enum Finder {
    /// Words without case, as most Chinese ones are: found byte by byte.
    Plain(Vec<memmem::Finder<'static>>),
    /// Words ignoring case.
    Cased(Regex),
}

impl Finder {
    pub(super) fn is_in(&self, text: &str) -> bool {
        match self {
            Finder::Plain(words) => words.iter().any(|word| word.find(text.as_bytes()).is_some()),
            Finder::Cased(words) => words.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whatever_their_case_and_script() {
        let finder = |query: &str| Query { words: query.into(), ..Query::default() }.finder().unwrap();
        assert!(finder("冰箱").is_in("我的冰箱里"));
        assert!(finder("燈").is_in("冰箱里的灯"));
        assert!(finder("a.b").is_in("xA.Bx"));
        assert!(!finder("a.b").is_in("aab"));
        assert!(finder("４号").is_in("住在4号楼"), "in another width");
        assert!(Query::default().finder().is_none());
    }

    #[test]
    fn orders_have_names() {
        assert!(Sort::ALL.into_iter().all(|sort| Sort::from_name(sort.name()) == Some(sort)));
    }
}
