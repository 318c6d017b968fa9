//! Chinese texts stand in files of their own by the same keys: `ballots.zh.toml` beside `ballots.toml`. Merging gives texts in
//! both languages; splitting is its inverse.

use super::tree::{Node, NodeValue, Table, ValuePlace, make_words};

/// Where the Chinese of a table without a label or title goes: the title of a table's column, which is its key.
pub(super) const OF_KEY: &str = "\0zh";

/// The label of an option that has none: its code in words.
pub(super) fn label_from_code(code: &str) -> String {
    code.replace('_', " ")
}

/// Whether these are the two parts of an option in a list: `[list.NAME]`, and its code.
fn option_code<'p>(path: &[&'p str]) -> Option<&'p str> {
    match path {
        ["list", _, code] => Some(*code),
        _ => None,
    }
}

/// The place of the text for people in a list that has only one: of the part of a table the title, of a reason and of a
/// requirement the sentence, else the label.
fn for_people(path: &[&str], len: usize) -> usize {
    let is_last = path.contains(&"parts") || is_sentence(path);
    if is_last { len.saturating_sub(1) } else { 0 }
}

/// Whether these are a code or condition and its sentence.
fn is_sentence(path: &[&str]) -> bool {
    matches!(path.last(), Some(&("reason" | "requires")))
}

/// A file with its Chinese. Keys that only the Chinese has are reported.
pub(super) fn merge_chinese(table: Table, zh: &Table, lost: &mut Vec<(ValuePlace, String)>) -> Table {
    merge_table(table, zh, &[], lost)
}

fn merge_table(mut table: Table, zh: &Table, path: &[&str], lost: &mut Vec<(ValuePlace, String)>) -> Table {
    for (name, at, of) in zh.iter_with_places() {
        let Some(known) = table.get_mut(name) else {
            let what = riddlemill_text::hint::unknown("key", name, table.keys());
            lost.push((at, format!("{what}: the Chinese stands by the keys of the English")));
            continue;
        };
        let below: Vec<&str> = path.iter().copied().chain([name]).collect();
        let english = std::mem::replace(known, Node::from_flag(false, at));
        *known = merge_node(english, of, &below, lost);
    }
    table
}

fn merge_node(node: Node, zh: &Node, path: &[&str], lost: &mut Vec<(ValuePlace, String)>) -> Node {
    let at = node.at;
    let short = option_code(path).filter(|_| node.as_text().is_some() && zh.as_list().is_some());
    let node = match short {
        Some(code) => Node::from_list(vec![Node::from_text(label_from_code(code), at), node], at),
        None => node,
    };
    match (node.what, &zh.what) {
        (NodeValue::Text(en), NodeValue::Text(zh)) if !zh.is_empty() => make_words(&en, Some(zh), at),
        // [ "key", { key = … } ]
        (NodeValue::List(list), NodeValue::Table(zh)) => {
            let each = |one: Node| match one.what {
                NodeValue::Table(table) => {
                    let mut merged = Table::default();
                    for (name, of) in table.iter() {
                        let with = zh.get(name);
                        let of = of.clone();
                        let both = match with {
                            Some(zh) => merge_node(of, zh, &[], lost),
                            None => of,
                        };
                        merged.set(name, both);
                    }
                    Node::from_table(merged, one.at)
                }
                what => Node::new(what, one.at),
            };
            Node::from_list(list.into_iter().map(each).collect(), at)
        }
        (NodeValue::List(mut list), NodeValue::Text(_)) => {
            let place = for_people(path, list.len());
            if place < list.len() {
                let of = list.remove(place);
                list.insert(place, merge_node(of, zh, &[], lost));
            }
            Node::from_list(list, at)
        }
        (NodeValue::List(list), NodeValue::List(zh)) => {
            let mut zh = zh.iter();
            let below = if is_sentence(path) { path } else { &[] };
            let each = |one: Node| match zh.next() {
                Some(of) => merge_node(one, of, below, lost),
                None => one,
            };
            Node::from_list(list.into_iter().map(each).collect(), at)
        }
        (NodeValue::Table(mut table), NodeValue::Text(text)) => {
            match ["label", "title"].into_iter().find(|key| table.has_key(key)) {
                Some(key) => {
                    if let Some(label) = table.take_node(key) {
                        table.set(key, merge_node(label, zh, &[], lost));
                    }
                }
                None => table.set(OF_KEY, Node::from_text(text.clone(), zh.at)),
            }
            Node::from_table(table, at)
        }
        (NodeValue::Table(table), NodeValue::Table(zh)) => {
            Node::from_table(merge_table(table, zh, path, lost), at)
        }
        (what, _) => Node::new(what, at),
    }
}

/// The English of a file, and its Chinese.
pub(super) fn split_languages(table: &Table) -> (Table, Table) {
    let (en, zh) = split_table(table, &[]);
    (en, zh.and_then(Node::into_table).unwrap_or_default())
}

