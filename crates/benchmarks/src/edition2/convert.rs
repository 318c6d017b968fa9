//! A folder of the first edition in the second. What comes out is lowered again and compared, so that a folder that cannot be
//! said is told instead of changed.

use riddlemill_text::problem::{Problem, Problems};

use super::kept::Columns;
use super::lower::{filled, is_first, lower, prompts};
use super::tree::{FILES, Node, Place, Table, inline, parse};
use super::{ballots_up, chinese, columns, comments, data, steps, tables, tasks, write};

/// A folder in the second edition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// Its files with values, by name; prompts stay as they are.
    pub files: Vec<(String, String)>,
    /// What the files say otherwise than the folder that they were made from: empty if they can take its place.
    pub lost: Vec<String>,
}

/// Converts a folder of the first edition, whose files are given by their paths.
///
/// # Errors
/// Files that are no TOML, and folders that are of the second edition already.
pub fn convert(name: &str, files: &[(&str, &str)]) -> Result<Converted, Problems> {
    let text = |file: &str| files.iter().find(|(path, _)| *path == file).map(|(_, text)| *text);
    let mut read = Vec::new();
    let mut problems = Vec::new();
    for (i, file) in FILES.into_iter().take(3).enumerate() {
        match parse(i, &format!("{name}/{file}"), text(file).unwrap_or_default()) {
            Ok(table) => read.push(table),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() && !is_first(files) {
        let what = "this folder is of the second edition: there is nothing to convert".to_owned();
        problems.push(Problem { place: format!("{name}/{}", FILES[0]), what });
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let first = <[Table; 3]>::try_from(read).unwrap_or_default();
    let prompts = prompts(files);
    let mut lost = Vec::new();
    let second = up(&first, &prompts, &mut lost);
    let mut out = Vec::new();
    let mut again = Vec::new();
    for (i, table) in second.iter().enumerate() {
        let (english, chinese) = chinese::split(table);
        let mut both = (Table::default(), Table::default());
        if !english.is_empty() {
            let made = comments::carry(text(FILES[i]).unwrap_or_default(), &write::write(&english));
            both.0 = reread(i, &made, &mut lost);
            out.push((FILES[i].to_owned(), made));
        }
        if !chinese.is_empty() {
            let head = format!("# The Chinese texts of {}, by the same keys.\n", FILES[i]);
            let made = head + &write::write(&chinese);
            both.1 = reread(i + 3, &made, &mut lost);
            out.push((FILES[i + 3].to_owned(), made));
        }
        again.push(both);
    }
    let again = <[(Table, Table); 3]>::try_from(again).unwrap_or_default();
    let mut found = Vec::new();
    let low = lower(again, &prompts, &mut found);
    lost.extend(found.into_iter().map(|(at, what)| format!("{}: {what}", at.shown())));
    for (i, (first, low)) in first.iter().zip(&low).enumerate() {
        differ(FILES[i], &plain(first), &plain(low), &mut lost);
    }
    Ok(Converted { files: out, lost })
}

fn reread(file: usize, text: &str, lost: &mut Vec<String>) -> Table {
    parse(file, FILES[file], text).unwrap_or_else(|problem| {
        lost.push(format!("{}: {}", problem.place, problem.what));
        Table::default()
    })
}

/// The three files in the second edition, with both languages in them.
fn up(first: &[Table; 3], prompts: &[&str], lost: &mut Vec<String>) -> [Table; 3] {
    let [benchmark, ballots, report] = first;
    let at = Place::default();
    let of = Columns::of(benchmark);
    let lists = ballots_up::up_ballots(ballots, &of, lost);
    let codes = |list: &str| super::lower::codes(&lists, list);
    let names: Vec<&str> = lists.table("list").into_iter().flat_map(Table::keys).collect();
    let published = benchmark.has("published");
    let columns_of_data = benchmark.table("data").and_then(|data| data.list("columns")).unwrap_or_default();
    let mut out = Table::default();
    for (key, node) in benchmark.iter() {
        let made = match (key, node.as_table(), node.as_list()) {
            ("step", Some(table), _) => Some(Node::table(steps::up_steps(table, prompts, &of), at)),
            ("data", Some(table), _) => {
                let released = data::Released { published, codes: &codes };
                Some(Node::table(data::up_data(table, &released, &names, lost), at))
            }
            ("compat", _, Some(list)) => {
                data::up_compat(list, columns_of_data, published).map(|table| Node::table(table, at))
            }
            ("published", Some(table), _) => {
                let group = |ballot: &str| filled(&lists, ballot, "fills");
                Some(Node::table(data::published(table, &group, true), at))
            }
            ("task", _, Some(list)) => tasks::up_tasks(list, prompts).map(|(tasks, common)| {
                if !common.is_empty() {
                    out.set("tasks", Node::table(common, at));
                }
                Node::table(tasks, at)
            }),
            ("table", _, Some(list)) => tables::up_tables(list).map(|tables| Node::table(tables, at)),
            ("columns", Some(kinds), _) => {
                let mut all = Table::default();
                for (kind, columns) in kinds.iter() {
                    let up = columns.as_table().and_then(columns::up_columns);
                    all.set(kind, up.unwrap_or_else(|| columns.clone()));
                }
                Some(Node::table(all, at))
            }
            ("paper", Some(paper), _) => Some(Node::table(up_paper(paper), at)),
            _ => Some(node.clone()),
        };
        match made {
            Some(node) => out.set(key, node),
            None => lost.push(format!("{} [{key}]: cannot be said in the second edition", FILES[0])),
        }
    }
    out.rename("prompts_of", "replies_as");
    let report = tables::up_report(report).unwrap_or_else(|| {
        lost.push(format!("{}: a figure cannot be said in the second edition", FILES[2]));
        report.clone()
    });
    [out, lists, report]
}

/// `differs` in lines of their own.
fn up_paper(paper: &Table) -> Table {
    let mut paper = paper.clone();
    let Some(differs) = paper.list("differs") else { return paper };
    let each = |node: &Node| {
        let table = node.as_table()?;
        let both = [table.get("there")?, table.get("here")?];
        Some(Node::list(both.into_iter().chain(table.get("unless")).cloned().collect(), node.at))
    };
    let short: Vec<Node> = differs.iter().map(|node| each(node).unwrap_or_else(|| node.clone())).collect();
    paper.set("differs", Node::list(short, Place::default()));
    paper
}

/// A file with what `[every]` says of voters in its ballots, where the second edition has it.
fn plain(file: &Table) -> Table {
    let mut file = file.clone();
    let Some(mut every) = file.take_table("every") else { return file };
    if let Some(voters) = every.take("voters") {
        let mut ballots = file.take_table("ballot").unwrap_or_default();
        for (_, ballot) in ballots.iter_mut() {
            if let super::tree::What::Table(ballot) = &mut ballot.what {
                ballot.set_default("voters", voters.clone());
            }
        }
        file.set("ballot", Node::table(ballots, Place::default()));
    }
    if !every.is_empty() {
        file.set("every", Node::table(every, Place::default()));
    }
    file
}

/// Says where two files differ.
fn differ(path: &str, first: &Table, low: &Table, lost: &mut Vec<String>) {
    for (key, node) in first.iter() {
        let path = format!("{path}/{key}");
        match low.get(key) {
            Some(other) => differ_at(&path, node, other, lost),
            None => lost.push(format!("{path}: {} is not said", shortened(node))),
        }
    }
    for (key, node) in low.iter().filter(|(key, _)| !first.has(key)) {
        lost.push(format!("{path}/{key}: {} would be said besides", shortened(node)));
    }
}

fn differ_at(path: &str, first: &Node, low: &Node, lost: &mut Vec<String>) {
    if first == low || harmless(path, first, low) {
        return;
    }
    match (first.as_table(), low.as_table(), first.as_list(), low.as_list()) {
        (Some(first), Some(low), ..) => differ(path, first, low, lost),
        (.., Some(first), Some(low)) if first.len() == low.len() => {
            for (i, (first, low)) in first.iter().zip(low).enumerate() {
                differ_at(&format!("{path}[{i}]"), first, low, lost);
            }
        }
        _ => lost.push(format!("{path}: {} becomes {}", shortened(first), shortened(low))),
    }
}

/// A field in which the second edition writes out what the program takes for granted.
fn harmless(path: &str, first: &Node, low: &Node) -> bool {
    let usual = |field: &Table, key: &str| match key {
        "min" if field.text("kind") == Some("choices") => Some(0),
        "max" if field.text("kind") == Some("choices") => field.list("options").map(<[Node]>::len),
        "min" | "k" => Some(1),
        "max" => Some(5),
        _ => None,
    };
    let (Some(first), Some(low)) = (first.as_table(), low.as_table()) else { return false };
    let mut full = first.clone();
    for (key, node) in low.iter().filter(|(key, _)| !first.has(key)) {
        let same = key == "rule" && node.as_text() == Some("majority");
        if same || usual(low, key).is_some_and(|usual| node.as_number() == Some(usual)) {
            full.set(key, node.clone());
        }
    }
    path.contains("/fields[") && full == *low
}

fn shortened(node: &Node) -> String {
    let text = inline(node);
    match text.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
