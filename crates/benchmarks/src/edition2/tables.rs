//! `[table.NAME]` and `[figure.NAME]`: tables of models' answers, and figures of records.

use super::chinese::OF_KEY;
use super::tree::{Node, Table, ValuePlace, make_words};

/// Words of tables and figures: second edition, first.
pub(super) const LAYOUT: [(&str, &str); 1] = [("layout", "kind")];

/// Kinds of figures that need no name.
const NAMELESS: [&str; 2] = ["numbers", "lines"];

/// Whether a figure is of models' answers.
fn is_of_answers(figure: &Table) -> bool {
    figure.has_key("tasks") || figure.has_key("columns")
}

/// The tables of the first edition, a list: one for each of its `parts`.
pub(super) fn low_tables(tables: &Table) -> Node {
    let each = |(name, written): (&str, &Node)| {
        let table = written.as_table().cloned().unwrap_or_default();
        let is_of_records =
            table.has_key("numbers") || table.text("layout").is_some_and(crate::table::is_only_of_records);
        match is_of_records && !is_of_answers(&table) {
            true => vec![low_figure(name, table, written.at)],
            false => low_table(name, table, written.at),
        }
    };
    Node::from_list(tables.iter().flat_map(each).collect(), ValuePlace::default())
}

fn low_table(name: &str, mut table: Table, at: ValuePlace) -> Vec<Node> {
    table.rename_keys(&LAYOUT, false);
    if let Some(columns) = table.table("columns").cloned() {
        let each = |(title, written): (&str, &Node)| {
            let mut column = written.as_table().cloned().unwrap_or_default();
            let zh = column.take_node(OF_KEY);
            let mut out = Table::default();
            out.set("title", make_words(title, zh.as_ref().and_then(Node::as_text), written.at));
            for (key, node) in column.iter() {
                out.set(key, node.clone());
            }
            Node::from_table(out, written.at)
        };
        table.set("columns", Node::from_list(columns.iter().map(each).collect(), at));
    }
    let parts = table.take_table("parts");
    table.rename_key("by_list", "parts");
    let named = |name: &str, table: &Table, at: ValuePlace| {
        let mut out = Table::default();
        out.set("name", Node::from_text(name, at));
        for (key, node) in table.iter() {
            out.set(key, node.clone());
        }
        out
    };
    let Some(parts) = parts else { return vec![Node::from_table(named(name, &table, at), at)] };
    let each = |(name, written): (&str, &Node)| {
        let at = written.at;
        let mut out = named(name, &table, at);
        let (part, title) = match written.as_list() {
            Some([part, title]) => (part.as_text().unwrap_or_default(), title.clone()),
            _ => ("", written.clone()),
        };
        out.set("title", title);
        if part.is_empty() {
            out.take_node("part_key");
        } else {
            out.set("part", Node::from_text(part, at));
            out.set("chart", Node::from_flag(false, at));
            out.take_node("drawn");
            if let Some(columns) = out.take_list("columns") {
                let told = |column: &Node| column.as_table().is_some_and(|column| column.has_key("format"));
                out.set(
                    "columns",
                    Node::from_list(columns.into_iter().filter(|column| !told(column)).collect(), at),
                );
            }
        }
        Node::from_table(out, at)
    };
    parts.iter().map(each).collect()
}

/// The tables of the second edition.
pub(super) fn up_tables(tables: &[Node]) -> Option<Table> {
    let all: Vec<&Table> = tables.iter().map(Node::as_table).collect::<Option<_>>()?;
    let kinds = all.iter().filter(|table| !is_of_answers(table)).filter_map(|table| table.text("kind"));
    if kinds.into_iter().any(crate::table::is_only_of_records) {
        return None;
    }
    let mut out = Table::default();
    let mut i = 0;
    while let Some(table) = all.get(i) {
        let most =
            (i + 2..=all.len()).rev().find_map(|end| Some((end, join_parts(&tables[i..end], &all[i..end])?)));
        match most {
            Some((end, (name, up))) => {
                out.set(&name, Node::from_table(up, tables[i].at));
                i = end;
            }
            None => {
                let mut up = (*table).clone();
                let name = up.take_text("name")?;
                up.rename_key("parts", "by_list");
                out.set(&name, Node::from_table(up_table(up), tables[i].at));
                i += 1;
            }
        }
    }
    Some(out)
}

