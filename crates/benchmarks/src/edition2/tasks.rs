//! `[tasks]` and `[task.NAME]`.

use super::languages::of_task;
use super::tree::{Node, Table, ValuePlace};

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

/// Tables of a task with a prompt of their own.
const PROMPTS_WITHIN: [(&str, &str); 2] = [("judge", "prompt"), ("conversation", "host")];

/// Keys that say what a task is: they stand in it even where all have the same.
const OWN: [&str; 6] = ["choose", "judge", "when", "rate", "people", "form"];

/// A table over another one, table by table.
fn overlay_deeply(base: &Table, own: &Table) -> Table {
    let mut both = base.clone();
    for (key, node) in own.iter() {
        let merged = match (both.table(key), node.as_table()) {
            (Some(base), Some(own)) => Node::from_table(overlay_deeply(base, own), node.at),
            _ => node.clone(),
        };
        both.set(key, merged);
    }
    both
}

/// What the tasks of a folder may name.
pub(super) struct TaskNames<'n> {
    /// The names of its prompts.
    pub(super) prompts: &'n [&'n str],
    /// The lowered columns of `[data]`.
    pub(super) columns: &'n [Node],
}

impl TaskNames<'_> {
    /// The column with the language of a row: `language`, or the one that holds that of its post.
    fn language_column(&self) -> Option<&str> {
        let columns = || self.columns.iter().filter_map(Node::as_table);
        let named = columns().find(|column| column.text("name") == Some("language"));
        let holds = |column: &&Table| matches!(column.text("is"), Some("post.language" | "language"));
        named.or_else(|| columns().find(holds))?.text("name")
    }
}

/// The tasks of the first edition, a list.
pub(super) fn low_tasks(
    tasks: &Table,
    common: &Table,
    named: &TaskNames<'_>,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Node {
    let each = |(name, written): (&str, &Node)| {
        let own = written.as_table().cloned().unwrap_or_default();
        Node::from_table(
            low_task(name, overlay_deeply(common, &own), named, written.at, problems),
            written.at,
        )
    };
    Node::from_list(tasks.iter().map(each).collect(), ValuePlace::default())
}

