//! Settings that are one of a few words.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use riddlemill_text::hint;
use riddlemill_text::offline::settings::Language;

/// Refuses a word that is not in the list, and suggests the nearest one.
pub(crate) fn one_of(what: &str, word: &str, words: &[&str]) -> PyResult<()> {
    match words.contains(&word) {
        true => Ok(()),
        false => Err(PyValueError::new_err(hint::unknown(what, word, words.iter().copied()))),
    }
}

/// The value that a word names.
pub(crate) fn chosen<T>(
    what: &str,
    word: &str,
    words: &[&str],
    from_name: impl Fn(&str) -> Option<T>,
) -> PyResult<T> {
    from_name(word).ok_or_else(|| PyValueError::new_err(hint::unknown(what, word, words.iter().copied())))
}

/// A language of the text stages.
pub(crate) fn language(word: &str) -> PyResult<Language> {
    one_of("language", word, &["zh", "en"])?;
    Ok(if word == "en" { Language::En } else { Language::Zh })
}

/// A share over 0 and at most 1.
pub(crate) fn threshold(value: f64) -> PyResult<f64> {
    match value > 0.0 && value <= 1.0 {
        true => Ok(value),
        false => Err(PyValueError::new_err(format!("threshold must be over 0 and at most 1, not {value}"))),
    }
}
