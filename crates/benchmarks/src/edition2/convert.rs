//! A folder of the first edition in the second. What comes out is lowered again and compared, so that a folder that cannot be
//! said is told instead of changed.

use riddlemill_text::problem::{Problem, Problems};

use super::kept::Columns;
use super::lower::{filled_group, is_first, lower_files, prompt_names};
use super::tree::{FILES, Node, Table, ValuePlace, format_inline, parse_table};
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
pub fn convert_folder(name: &str, files: &[(&str, &str)]) -> Result<Converted, Problems> {
    let text = |file: &str| files.iter().find(|(path, _)| *path == file).map(|(_, text)| *text);
    let mut read = Vec::new();
    let mut problems = Vec::new();
    for (i, file) in FILES.into_iter().take(3).enumerate() {
        match parse_table(i, &format!("{name}/{file}"), text(file).unwrap_or_default()) {
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
    let prompts = prompt_names(files);
    let mut lost = Vec::new();
    let second = raise_files(&first, &prompts, &mut lost);
    let mut out = Vec::new();
    let mut again = Vec::new();
    for (i, table) in second.iter().enumerate() {
        let (english, chinese) = chinese::split_languages(table);
        let mut both = (Table::default(), Table::default());
        if !english.is_empty() {
            let made =
                comments::carry_comments(text(FILES[i]).unwrap_or_default(), &write::format_file(&english));
            both.0 = reread_file(i, &made, &mut lost);
            out.push((FILES[i].to_owned(), made));
        }
        if !chinese.is_empty() {
            let head = format!("# The Chinese texts of {}, by the same keys.\n", FILES[i]);
            let made = head + &write::format_file(&chinese);
            both.1 = reread_file(i + 3, &made, &mut lost);
            out.push((FILES[i + 3].to_owned(), made));
        }
        again.push(both);
    }
    let again = <[(Table, Table); 3]>::try_from(again).unwrap_or_default();
    let mut found = Vec::new();
    let low = lower_files(again, &prompts, &mut found);
    lost.extend(found.into_iter().map(|(at, what)| format!("{}: {what}", at.format_place())));
    for (i, (first, low)) in first.iter().zip(&low).enumerate() {
        report_differences(FILES[i], &spread_every(first), &spread_every(low), &mut lost);
    }
    Ok(Converted { files: out, lost })
}

fn reread_file(file: usize, text: &str, lost: &mut Vec<String>) -> Table {
    parse_table(file, FILES[file], text).unwrap_or_else(|problem| {
        lost.push(format!("{}: {}", problem.place, problem.what));
        Table::default()
    })
}

/// The three files in the second edition, with both languages in them.
fn raise_files(first: &[Table; 3], prompts: &[&str], lost: &mut Vec<String>) -> [Table; 3] {
    let [benchmark, ballots, report] = first;
    let at = ValuePlace::default();
    let of = Columns::from_benchmark(benchmark);
    let lists = ballots_up::up_ballots(ballots, &of, lost);
    let codes = |list: &str| super::lower::codes_of_list(&lists, list);
    let names: Vec<&str> = lists.table("list").into_iter().flat_map(Table::keys).collect();
    let published = benchmark.has_key("published");
    let columns_of_data = benchmark.table("data").and_then(|data| data.list("columns")).unwrap_or_default();
    let mut out = Table::default();
    for (key, node) in benchmark.iter() {
        let made = match (key, node.as_table(), node.as_list()) {
            ("step", Some(table), _) => Some(Node::from_table(steps::up_steps(table, prompts, &of), at)),
            ("data", Some(table), _) => {
                let released = data::ColumnContext { published, codes: &codes };
                Some(Node::from_table(data::up_data(table, &released, &names, lost), at))
            }
            ("compat", _, Some(list)) => {
                data::up_compat(list, columns_of_data, published).map(|table| Node::from_table(table, at))
            }
            ("published", Some(table), _) => {
                let group = |ballot: &str| filled_group(&lists, ballot, "fills");
                Some(Node::from_table(data::convert_published(table, &group, true), at))
            }
            ("task", _, Some(list)) => tasks::up_tasks(list, prompts).map(|(tasks, common)| {
                if !common.is_empty() {
                    out.set("tasks", Node::from_table(common, at));
                }
                Node::from_table(tasks, at)
            }),
            ("table", _, Some(list)) => tables::up_tables(list).map(|tables| Node::from_table(tables, at)),
            ("columns", Some(kinds), _) => {
                let mut all = Table::default();
                for (kind, columns) in kinds.iter() {
                    let up = columns.as_table().and_then(columns::up_columns);
                    all.set(kind, up.unwrap_or_else(|| columns.clone()));
                }
                Some(Node::from_table(all, at))
            }
            ("paper", Some(paper), _) => Some(Node::from_table(up_paper(paper), at)),
            _ => Some(node.clone()),
        };
        match made {
            Some(node) => out.set(key, node),
            None => lost.push(format!("{} [{key}]: cannot be said in the second edition", FILES[0])),
        }
    }
    out.rename_key("prompts_of", "replies_as");
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
        Some(Node::from_list(both.into_iter().chain(table.get("unless")).cloned().collect(), node.at))
    };
    let short: Vec<Node> = differs.iter().map(|node| each(node).unwrap_or_else(|| node.clone())).collect();
    paper.set("differs", Node::from_list(short, ValuePlace::default()));
    paper
}

/// A file with what `[every]` says of voters in its ballots, where the second edition has it.
fn spread_every(file: &Table) -> Table {
    let mut file = file.clone();
    let Some(mut every) = file.take_table("every") else { return file };
    if let Some(voters) = every.take_node("voters") {
        let mut ballots = file.take_table("ballot").unwrap_or_default();
        for (_, ballot) in ballots.iter_mut() {
            if let super::tree::NodeValue::Table(ballot) = &mut ballot.what {
                ballot.set_default("voters", voters.clone());
            }
        }
        file.set("ballot", Node::from_table(ballots, ValuePlace::default()));
    }
    if !every.is_empty() {
        file.set("every", Node::from_table(every, ValuePlace::default()));
    }
    file
}

/// Says where two files differ.
fn report_differences(path: &str, first: &Table, low: &Table, lost: &mut Vec<String>) {
    for (key, node) in first.iter() {
        let path = format!("{path}/{key}");
        match low.get(key) {
            Some(other) => differ_at(&path, node, other, lost),
            None => lost.push(format!("{path}: {} is not said", shorten_node(node))),
        }
    }
    for (key, node) in low.iter().filter(|(key, _)| !first.has_key(key)) {
        lost.push(format!("{path}/{key}: {} would be said besides", shorten_node(node)));
    }
}

fn differ_at(path: &str, first: &Node, low: &Node, lost: &mut Vec<String>) {
    if first == low || is_harmless(path, first, low) {
        return;
    }
    match (first.as_table(), low.as_table(), first.as_list(), low.as_list()) {
        (Some(first), Some(low), ..) => report_differences(path, first, low, lost),
        (.., Some(first), Some(low)) if first.len() == low.len() => {
            for (i, (first, low)) in first.iter().zip(low).enumerate() {
                differ_at(&format!("{path}[{i}]"), first, low, lost);
            }
        }
        _ => lost.push(format!("{path}: {} becomes {}", shorten_node(first), shorten_node(low))),
    }
}

/// A field in which the second edition writes out what the program takes for granted.
fn is_harmless(path: &str, first: &Node, low: &Node) -> bool {
    let usual = |field: &Table, key: &str| match key {
        "min" if field.text("kind") == Some("choices") => Some(0),
        "max" if field.text("kind") == Some("choices") => field.list("options").map(<[Node]>::len),
        "min" | "k" => Some(1),
        "max" => Some(5),
        _ => None,
    };
    let (Some(first), Some(low)) = (first.as_table(), low.as_table()) else { return false };
    let mut full = first.clone();
    for (key, node) in low.iter().filter(|(key, _)| !first.has_key(key)) {
        let same = key == "rule" && node.as_text() == Some("majority");
        if same || usual(low, key).is_some_and(|usual| node.as_number() == Some(usual)) {
            full.set(key, node.clone());
        }
    }
    path.contains("/fields[") && full == *low
}

fn shorten_node(node: &Node) -> String {
    let text = format_inline(node);
    match text.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
