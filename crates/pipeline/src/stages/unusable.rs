//! Settings, files or requests that cannot be used: where, what is wrong, and what to do.

use std::fmt;

/// A setting, a file that settings name, or a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The key of the settings, or the file and line; `None` where it is the request itself.
    pub at: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl Unusable {
    /// What is wrong at a key of the settings, or at a line of a file.
    pub fn at(at: impl Into<String>, what: impl fmt::Display) -> Unusable {
        Unusable { at: Some(at.into()), what: what.to_string(), hint: None }
    }

    /// What is wrong with a request.
    pub fn asked(what: impl fmt::Display) -> Unusable {
        Unusable { at: None, what: what.to_string(), hint: None }
    }

    /// With what to write instead.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Unusable {
        Unusable { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.what)?;
        self.hint.iter().try_for_each(|hint| write!(f, "\n  hint: {hint}"))
    }
}

impl std::error::Error for Unusable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_where_what_and_what_to_do() {
        let message =
            Unusable::at("draft.endpoint", "there is no [llm.x]").hint("there are y, z").to_string();
        assert_eq!(message, "draft.endpoint: there is no [llm.x]\n  hint: there are y, z");
        assert_eq!(Unusable::asked("a text of two characters").to_string(), "a text of two characters");
    }
}
