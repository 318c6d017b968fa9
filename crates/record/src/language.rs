//! The language of a record.

use serde::{Deserialize, Serialize};

use super::{Cell, CellKind, Field, Values};

/// A language for which the text stages have rules, or none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Chinese.
    Zh,
    /// English.
    En,
    /// Another language, or too little to tell ("undetermined" in ISO 639).
    #[default]
    Und,
}

impl Language {
    /// The codes, for settings.
    pub const CODES: &'static [&'static str] = &["zh", "en", "und"];

    /// The code in rows and settings.
    pub const fn code(self) -> &'static str {
        match self {
            Language::Zh => "zh",
            Language::En => "en",
            Language::Und => "und",
        }
    }

    /// The language of a code.
    pub fn from_code(code: &str) -> Option<Language> {
        [Language::Zh, Language::En, Language::Und].into_iter().find(|language| language.code() == code)
    }
}

/// Null where nobody has determined it yet.
impl Field for Option<Language> {
    const KIND: CellKind = CellKind::Text;
    const FILLED: bool = false;
    fn cell(&self) -> Cell<'_> {
        self.map_or(Cell::Null, |language| Cell::Text(language.code()))
    }
    fn take(values: &mut dyn Values) -> Self {
        values.text().as_deref().and_then(Language::from_code)
    }
}
