//! Settings that benchmarks declare for themselves (`[setting.SECTION.KEY]`), under `[recipe.NAME.SECTION]`.

use riddlemill_benchmarks::setting::Setting;
use serde_json::Value;

use super::mismatch::Mismatch;
use super::near_miss;

/// The settings of a recipe.
pub(super) fn settings_of(recipe: &str) -> &'static [Setting] {
    riddlemill_benchmarks::find(recipe).map(|found| found.own.declared.as_slice()).unwrap_or_default()
}

/// One setting of a recipe.
pub(super) fn find(recipe: &str, section: &str, name: &str) -> Option<&'static Setting> {
    settings_of(recipe).iter().find(|setting| (setting.section, setting.name) == (section, name))
}

/// The tables of a recipe's settings, each once.
pub(super) fn sections(recipe: &str) -> Vec<&'static str> {
    let mut sections: Vec<&str> = settings_of(recipe).iter().map(|setting| setting.section).collect();
    sections.dedup();
    sections
}

/// Checks a value.
///
/// # Errors
/// [`Mismatch`] if it is invalid.
pub(super) fn check(setting: &Setting, value: &Value) -> Result<Value, Mismatch> {
    use riddlemill_benchmarks::setting::Kind;
    if setting.kind.holds(value) {
        return Ok(value.clone());
    }
    let near = match setting.kind {
        Kind::OneOf(words) => value.as_str().and_then(|text| near_miss(text, words.iter().copied())),
        _ => None,
    };
    Err(Mismatch::new(setting.kind.expected()).near(near))
}
