//! Chinese names of stages and reasons, for pages and reports. The English ones are in the code.

mod categories;
mod charts;
mod citation;
mod evidence;
mod questions;
mod reasons;
mod sentences;
mod stages;

pub use categories::category;
pub use charts::{chart_word, declared};
pub use citation::citation;
pub use evidence::evidence;
pub use sentences::{fill, sentence, translated};

/// A reason's short name and meaning; `None` if it is not one of this version.
pub fn reason(code: &str) -> Option<(&'static str, &'static str)> {
    reasons::find(code).map(|(_, short, definition)| (*short, *definition))
}

/// The meaning of a rule that distinguishes questions from statements; `None` for another code.
pub fn question_rule(code: &str) -> Option<&'static str> {
    questions::find(code)
}

/// A stage's names in English and in Chinese, by its name or that of the reviewed field.
pub fn stage(name: &str) -> Option<(&'static str, &'static str)> {
    stages::STAGES.iter().find(|(known, ..)| *known == name).map(|(_, en, zh)| (*en, *zh))
}

/// The name of a state.
pub fn state(code: &str) -> Option<&'static str> {
    let known = [
        ("kept", "保留"),
        ("changed", "改动"),
        ("expanded", "展开"),
        ("joined", "合成"),
        ("merged", "合并"),
        ("dropped", "剔除"),
        ("held", "搁置"),
        ("failed", "失败"),
    ];
    known.iter().find(|(known, _)| *known == code).map(|(_, zh)| *zh)
}
