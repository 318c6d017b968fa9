//! Settings that benchmarks declare for themselves (`[setting.SECTION.KEY]`), under `[recipe.NAME.SECTION]`.

use riddlemill_benchmarks::setting::Setting;
use riddlemill_schema::Key;

/// The settings of a recipe.
pub(super) fn settings_of(recipe: &str) -> &'static [Setting] {
    riddlemill_benchmarks::find(recipe).map(|found| found.own.declared.as_slice()).unwrap_or_default()
}

/// The keys that a recipe adds to a table.
pub(super) fn keys(recipe: &str, section: &str) -> impl Iterator<Item = Key> {
    settings_of(recipe).iter().filter(move |own| own.section == section).map(|own| own.key)
}

/// The tables of a recipe's settings, each once.
pub(super) fn sections(recipe: &str) -> Vec<&'static str> {
    let mut sections: Vec<&str> = settings_of(recipe).iter().map(|setting| setting.section).collect();
    sections.dedup();
    sections
}
