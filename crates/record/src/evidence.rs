//! What made a rule fire, in words for the ledger and, where somebody has to do something, as fields.

use std::fmt;
use std::ops::Deref;

use super::{Cause, Reason};

/// The evidence of an outcome: its text in the ledger, and the [`Cause`] of a record that waits, failed, or went on without
/// something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    text: String,
    cause: Option<Box<Cause>>,
}

impl Evidence {
    /// Evidence with its fields.
    pub fn with_cause(text: impl Into<String>, cause: Cause) -> Evidence {
        Evidence { text: text.into(), cause: Some(Box::new(cause)) }
    }

    /// The evidence of a record that went on without what was asked for, with why it is missing.
    pub fn explain_missing(reason: Reason, evidence: &Evidence) -> Evidence {
        let cause = Cause::Without {
            reason: reason.code().to_owned(),
            said: evidence.text.clone(),
            why: evidence.cause.clone(),
        };
        Evidence::with_cause(format!("{}: {evidence}", reason.code()), cause)
    }

    /// The text in the ledger.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The fields, if it has some.
    pub fn cause(&self) -> Option<&Cause> {
        self.cause.as_deref()
    }

    /// The same fields with another text.
    pub fn with_text(&self, text: impl Into<String>) -> Evidence {
        Evidence { text: text.into(), cause: self.cause.clone() }
    }

    /// The text alone.
    pub fn into_text(self) -> String {
        self.text
    }
}

impl Deref for Evidence {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for Evidence {
    fn from(text: String) -> Evidence {
        Evidence { text, cause: None }
    }
}

impl From<&str> for Evidence {
    fn from(text: &str) -> Evidence {
        text.to_owned().into()
    }
}

impl PartialEq<str> for Evidence {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl PartialEq<&str> for Evidence {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl PartialEq<String> for Evidence {
    fn eq(&self, text: &String) -> bool {
        self.text == *text
    }
}
