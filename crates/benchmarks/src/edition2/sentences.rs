//! `reason` and `requires`: a code or a condition, and the sentence for people.

use super::tree::{Node, Table, ValuePlace};

/// `requires = [["condition", "sentence"]]` as tables; anything else is told.
pub(super) fn low_requires(table: &mut Table, problems: &mut Vec<(ValuePlace, String)>) {
    let Some(written) = table.take_node("requires") else { return };
    let at = written.at;
    let wrong = "requires: expected [[\"condition\", \"sentence\"], …]";
    let Some(list) = written.into_list() else {
        problems.push((at, wrong.to_owned()));
        return;
    };
    let mut low = Vec::new();
    for one in list {
        match one.as_list() {
            Some([holds, says]) if holds.as_text().is_some() && says.is_text_or_words() => {
                let mut requirement = Table::default();
                requirement.set("holds", holds.clone());
                requirement.set("says", says.clone());
                low.push(Node::from_table(requirement, one.at));
            }
            _ => problems.push((one.at, wrong.to_owned())),
        }
    }
    if !low.is_empty() {
        table.set("requires", Node::from_list(low, at));
    }
}

/// `reason = ["code", "sentence"]` as a code and what it says; anything else is left to be told by who reads it.
pub(super) fn low_reason(table: &mut Table) {
    let Some([code, says]) = table.list("reason") else { return };
    let (code, says) = (code.clone(), says.clone());
    table.set("reason", code);
    table.set("says", says);
}

#[cfg(test)]
mod tests {
    use super::super::chinese::merge_chinese;
    use super::super::tree::parse_table;
    use super::*;

    #[test]
    fn sentences_are_lowered_with_their_chinese_and_what_is_none_is_told() {
        let en =
            parse_table(0, "", "reason = ['easy', 'Too easy.']\nrequires = [['a > 1', 'Longer.'], 'b']\n")
                .unwrap();
        let zh = parse_table(3, "", "reason = '太容易。'\nrequires = ['要更长。']\n").unwrap();
        let mut problems = Vec::new();
        let mut both = merge_chinese(en, &zh, &mut problems);
        low_reason(&mut both);
        low_requires(&mut both, &mut problems);
        assert_eq!(both.text("reason"), Some("easy"));
        assert_eq!(both.get("says").unwrap().chinese_text(), Some("太容易。"));
        let requires = both.list("requires").unwrap();
        assert_eq!(requires.len(), 1);
        let first = requires[0].as_table().unwrap();
        assert_eq!(first.text("holds"), Some("a > 1"));
        assert_eq!(first.get("says").unwrap().chinese_text(), Some("要更长。"));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].0.format_place(), "benchmark.toml:2:35");
    }
}
