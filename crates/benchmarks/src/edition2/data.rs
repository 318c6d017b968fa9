//! What is released: `[data]`, `[compat."FILE"]`, `[published]`.

use super::sentences::{low_reason, low_requires};
use super::tree::{Node, Table, ValuePlace};

/// Words of `[data]` and its harness: second edition, first.
pub(super) const KEYS: [(&str, &str); 2] = [("counted", "labels"), ("harness", "poses")];
const HARNESS: [(&str, &str); 1] = [("answer", "words")];
const STANDINGS: [&str; 4] = ["confirmed", "published", "provisional", "synthetic"];
const TYPES: [&str; 4] = ["text", "integer", "number", "flag"];
const LETTERS: [char; 4] = ['A', 'B', 'C', 'D'];

/// What columns are read with: whether rows of a published set may stand in the release, and the lists.
pub(super) struct ColumnContext<'a> {
    pub(super) published: bool,
    /// The lists of ballots.toml, by their codes in either edition.
    pub(super) codes: &'a dyn Fn(&str) -> Option<Vec<String>>,
}

/// `source_id = true`, `standing = true`: the columns that every set has.
fn usual_column(name: &str, published: bool, at: ValuePlace) -> Option<Vec<Node>> {
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| Node::from_text(*text, at)).collect());
    let values = |all: &[&str]| all.join(" | ");
    let without: Vec<&str> = STANDINGS.into_iter().filter(|one| *one != "published").collect();
    match (name, published) {
        ("source_id", _) => texts(&["id", "The post the row was made from, as `explain` takes it."]),
        ("standing", true) => texts(&[
            "standing",
            values(&STANDINGS).as_str(),
            "Whether people confirmed the row, it is from a published set, people still have to confirm it, or its votes are synthetic.",
        ]),
        ("standing", false) => texts(&[
            "standing",
            values(&without).as_str(),
            "Whether people confirmed the row, still have to, or synthetic votes replace theirs.",
        ]),
        _ => None,
    }
}

/// The columns of the first edition, a list of tables.
fn low_columns(
    columns: &Table,
    released: &ColumnContext<'_>,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Node {
    let mut out = Vec::new();
    for (name, written) in columns.iter() {
        let at = written.at;
        let mut column = Table::default();
        column.set("name", Node::from_text(name, at));
        let usual = usual_column(name, released.published, at).filter(|_| written.as_flag() == Some(true));
        let parts = usual.as_deref().or_else(|| written.as_list());
        match (parts, written.as_table()) {
            (Some([is, about]), _) => {
                column.set("type", Node::from_text("text", at));
                column.set("is", is.clone());
                column.set("about", about.clone());
            }
            (Some([is, kind, about]), _) => {
                let text = kind.as_text().unwrap_or_default();
                let list = text.strip_prefix("list of ").filter(|name| !TYPES.contains(name));
                if let Some(codes) = list.and_then(|name| (released.codes)(name)) {
                    column.set("type", Node::from_text("list of text", kind.at));
                    column.set("values", Node::from_texts(codes.iter().map(String::as_str), kind.at));
                } else if text.contains(" | ") {
                    let (values, optional) = text.strip_suffix('?').map_or((text, ""), |text| (text, "?"));
                    column.set("type", Node::from_text(format!("text{optional}"), kind.at));
                    column.set("values", Node::from_texts(values.split(" | "), kind.at));
                } else {
                    column.set("type", kind.clone());
                }
                column.set("is", is.clone());
                column.set("about", about.clone());
            }
            (None, Some(table)) => {
                for (key, node) in table.iter() {
                    column.set(key, node.clone());
                }
            }
            _ => problems.push((
                at,
                format!("{name}: expected [\"expression\", \"sentence\"], [\"expression\", \"type\", \"sentence\"] or a table"),
            )),
        }
        out.push(Node::from_table(column, at));
    }
    Node::from_list(out, ValuePlace::default())
}

