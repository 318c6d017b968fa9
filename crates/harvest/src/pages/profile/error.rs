//! What can be wrong with a key's text, and with a file of XML.

/// Why pages cannot be read by what a key says. Which key is told by [`Fault`](super::Fault).
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// It says nothing of this kind.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A pointer does not begin as one.
    #[error("a pointer begins with `/`, as in \"/data/title\", and {0:?} does not")]
    NoPointer(String),
    /// A step of a pointer opens a filter and says none.
    #[error("{0:?} is not a step of a pointer: a filter is written [field=value]")]
    NoStep(String),
    /// A pointer into the JSON of an attribute is without the attribute.
    #[error("{0:?} points into JSON, and names no attribute that holds it: \"li@data-field#/id\"")]
    NoAttribute(String),
    /// It is no CSS selector.
    #[error("{text:?} is not a CSS selector: {why}")]
    NoSelector {
        /// As it is written.
        text: String,
        /// What the parser says.
        why: String,
    },
    /// It is no regular expression.
    #[error("{text:?} is not a regular expression: {}", last_line(error))]
    NoRegex {
        /// As it is written.
        text: String,
        /// What the parser says, with the place marked below the pattern.
        error: regex::Error,
    },
    /// No address begins as this pattern does.
    #[error("{0:?} matches no address; it begins with `/`, `*` or `http`")]
    MatchesNothing(String),
    /// No encoding has this label.
    #[error("unknown encoding {0:?}")]
    UnknownEncoding(String),
    /// No time can be read, or written, in this form.
    #[error(transparent)]
    TimeFormat(#[from] jiff::Error),
}

fn last_line(error: &regex::Error) -> String {
    error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Why an item of an XML file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XmlError {
    /// From here on it is no XML.
    #[error("no XML from byte {byte}: {why}")]
    NoXml {
        /// From 0.
        byte: u64,
        /// What the parser says.
        why: String,
    },
    /// It was cut.
    #[error("the file ends inside an element")]
    Cut,
    /// It is nested deeper than any list of posts.
    #[error("elements nest too deeply")]
    Deep,
    /// An item has more bytes than may be read at once.
    #[error("an element of {0} bytes")]
    Oversize(u64),
}
