//! The released versions in `status`.

use super::output::count;
use crate::recipe::Recipe;
use crate::release::Since;

/// Most rows named for each version.
const NAMED: usize = 10;

/// A released version: which of its rows would no longer be released unchanged, and why.
pub(super) fn released_lines(recipe: &Recipe, since: &Since) -> String {
    let Since { version, date, rows, yanked, otherwise } = since;
    let yanked = yanked
        .as_ref()
        .map(|yanked| format!(", yanked on {}: {}", yanked.date, yanked.reason))
        .unwrap_or_default();
    let state = match otherwise.is_empty() {
        true => "all rows as they were released".to_string(),
        false => format!("{} of {} since", since.describe(), count(*rows, "row")),
    };
    let mut text = format!("  released {version} ({date}{yanked}): {state}\n");
    for row in otherwise.iter().take(NAMED) {
        let why = row.why.replace('\n', "⏎");
        text.push_str(&format!("    {:9} {}  {why}\n", row.fate.name(), row.id));
    }
    if otherwise.len() > NAMED {
        let folder = format!("output/{}", recipe.name);
        text.push_str(&format!(
            "    … and {} more: `riddlemill diff {folder}/{version} {folder}/candidate`\n",
            otherwise.len() - NAMED
        ));
    }
    text
}
