//! `[tasks]` and `[task.NAME]`.

use super::tree::{Node, Place, Table};

/// Words of tasks: second edition, first.
pub(super) const KEYS: [(&str, &str); 6] = [
    ("classify", "label"),
    ("free_text", "words"),
    ("exported_when", "usual"),
    ("id_role", "role"),
    ("result_name", "called"),
    ("pack_key", "found"),
];
/// Words of their tables.
const WITHIN: [(&str, &str, &str); 3] =
    [("judge", "id_role", "role"), ("shots", "same", "like"), ("choose", "by_text", "words")];

/// Keys that say what a task is: they stand in it even where all have the same.
const OWN: [&str; 6] = ["choose", "judge", "when", "rate", "people", "form"];

/// A table over another one, table by table.
fn deep(base: &Table, own: &Table) -> Table {
    let mut both = base.clone();
    for (key, node) in own.iter() {
        let merged = match (both.table(key), node.as_table()) {
            (Some(base), Some(own)) => Node::table(deep(base, own), node.at),
            _ => node.clone(),
        };
        both.set(key, merged);
    }
    both
}

/// The tasks of the first edition, a list. `prompts`: the names of the folder's prompts.
pub(super) fn low_tasks(tasks: &Table, common: &Table, prompts: &[&str]) -> Node {
    let each = |(name, written): (&str, &Node)| {
        let own = written.as_table().cloned().unwrap_or_default();
        Node::table(low_task(name, deep(common, &own), prompts, written.at), written.at)
    };
    Node::list(tasks.iter().map(each).collect(), Place::default())
}

fn low_task(name: &str, mut task: Table, prompts: &[&str], at: Place) -> Table {
    if let Some(result) = task.text("result_name").map(|result| result.replace("{NAME}", name)) {
        task.set("result_name", Node::text(result, at));
    }
    if !task.has("prompt") && prompts.contains(&name) {
        task.set("prompt", Node::text(name, at));
    }
    let reasoned = format!("{}_cot", task.text("prompt").unwrap_or_default());
    if !task.has("reasoned") && prompts.contains(&reasoned.as_str()) {
        task.set("reasoned", Node::text(reasoned, at));
    }
    if task.get("reasoned").and_then(Node::as_flag) == Some(false) {
        task.take("reasoned");
    }
    if prompts.contains(&"judge")
        && let Some(mut judge) = task.table("judge").cloned()
    {
        judge.set_default("prompt", Node::text("judge", at));
        task.set("judge", Node::table(judge, at));
    }
    within(&mut task, false);
    if let Some(outputs) = task.take_table("outputs") {
        task.set("outputs", Node::list(low_outputs(outputs, at), at));
    }
    task.renamed(&KEYS, false);
    let mut out = Table::default();
    out.set("name", Node::text(name, at));
    for (key, node) in task.iter() {
        out.set(key, node.clone());
    }
    out
}

fn within(task: &mut Table, up: bool) {
    for (table, second, first) in WITHIN {
        let Some(mut of) = task.table(table).cloned() else { continue };
        if up {
            of.rename(first, second)
        } else {
            of.rename(second, first)
        }
        task.set(table, Node::table(of, Place::default()));
    }
}

/// Files of answers: `stem`, and what the names of each way have behind it.
fn low_outputs(mut outputs: Table, at: Place) -> Vec<Node> {
    let Some(stem) = outputs.take_text("stem") else { return vec![Node::table(outputs, at)] };
    let ways = [(outputs.take_text("direct"), false), (outputs.take_text("reasoned"), true)];
    let each = |(way, reasoned): (Option<String>, bool)| {
        let mut one = outputs.clone();
        let file = outputs.text("file").unwrap_or_default().replace("{STEM}", &stem).replace("{HOW}", &way?);
        one.set("file", Node::text(file, at));
        if reasoned {
            one.set("cot", Node::flag(true, at));
        }
        Some(Node::table(one, at))
    };
    ways.into_iter().filter_map(each).collect()
}

