//! Errors in a key's text, and in XML files.

/// Why a key cannot be used. [`Fault`](super::Fault) names the key.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// It is not of this kind.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A pointer does not begin like one.
    #[error("a pointer begins with `/`, as in \"/data/title\", and {0:?} does not")]
    NoPointer(String),
    /// A step of a pointer opens a filter but has none.
    #[error("{0:?} is not a step of a pointer: a filter is written [field=value]")]
    NoStep(String),
    /// A pointer into the JSON of an attribute lacks the attribute.
    #[error("{0:?} points into JSON, and names no attribute that holds it: \"li@data-field#/id\"")]
    NoAttribute(String),
    /// It is not a CSS selector.
    #[error("{text:?} is not a CSS selector: {why}")]
    NoSelector {
        /// As written.
        text: String,
        /// The parser's message.
        why: String,
    },
    /// It is not a regular expression.
    #[error("{text:?} is not a regular expression: {}", last_line(error))]
    NoRegex {
        /// As written.
        text: String,
        /// The parser's message, with the place marked below the pattern.
        error: regex::Error,
    },
    /// No address begins like this pattern.
    #[error("{0:?} matches no address; it begins with `/`, `*` or `http`")]
    MatchesNothing(String),
    /// No encoding has this label.
    #[error("unknown encoding {0:?}")]
    UnknownEncoding(String),
    /// No time can be parsed or written in this format.
    #[error(transparent)]
    TimeFormat(#[from] jiff::Error),
}

fn last_line(error: &regex::Error) -> String {
    error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Why an item of an XML file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XmlError {
    /// From here on it is not XML.
    #[error("not valid XML from byte {byte}: {why}")]
    NoXml {
        /// Byte offset from 0.
        byte: u64,
        /// The parser's message.
        why: String,
    },
    /// It was truncated.
    #[error("the file ends inside an element")]
    Cut,
    /// It is nested more deeply than any list of posts.
    #[error("elements nest too deeply")]
    Deep,
    /// An item exceeds the limit of bytes.
    #[error("an element of {0} bytes")]
    Oversize(u64),
}