/// Tables that are the parts of one.
fn join_parts(run: &[Node], tables: &[&Table]) -> Option<(String, Table)> {
    let whole = tables.iter().find(|table| !table.has_key("part")).or_else(|| tables.first())?;
    if tables.iter().all(|table| !table.has_key("part")) || whole.has_key("parts") {
        return None;
    }
    let name = whole.text("name")?.to_owned();
    let mut up = (*whole).clone();
    ["name", "title", "part", "chart"].into_iter().for_each(|key| drop(up.take_node(key)));
    if let Some(key) = tables.iter().find_map(|table| table.get("part_key")) {
        up.set("part_key", key.clone());
    }
    let at = ValuePlace::default();
    let mut parts = Table::default();
    for table in tables {
        let part = table.get("part").cloned().unwrap_or_else(|| Node::from_text("", at));
        parts.set(table.text("name")?, Node::from_list(vec![part, table.get("title")?.clone()], at));
    }
    let mut up = up_table(up);
    up.set("parts", Node::from_table(parts, at));
    (low_table(&name, up.clone(), at) == run).then_some((name, up))
}

fn up_table(mut table: Table) -> Table {
    table.rename_keys(&LAYOUT, true);
    let by_title = |columns: &[Node]| {
        let mut out = Table::default();
        for column in columns {
            let mut column = column.as_table()?.clone();
            let title = column.take_node("title")?;
            if let Some(zh) = title.chinese_text() {
                column.set(OF_KEY, Node::from_text(zh, title.at));
            }
            out.set(title.english_text()?, Node::from_table(column, title.at));
        }
        (out.len() == columns.len() && !columns.is_empty()).then_some(out)
    };
    if let Some(columns) = table.list("columns").and_then(by_title) {
        table.set("columns", Node::from_table(columns, ValuePlace::default()));
    }
    table
}

/// `report.toml` of the first edition.
pub(super) fn low_report(mut file: Table) -> Table {
    let Some(figures) = file.take_table("figure") else { return file };
    let each = |(name, written): (&str, &Node)| {
        let figure = written.as_table().cloned().unwrap_or_default();
        match is_of_answers(&figure) {
            true => low_table(name, figure, written.at),
            false => vec![low_figure(name, figure, written.at)],
        }
    };
    file.set("figure", Node::from_list(figures.iter().flat_map(each).collect(), ValuePlace::default()));
    file
}

fn low_figure(name: &str, mut figure: Table, at: ValuePlace) -> Node {
    figure.rename_keys(&LAYOUT, false);
    let usual = if figure.has_key("numbers") { "numbers" } else { name };
    figure.set_default("kind", Node::from_text(usual, at));
    if let Some(numbers) = figure.take_table("numbers") {
        let each = |(name, written): (&str, &Node)| add_name(name, written);
        figure.set("numbers", Node::from_list(numbers.iter().map(each).collect(), at));
    }
    let nameless = figure.text("kind").is_some_and(|kind| NAMELESS.contains(&kind));
    if nameless { Node::from_table(figure, at) } else { add_name(name, &Node::from_table(figure, at)) }
}

fn add_name(name: &str, written: &Node) -> Node {
    let mut out = Table::default();
    out.set("name", Node::from_text(name, written.at));
    for (key, node) in written.as_table().into_iter().flat_map(Table::iter) {
        out.set(key, node.clone());
    }
    Node::from_table(out, written.at)
}

/// `report.toml` of the second edition.
pub(super) fn up_report(file: &Table) -> Option<Table> {
    let mut file = file.clone();
    let Some(figures) = file.take_list("figure") else { return Some(file) };
    let mut out = Table::default();
    for (i, written) in figures.iter().enumerate() {
        let mut figure = written.as_table()?.clone();
        if is_of_answers(&figure) {
            return None;
        }
        let kind = figure.take_text("kind")?;
        let numbers = figure.take_list("numbers");
        let name = match figure.take_text("name") {
            Some(name) => name,
            None => {
                let first = numbers.as_ref().and_then(|numbers| numbers.first()?.as_table()?.text("name"));
                let name = first.map_or_else(|| format!("{kind}_{}", i + 1), str::to_owned);
                if out.has_key(&name) { format!("{name}_{}", i + 1) } else { name }
            }
        };
        let usual = if numbers.is_some() { "numbers" } else { name.as_str() };
        let mut up = Table::default();
        if kind != usual {
            up.set("layout", Node::from_text(kind.as_str(), written.at));
        }
        for (key, node) in figure.iter() {
            up.set(key, node.clone());
        }
        if let Some(numbers) = numbers {
            let mut by_name = Table::default();
            for number in &numbers {
                let mut number = number.as_table()?.clone();
                let name = number.take_text("name")?;
                by_name.set(&name, Node::from_table(number, ValuePlace::default()));
            }
            up.set("numbers", Node::from_table(by_name, ValuePlace::default()));
        }
        out.set(&name, Node::from_table(up, written.at));
    }
    file.set("figure", Node::from_table(out, ValuePlace::default()));
    Some(file)
}
