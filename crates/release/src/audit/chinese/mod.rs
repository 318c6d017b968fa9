//! Chinese names of stages and reasons, for pages and reports. The English ones are in the code.

mod evidence;
mod reasons;
mod stages;

pub use evidence::translate_evidence;
pub use stages::{chart_word, translate_category, translate_declared, translate_figure};

use std::sync::LazyLock;

use crate::pipeline::sentence_pairs;

/// A reason's short name and meaning; `None` if it is not one of this version.
pub fn describe_reason(code: &str) -> Option<(&'static str, &'static str)> {
    reasons::find_reason(code).map(|(_, short, definition)| (*short, *definition))
}

/// The meaning of a rule that distinguishes questions from statements, or by which two texts are one; `None` for another code.
pub fn rule_sentence(code: &str) -> Option<&'static str> {
    stages::find_rule_meaning(code)
}

/// A stage's names in English and in Chinese, by its name or that of the reviewed field.
pub fn stage_names(name: &str) -> Option<(&'static str, &'static str)> {
    stages::STAGES.iter().find(|(known, ..)| *known == name).map(|(_, en, zh)| (*en, *zh))
}

/// The name of a state.
pub fn state_name(code: &str) -> Option<&'static str> {
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

/// English with `{}` for values of the workspace, and the Chinese, with as many in the same order, as translators edit them.
const FILE: &str = include_str!("sentences.toml");

static PAIRS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| sentence_pairs(FILE));

static SENTENCES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| PAIRS.iter().map(|(en, zh)| (en.as_str(), zh.as_str())).collect());

/// A sentence of the libraries in Chinese; `None` without a translation.
pub fn translate_sentence(text: &str) -> Option<String> {
    translate_text(&SENTENCES, text)
}

/// Translates a text by a list of patterns, English and Chinese, with `{}` for values that are translated
/// themselves.
pub fn translate_text(patterns: &[(&str, &str)], text: &str) -> Option<String> {
    let (zh, given) = patterns.iter().find_map(|(en, zh)| Some((*zh, values_in_pattern(en, text)?)))?;
    Some(fill_placeholders(zh, &given))
}

/// The values in a pattern's `{}`; `None` if the text is another sentence.
fn values_in_pattern<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut pieces = pattern.split("{}");
    let mut rest = text.strip_prefix(pieces.next()?)?;
    let mut found = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        // The last piece has to end the text, because the value before it may contain the same words.
        let end =
            if pieces.peek().is_some() { rest.find(piece)? } else { rest.len().checked_sub(piece.len())? };
        if rest.get(end..end + piece.len())? != piece {
            return None;
        }
        found.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    rest.is_empty().then_some(found)
}

/// A text with its placeholders filled in.
pub fn fill_placeholders(text: &str, values: &[&str]) -> String {
    let mut pieces = text.split("{}");
    let mut text = pieces.next().unwrap_or_default().to_string();
    for (given, piece) in values.iter().zip(pieces) {
        text.push_str(given);
        text.push_str(piece);
    }
    text
}

/// What the sections of the papers are called.
const TITLES: &[(&str, &str)] = &[
    ("translation review", "译文复核"),
    ("irrationality analysis", "不合理之处分析"),
    ("question type annotation", "问题类型标注"),
    ("paired question generation", "成对问题的生成"),
    ("data cleaning", "数据清洗"),
    ("data annotation", "数据标注"),
    ("cunning type annotation", "刁钻类型标注"),
    ("annotation quality", "标注质量"),
    ("correct explanation annotation", "正确解释的标注"),
    ("wrong candidates annotation", "错误候选的标注"),
    ("the authors' check of every row", "作者逐条核对"),
    ("experiment setup", "实验设置"),
    ("evaluation setup", "评测设置"),
    ("semantic reconstruction", "语义重构"),
    ("context reconstruction", "情境重构"),
    ("human validation", "人工验证"),
    ("'following the same process as in Section 3.3'", "“过程与第 3.3 节相同”"),
];

/// A citation in Chinese; names, and what is no place in a paper, stay.
pub fn translate_citation(text: &str) -> String {
    let part = |part: &str| part.split(", ").map(translate_place).collect::<Vec<_>>().join("，");
    text.split("; ").map(part).collect::<Vec<_>>().join("；")
}

