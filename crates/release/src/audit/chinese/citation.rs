//! Places in the papers, in Chinese: `RuozhiBench, section 2.3; table 1`.

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
pub fn citation(text: &str) -> String {
    let part = |part: &str| part.split(", ").map(place).collect::<Vec<_>>().join("，");
    text.split("; ").map(part).collect::<Vec<_>>().join("；")
}

fn place(text: &str) -> String {
    if let Some((_, zh)) = TITLES.iter().find(|(en, _)| *en == text) {
        return (*zh).to_owned();
    }
    if let Some((first, second)) = text.split_once(" and ") {
        let kinds = ["section ", "appendix ", "table ", "figure "];
        // The second one may be of another kind: `section 4 and appendix E`.
        if kinds.iter().any(|kind| second.starts_with(kind)) {
            return format!("{}和{}", place(first), place(second));
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
    use crate::recipe::RECIPES;
    use crate::review::ballots::steps;

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
            assert_eq!(citation(en), zh);
        }
    }

    #[test]
    fn no_ballot_names_a_section_that_has_no_chinese_name() {
        for ballot in RECIPES.iter().flat_map(|recipe| steps(recipe.name)) {
            let zh = citation(ballot.paper);
            let english =
                zh.split(['，', '；']).skip(1).find(|part| part.contains(|c: char| c.is_ascii_lowercase()));
            assert_eq!(english, None, "{}", ballot.paper);
        }
    }
}