/// The tasks of the second edition, and what they have in common.
pub(super) fn up_tasks(tasks: &[Node], prompts: &[&str]) -> Option<(Table, Table)> {
    let mut out = Table::default();
    for written in tasks {
        let mut task = written.as_table()?.clone();
        let name = task.take_text("name")?;
        task.renamed(&KEYS, true);
        let prompt = task.text("prompt").unwrap_or_default().to_owned();
        if prompt == name && prompts.contains(&name.as_str()) {
            task.take("prompt");
        }
        let reasoned = format!("{prompt}_cot");
        if prompts.contains(&reasoned.as_str()) {
            match task.text("reasoned") {
                Some(text) if text == reasoned => drop(task.take("reasoned")),
                Some(_) => {}
                None => task.set("reasoned", Node::flag(false, written.at)),
            }
        }
        if let Some(mut judge) = task.table("judge").cloned()
            && prompts.contains(&"judge")
            && judge.text("prompt") == Some("judge")
        {
            judge.take("prompt");
            task.set("judge", Node::table(judge, written.at));
        }
        within(&mut task, true);
        if let Some(outputs) = task.list("outputs").and_then(up_outputs) {
            task.set("outputs", Node::table(outputs, written.at));
        }
        out.set(&name, Node::table(task, written.at));
    }
    let named =
        |(name, task): (&str, &Node)| task.as_table().and_then(|task| task.text("result_name")) == Some(name);
    if out.len() > 1 && out.iter().all(named) {
        for (_, task) in out.iter_mut() {
            if let super::tree::What::Table(task) = &mut task.what {
                task.set("result_name", Node::text("{NAME}", Place::default()));
            }
        }
    }
    let common = if out.len() > 1 { common(&out) } else { Table::default() };
    let mut rest = Table::default();
    for (name, task) in out.iter() {
        rest.set(name, Node::table(without(&common, task.as_table()?), task.at));
    }
    Some((rest, common))
}

/// What all tasks have alike.
fn common(tasks: &Table) -> Table {
    let all: Vec<&Table> = tasks.iter().filter_map(|(_, task)| task.as_table()).collect();
    let mut common = alike(&all);
    OWN.into_iter().for_each(|key| drop(common.take(key)));
    common
}

fn alike(all: &[&Table]) -> Table {
    let mut out = Table::default();
    let Some((first, others)) = all.split_first() else { return out };
    for (key, node) in first.iter() {
        let Some(theirs) = others.iter().map(|other| other.get(key)).collect::<Option<Vec<&Node>>>() else {
            continue;
        };
        if theirs.iter().all(|other| *other == node) {
            out.set(key, node.clone());
            continue;
        }
        let tables: Option<Vec<&Table>> =
            std::iter::once(node).chain(theirs.iter().copied()).map(Node::as_table).collect();
        if let Some(same) = tables.map(|tables| alike(&tables)).filter(|same| !same.is_empty()) {
            out.set(key, Node::table(same, node.at));
        }
    }
    out
}

fn without(common: &Table, own: &Table) -> Table {
    let mut out = Table::default();
    for (key, node) in own.iter() {
        match (common.get(key), common.table(key), node.as_table()) {
            (Some(same), ..) if same == node => {}
            (_, Some(common), Some(own)) => {
                let rest = without(common, own);
                if !rest.is_empty() {
                    out.set(key, Node::table(rest, node.at));
                }
            }
            _ => out.set(key, node.clone()),
        }
    }
    out
}

/// One table for the files of answers, if their names differ only in what says how a model was asked.
fn up_outputs(outputs: &[Node]) -> Option<Table> {
    let bare = |node: &Node| {
        let mut table = node.as_table()?.clone();
        let file = table.take_text("file");
        let reasoned = table.take("cot").is_some();
        Some((table, file, reasoned))
    };
    match outputs {
        [one] => one.as_table().filter(|table| !table.has("stem")).cloned(),
        [one, two] => {
            let ((table, Some(direct), false), (other, Some(reasoned), true)) = (bare(one)?, bare(two)?)
            else {
                return None;
            };
            if table != other {
                return None;
            }
            // Before the shots, or before the model: there the names go on alike.
            let ends = ["(_(?<shots>", "_(?<model>", "_output"];
            let cut = |file: &str| ends.iter().find_map(|end| file.find(end));
            let (at, of) = (cut(&direct)?, cut(&reasoned)?);
            if direct[at..] != reasoned[of..] {
                return None;
            }
            let (head, tail) = (direct[..at].strip_prefix('^')?, reasoned[..of].strip_prefix('^')?);
            let same = head.bytes().zip(tail.bytes()).take_while(|(one, two)| one == two).count();
            let same =
                (0..=same).rev().find(|at| head.is_char_boundary(*at) && tail.is_char_boundary(*at))?;
            let text = |text: &str| Node::text(text, Place::default());
            let mut up = Table::default();
            up.set("file", text(&format!("^{{STEM}}{{HOW}}{}", &direct[at..])));
            up.set("stem", text(&head[..same]));
            up.set("direct", text(&head[same..]));
            up.set("reasoned", text(&tail[same..]));
            for (key, node) in table.iter() {
                up.set(key, node.clone());
            }
            (low_outputs(up.clone(), Place::default()) == outputs).then_some(up)
        }
        _ => None,
    }
}
