//! A whole folder of the second edition, lowered.

use riddlemill_text::problem::Problem;

use super::kept::Columns;
use super::tree::{FILES, Node, Table, ValuePlace};
use super::write::write_lowered;
use super::{ballots, chinese, columns, data, keys, own_lists, steps, tables, tasks, tree};

/// The files of a folder: path and text.
pub(crate) type FolderTexts = [(&'static str, &'static str)];

/// Whether a folder is written in the first edition: something in it has a form that the second does not know.
pub fn is_first(files: &[(&str, &str)]) -> bool {
    if files.iter().any(|(path, _)| path.ends_with(".zh.toml")) {
        return false;
    }
    let read = |name: &str| {
        let text = files.iter().find(|(path, _)| *path == name).map(|(_, text)| *text);
        text.and_then(|text| tree::parse_table(0, "", text).ok()).unwrap_or_default()
    };
    let (benchmark, ballots, report) = (read(FILES[0]), read(FILES[1]), read(FILES[2]));
    let lists = |file: &Table, keys: &[&str]| keys.iter().any(|key| file.list(key).is_some());
    let each = |file: &Table, key: &str, first: &dyn Fn(&Table) -> bool| {
        let tables = file.table(key).into_iter().flat_map(Table::iter);
        tables.filter_map(|(_, node)| node.as_table()).any(first)
    };
    let of_list = has_list(&ballots);
    let field_list = |ballot: &Table| ballot.list("fields").is_some();
    let old_step = |step: &Table| ["asks", "made", "known_as"].iter().any(|key| step.has_key(key));
    let old_kind = |step: &Table| {
        let follows = ["ask", "reply", "case", "op", "right"].iter().any(|key| step.has_key(key));
        step.has_key("kind") && follows && !step.has_key("like")
    };
    let old_columns = |kind: &Table| !kind.is_empty();
    lists(&benchmark, &["task", "table", "compat"])
        || lists(&report, &["figure"])
        || of_list
        || ballots.has_key("every")
        || benchmark.has_key("prompts_of")
        || benchmark.table("data").is_some_and(|data| data.list("columns").is_some() || data.has_key("poses"))
        || each(&ballots, "ballot", &field_list)
        || each(&benchmark, "step", &old_step)
        || each(&benchmark, "step", &old_kind)
        || each(&benchmark, "columns", &old_columns)
}

fn has_list(ballots: &Table) -> bool {
    ballots.table("list").is_some_and(|lists| lists.iter().any(|(_, list)| list.as_list().is_some()))
}

