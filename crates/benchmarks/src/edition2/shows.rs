//! What ballots show: keys of `[shown]`, or `{ key = [label, expression, how many] }`.

use super::fields::{NTH, add_ordinal};
use super::tree::{Node, Table, ValuePlace};

/// The first edition's `shows`.
pub(super) fn low_shows(list: &[Node], shown: &Table) -> Node {
    let at = list.first().map(|one| one.at).unwrap_or_default();
    Node::from_list(list.iter().flat_map(|one| low_one(one, shown)).collect(), at)
}

fn low_one(one: &Node, shown: &Table) -> Vec<Node> {
    let at = one.at;
    let (key, written) = match (one.as_text(), one.as_table().and_then(Table::single_entry)) {
        (Some(key), _) => (key, None),
        (None, Some((key, written))) => (key, Some(written)),
        (None, None) => return vec![one.clone()],
    };
    let base = shown.list(key);
    let of_base = |i: usize| base.and_then(|base| base.get(i)).cloned();
    let parts = written.and_then(Node::as_list);
    let label = match (written, parts) {
        (_, Some(parts)) => parts.first().cloned(),
        (Some(label), None) => Some(label.clone()),
        (None, None) => of_base(0),
    };
    let is = match parts {
        Some(parts) => parts.get(1).cloned(),
        None => of_base(1),
    };
    let is = is.unwrap_or_else(|| Node::from_text(key, at));
    let times = parts.and_then(|parts| parts.get(2)).and_then(Node::as_number).unwrap_or(0);
    let each = |i: usize| {
        let mut out = Table::default();
        let key = if times > 0 { format!("{key}_{}", i + 1) } else { key.to_owned() };
        let is = match (times, is.as_text()) {
            (1.., Some(is_text)) => Node::from_text(format!("{is_text}[{i}]"), is.at),
            _ => is.clone(),
        };
        out.set("key", Node::from_text(key.as_str(), at));
        if is.as_text() != Some(&key) {
            out.set("is", is);
        }
        if let Some(label) = label.as_ref().filter(|label| !label.is_nothing()) {
            out.set("label", if times > 0 { add_ordinal(label, i) } else { label.clone() });
        }
        Node::from_table(out, at)
    };
    (0..times.max(1)).map(each).collect()
}

/// What is shown more than once with the same label and expression: `[shown]`.
pub(super) fn find_common_shows<'b>(ballots: impl Iterator<Item = &'b Table>) -> Table {
    let mut seen: Vec<(String, Vec<(Node, usize)>)> = Vec::new();
    for one in ballots.filter_map(|ballot| ballot.list("shows")).flatten().filter_map(Node::as_table) {
        let (Some(key), Some(label)) = (one.text("key"), one.get("label")) else { continue };
        let is = one.get("is").cloned().unwrap_or_else(|| Node::from_text(key, label.at));
        let pair = Node::from_list(vec![label.clone(), is], label.at);
        let at = seen.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            seen.push((key.to_owned(), Vec::new()));
            seen.len() - 1
        });
        match seen[at].1.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, count)) => *count += 1,
            None => seen[at].1.push((pair, 1)),
        }
    }
    let mut shown = Table::default();
    for (key, pairs) in seen {
        let most = pairs.iter().map(|(_, count)| *count).max().unwrap_or(0);
        if most > 1
            && let Some((pair, _)) = pairs.into_iter().find(|(_, count)| *count == most)
        {
            shown.set(&key, pair);
        }
    }
    shown
}

/// The inverse of [`low_shows`].
pub(super) fn up_shows(list: &[Node], shown: &Table) -> Option<Node> {
    let mut out = Vec::new();
    let mut i = 0;
    while let Some(one) = list.get(i).and_then(Node::as_table) {
        let key = one.text("key")?;
        let at = list[i].at;
        if let Some((stem, label, is, length)) = run_of(&list[i..]) {
            let parts = vec![label, Node::from_text(is, at), Node::from_number(length, at)];
            out.push(make_table(&stem, Node::from_list(parts, at)));
            i += length;
            continue;
        }
        let is = one.get("is").cloned().unwrap_or_else(|| Node::from_text(key, at));
        let base = shown.list(key);
        let own = is.as_text() == Some(key);
        let entry = match one.get("label") {
            Some(label) if base.is_some_and(|base| *base == [label.clone(), is.clone()]) => {
                Node::from_text(key, at)
            }
            Some(label) if base.map_or(own, |base| base.get(1) == Some(&is)) => {
                make_table(key, label.clone())
            }
            Some(label) => make_table(key, Node::from_list(vec![label.clone(), is], at)),
            None if own && base.is_none() => Node::from_text(key, at),
            None => make_table(key, Node::from_list(vec![Node::from_text("", at), is], at)),
        };
        out.push(entry);
        i += 1;
    }
    (i == list.len()).then(|| Node::from_list(out, ValuePlace::default()))
}

fn make_table(key: &str, node: Node) -> Node {
    let at = node.at;
    let mut table = Table::default();
    table.set(key, node);
    Node::from_table(table, at)
}

/// `KEY_1`, `KEY_2`, … that are elements of one list, with labels that differ in their ordinals.
fn run_of(list: &[Node]) -> Option<(String, Node, String, usize)> {
    let first = list.first()?.as_table()?;
    let stem = first.text("key")?.strip_suffix("_1")?;
    let source = first.text("is")?.strip_suffix("[0]")?;
    let bare = |i: usize| -> Option<Node> {
        let one = list.get(i)?.as_table()?;
        let label = one.get("label")?;
        let (en, zh) = NTH.get(i)?;
        let spoken =
            label.english_text()?.contains(en) && label.chinese_text().is_none_or(|text| text.contains(zh));
        let of_it =
            one.text("key")? == format!("{stem}_{}", i + 1) && one.text("is")? == format!("{source}[{i}]");
        let put = |text: &str, chinese: bool| text.replacen(if chinese { zh } else { en }, "{nth}", 1);
        (spoken && of_it).then(|| label.map_languages(put))
    };
    let label = bare(0)?;
    let mut length = 1;
    while length < NTH.len() && bare(length).as_ref() == Some(&label) {
        length += 1;
    }
    (length > 1).then(|| (stem.to_owned(), label, source.to_owned(), length))
}
