//! The published set that a benchmark rebuilds, and the differences with reasons.

use serde::Serialize;

use crate::reader::Keys;

/// A published set and how this one differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paper {
    /// The set's name.
    pub set: &'static str,
    /// The paper's title.
    pub title: &'static str,
    /// Its first author, with the others.
    pub authors: &'static str,
    /// When it appeared.
    pub year: u16,
    /// Its address.
    pub url: &'static str,
    /// Languages of the rows, as the Hub names them.
    pub languages: Vec<&'static str>,
    /// The paper's key in BibTeX.
    pub key: &'static str,
    /// The set's tags on the Hub.
    pub tags: Vec<&'static str>,
    /// Known biases of figures on such a set; may be empty.
    pub biases: &'static str,
    /// Differences from the published set or the paper.
    pub differs: Vec<Difference>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// In the paper or the published file.
    pub there: &'static str,
    /// Here, and why.
    pub here: &'static str,
    /// The setting that makes it as there, `section.key` and the value, if there is one.
    pub unless: Vec<(&'static str, &'static str)>,
}

/// `[paper]`, or the name of the benchmark whose paper it shares.
#[derive(Clone, Debug)]
pub(crate) enum Cited {
    Own(Box<Paper>),
    Like(&'static str),
}

pub(crate) fn read(keys: &Keys<'_>) -> Cited {
    if let Some(other) = keys.text("like") {
        return Cited::Like(other);
    }
    let set =
        |keys: &Keys<'_>| -> Vec<_> { keys.names().into_iter().map(|key| (key, keys.needed(key))).collect() };
    let difference = |keys: &Keys<'_>| Difference {
        there: keys.needed("there"),
        here: keys.needed("here"),
        unless: keys.table("unless", set).unwrap_or_default(),
    };
    if !keys.has("year") {
        keys.problem("year", "`year` is missing");
    }
    let year = keys.count("year").and_then(|year| u16::try_from(year).ok());
    Cited::Own(Box::new(Paper {
        set: keys.needed("set"),
        title: keys.needed("title"),
        authors: keys.needed("authors"),
        year: year.unwrap_or_default(),
        url: keys.needed("url"),
        languages: keys.texts("languages").unwrap_or_default(),
        key: keys.needed("key"),
        tags: keys.texts("tags").unwrap_or_default(),
        biases: keys.text("biases").unwrap_or_default(),
        differs: keys.tables("differs", difference).unwrap_or_default(),
    }))
}
