//! The released versions in `status`.

use serde_json::{Value, json};

use super::exit::Failure;
use crate::recipe::Recipe;
use crate::release::{Since, since};
use crate::store::Workspace;

/// Most rows named for each version.
const NAMED: usize = 10;

/// The released versions of a recipe, for people and for machines: which of their rows would no longer be
/// released unchanged, and why.
pub(super) fn describe(
    workspace: &Workspace,
    recipe: &'static Recipe,
) -> Result<(String, Vec<Value>), Failure> {
    let versions = since(workspace, recipe)?;
    let text = versions.iter().map(|version| lines(recipe, version)).collect();
    let machine = versions.iter().map(|version| json!({ "recipe": recipe.name, "released": version }));
    Ok((text, machine.collect()))
}

fn lines(recipe: &Recipe, since: &Since) -> String {
    let Since { version, date, rows, yanked, otherwise } = since;
    let yanked = yanked
        .as_ref()
        .map(|yanked| format!(", yanked on {}: {}", yanked.date, yanked.reason))
        .unwrap_or_default();
    let state = match otherwise.is_empty() {
        true => "all rows as they were released".to_string(),
        false => format!("{} of {rows} rows since", since.describe()),
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
