//! The charts of a figure, and its texts in both languages.

use std::cell::RefCell;

use crate::choice::Label;
use crate::reader::{Keys, leak_text};
use crate::table::{Drawn, Shape};

/// Collects the texts in both languages.
#[derive(Default)]
pub(crate) struct Words(RefCell<Vec<(&'static str, &'static str)>>);

impl Words {
    /// The English of a text, or of `{ en, zh }`; `None` if the key is missing.
    pub(crate) fn read_text(&self, keys: &Keys<'_>, key: &str) -> Option<&'static str> {
        keys.has_key(key).then(|| self.require_text(keys, key))
    }

    /// All of them.
    pub(crate) fn into_pairs(self) -> Vec<(&'static str, &'static str)> {
        self.0.into_inner()
    }

    /// Text that may be followed by more, such as which models lack ratings.
    pub(crate) fn allow_continuation(&self, begin: &str) {
        let open = |text: &str| leak_text(&format!("{text}{{}}"));
        let mut words = self.0.borrow_mut();
        let more: Vec<_> =
            words.iter().filter(|(en, _)| *en == begin).map(|(en, zh)| (open(en), open(zh))).collect();
        words.extend(more);
    }

    pub(crate) fn require_text(&self, keys: &Keys<'_>, key: &str) -> &'static str {
        let Label { en, zh } = keys.require_label(key);
        if en != zh {
            self.0.borrow_mut().push((en, zh));
        }
        en
    }
}

/// The charts of a figure: those that it names, else bars if it `is_drawn` and does not say otherwise.
pub(crate) fn parse_charts(
    heading: &'static str,
    is_drawn: bool,
    words: &Words,
    keys: &Keys<'_>,
) -> Vec<Drawn> {
    let is_drawn = keys.read_flag("chart").unwrap_or(is_drawn);
    match keys.read_tables("drawn", |keys| parse_chart(heading, words, keys)) {
        Some(drawn) => drawn.into_iter().flatten().collect(),
        None if is_drawn => vec![Drawn { title: heading, shape: Shape::Bars(usize::MAX) }],
        None => Vec::new(),
    }
}

fn parse_chart(title: &'static str, words: &Words, keys: &Keys<'_>) -> Option<Drawn> {
    let columns = keys.read_count("columns").unwrap_or(usize::MAX);
    let shapes = [
        ("bars", Shape::Bars(columns)),
        ("stacked", Shape::Stacked),
        ("lines", Shape::Lines),
        ("scatter", Shape::Scatter),
    ];
    if !keys.has_key("as") {
        keys.require_text("as");
    }
    Some(Drawn { title: words.read_text(keys, "title").unwrap_or(title), shape: keys.one_of("as", &shapes)? })
}
