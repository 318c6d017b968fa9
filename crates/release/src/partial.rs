//! Whether a set is so small a share of what it could be that a stable release of it has to be asked for.

use super::manifest::Candidate;
use crate::config::{Config, sections};
use crate::recipe::Recipe;
use crate::store::Workspace;

/// Whether a stable release of a candidate has to be asked for with `--partial`.
pub fn is_partial(config: &Config, recipe: &'static Recipe) -> bool {
    let place = Workspace::new(&config.root).candidate(recipe.name);
    let candidate = Candidate::read(&place).ok().flatten();
    candidate.is_some_and(|candidate| below(config, recipe, candidate.rows, candidate.waiting))
}

/// Whether rows are a smaller share of what could be rows than the settings name.
pub(super) fn below(config: &Config, recipe: &'static Recipe, rows: u64, waiting: u64) -> bool {
    let settings: sections::Release = config.typed(Some(recipe.name), "release");
    let all = rows + waiting;
    all > 0 && (rows as f64) < settings.whole_share * all as f64
}