fn translate_place(text: &str) -> String {
    if let Some((_, zh)) = TITLES.iter().find(|(en, _)| *en == text) {
        return (*zh).to_owned();
    }
    if let Some((first, second)) = text.split_once(" and ") {
        let kinds = ["section ", "appendix ", "table ", "figure "];
        // The second one may be of another kind: `section 4 and appendix E`.
        if kinds.iter().any(|kind| second.starts_with(kind)) {
            return format!("{}和{}", translate_place(first), translate_place(second));
        }
    }
    let numbers = |text: &str| text.replace(" and ", " 和 ").replace(" to ", " 至 ");
    for (kind, before, after) in [
        ("sections ", "第 ", " 节"),
        ("section ", "第 ", " 节"),
        ("appendices ", "附录 ", ""),
        ("appendix ", "附录 ", ""),
        ("tables ", "表 ", ""),
        ("table ", "表 ", ""),
        ("figures ", "图 ", ""),
        ("figure ", "图 ", ""),
    ] {
        if let Some(which) = text.strip_prefix(kind) {
            return format!("{before}{}{after}", numbers(which));
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;
    use crate::recipe::RECIPES;
    use crate::review::ballots::steps_of_recipe;

    #[test]
    fn sentences_keep_their_names_and_figures() {
        let zh = |text: &str| translate_sentence(text).unwrap_or_else(|| text.to_string());
        assert_eq!(zh("no item has two votes"), "没有一条有两票");
        assert_eq!(
            zh("24 rows of flub are synthetic: people still have to confirm them"),
            "24 行（flub）来自合成投票，尚待人工确认"
        );
        assert_eq!(zh("500 from mine"), "500 from mine");
        assert_eq!(
            zh(
                "d:1 and d:2 became one row (\"x\"): both have the id ab; `riddlemill decide drop d:2 --recipe flub --by NAME --why \
                 TEXT` leaves one"
            ),
            "d:1 与 d:2 成为同一行 (\"x\")：编号同为 ab；`riddlemill decide drop d:2 --recipe flub --by NAME --why TEXT` 可只留其一"
        );
    }

    #[test]
    fn the_columns_of_every_set_are_described_in_chinese() {
        for layout in layout::finished_layouts().copied().chain([layout::layout_of_posts("flub")]) {
            let columns = layout.columns.iter().map(|column| column.about);
            let english: Vec<&str> =
                columns.chain([layout.about]).filter(|about| translate_sentence(about).is_none()).collect();
            assert!(english.is_empty(), "{}: {english:?}", layout.config);
        }
    }

    #[test]
    fn every_sentence_has_as_many_holes_in_both_languages() {
        assert!(SENTENCES.len() > 50, "{} sentences", SENTENCES.len());
        for (en, zh) in SENTENCES.iter() {
            assert!(!en.is_empty() && !zh.is_empty(), "{en} {zh}");
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{en}");
            let filled = en.replace("{}", "x1");
            assert_eq!(
                translate_sentence(&filled),
                Some(zh.replace("{}", "x1")),
                "{en}: another one takes it"
            );
        }
    }

    #[test]
    fn places_in_papers_are_put_into_chinese() {
        for (en, zh) in [
            ("RuozhiBench, section 2.2", "RuozhiBench，第 2.2 节"),
            (
                "FLUB, section 2.1, cunning type annotation; figure 2; section 2.2, annotation quality",
                "FLUB，第 2.1 节，刁钻类型标注；图 2；第 2.2 节，标注质量",
            ),
            ("Chumor, section 4 and appendix E; figure 3", "Chumor，第 4 节和附录 E；图 3"),
            (
                "Chumor, section 3, evaluation setup; appendices C and D",
                "Chumor，第 3 节，评测设置；附录 C 和 D",
            ),
            ("BrainTeaser, sections 3.1 and 3.2", "BrainTeaser，第 3.1 和 3.2 节"),
            ("a page", "a page"),
        ] {
            assert_eq!(translate_citation(en), zh);
        }
    }

    #[test]
    fn no_ballot_names_a_section_that_has_no_chinese_name() {
        for ballot in RECIPES.iter().flat_map(|recipe| steps_of_recipe(recipe.name)) {
            let zh = translate_citation(ballot.paper);
            let english =
                zh.split(['，', '；']).skip(1).find(|part| part.contains(|c: char| c.is_ascii_lowercase()));
            assert_eq!(english, None, "{}", ballot.paper);
        }
    }
}