fn split_table(table: &Table, path: &[&str]) -> (Table, Option<Node>) {
    let (mut main, mut zh) = (Table::default(), Table::default());
    for (name, node) in table.iter() {
        if name == OF_KEY {
            zh.set(OF_KEY, node.clone());
            continue;
        }
        let below: Vec<&str> = path.iter().copied().chain([name]).collect();
        let (en, of) = split_node(node, &below);
        main.set(name, en);
        if let Some(of) = of {
            zh.set(name, of);
        }
    }
    // A label or title alone stands for its table; a table by a header of its own stays one.
    let short = match zh.single_entry() {
        Some((OF_KEY, node)) => Some(node.clone()),
        Some(("label" | "title", node)) if path.len() > 2 && node.as_text().is_some() => Some(node.clone()),
        _ => None,
    };
    let at = ValuePlace::default();
    let zh = short.or_else(|| (!zh.is_empty()).then(|| Node::from_table(zh, at)));
    (main, zh)
}

fn split_node(node: &Node, path: &[&str]) -> (Node, Option<Node>) {
    let at = node.at;
    if node.is_words() {
        let zh = node.chinese_text().map(|zh| Node::from_text(zh, at));
        return (Node::from_text(node.english_text().unwrap_or_default(), at), zh);
    }
    match &node.what {
        NodeValue::Table(table) => {
            let (main, zh) = split_table(table, path);
            (Node::from_table(main, at), zh)
        }
        NodeValue::List(list) => {
            if let (Some(code), [label, means]) = (option_code(path), list.as_slice())
                && label.is_words()
                && label.english_text() == Some(&label_from_code(code))
                && let (Some(one), Some(two), Some(en)) =
                    (label.chinese_text(), means.chinese_text(), means.english_text())
            {
                return (Node::from_text(en, at), Some(Node::from_texts([one, two], at)));
            }
            let parts: Vec<(Node, Option<Node>)> = list.iter().map(|one| split_node(one, &[])).collect();
            let (main, zh): (Vec<Node>, Vec<Option<Node>>) = parts.into_iter().unzip();
            let chinese = zh.iter().flatten().count();
            if chinese == 0 {
                return (Node::from_list(main, at), None);
            }
            let place = for_people(path, zh.len());
            let only = zh
                .get(place)
                .and_then(Option::as_ref)
                .filter(|only| chinese == 1 && zh.len() > 1 && only.as_text().is_some());
            let zh = match only {
                Some(only) => only.clone(),
                None if path.last() == Some(&"shows") => {
                    let mut by_key = Table::default();
                    for (name, of) in zh.iter().flatten().filter_map(Node::as_table).flat_map(Table::iter) {
                        by_key.set(name, of.clone());
                    }
                    Node::from_table(by_key, at)
                }
                None => {
                    let each = |one: Option<Node>| one.unwrap_or_else(|| Node::from_text("", at));
                    Node::from_list(zh.into_iter().map(each).collect(), at)
                }
            };
            (Node::from_list(main, at), Some(zh))
        }
        _ => (node.clone(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{format_inline, parse_table};
    use super::*;

    #[test]
    fn what_is_split_is_merged_again() {
        let both = parse_table(
            0,
            "",
            r#"
about = { en = "jokes", zh = "笑话" }
plain = "one language"
[list.kinds]
pun = [{ en = "pun", zh = "双关" }, { en = "Two meanings.", zh = "两层意思。" }]
other = [{ en = "none", zh = "无" }, { en = "None.", zh = "都不是。" }]
[shown]
text = [{ en = "Text", zh = "文本" }, "text"]
[ballot.a]
shows = ["text", { note = { en = "Note", zh = "注" } }]
fields = { x = { label = { en = "X", zh = "某" }, yes = { en = "Y", zh = "是" }, no = "N" }, y = { en = "Z", zh = "乙" } }
[table.t]
parts = { all = ["", { en = "All", zh = "全部" }] }
drawn = [{ as = "bars", title = { en = "Drawn", zh = "图" } }]
"#,
        )
        .unwrap();
        let (en, zh) = split_languages(&both);
        assert!(!format_inline(&Node::from_table(en.clone(), ValuePlace::default())).contains('文'));
        assert_eq!(en.table("list").unwrap().table("kinds").unwrap().text("pun"), Some("Two meanings."));
        let mut lost = Vec::new();
        assert_eq!(merge_chinese(en, &zh, &mut lost), both);
        assert!(lost.is_empty());
    }

    #[test]
    fn chinese_without_english_is_told() {
        let en = parse_table(0, "", "[ballot.a]\ntitle = 'A'\n").unwrap();
        let zh = parse_table(3, "", "[ballot.a]\ntitel = '甲'\n").unwrap();
        let mut lost = Vec::new();
        merge_chinese(en, &zh, &mut lost);
        assert_eq!(lost[0].0.format_place(), "benchmark.zh.toml:2:1");
        assert!(lost[0].1.contains("did you mean \"title\"?"), "{}", lost[0].1);
    }
}