fn up_columns(columns: &[Node], released: &ColumnContext<'_>, lists: &[&str]) -> Option<Table> {
    let mut out = Table::default();
    for node in columns {
        let mut column = node.as_table()?.clone();
        let name = column.take_text("name")?;
        let mut short = Vec::new();
        short.push(Node::from_flag(true, node.at));
        if let (Some(is), Some(about), Some(kind)) =
            (column.get("is"), column.get("about"), column.text("type"))
        {
            let kind = match column.get("values").map(Node::as_texts) {
                None => kind.to_owned(),
                Some(values) => {
                    let of = lists.iter().find(|list| {
                        !TYPES.contains(*list) && (released.codes)(list).is_some_and(|codes| codes == values)
                    });
                    match (of, kind) {
                        (Some(list), "list of text") => format!("list of {list}"),
                        _ => format!("{}{}", values.join(" | "), if kind.ends_with('?') { "?" } else { "" }),
                    }
                }
            };
            let kind = Node::from_text(kind, node.at);
            short.push(Node::from_list(vec![is.clone(), about.clone()], node.at));
            short.push(Node::from_list(vec![is.clone(), kind, about.clone()], node.at));
        }
        short.push(Node::from_table(column, node.at));
        let said = short.into_iter().find(|short| {
            let mut one = Table::default();
            one.set(&name, short.clone());
            low_columns(&one, released, &mut Vec::new()).as_list() == Some(std::slice::from_ref(node))
        });
        out.set(&name, said?);
    }
    Some(out)
}

/// `[data]` of the first edition.
pub(super) fn low_data(
    mut data: Table,
    released: &ColumnContext<'_>,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Table {
    data.rename_keys(&KEYS, false);
    if let Some(mut poses) = data.take_table("poses") {
        poses.rename_keys(&HARNESS, false);
        data.set("poses", Node::from_table(poses, ValuePlace::default()));
    }
    if let Some(columns) = data.take_table("columns") {
        data.set("columns", low_columns(&columns, released, problems));
    }
    low_reason(&mut data);
    low_requires(&mut data, problems);
    if let Some(checks) = data.take_list("checks") {
        let each = |check: &Node| match check.as_list() {
            Some([holds, says]) => {
                let mut out = Table::default();
                out.set("holds", holds.clone());
                out.set("says", says.clone());
                Node::from_table(out, check.at)
            }
            _ => check.clone(),
        };
        let at = checks.first().map(|check| check.at).unwrap_or_default();
        data.set("checks", Node::from_list(checks.iter().map(each).collect(), at));
    }
    data
}

/// `[data]` of the second edition; `lists`: the names of the lists.
pub(super) fn up_data(
    data: &Table,
    released: &ColumnContext<'_>,
    lists: &[&str],
    lost: &mut Vec<String>,
) -> Table {
    let mut data = data.clone();
    data.rename_keys(&KEYS, true);
    if let Some(mut harness) = data.take_table("harness") {
        harness.rename_keys(&HARNESS, true);
        data.set("harness", Node::from_table(harness, ValuePlace::default()));
    }
    if let Some(checks) = data.take_list("checks") {
        let each = |check: &Node| {
            let of = check
                .as_table()
                .and_then(|check| Some(vec![check.get("holds")?.clone(), check.get("says")?.clone()]));
            of.map_or_else(|| check.clone(), |both| Node::from_list(both, check.at))
        };
        data.set("checks", Node::from_list(checks.iter().map(each).collect(), ValuePlace::default()));
    }
    if let Some(columns) = data.take_list("columns") {
        match up_columns(&columns, released, lists) {
            Some(table) => data.set("columns", Node::from_table(table, ValuePlace::default())),
            None => lost.push("benchmark.toml [data] columns: a column is no table with a name".to_owned()),
        }
    }
    data
}

