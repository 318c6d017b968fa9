//! What an endpoint wants that needs somebody's yes.

use riddlemill_files::Wish;

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("{word:?}") } else { word.to_owned() }
}

/// Whether values of the environment go along.
pub(super) fn has_variables(wish: &Wish) -> bool {
    matches!(wish, Wish::Host { variables, .. } if !variables.is_empty())
}
