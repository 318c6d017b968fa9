//! Adopts the numbers of a set that was published elsewhere, so that the same item has the same id.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::error::ReleaseError;
use super::numbered::{lock_numbers, numbered_items, published_number, read_known_numbers};
use super::read_rows;
use super::registry::Registry;
use super::source::{CandidateSource, open_stage};
use crate::config::Config;
use crate::recipe::Recipe;
use crate::store::{Workspace, sha256_of_file};

/// The result of adopting numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// Items of the published file.
    pub published: usize,
    /// Those of them whose exact text is at the recipe's end.
    pub found: usize,
    /// Those of them whose number is new in the registry.
    pub new: usize,
}

/// Registers the published number of every item whose text is at the recipe's end.
///
/// # Errors
/// [`ReleaseError::Number`] if a number or its item is taken; nothing is registered then.
pub fn adopt_numbers(
    config: &Config,
    recipe: &'static Recipe,
    published: &Path,
) -> Result<Adopted, ReleaseError> {
    let workspace = Workspace::new(&config.root);
    // Until the numbers are registered, no release may assign one of them.
    let _locks = lock_numbers(&workspace, recipe)?;
    let end = CandidateSource::new(recipe);
    let last = open_stage(&workspace, recipe, end.step())?;
    let items = read_rows::of_file(published)?;
    let numbers: Vec<(String, u64)> =
        items.iter().filter_map(|item| published_number(recipe, item)).collect();
    if numbers.is_empty() {
        return Err(ReleaseError::NoNumbers { recipe: recipe.name.into() });
    }
    let mut by_text: FxHashMap<String, (String, String)> = FxHashMap::default();
    for item in numbered_items(&workspace, end, &last)? {
        by_text.entry(item.text).or_insert((item.series, item.key));
    }
    let mut registry = Registry::open(&workspace, recipe.name)?;
    let mut known = read_known_numbers(&workspace, recipe)?;
    let (mut found, mut new) = (0, Vec::new());
    for (text, number) in &numbers {
        let Some((series, key)) = by_text.get(text) else { continue };
        found += 1;
        let refused = |why: String| ReleaseError::Number {
            series: series.clone(),
            number: *number,
            key: key.clone(),
            why,
        };
        match (known.number_of_key(series, key), known.key_of_number(series, *number)) {
            (Some(own), _) if own == *number => {}
            (Some(own), _) => return Err(refused(format!("it already has {own}"))),
            (None, Some(other)) => return Err(refused(format!("{other} already has it"))),
            (None, None) => {
                known.add_known(series, key, *number);
                new.push((series.clone(), key.clone(), *number));
            }
        }
    }
    let adopted = Adopted { published: items.len(), found, new: new.len() };
    if !new.is_empty() {
        registry.record_adoption(sha256_of_file(published)?, new)?;
    }
    Ok(adopted)
}
