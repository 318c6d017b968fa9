//! The first edition's TOML of a lowered folder: every value in a line of its own, which says where it was written, so that
//! what is wrong with it is told with the place that a person can go to.

use super::tree::{Node, Place, Table, What, inline, key};
use crate::origin::ORIGIN;

/// Tables whose values are kept as TOML: below their own tables everything stands in one line.
const AS_WRITTEN: [&str; 3] = ["settings", "profile", "setting"];

/// The text of a file.
pub(super) fn write(table: &Table) -> String {
    let mut out = String::new();
    body(table, "", &mut out);
    out
}

fn body(table: &Table, path: &str, out: &mut String) {
    // The keys of a reply are asked for in their order, in which those with bounds may come before others.
    let flat = AS_WRITTEN.contains(&path) || path.ends_with(".json");
    let own = |node: &Node| match &node.what {
        What::Table(table) => !table.is_empty() && !flat,
        What::List(list) => !list.is_empty() && !flat && list.iter().all(|one| one.as_table().is_some()),
        _ => false,
    };
    for (name, node) in table.iter().filter(|(_, node)| !own(node)) {
        line(&format!("{} = {}", key(name), inline(node)), node.at, out);
    }
    for (name, node) in table.iter().filter(|(_, node)| own(node)) {
        let path = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
        match &node.what {
            What::Table(table) => {
                line(&format!("[{path}]"), node.at, out);
                body(table, &path, out);
            }
            What::List(list) => {
                for one in list {
                    line(&format!("[[{path}]]"), one.at, out);
                    one.as_table().into_iter().for_each(|table| body(table, &path, out));
                }
            }
            _ => {}
        }
    }
}

fn line(text: &str, at: Place, out: &mut String) {
    out.push_str(text);
    if at.line > 0 {
        out.push(' ');
        out.push_str(ORIGIN);
        out.push_str(&at.shown());
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;
    use crate::origin::origin;

    #[test]
    fn every_line_says_where_its_value_was_written() {
        let source = "a = 1\n\n[b]\nc = [{ d = \"e\" }, { d = 'f' }]\n[settings.x]\ny = ['z']\n";
        let read = parse(1, "", source).unwrap();
        let text = write(&read);
        assert!(text.starts_with("a = 1 #@second-edition ballots.toml:1:5\n"), "{text}");
        assert!(
            text.contains(
                "[[b.c]] #@second-edition ballots.toml:4:6\nd = \"e\" #@second-edition ballots.toml:4:12\n"
            ),
            "{text}"
        );
        assert!(text.contains("[settings] #@second-edition ballots.toml:5:2\nx = { y = [\"z\"] }"), "{text}");
        assert_eq!(parse(1, "", &text).unwrap(), read);
        assert_eq!(origin(&text, 1), Some("ballots.toml:1:5"));
        assert_eq!(origin("a = 1\n", 1), None);
    }
}
