//! What stages and reasons are called in Chinese, for pages and reports. The English is with the code.

mod questions;
mod reasons;
mod sentences;
mod stages;

#[cfg(test)]
pub(crate) use reasons::COUNT;
pub(crate) use sentences::{fill, sentence, translated};

/// A reason's short name and what it means; `None` where it is none of this version's.
pub(crate) fn reason(code: &str) -> Option<(&'static str, &'static str)> {
    reasons::find(code).map(|(_, short, definition)| (*short, *definition))
}

/// What a rule that tells a question from a statement means; `None` where there is none of this code.
pub(crate) fn question_rule(code: &str) -> Option<&'static str> {
    questions::find(code)
}

/// A stage's names in English and in Chinese, by its name or that of what it reviews.
pub(crate) fn stage(name: &str) -> Option<(&'static str, &'static str)> {
    stages::STAGES.iter().find(|(known, ..)| *known == name).map(|(_, en, zh)| (*en, *zh))
}

/// What a state is called.
pub(crate) fn state(code: &str) -> Option<&'static str> {
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