/// The prompt that asks for reasoning, if the folder has one beside each prompt of a task.
fn find_reasoning_prompt(
    task: &Table,
    prompts: &[&str],
    at: ValuePlace,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Option<Node> {
    let beside = |prompt: &str| {
        let name = format!("{prompt}_cot");
        prompts.contains(&name.as_str()).then_some(name)
    };
    let Some(by_language) = task.table("prompt") else {
        return beside(task.text("prompt").unwrap_or_default()).map(|name| Node::from_text(name, at));
    };
    let mut all = Table::default();
    for (language, prompt) in by_language.iter() {
        if let Some(name) = beside(prompt.as_text()?) {
            all.set(language, Node::from_text(name, prompt.at));
        }
    }
    let lacking = by_language.iter().find(|(language, _)| !all.has_key(language));
    match lacking.and_then(|(language, prompt)| Some((language, prompt.as_text()?))) {
        None => Some(Node::from_table(all, at)),
        Some((language, prompt)) if !all.is_empty() => {
            let what = format!(
                "prompts/{prompt}_cot.jinja is missing: prompts of other languages than {language} have one that asks for \
                 reasoning\n  hint: `reasoned = false` asks for none"
            );
            problems.push((at, what));
            None
        }
        Some(_) => None,
    }
}

/// Prompts by language of a task, as prompts with conditions over its rows, and findings on those that have none.
fn by_language(task: &mut Table, named: &TaskNames<'_>, problems: &mut Vec<(ValuePlace, String)>) {
    let mut findings: Vec<String> = Vec::new();
    let mut one = |table: &mut Table, key: &str| {
        let Some((_, first)) = table.table(key).and_then(|prompts| prompts.iter().next()) else { return };
        let first = first.clone();
        match named.language_column() {
            Some(language) => {
                let found = of_task(table, key, language).filter(|found| !findings.contains(found));
                findings.extend(found);
            }
            None => {
                let what = format!(
                    "`{key}` goes by the language of a row, and no column of [data] has it\n  hint: language = \
                     [\"post.language\", \"zh | en | und\", \"Its language.\"] of [data.columns]"
                );
                problems.push((first.at, what));
                table.set(key, first);
            }
        }
    };
    for key in ["prompt", "reasoned"] {
        one(task, key);
    }
    for (name, key) in PROMPTS_WITHIN {
        let Some(node) =
            task.get(name).filter(|node| node.as_table().is_some_and(|of| of.table(key).is_some()))
        else {
            continue;
        };
        let (mut table, at) = (node.as_table().cloned().unwrap_or_default(), node.at);
        one(&mut table, key);
        task.set(name, Node::from_table(table, at));
    }
    if !findings.is_empty() {
        let checks =
            findings.into_iter().map(|found| Node::from_text(found, ValuePlace::default())).collect();
        task.set("checks", Node::from_list(checks, ValuePlace::default()));
    }
}

fn low_task(
    name: &str,
    mut task: Table,
    named: &TaskNames<'_>,
    at: ValuePlace,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Table {
    let prompts = named.prompts;
    if let Some(result) = task.text("result_name").map(|result| result.replace("{NAME}", name)) {
        task.set("result_name", Node::from_text(result, at));
    }
    if !task.has_key("prompt") && prompts.contains(&name) {
        task.set("prompt", Node::from_text(name, at));
    }
    if !task.has_key("reasoned")
        && let Some(reasoned) = find_reasoning_prompt(&task, prompts, at, problems)
    {
        task.set("reasoned", reasoned);
    }
    if task.get("reasoned").and_then(Node::as_flag) == Some(false) {
        task.take_node("reasoned");
    }
    if prompts.contains(&"judge")
        && let Some(mut judge) = task.table("judge").cloned()
    {
        judge.set_default("prompt", Node::from_text("judge", at));
        task.set("judge", Node::from_table(judge, at));
    }
    rename_nested_keys(&mut task, false);
    by_language(&mut task, named, problems);
    if let Some(outputs) = task.take_table("outputs") {
        task.set("outputs", Node::from_list(low_outputs(outputs, at), at));
    }
    task.rename_keys(&KEYS, false);
    let mut out = Table::default();
    out.set("name", Node::from_text(name, at));
    for (key, node) in task.iter() {
        out.set(key, node.clone());
    }
    out
}

fn rename_nested_keys(task: &mut Table, up: bool) {
    for (table, second, first) in WITHIN {
        let Some(mut of) = task.table(table).cloned() else { continue };
        if up {
            of.rename_key(first, second)
        } else {
            of.rename_key(second, first)
        }
        task.set(table, Node::from_table(of, ValuePlace::default()));
    }
}

/// Files of answers: `stem`, and what the names of each way have behind it.
fn low_outputs(mut outputs: Table, at: ValuePlace) -> Vec<Node> {
    let Some(stem) = outputs.take_text("stem") else { return vec![Node::from_table(outputs, at)] };
    let ways = [(outputs.take_text("direct"), false), (outputs.take_text("reasoned"), true)];
    let each = |(way, reasoned): (Option<String>, bool)| {
        let mut one = outputs.clone();
        let file = outputs.text("file").unwrap_or_default().replace("{STEM}", &stem).replace("{HOW}", &way?);
        one.set("file", Node::from_text(file, at));
        if reasoned {
            one.set("cot", Node::from_flag(true, at));
        }
        Some(Node::from_table(one, at))
    };
    ways.into_iter().filter_map(each).collect()
}

/// The tasks of the second edition, and what they have in common.
pub(super) fn up_tasks(tasks: &[Node], prompts: &[&str]) -> Option<(Table, Table)> {
    let mut out = Table::default();
    for written in tasks {
        let mut task = written.as_table()?.clone();
        let name = task.take_text("name")?;
        task.rename_keys(&KEYS, true);
        let prompt = task.text("prompt").unwrap_or_default().to_owned();
        if prompt == name && prompts.contains(&name.as_str()) {
            task.take_node("prompt");
        }
        let reasoned = format!("{prompt}_cot");
        if prompts.contains(&reasoned.as_str()) {
            match task.text("reasoned") {
                Some(text) if text == reasoned => drop(task.take_node("reasoned")),
                Some(_) => {}
                None => task.set("reasoned", Node::from_flag(false, written.at)),
            }
        }
        if let Some(mut judge) = task.table("judge").cloned()
            && prompts.contains(&"judge")
            && judge.text("prompt") == Some("judge")
        {
            judge.take_node("prompt");
            task.set("judge", Node::from_table(judge, written.at));
        }
        rename_nested_keys(&mut task, true);
        if let Some(outputs) = task.list("outputs").and_then(up_outputs) {
            task.set("outputs", Node::from_table(outputs, written.at));
        }
        out.set(&name, Node::from_table(task, written.at));
    }
    let named =
        |(name, task): (&str, &Node)| task.as_table().and_then(|task| task.text("result_name")) == Some(name);
    if out.len() > 1 && out.iter().all(named) {
        for (_, task) in out.iter_mut() {
            if let super::tree::NodeValue::Table(task) = &mut task.what {
                task.set("result_name", Node::from_text("{NAME}", ValuePlace::default()));
            }
        }
    }
    let common = if out.len() > 1 { find_common_keys(&out) } else { Table::default() };
    let mut rest = Table::default();
    for (name, task) in out.iter() {
        rest.set(name, Node::from_table(subtract_table(&common, task.as_table()?), task.at));
    }
    Some((rest, common))
}

/// What all tasks have alike.
fn find_common_keys(tasks: &Table) -> Table {
    let all: Vec<&Table> = tasks.iter().filter_map(|(_, task)| task.as_table()).collect();
    let mut common = intersect_tables(&all);
    OWN.into_iter().for_each(|key| drop(common.take_node(key)));
    common
}

fn intersect_tables(all: &[&Table]) -> Table {
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
        if let Some(same) = tables.map(|tables| intersect_tables(&tables)).filter(|same| !same.is_empty()) {
            out.set(key, Node::from_table(same, node.at));
        }
    }
    out
}

fn subtract_table(common: &Table, own: &Table) -> Table {
    let mut out = Table::default();
    for (key, node) in own.iter() {
        match (common.get(key), common.table(key), node.as_table()) {
            (Some(same), ..) if same == node => {}
            (_, Some(common), Some(own)) => {
                let rest = subtract_table(common, own);
                if !rest.is_empty() {
                    out.set(key, Node::from_table(rest, node.at));
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
        let reasoned = table.take_node("cot").is_some();
        Some((table, file, reasoned))
    };
    match outputs {
        [one] => one.as_table().filter(|table| !table.has_key("stem")).cloned(),
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
            let text = |text: &str| Node::from_text(text, ValuePlace::default());
            let mut up = Table::default();
            up.set("file", text(&format!("^{{STEM}}{{HOW}}{}", &direct[at..])));
            up.set("stem", text(&head[..same]));
            up.set("direct", text(&head[same..]));
            up.set("reasoned", text(&tail[same..]));
            for (key, node) in table.iter() {
                up.set(key, node.clone());
            }
            (low_outputs(up.clone(), ValuePlace::default()) == outputs).then_some(up)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse_table;
    use super::*;

    const COLUMNS: &str = "columns = [{ name = 'id', is = 'id' }, { name = 'tongue', is = 'post.language' }]";

    fn low(columns: &str, prompts: &[&str], task: &str) -> (Table, Vec<String>) {
        let data = parse_table(0, "", columns).unwrap();
        let named = TaskNames { prompts, columns: data.list("columns").unwrap_or_default() };
        let tasks = parse_table(0, "", task).unwrap();
        let mut problems = Vec::new();
        let low = low_tasks(&tasks, &Table::default(), &named, &mut problems);
        let first = low.as_list().unwrap()[0].as_table().unwrap().clone();
        (first, problems.into_iter().map(|(at, what)| format!("{} {what}", at.format_place())).collect())
    }

    /// The condition and the prompt of each case.
    fn cases(table: &Table, key: &str) -> Vec<(Option<String>, String)> {
        let of = |case: &Node| {
            let case = case.as_table().unwrap();
            (case.text("when").map(str::to_owned), case.text("prompt").unwrap().to_owned())
        };
        table.list(key).unwrap().iter().map(of).collect()
    }

    #[test]
    fn prompts_of_a_task_and_of_its_judge_go_by_the_column_with_the_language() {
        let task = "[ask]\nprompt = { en = 'a', zh = 'b' }\njudge = { prompt = { zh = 'c', en = 'd', und = 'd' } }\n";
        let (task, problems) = low(COLUMNS, &["a", "b", "c", "d", "a_cot", "b_cot"], task);
        assert!(problems.is_empty(), "{problems:?}");
        let is = |language: &str| Some(format!("tongue == '{language}'"));
        assert_eq!(cases(&task, "prompt"), [(is("zh"), "b".into()), (None, "a".into())]);
        assert_eq!(cases(&task, "reasoned"), [(is("zh"), "b_cot".into()), (None, "a_cot".into())]);
        let judge = task.table("judge").unwrap();
        let of_judge = [(is("en"), "d".into()), (is("und"), "d".into()), (None, "c".into())];
        assert_eq!(cases(judge, "prompt"), of_judge);
        let checks = task.list("checks").unwrap();
        assert_eq!(checks.len(), 1, "the judge has a prompt for every language");
        assert!(checks[0].as_text().unwrap().ends_with("if tongue not in ['en', 'zh']"));
    }

    #[test]
    fn a_prompt_without_a_language_to_go_by_and_reasoning_in_one_language_alone_are_told() {
        let task = "[ask]\nprompt = { en = 'a', zh = 'b' }\n";
        let (lowered, problems) = low("columns = [{ name = 'id', is = 'id' }]", &["a", "b"], task);
        assert_eq!(lowered.text("prompt"), Some("a"));
        assert!(problems[0].contains("`prompt` goes by the language of a row"), "{problems:?}");
        let (lowered, problems) = low(COLUMNS, &["a", "b", "a_cot"], task);
        assert!(problems[0].contains("prompts/b_cot.jinja is missing"), "{problems:?}");
        assert!(!lowered.has_key("reasoned"));
        let (lowered, problems) = low(COLUMNS, &["a", "b"], task);
        assert!(problems.is_empty() && !lowered.has_key("reasoned"), "{problems:?}");
    }
}