/// `COLUMN | by_letter` in the first edition's words.
fn expand_by_letter(expression: &str) -> Option<String> {
    let column = expression.strip_suffix(" | by_letter")?;
    let each = |(i, letter): (usize, char)| format!("'{letter}': {column}[{i}]");
    Some(format!("{{{}}}", LETTERS.into_iter().enumerate().map(each).collect::<Vec<_>>().join(", ")))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What a published object says of the columns, unless `back` says otherwise.
fn usual_back(keys: &Table, columns: &[Node]) -> Table {
    let mut back = Table::default();
    for column in columns.iter().filter_map(Node::as_table) {
        let (Some(name), Some(kind)) = (column.text("name"), column.text("type")) else { continue };
        let key_of = |wanted: &str| {
            keys.iter()
                .find(|(key, node)| is_name(key) && node.as_text() == Some(wanted))
                .map(|(key, node)| (key, node.at))
        };
        // The first key that is the column decides, even if its name is none that an expression can say.
        let same =
            keys.iter().find(|(_, node)| node.as_text() == Some(name)).map(|(key, node)| (key, node.at));
        let by_letter = expand_by_letter(&format!("{name} | by_letter")).and_then(|wanted| key_of(&wanted));
        let (expression, at) = match (by_letter, same.filter(|(key, _)| is_name(key))) {
            (Some((key, at)), _) => {
                let each: Vec<String> = LETTERS.iter().map(|letter| format!("{key}.{letter}")).collect();
                (format!("[{}]", each.join(", ")), at)
            }
            (None, Some((key, at))) => match column.get("values").map(Node::as_texts) {
                Some(values) => {
                    let values: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
                    (format!("{key} if {key} in [{}]", values.join(", ")), at)
                }
                None => (key.to_owned(), at),
            },
            (None, None) => {
                let sometimes = column.get("sometimes").and_then(Node::as_flag) == Some(true);
                if sometimes || kind.ends_with('?') && !name.ends_with("_status") {
                    continue;
                }
                let empty = if kind.starts_with("list") { "[]" } else { "''" };
                let confirmed = name == "standing" || name.ends_with("_status");
                let at = keys.iter().next().map(|(_, node)| node.at).unwrap_or_default();
                (if confirmed { "'confirmed'" } else { empty }.to_owned(), at)
            }
        };
        back.set(name, Node::from_text(expression, at));
    }
    back
}

/// The published files of the first edition. `columns`: those of the set, lowered.
pub(super) fn low_compat(
    files: &Table,
    columns: &[Node],
    published: bool,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Node {
    let each = |(file, written): (&str, &Node)| {
        let at = written.at;
        let mut table = written.as_table().cloned().unwrap_or_default();
        let keys = table.take_list("keys");
        let own = table.take_table("back");
        let mut out = Table::default();
        out.set("file", Node::from_text(file, at));
        if file.ends_with(".json") && !table.has_key("lines") {
            out.set("lines", Node::from_flag(false, at));
        }
        for (key, node) in table.iter() {
            out.set(key, node.clone());
        }
        let mut low = Table::default();
        let mut add = |name: &str, node: Node, at: ValuePlace| {
            if low.has_key(name) {
                problems.push((at, format!("keys: {name:?} is given twice, and an object has a key once")));
            }
            low.set(name, node);
        };
        for key in keys.iter().flatten() {
            match (key.as_text(), key.as_table()) {
                (Some(text), _) => add(text, key.clone(), key.at),
                (None, Some(table)) => {
                    for (name, node) in table.iter() {
                        let said = node.as_text().and_then(expand_by_letter);
                        let node = said.map_or_else(|| node.clone(), |said| Node::from_text(said, node.at));
                        add(name, node, key.at);
                    }
                }
                // The reader tells what a key is.
                (None, None) => add("?", key.clone(), key.at),
            }
        }
        let back = (own.is_some() || keys.is_some() && published && !out.has_key("config")).then(|| {
            let mut back = usual_back(&low, columns);
            for (key, node) in own.unwrap_or_default().iter() {
                back.set(key, node.clone());
            }
            back.without_nothing()
        });
        if keys.is_some() {
            out.set("keys", Node::from_table(low, at));
        }
        if let Some(back) = back {
            out.set("back", Node::from_table(back, at));
        }
        Node::from_table(out, at)
    };
    Node::from_list(files.iter().map(each).collect(), ValuePlace::default())
}

/// The inverse of [`low_compat`]; `None` if a file's form is not that of its ending.
pub(super) fn up_compat(files: &[Node], columns: &[Node], published: bool) -> Option<Table> {
    let mut out = Table::default();
    for written in files {
        let mut table = written.as_table()?.clone();
        let file = table.take_text("file")?;
        let lines =
            table.take_node("lines").and_then(|lines| lines.as_flag()).unwrap_or(!file.ends_with(".json"));
        // What the ending does not say.
        if lines == file.ends_with(".json") {
            table.set("lines", Node::from_flag(lines, written.at));
        }
        let keys = table.take_table("keys");
        let back = table.take_table("back");
        if let Some(keys) = &keys {
            let named = |name: &str, node: &Node| {
                let letters =
                    columns.iter().filter_map(|column| column.as_table()?.text("name")).find_map(|column| {
                        let short = format!("{column} | by_letter");
                        (expand_by_letter(&short).as_deref() == node.as_text()).then_some(short)
                    });
                let mut one = Table::default();
                one.set(name, letters.map_or_else(|| node.clone(), |short| Node::from_text(short, node.at)));
                Node::from_table(one, node.at)
            };
            let each = |(name, node): (&str, &Node)| match node.as_text() == Some(name) {
                true => node.clone(),
                false => named(name, node),
            };
            table.set("keys", Node::from_list(keys.iter().map(each).collect(), ValuePlace::default()));
            let by_itself = published && !table.has_key("config");
            if by_itself || back.is_some() {
                let usual = usual_back(keys, columns);
                let had = back.clone().unwrap_or_default();
                let mut rest = Table::default();
                for (key, node) in had.iter().filter(|(key, node)| usual.get(key) != Some(*node)) {
                    rest.set(key, node.clone());
                }
                for key in usual.keys().filter(|key| !had.has_key(key)) {
                    rest.set(key, Node::from_text("", ValuePlace::default()));
                }
                if !rest.is_empty() || !by_itself {
                    table.set("back", Node::from_table(rest, ValuePlace::default()));
                }
            }
        }
        out.set(&file, Node::from_table(table, written.at));
    }
    Some(out)
}

/// What a published row decides: at a ballot also its standing and basis. `group` gives what a ballot fills.
pub(super) fn convert_published(table: &Table, group: &dyn Fn(&str) -> String, up: bool) -> Table {
    let mut table = table.clone();
    let Some(at) = table.take_table("at") else { return table };
    let mut all = Table::default();
    for (step, written) in at.iter() {
        let mut says = written.as_table().cloned().unwrap_or_default();
        if let Some(ballot) = step.strip_prefix("review:") {
            let both = [("status", "standing"), ("basis", "basis")];
            let both = both
                .map(|(end, what)| (format!("{}_{end}", group(ballot)), Node::from_text(what, written.at)));
            if up {
                let has = both.iter().all(|(column, what)| says.get(column) == Some(what));
                match has {
                    true => both.iter().for_each(|(column, _)| drop(says.take_node(column))),
                    false => says.set("decided", Node::from_flag(false, written.at)),
                }
            } else if says.take_node("decided").and_then(|decided| decided.as_flag()) != Some(false) {
                both.into_iter().for_each(|(column, what)| says.set_default(&column, what));
            }
        }
        all.set(step, Node::from_table(says, written.at));
    }
    table.set("at", Node::from_table(all, ValuePlace::default()));
    table
}