/// A folder's files as the rest of the crate reads them: those of the first edition as they are, those of the second
/// lowered, without what is wrong in them; and the problems of the second edition's own. No files where one of them is
/// no TOML.
pub(crate) fn read_folder(
    name: &str,
    files: &FolderTexts,
) -> (Vec<(&'static str, &'static str)>, Vec<Problem>) {
    let has = |file: &str| files.iter().any(|(path, _)| *path == file);
    if is_first(files) || !has(FILES[0]) {
        return (files.to_vec(), Vec::new());
    }
    let mut parsed = Vec::new();
    let mut problems = Vec::new();
    for (i, file) in FILES.into_iter().enumerate() {
        let text = files.iter().find(|(path, _)| *path == file).map_or("", |(_, text)| *text);
        match tree::parse_table(i, &format!("{name}/{file}"), text) {
            Ok(table) => parsed.push(table),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return (Vec::new(), problems);
    }
    let mut found = Vec::new();
    let [mut benchmark, mut ballots, mut report, of_benchmark, of_ballots, of_report] =
        <[Table; 6]>::try_from(parsed).unwrap_or_default();
    keys::check_files([&mut benchmark, &mut ballots, &mut report], &mut found);
    let both = [(benchmark, of_benchmark), (ballots, of_ballots), (report, of_report)];
    let lowered = lower_files(both, &prompt_names(files), &mut found);
    found.sort_by_key(|(at, _)| (at.file, at.line, at.column));
    let problem =
        |(at, what): (ValuePlace, String)| Problem { place: format!("{name}/{}", at.format_place()), what };
    let problems = found.into_iter().map(problem).collect();
    let mut out: Vec<(&'static str, &'static str)> =
        files.iter().filter(|(path, _)| !FILES.contains(path)).copied().collect();
    for (file, table) in FILES.into_iter().zip(&lowered) {
        if has(file) {
            out.push((file, crate::reader::leak_text(&write_lowered(table))));
        }
    }
    (out, problems)
}

/// The names of a folder's prompts.
pub(super) fn prompt_names<'f>(files: &[(&'f str, &'f str)]) -> Vec<&'f str> {
    files.iter().filter_map(|(path, _)| path.strip_prefix("prompts/")?.strip_suffix(".jinja")).collect()
}

/// The three files of the first edition for those of the second, each with its Chinese.
pub(super) fn lower_files(
    files: [(Table, Table); 3],
    prompts: &[&str],
    problems: &mut Vec<(ValuePlace, String)>,
) -> [Table; 3] {
    let [mut benchmark, ballots, report] =
        files.map(|(table, zh)| chinese::merge_chinese(table, &zh, problems));
    let at = ValuePlace::default();
    let kinds = benchmark.take_table("columns").unwrap_or_default();
    let mut low = Table::default();
    for (kind, list) in kinds.iter() {
        let columns = list.as_list().map(columns::low_columns);
        low.set(kind, columns.map_or_else(|| list.clone(), |columns| Node::from_table(columns, list.at)));
    }
    if !low.is_empty() {
        benchmark.set("columns", Node::from_table(low, at));
    }
    benchmark.rename_key("replies_as", "prompts_of");
    let columns = Columns::from_benchmark(&benchmark);
    let group = |ballot: &str| filled_group(&ballots, ballot, "fills");
    let codes = |list: &str| codes_of_list(&ballots, list);
    let published = benchmark.has_key("published");
    if let Some(steps) = benchmark.take_table("step") {
        benchmark.set("step", Node::from_table(steps::low_steps(&steps, prompts, &columns, problems), at));
    }
    if let Some(data) = benchmark.take_table("data") {
        let released = data::ColumnContext { published, codes: &codes };
        benchmark.set("data", Node::from_table(data::low_data(data, &released, problems), at));
    }
    let of_data = |benchmark: &Table| {
        benchmark.table("data").and_then(|data| data.list("columns")).unwrap_or_default().to_vec()
    };
    if let Some(files) = benchmark.take_table("compat") {
        let low = data::low_compat(&files, &of_data(&benchmark), published, problems);
        benchmark.set("compat", low);
    }
    if let Some(table) = benchmark.take_table("published") {
        benchmark.set("published", Node::from_table(data::convert_published(&table, &group, false), at));
    }
    let common = benchmark.take_table("tasks").unwrap_or_default();
    if let Some(tasks) = benchmark.take_table("task") {
        let of_rows = of_data(&benchmark);
        let named = tasks::TaskNames { prompts, columns: &of_rows };
        benchmark.set("task", tasks::low_tasks(&tasks, &common, &named, problems));
    }
    if let Some(tables) = benchmark.take_table("table") {
        benchmark.set("table", tables::low_tables(&tables));
    }
    if let Some(mut paper) = benchmark.take_table("paper") {
        if let Some(differs) = paper.take_list("differs") {
            paper.set("differs", Node::from_list(differs.iter().map(low_difference).collect(), at));
        }
        benchmark.set("paper", Node::from_table(paper, at));
    }
    let mut ballots = ballots::low_ballots(ballots, &columns, problems);
    let report = tables::low_report(report);
    own_lists::inline_lists(&mut ballots, [&benchmark, &report]);
    [benchmark, ballots, report]
}

/// `["there", "here"]`, and where it does not differ.
fn low_difference(node: &Node) -> Node {
    let Some(parts) = node.as_list() else { return node.clone() };
    let mut out = Table::default();
    for (key, part) in ["there", "here", "unless"].into_iter().zip(parts) {
        out.set(key, part.clone());
    }
    Node::from_table(out, node.at)
}

/// The group or prefix that a ballot fills, in the words of either edition.
pub(super) fn filled_group(ballots: &Table, ballot: &str, key: &str) -> String {
    let own = ballots.table("ballot").and_then(|all| all.table(ballot)?.text(key));
    own.unwrap_or(ballot).replace('-', "_")
}

/// The codes of a list of the second edition.
pub(super) fn codes_of_list(ballots: &Table, list: &str) -> Option<Vec<String>> {
    Some(ballots.table("list")?.table(list)?.keys().map(str::to_owned).collect())
}
