//! Writes a file of either edition.
//!
//! Of the second as a person would: a table by a header of its own where it is long, a list in lines of
//! its own. Of the first, for a lowered folder, every value in a line of its own, which says where it was written, so that what
//! is wrong with it is told with the place that a person can go to.

use super::tree::{Node, NodeValue, Table, ValuePlace, format_inline, format_key};
use crate::reader::ORIGIN;

/// Longer lines are broken where they can be.
const WIDE: usize = 320;

/// A list of words or columns goes on for as long as a paragraph.
const FILLED: usize = 500;

/// Tables whose tables have headers of their own.
const HEADERS: [&str; 7] = ["step", "ballot", "task", "table", "figure", "list", "compat"];

/// Tables at the top that always have a header.
const TOP: [&str; 4] = ["tasks", "ballots", "data", "paper"];

/// A file's text.
pub(super) fn format_file(file: &Table) -> String {
    let mut out = Vec::new();
    write_body(file, &[], &mut out);
    let text = out.join("\n");
    format!("{}\n", text.trim_start_matches('\n'))
}

fn is_wide(text: &str) -> bool {
    text.chars().count() > WIDE
}

fn write_body(table: &Table, path: &[&str], lines: &mut Vec<String>) {
    let mut below: Vec<(&str, &Table)> = Vec::new();
    for (name, node) in table.iter() {
        let line = format!("{} = {}", format_key(name), format_inline(node));
        let of_list = path.first() == Some(&"list") && path.len() > 1;
        let one_line = of_list
            || path == ["shown"]
            || matches!(path.last(), Some(&("fields" | "columns")))
            || ["shows", "second"].contains(&name);
        match &node.what {
            NodeValue::Table(of) if !one_line => match form_of_table(name, of, path, &line) {
                TableForm::Header => below.push((name, of)),
                TableForm::Dotted => {
                    lines.extend(of.iter().map(|(k, node)| {
                        format!("{}.{} = {}", format_key(name), format_key(k), format_inline(node))
                    }));
                }
                TableForm::Line => lines.push(line),
            },
            NodeValue::List(list)
                if !one_line && needs_line_breaks(name, list, path, &line) || path == ["columns"] =>
            {
                let list = node.as_list().unwrap_or_default();
                lines.push(format!("{} = [", format_key(name)));
                if ["keys", "steps", "prompts"].contains(&name) || path == ["columns"] {
                    fill_lines(list, lines);
                } else {
                    lines.extend(list.iter().map(|one| format!("  {},", format_inline(one))));
                }
                lines.push("]".to_owned());
            }
            _ => lines.push(line),
        }
    }
    for (name, of) in below {
        let path: Vec<&str> = path.iter().copied().chain([name]).collect();
        if path.len() > 1 || !HEADERS.contains(&name) {
            let space = if path.len() < 3 { "\n" } else { "" };
            let header: Vec<String> = path.iter().map(|part| format_key(part)).collect();
            lines.push(format!("{space}[{}]", header.join(".")));
        }
        write_body(of, &path, lines);
    }
}

fn needs_line_breaks(name: &str, list: &[Node], path: &[&str], line: &str) -> bool {
    let long = ["checks", "differs"].contains(&name) && list.len() > 1 && line.chars().count() > 120;
    is_wide(line) || long || path == ["columns"]
}

enum TableForm {
    Header,
    Dotted,
    Line,
}

fn form_of_table(name: &str, table: &Table, path: &[&str], line: &str) -> TableForm {
    let fields = name == "fields" && path.len() == 2;
    let long = is_wide(line);
    let dotted = fields && table.len() == 1
        || ["keeps", "draft", "back", "gives"].contains(&name) && long
        || name == "at" && path == ["published"];
    let own = match path {
        [] => {
            HEADERS.contains(&name) || TOP.contains(&name) || name == "columns" || line.chars().count() > 100
        }
        [top] => HEADERS.contains(top),
        _ => false,
    };
    if dotted {
        TableForm::Dotted
    } else if own || long || fields {
        TableForm::Header
    } else {
        TableForm::Line
    }
}

/// As many elements a line as there is room for.
fn fill_lines(list: &[Node], lines: &mut Vec<String>) {
    let mut line = String::from(" ");
    for one in list {
        let text = format_inline(one);
        if line.chars().count() + text.chars().count() > FILLED && !line.trim().is_empty() {
            lines.push(std::mem::replace(&mut line, String::from(" ")));
        }
        line.push(' ');
        line.push_str(&text);
        line.push(',');
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
}

/// Tables whose values are kept as TOML: below their own tables everything stands in one line.
const AS_WRITTEN: [&str; 3] = ["settings", "profile", "setting"];

/// The text of a file.
pub(super) fn write_lowered(table: &Table) -> String {
    let mut out = String::new();
    lowered_body(table, "", &mut out);
    out
}

fn lowered_body(table: &Table, path: &str, out: &mut String) {
    // The keys of a reply are asked for in their order, in which those with bounds may come before others.
    let flat = AS_WRITTEN.contains(&path) || path.ends_with(".json");
    let own = |node: &Node| match &node.what {
        NodeValue::Table(table) => !table.is_empty() && !flat,
        NodeValue::List(list) => !list.is_empty() && !flat && list.iter().all(|one| one.as_table().is_some()),
        _ => false,
    };
    for (name, node) in table.iter().filter(|(_, node)| !own(node)) {
        lowered_line(&format!("{} = {}", format_key(name), format_inline(node)), node.at, out);
    }
    for (name, node) in table.iter().filter(|(_, node)| own(node)) {
        let path = if path.is_empty() { format_key(name) } else { format!("{path}.{}", format_key(name)) };
        match &node.what {
            NodeValue::Table(table) => {
                lowered_line(&format!("[{path}]"), node.at, out);
                lowered_body(table, &path, out);
            }
            NodeValue::List(list) => {
                for one in list {
                    lowered_line(&format!("[[{path}]]"), one.at, out);
                    one.as_table().into_iter().for_each(|table| lowered_body(table, &path, out));
                }
            }
            _ => {}
        }
    }
}

fn lowered_line(text: &str, at: ValuePlace, out: &mut String) {
    out.push_str(text);
    if at.line > 0 {
        out.push(' ');
        out.push_str(ORIGIN);
        out.push_str(&at.format_place());
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse_table;
    use super::*;
    use crate::reader::origin_of_line;

    #[test]
    fn every_line_says_where_its_value_was_written() {
        let source = "a = 1\n\n[b]\nc = [{ d = \"e\" }, { d = 'f' }]\n[settings.x]\ny = ['z']\n";
        let read = parse_table(1, "", source).unwrap();
        let text = write_lowered(&read);
        assert!(text.starts_with("a = 1 #@second-edition ballots.toml:1:5\n"), "{text}");
        assert!(
            text.contains(
                "[[b.c]] #@second-edition ballots.toml:4:6\nd = \"e\" #@second-edition ballots.toml:4:12\n"
            ),
            "{text}"
        );
        assert!(text.contains("[settings] #@second-edition ballots.toml:5:2\nx = { y = [\"z\"] }"), "{text}");
        assert_eq!(parse_table(1, "", &text).unwrap(), read);
        assert_eq!(origin_of_line(&text, 1), Some("ballots.toml:1:5"));
        assert_eq!(origin_of_line("a = 1\n", 1), None);
    }
}
