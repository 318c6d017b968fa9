//! What an endpoint wants that needs somebody's yes.

use riddlemill_files::Wish;

/// Whether values of the environment go along.
pub(super) fn has_variables(wish: &Wish) -> bool {
    matches!(wish, Wish::Host { variables, .. } if !variables.is_empty())
}
