//! Everything for which a release of a candidate would be refused, told before anybody tries.

use super::manifest::Candidate;
use super::publish::unlicensed;
use crate::config::Config;
use crate::recipe::Recipe;
use crate::store::Workspace;

/// Why `release` would refuse a recipe's candidate as it is, each with its remedy; empty if nothing speaks against it, or
/// there is no candidate.
pub fn refusals(config: &Config, recipe: &'static Recipe) -> Vec<String> {
    let place = Workspace::new(&config.root).candidate(recipe.name);
    let Some(candidate) = Candidate::read(&place).ok().flatten() else { return Vec::new() };
    let mut why = candidate.refused.clone();
    // A draft states its reasons, and needs a licence like every release; without rows there is nothing to licence.
    if candidate.rows > 0 {
        why.extend(unlicensed(config, recipe).map(|error| error.to_string().replace("\n  hint: ", "; ")));
    }
    why
}
