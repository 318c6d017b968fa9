//! The words of the charts and tables of reports. Names of figures that benchmarks declare stay as they are.

use riddlemill_benchmarks::{Benchmark, Derived};

use super::{stage, translated};

/// The Chinese of a title, an axis, a series or the name of a row; `None` if there is none.
pub fn chart_word(text: &str) -> Option<String> {
    translated(WORDS, text).or_else(|| stage_name(text))
}

/// The Chinese of a text of a figure that a benchmark's folder has in both languages.
pub fn declared(text: &str) -> Option<String> {
    static WORDS: Derived<Vec<(&str, &str)>> = Derived::new(|| {
        let figures = |of: &'static Benchmark| of.evaluation.iter().chain(&of.report.figures);
        let all = riddlemill_benchmarks::all().iter().flat_map(figures);
        all.flat_map(|figure| figure.words.iter().copied()).collect()
    });
    translated(&WORDS, text)
}

/// A stage, or the step of its review.
fn stage_name(text: &str) -> Option<String> {
    let (prefix, name) = text.strip_prefix("review:").map_or(("", text), |name| ("评审：", name));
    stage(name).map(|(_, zh)| format!("{prefix}{zh}"))
}

const WORDS: &[(&str, &str)] = &[
    ("{}: records after each stage", "{}：各阶段之后的记录数"),
    ("{}: length of a text", "{}：文本长度"),
    ("{}: similarity of pairs", "{}：成对相似度"),
    (
        "{}: records merged if the score alone decided; now {}",
        "{}：如果只凭分数判断，会合并的记录数；现在 {}",
    ),
    ("{}: numbers", "{}：数值"),
    ("Figure", "项目"),
    ("Value", "数值"),
    ("stage", "阶段"),
    ("records", "记录"),
    ("characters", "字符"),
    ("score", "分数"),
    ("pairs", "记录对"),
    ("threshold", "阈值"),
    ("read", "读入"),
    ("at the end", "最终"),
    ("after import", "导入后"),
    ("merged", "合并"),
    ("near, not merged", "相近但未合并"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_as_many_holes_in_both_languages() {
        for (en, zh) in WORDS {
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{en}");
            assert_eq!(chart_word(&en.replace("{}", "x1")), Some(zh.replace("{}", "x1")), "{en}");
        }
        assert_eq!(chart_word("import").as_deref(), Some("导入"));
        assert_eq!(chart_word("review:screen").map(|zh| zh.starts_with("评审：")), Some(true));
        assert_eq!(chart_word("flub"), None);
    }
}
