//! `[columns]`, the columns of records, one text each: `name type: sentence`.

use super::tree::{Node, Table, ValuePlace};

/// The columns of a post after its id and text, in their order: `"post"` stands for all of them.
const POST: [(&str, &str, bool, &str); 9] = [
    ("kind", "text", true, "What part of a forum it was."),
    ("score", "number", false, "The score its readers gave it."),
    ("number", "count", false, "Its number in an annual thread."),
    ("note", "text", false, "What the thread's owner notes under it."),
    ("time", "text", false, "When it was written, according to the source."),
    ("source", "text", true, "The source's name."),
    ("file", "text", true, "The file's name."),
    ("position", "count", true, "The line or item in it."),
    ("licence", "text", false, "The licence the source states."),
];

/// Columns that records may have besides, and that need no sentence either.
const OTHERS: [(&str, &str, bool, &str); 2] = [
    ("id", "text", false, "The post's id."),
    ("flags", "list of text", false, "What the self-checks of the drafts found, `step: finding`."),
];

const STANDING: &str = "Whether it is confirmed.";

fn make_column(kind: &str, filled: bool, about: &str, at: ValuePlace) -> Node {
    let mut table = Table::default();
    table.set("type", Node::from_text(kind, at));
    if filled {
        table.set("null", Node::from_flag(false, at));
    }
    table.set("about", Node::from_text(about, at));
    Node::from_table(table, at)
}

fn find_usual_column(name: &str) -> Option<(&'static str, bool, &'static str)> {
    let found = POST.iter().chain(&OTHERS).find(|(known, ..)| *known == name);
    found.map(|(_, kind, filled, about)| (*kind, *filled, *about))
}

/// The sentence of a column that has none.
fn sentence_of_column(name: &str) -> String {
    match name.strip_suffix("_draft") {
        Some(of) => format!("The drafted {}.", of.replace('_', " ")),
        None => format!("Its {}.", name.replace('_', " ")),
    }
}

/// The sentence of what a standing rests on.
fn basis_sentence(about: &str) -> &'static str {
    let several = about.contains(" are confirmed") || about.contains("they are");
    match several {
        true => "Their basis: votes, replies or a published row.",
        false => "Its basis: votes, replies or a published row.",
    }
}

/// The columns of a kind of records for `["post", "name type: sentence", "ballot_*: sentence"]`.
pub(super) fn low_columns(list: &[Node]) -> Table {
    let mut out = Table::default();
    for one in list {
        let at = one.at;
        let text = one.as_text().unwrap_or_default();
        if text == "post" {
            for (name, kind, filled, about) in POST {
                out.set(name, make_column(kind, filled, about, at));
            }
            continue;
        }
        let (head, about) = text.split_once(':').unwrap_or((text, ""));
        let (name, kind) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
        let (kind, about) = (kind.trim(), about.trim());
        if let Some(of) = name.strip_suffix("_*") {
            let about = if about.is_empty() { STANDING } else { about };
            out.set(&format!("{of}_status"), make_column("text", false, about, at));
            out.set(&format!("{of}_basis"), make_column("list of text", false, basis_sentence(about), at));
            continue;
        }
        if let Some((kind, filled, about)) = find_usual_column(name).filter(|_| text.trim() == name) {
            out.set(name, make_column(kind, filled, about, at));
            continue;
        }
        let (kind, filled) = kind.strip_suffix('!').map_or((kind, false), |kind| (kind.trim(), true));
        let kind = match kind {
            "" => "text",
            "list" => "list of text",
            other => other,
        };
        let about = if about.is_empty() { sentence_of_column(name) } else { about.to_owned() };
        out.set(name, make_column(kind, filled, &about, at));
    }
    out
}

/// The inverse of [`low_columns`]; `None` if a column says more.
pub(super) fn up_columns(columns: &Table) -> Option<Node> {
    let all: Vec<(&str, &Node)> = columns.iter().collect();
    let mut out: Vec<String> = Vec::new();
    let mut i = 0;
    while let Some((name, node)) = all.get(i) {
        let written = node.as_table()?;
        let (kind, about) = (written.text("type")?, written.text("about")?);
        let filled = match written.get("null").map(|null| null.as_flag()) {
            None => false,
            Some(Some(false)) => true,
            Some(_) => return None,
        };
        if written.keys().any(|key| !["type", "null", "about"].contains(&key)) {
            return None;
        }
        if let Some(of) = name.strip_suffix("_status").filter(|_| kind == "text" && !filled)
            && let Some((next, rest)) = all.get(i + 1)
            && *next == format!("{of}_basis")
            && **rest == make_column("list of text", false, basis_sentence(about), ValuePlace::default())
        {
            let about = if about == STANDING { String::new() } else { format!(": {about}") };
            out.push(format!("{of}_*{about}"));
            i += 2;
            continue;
        }
        i += 1;
        if find_usual_column(name) == Some((kind, filled, about)) {
            out.push((*name).to_owned());
            continue;
        }
        let short = match kind {
            "text" if filled => "text",
            "text" => "",
            "list of text" => "list",
            other => other,
        };
        let mut text = (*name).to_owned();
        if !short.is_empty() {
            text.push(' ');
            text.push_str(short);
        }
        if filled {
            text.push('!');
        }
        if about != sentence_of_column(name) || text == *name && find_usual_column(name).is_some() {
            text.push_str(": ");
            text.push_str(about);
        }
        out.push(text);
    }
    let names: Vec<&str> = POST.iter().map(|(name, ..)| *name).collect();
    if let Some(at) = out.windows(names.len()).position(|run| run.iter().eq(names.iter())) {
        out.splice(at..at + names.len(), ["post".to_owned()]);
    }
    Some(Node::from_texts(out.iter().map(String::as_str), ValuePlace::default()))
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse_table;
    use super::*;

    #[test]
    fn columns_are_said_in_a_text_each() {
        let list = parse_table(
            0,
            "",
            "x = ['id', 'text text!: The text.', 'post', 'kept flag', 'type_*', 'a_*: Whether they are confirmed.', 'more list: Said.', 'flags']",
        )
        .unwrap();
        let low = low_columns(list.list("x").unwrap());
        let names: Vec<&str> = low.keys().collect();
        assert_eq!(names.len(), 2 + 9 + 1 + 2 + 2 + 1 + 1);
        assert_eq!(low.table("kept").unwrap().text("about"), Some("Its kept."));
        assert_eq!(
            low.table("a_basis").unwrap().text("about"),
            Some("Their basis: votes, replies or a published row.")
        );
        assert_eq!(low.table("more").unwrap().text("type"), Some("list of text"));
        assert_eq!(low_columns(up_columns(&low).unwrap().as_list().unwrap()), low);
        assert_eq!(up_columns(&low).unwrap(), *list.get("x").unwrap());
    }
}
