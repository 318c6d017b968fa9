//! `[step.NAME]`: what a step is follows from its keys.

use super::ballots::overlay_table;
use super::kept::Columns;
use super::languages::by_language;
use super::sentences::{low_reason, low_requires};
use super::tree::{Node, NodeValue, Table, ValuePlace};

/// Keys of a step that have another name: second edition, first.
pub(super) const KEYS: [(&str, &str); 6] = [
    ("endpoint", "asks"),
    ("pack_id", "known_as"),
    ("also_from", "made"),
    ("for_each", "over"),
    ("named_by", "called"),
    ("id_role", "role"),
];

/// The steps of the first edition. `prompts`: the names of the folder's prompts.
pub(super) fn low_steps(
    steps: &Table,
    prompts: &[&str],
    columns: &Columns,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Table {
    let mut out = Table::default();
    for (name, written) in steps.iter() {
        let Some(step) = written.as_table() else {
            out.set(name, written.clone());
            continue;
        };
        let like = step.get("like").and_then(|like| Some((like, like.as_text()?)));
        if let Some((at, like)) = like
            && steps.table(like).is_none_or(|base| base.has_key("like"))
        {
            let known = steps.iter().filter(|(known, step)| {
                *known != name && step.as_table().is_some_and(|step| !step.has_key("like"))
            });
            problems
                .push((at.at, riddlemill_text::hint::unknown("step", like, known.map(|(known, _)| known))));
        }
        let base = like.and_then(|(_, like)| steps.table(like));
        let mut low = low_step(name, step, base, prompts, columns);
        low_requires(&mut low, problems);
        out.set(name, Node::from_table(low, written.at));
    }
    out
}

fn low_step(name: &str, step: &Table, base: Option<&Table>, prompts: &[&str], columns: &Columns) -> Table {
    let mut step = step.clone();
    if step.get("like").is_some_and(|like| like.as_text().is_some()) {
        step.take_node("like");
        if let Some(base) = base {
            step = inherit_step(base, step);
        }
    }
    step.rename_keys(&KEYS, false);
    let at = step.iter().next().map(|(_, node)| node.at).unwrap_or_default();
    let kinds = [
        ("ask", "respond"),
        ("reply", "draft"),
        ("case", "draft"),
        ("op", "native"),
        ("right", "options"),
        ("drop_if", "select"),
        ("hold_if", "select"),
        ("record_for_each", "elements"),
    ];
    if !step.has_key("kind")
        && let Some((_, kind)) = kinds.into_iter().find(|(key, _)| step.has_key(key))
    {
        step.set("kind", Node::from_text(kind, at));
    }
    let kind = step.text("kind").unwrap_or_default().to_owned();
    if kind == "draft" {
        by_language(&mut step, columns);
    }
    if kind == "select" {
        low_reason(&mut step);
    }
    if kind == "options" {
        step.set_default("number", Node::from_number(4, at));
    }
    if kind == "draft" && !step.has_key("prompt") && !step.has_key("case") && prompts.contains(&name) {
        step.set("prompt", Node::from_text(name, at));
    }
    if let Some(reply) = step.take_table("reply") {
        step.set("reply", Node::from_table(low_reply(reply), at));
    }
    if let Some(cases) = step.take_list("case") {
        let each = |case: Node| match case.what {
            NodeValue::Table(mut table) => {
                if let Some(reply) = table.take_table("reply") {
                    table.set("reply", Node::from_table(low_reply(reply), case.at));
                }
                Node::from_table(table, case.at)
            }
            what => Node::new(what, case.at),
        };
        step.set("case", Node::from_list(cases.into_iter().map(each).collect(), at));
    }
    if kind == "draft" && !step.has_key("keeps") {
        let keeps = usual_keeps(name, &step, columns);
        if !keeps.is_empty() {
            step.set("keeps", Node::from_table(keeps, at));
        }
    }
    if step.table("keeps").is_some_and(Table::is_empty) {
        step.take_node("keeps");
    }
    if let Some(asks) = step.take_table("ask") {
        let each = |(ask, written): (&str, &Node)| {
            let mut out = Table::default();
            out.set("name", Node::from_text(ask, written.at));
            if !written.as_table().is_some_and(|table| table.has_key("prompt")) {
                out.set("prompt", Node::from_text(name, written.at));
            }
            for (key, node) in written.as_table().into_iter().flat_map(Table::iter) {
                out.set(if key == "id_role" { "role" } else { key }, node.clone());
            }
            Node::from_table(out, written.at)
        };
        step.set("ask", Node::from_list(asks.iter().map(each).collect(), at));
    }
    step
}

/// Everything as in another step, except what is said here; `with` goes into its cases, where it has some.
fn inherit_step(base: &Table, mut own: Table) -> Table {
    let with = if base.has_key("case") && !own.has_key("case") { own.take_table("with") } else { None };
    let mut both = overlay_table(base, own);
    let cases = both.take_list("case");
    if let Some(cases) = cases {
        let each = |case: Node| match case.what {
            NodeValue::Table(mut table) => {
                let mut all = table.take_table("with").unwrap_or_default();
                for (key, node) in with.iter().flat_map(Table::iter) {
                    all.set(key, node.clone());
                }
                if !all.is_empty() {
                    table.set("with", Node::from_table(all, case.at));
                }
                Node::from_table(table, case.at)
            }
            what => Node::new(what, case.at),
        };
        let at = cases.first().map(|case| case.at).unwrap_or_default();
        both.set("case", Node::from_list(cases.into_iter().map(each).collect(), at));
    }
    both
}

/// `reader` is the program's; a key with `label_of` gives the code.
fn low_reply(mut reply: Table) -> Table {
    reply.rename_key("reader", "native");
    let codes = |json: &Table| -> Option<Table> {
        let mut gives = Table::default();
        for (key, kind) in json.iter() {
            let list = kind.as_table()?.text("label_of")?;
            gives.set(key, Node::from_text(format!("{key} | code('{list}')"), kind.at));
        }
        (!gives.is_empty()).then_some(gives)
    };
    if !reply.has_key("gives")
        && let Some(gives) = reply.table("json").and_then(codes)
    {
        reply.set("gives", Node::from_table(gives, ValuePlace::default()));
    }
    reply
}

/// The columns of a draft: `FIELD_draft` of what its reply gives, and what that rests on.
fn usual_keeps(name: &str, step: &Table, columns: &Columns) -> Table {
    let reply = step.table("reply");
    let given = reply.and_then(|reply| reply.table("gives").or_else(|| reply.table("json")));
    let mut keeps = Table::default();
    for (field, node) in given.into_iter().flat_map(Table::iter) {
        let column = format!("{field}_draft");
        if columns.has_column(&column) {
            keeps.set(&column, Node::from_text(format!("said.{field}"), node.at));
        }
    }
    let basis = format!("{}_basis", step.text("for").unwrap_or(name).replace('-', "_"));
    if columns.has_column(&basis) {
        keeps.set(&basis, Node::from_text("basis", ValuePlace::default()));
    }
    keeps
}

/// The steps of the second edition.
pub(super) fn up_steps(steps: &Table, prompts: &[&str], columns: &Columns) -> Table {
    let mut out = Table::default();
    for (name, written) in steps.iter() {
        let up = written.as_table().map(|step| up_step(name, step, prompts, columns));
        out.set(name, up.map_or_else(|| written.clone(), |up| Node::from_table(up, written.at)));
    }
    let names: Vec<String> = out.keys().map(str::to_owned).collect();
    for (i, name) in names.iter().enumerate() {
        let (Some(own), Some(first)) = (out.table(name).cloned(), steps.table(name)) else { continue };
        let alike = names[..i].iter().find_map(|other| {
            let base = out.table(other).filter(|base| !base.has_key("like"))?;
            let short = shorten_step(other, base, &own)?;
            let low = low_step(name, &short, Some(base), prompts, columns);
            (low == *first).then_some(short)
        });
        if let Some(short) = alike {
            out.set(name, Node::from_table(short, ValuePlace::default()));
        }
    }
    out
}

/// A step by what it has beside another one with cases.
fn shorten_step(base_name: &str, base: &Table, own: &Table) -> Option<Table> {
    let (cases, of_base) = (own.list("case")?, base.list("case")?);
    if cases.len() != of_base.len() {
        return None;
    }
    let with = |case: &Node| case.as_table().and_then(|case| case.table("with").cloned()).unwrap_or_default();
    let (mine, theirs) = (with(cases.first()?), with(of_base.first()?));
    let mut more = Table::default();
    for (key, node) in mine.iter().filter(|(key, node)| theirs.get(key) != Some(*node)) {
        more.set(key, node.clone());
    }
    let mut short = Table::default();
    short.set("like", Node::from_text(base_name, ValuePlace::default()));
    for (key, node) in own.iter().filter(|(key, node)| *key != "case" && base.get(key) != Some(*node)) {
        short.set(key, node.clone());
    }
    for key in base.keys().filter(|key| *key != "case" && !own.has_key(key)) {
        short.set(key, Node::from_text("", ValuePlace::default()));
    }
    if !more.is_empty() {
        short.set("with", Node::from_table(more, ValuePlace::default()));
    }
    Some(short)
}

fn up_step(name: &str, first: &Table, prompts: &[&str], columns: &Columns) -> Table {
    let mut step = first.clone();
    step.rename_keys(&KEYS, true);
    let low = |step: &Table| low_step(name, step, None, prompts, columns);
    if let Some(mut reply) = step.take_table("reply") {
        reply.rename_key("native", "reader");
        step.set("reply", Node::from_table(reply, ValuePlace::default()));
    }
    if let Some(NodeValue::List(cases)) = step.get_mut("case").map(|cases| &mut cases.what) {
        for case in cases {
            let NodeValue::Table(case) = &mut case.what else { continue };
            if let Some(mut reply) = case.take_table("reply") {
                reply.rename_key("native", "reader");
                case.set("reply", Node::from_table(reply, ValuePlace::default()));
            }
        }
    }
    if let Some(asks) = step.take_list("ask") {
        let mut by_name = Table::default();
        for ask in asks.iter().filter_map(Node::as_table) {
            let mut ask = ask.clone();
            let Some(of) = ask.take_text("name") else { continue };
            ask.rename_key("role", "id_role");
            if ask.text("prompt") == Some(name) {
                ask.take_node("prompt");
            }
            by_name.set(&of, Node::from_table(ask, ValuePlace::default()));
        }
        step.set("ask", Node::from_table(by_name, ValuePlace::default()));
    }
    if !first.has_key("keeps") && low(&step).has_key("keeps") {
        step.set("keeps", Node::from_table(Table::default(), ValuePlace::default()));
    }
    // What follows from the rest is left out, as long as the same comes of it.
    let usual_number =
        step.text("kind") == Some("options") && step.get("number").and_then(Node::as_number) == Some(4);
    if usual_number {
        step.take_node("number");
    }
    for key in ["kind", "prompt", "keeps"] {
        let mut without = step.clone();
        if without.take_node(key).is_some() && low(&without) == *first {
            step = without;
        }
    }
    if let Some(mut reply) = step.table("reply").cloned()
        && reply.take_node("gives").is_some()
    {
        let mut without = step.clone();
        without.set("reply", Node::from_table(reply, ValuePlace::default()));
        if low(&without) == *first {
            step = without;
        }
    }
    step
}
