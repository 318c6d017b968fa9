//! `decide`: people's decisions about records and pairs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::args::{DecideArgs as ActArgs, DecideVerb, Edit, Global, OfPair, OfRecord, RecipeArgs};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::sheets::no_table;
use crate::audit::{Reading, Resolver};
use crate::config::Config;
use crate::decisions::{
    CellsByColumn, DECISIONS, Decision, DecisionLog, TableError, Verdict, read_table, write_table,
};
use crate::pipeline::current_time;
use crate::pipeline::decide::{
    Act, DecideError, DecisionRequest, DecisionState, Listed, Open, RecipeDecision, check_entitled,
    make_decisions as plan, open_records, states_of_decisions,
};
use crate::recipe;
use crate::record::State;
use crate::report::{DecisionRow, TableReceipt};
use crate::review::{Digest, NotADigest};
use crate::store::{Error, Workspace, durable};
use riddlemill_files::log::LogError;

/// Most records that a name lists.
const MOST: usize = 10;

pub(super) fn run_decide_verb(verb: &DecideVerb, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let record = |verdict, args: &OfRecord| {
        decide_record(&config, verdict, &args.record, None, None, &args.act, global)
    };
    let edit = |verdict, args: &Edit| {
        decide_record(&config, verdict, &args.record, None, Some(&args.text), &args.act, global)
    };
    let pair = |verdict, args: &OfPair| {
        decide_record(&config, verdict, &args.record, Some(&args.other), None, &args.act, global)
    };
    match verb {
        DecideVerb::Keep(args) => record(Verdict::Keep, args),
        DecideVerb::Drop(args) => record(Verdict::Drop, args),
        DecideVerb::Hold(args) => record(Verdict::Hold, args),
        DecideVerb::Text(args) => edit(Verdict::Text, args),
        DecideVerb::Title(args) => edit(Verdict::Title, args),
        DecideVerb::Answer(args) => edit(Verdict::Answer, args),
        DecideVerb::Same(args) => pair(Verdict::One, args),
        DecideVerb::Different(args) => pair(Verdict::Two, args),
        DecideVerb::Undo { id, by, why } => undo_decision(&config, id, by, why),
        DecideVerb::List { record } => list_decisions(&config, record.as_deref(), global),
        DecideVerb::Export { out, recipe, stage, outcome, pairs } => {
            export_decisions(&config, out, recipe.as_deref(), stage.clone(), outcome, *pairs, global)
        }
        DecideVerb::Import { files, by, why, all } => {
            import_decisions(&config, files, by.as_deref(), why.as_deref(), *all, global)
        }
    }
}

fn decisions_folder(config: &Config) -> PathBuf {
    Workspace::new(&config.root).decisions_folder()
}

fn read_decisions(config: &Config) -> Result<DecisionLog, Failure> {
    let log = DecisionLog::read_folder(&decisions_folder(config))?;
    log.damaged().iter().for_each(|damaged| eprintln!("{damaged}; it is not counted"));
    Ok(log)
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Failure {
        Failure { exit: Exit::Io, message: error.to_string() }
    }
}

impl From<DecideError> for Failure {
    fn from(error: DecideError) -> Failure {
        match error {
            DecideError::Run(error) => error.into(),
            DecideError::NoRecord { .. } => Failure { exit: Exit::Gap, message: error.to_string() },
            _ => Failure::usage(error.to_string()),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Failure {
        Failure::usage(error.to_string())
    }
}

/// The id of a record named as in `explain`. What else the name could mean is printed.
fn find_record(
    config: &Config,
    only: Option<&str>,
    target: &str,
    global: &Global,
) -> Result<String, Failure> {
    let recipes: Vec<_> =
        recipe::used_recipes(config).filter(|recipe| only.is_none_or(|name| name == recipe.name)).collect();
    let resolver = Resolver::open(config, &recipes)?;
    let found = resolver.resolve_name(target, MOST)?;
    if !global.quiet {
        found.others.iter().for_each(|other| eprintln!("note: {target:?} is {}", other));
    }
    if let (Some(Reading::Text), [record]) = (found.reading, &found.records[..])
        && let Some(place) = resolver.merged_at_import(record)?
    {
        // Who names an edit of a post by its text means that text, and import kept the other one.
        return Ok(place);
    }
    let ids = found.ids();
    let mut named = ids.iter();
    match (named.next(), named.next()) {
        (Some(id), None) => Ok(id.clone()),
        // The verb itself reports what is missing.
        (None, _) => Ok(target.to_owned()),
        _ => {
            let some: Vec<&str> = ids.iter().take(MOST).map(String::as_str).collect();
            let message = format!("several records match {target:?}; name one of them: {}", some.join(", "));
            Err(Failure::usage(message))
        }
    }
}

fn decide_record(
    config: &Config,
    verdict: Verdict,
    record: &str,
    other: Option<&str>,
    text: Option<&str>,
    args: &ActArgs,
    global: &Global,
) -> Result<Exit, Failure> {
    // Refused before the record is searched for, which may read whole dumps.
    check_entitled(config, &args.by)?;
    let only = args.recipe.as_deref();
    let wish = DecisionRequest {
        verdict,
        record: find_record(config, only, record, global)?,
        other: other.map(|other| find_record(config, only, other, global)).transpose()?,
        text: text.map(str::to_owned),
        recipe: args.recipe.clone(),
        stage: args.stage.clone(),
        seen: None,
    };
    let at = current_time();
    let act = Act { by: &args.by, why: &args.why, at: &at, source: "command line" };
    let decisions = plan(config, &wish, act)?;
    let receipt = DecisionLog::append_decisions(&decisions_folder(config), decisions.clone())?;
    // Read after the append, so that the output shows the stored lines.
    let log = read_decisions(config)?;
    let stored: Vec<&Decision> =
        receipt.added.iter().filter_map(|id| log.all_decisions().iter().find(|d| d.id == *id)).collect();
    if global.json {
        output::print_json(&stored)?;
        return Ok(Exit::Done);
    }
    for decision in &stored {
        output::print_text(&format!("{}\n", describe_decision(decision)))?;
    }
    for overruled in overruled_by(&log, &receipt.added) {
        output::print_text(&format!("it overrules {overruled}\n"))?;
    }
    let known = receipt.known.iter().filter_map(|id| log.all_decisions().iter().find(|d| d.id == *id));
    for known in known {
        output::print_text(&format!("this has already been decided: {}\n", describe_decision(known)))?;
        if known.why != args.why.trim() || known.by != args.by {
            eprintln!("note: the new reason is not stored; the earlier one stays");
        }
    }
    if !stored.is_empty() && !global.quiet {
        let recipes: BTreeSet<&str> = recipe::used_recipes(config)
            .filter(|recipe| {
                stored.iter().any(|d| d.is_for(recipe.name) && recipe.find_step(&d.stage).is_some())
            })
            .map(|recipe| recipe.name)
            .collect();
        let only: Vec<String> = recipes.iter().map(|name| format!(" --recipe {name}")).collect();
        eprintln!("`riddlemill run{}` applies it", only.concat());
    }
    Ok(Exit::Done)
}

/// The decisions that count no more since these were stored.
fn overruled_by(log: &DecisionLog, added: &[Digest]) -> Vec<String> {
    let stored = log.all_decisions().iter().filter(|d| added.contains(&d.id));
    stored.filter_map(|d| log.overruled_decision(d)).map(describe_decision).collect()
}

/// `1f00…  keep tieba:1 at filter, all recipes, by meta-1: why`
pub(super) fn describe_decision(decision: &Decision) -> String {
    let Decision { id, verdict, record, stage, by, why, .. } = decision;
    let other = decision.other.as_ref().map(|other| format!(" {other}")).unwrap_or_default();
    let text = decision.text.as_ref().map(|text| format!(" {text:?}")).unwrap_or_default();
    let recipe = decision.recipe.as_deref().unwrap_or("all recipes");
    format!("{id}  {verdict} {record}{other}{text} at {stage}, {recipe}, by {by}: {why}")
}

fn undo_decision(config: &Config, id: &str, by: &str, why: &str) -> Result<Exit, Failure> {
    check_entitled(config, by)?;
    if why.trim().is_empty() {
        return Err(DecideError::NoReason.into());
    }
    let log = read_decisions(config)?;
    // One or two digits could match a decision by accident.
    let begins = |d: &&Decision| id.len() >= 4 && d.id.to_string().starts_with(id);
    let found: Vec<&Decision> = log.all_decisions().iter().filter(begins).collect();
    let decision = match found[..] {
        [decision] => decision,
        [] => {
            return Err(Failure {
                exit: Exit::Gap,
                message: format!(
                    "no decision has the id {id:?}\n  hint: `riddlemill decide list` shows the ids; give at least four digits"
                ),
            });
        }
        _ => return Err(Failure::usage(format!("{} decisions begin with {id:?}", found.len()))),
    };
    match DecisionLog::withdraw_decision(&decisions_folder(config), decision.id, by, why, &current_time())? {
        true => output::print_text(&format!("taken back: {}\n", describe_decision(decision)))?,
        false => {
            let undo = log.undo_of(decision.id);
            let told = undo.map_or_else(String::new, |undo| format!(" by {}: {}", undo.by, undo.why));
            output::print_text(&format!("it has already been undone{told}\n"))?;
        }
    }
    Ok(Exit::Done)
}

fn list_decisions(config: &Config, record: Option<&str>, global: &Global) -> Result<Exit, Failure> {
    let log = read_decisions(config)?;
    let record = record.map(|record| find_record(config, None, record, global)).transpose()?;
    let about = |d: &Decision| {
        record.as_ref().is_none_or(|record| d.record == *record || d.other.as_ref() == Some(record))
    };
    let found = states_of_decisions(config, &log, about)?;
    if global.json {
        let rows: Vec<DecisionRow<'_>> = found
            .iter()
            .map(|one| DecisionRow {
                recipe: one.recipe,
                state: one.state,
                decision: &one.decision,
                undone: log.undo_of(one.decision.id),
            })
            .collect();
        output::print_json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for decision in log.all_decisions().iter().filter(|d| about(d)) {
        text.push_str(&format!("{}\n  {}\n", describe_decision(decision), decision.at));
        if let Some(undo) = log.undo_of(decision.id) {
            text.push_str(&format!("  undone by {} on {}: {}\n", undo.by, undo.at, undo.why));
        }
        for RecipeDecision { recipe, state, .. } in
            found.iter().filter(|found| found.decision.id == decision.id)
        {
            if *state != DecisionState::TakenBack {
                text.push_str(&format!("  {recipe}: {}\n", state.label()));
            }
        }
    }
    if text.is_empty() {
        text.push_str("nothing was decided\n");
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

fn export_decisions(
    config: &Config,
    out: &Path,
    recipe: Option<&str>,
    stage: Option<String>,
    outcome: &str,
    pairs: bool,
    global: &Global,
) -> Result<Exit, Failure> {
    let recipe = match recipe {
        Some(name) => output::find_recipe(name)?,
        None => output::select_recipes(config, &RecipeArgs::default())?.remove(0),
    };
    if let Some(name) = stage.as_ref().filter(|name| recipe.find_step(name).is_none()) {
        return Err(Failure::usage(format!("{} has no stage {name:?}", recipe.name)));
    }
    let state = State::from_code(outcome)
        .filter(|state| [State::Held, State::Dropped, State::Failed].contains(state))
        .ok_or_else(|| Failure::usage(format!("--outcome is held, dropped or failed, not {outcome:?}")))?;
    let listed = if pairs { Listed::Pairs } else { Listed::Records { stage, state } };
    let log = read_decisions(config)?;
    let open = open_records(config, recipe, &listed)?;
    let rows: Vec<CellsByColumn> = open.iter().map(|open| row_cells(&log, recipe.name, open)).collect();
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let bytes = write_table(&DECISIONS, &name, &rows)?;
    // The parent of a bare file name is empty, and no folder can be created by that name.
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        durable::create_folder(folder)?;
    }
    durable::replace_file(out, &bytes)?;
    if global.json {
        output::print_json(&serde_json::json!({ "file": out.display().to_string(), "rows": rows.len() }))?;
        return Ok(Exit::Done);
    }
    // The path alone goes to stdout, so that a script can use it.
    output::print_text(&format!("{}\n", out.display()))?;
    eprintln!("{}", count(rows.len() as u64, if pairs { "pair" } else { "record" }));
    Ok(Exit::Done)
}

/// A row to decide in, with the current decision if there is one.
fn row_cells(log: &DecisionLog, recipe: &str, open: &Open) -> CellsByColumn {
    let pair = |d: &Decision| match (&open.other, &d.other) {
        (None, None) => d.record == open.record,
        (Some(other), Some(second)) => {
            (&d.record, second) == (&open.record, other) || (&d.record, second) == (other, &open.record)
        }
        _ => false,
    };
    // The last decision counts, and one on an earlier text must not look like one on the present text.
    let holds = log.all_decisions().iter().rfind(|d| {
        d.stage == open.stage
            && d.is_for(recipe)
            && log.undo_of(d.id).is_none()
            && pair(d)
            && d.seen == open.seen
    });
    let mut cells = CellsByColumn::new();
    let mut put = |column: &str, cell: Option<String>| cell.map(|cell| cells.insert(column.to_owned(), cell));
    put("record", Some(open.record.clone()));
    put("other", open.other.clone());
    put("see.state", Some(open.state.clone()));
    put("see.text", Some(open.text.clone()));
    put("see.other", open.text_of_other.clone());
    put("verdict", holds.map(|d| d.verdict.name().to_owned()));
    put("text", holds.and_then(|d| d.text.clone()));
    put("why", holds.map(|d| d.why.clone()));
    put("by", holds.map(|d| d.by.clone()));
    put("recipe", Some(recipe.to_owned()));
    put("stage", Some(open.stage.to_owned()));
    // From these two the import recognises rows that are unchanged or outdated.
    put("decision", holds.map(|d| d.id.to_string()));
    put("seen", Some(open.seen.to_string()));
    cells
}

fn import_decisions(
    config: &Config,
    files: &[PathBuf],
    by: Option<&str>,
    why: Option<&str>,
    all: bool,
    global: &Global,
) -> Result<Exit, Failure> {
    let (mut machine, mut troubled) = (Vec::new(), false);
    for file in files {
        let bytes = fs::read(file).map_err(Error::io("read", file))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Read again for each file, which may repeat or contradict rows of the file before.
        let log = read_decisions(config)?;
        let (mut decisions, mut problems, mut blank, mut known) = (Vec::new(), Vec::new(), 0, 0);
        let rows = read_table(&name, &bytes)?;
        problems.extend(no_table(&name, &bytes, &rows, &["record", "verdict"])?);
        let table = problems.is_empty();
        for (row, cells) in rows.into_iter().filter(|_| table) {
            match of_row(config, &log, &name, &cells, by, why, all) {
                Ok(DecideRow::Blank) => blank += 1,
                Ok(DecideRow::Known) => known += 1,
                Ok(DecideRow::Decided(mut found)) => decisions.append(&mut found),
                Err(error) => problems.push(format!("{name}: row {row}: {error}")),
            }
        }
        let receipt = DecisionLog::append_decisions(&decisions_folder(config), decisions)?;
        known += receipt.known.len();
        troubled |= !problems.is_empty();
        problems.iter().for_each(|problem| eprintln!("{problem}"));
        let added = receipt.added.len();
        let overruled = overruled_by(&read_decisions(config)?, &receipt.added);
        overruled.iter().for_each(|one| eprintln!("{name}: overruled: {one}"));
        machine.push(TableReceipt { file, added, known, blank, overruled, problems });
        if !global.json {
            output::print_text(&format!(
                "{name}: {} added, {known} known, {blank} blank\n",
                count(receipt.added.len() as u64, "decision")
            ))?;
        }
    }
    if global.json {
        output::print_json(&machine)?;
    }
    Ok(if troubled { Exit::Partial } else { Exit::Done })
}

enum DecideRow {
    /// There is no decision.
    Blank,
    /// It is unchanged since the export.
    Known,
    Decided(Vec<Decision>),
}

/// Why a row decides nothing.
#[derive(Debug, thiserror::Error)]
enum DecideRowError {
    #[error("unknown verdict {0:?} (there are {all})", all = Verdict::ALL.map(Verdict::name).join(", "))]
    UnknownVerdict(String),
    #[error("a verdict without a record")]
    NoRecord,
    /// The cells `decision` or `seen` were cut or edited.
    #[error(transparent)]
    NoHash(#[from] NotADigest),
    /// The table shows an older decision.
    #[error("{record}: {by} has decided differently since the table was written; export it again")]
    Since { record: String, by: String },
    #[error("the row does not say who decided; give --by NAME")]
    NoName,
    #[error(transparent)]
    Refused(#[from] DecideError),
}

/// The decision in a row; else the error.
fn of_row(
    config: &Config,
    log: &DecisionLog,
    file: &str,
    cells: &CellsByColumn,
    by: Option<&str>,
    why: Option<&str>,
    all: bool,
) -> Result<DecideRow, DecideRowError> {
    // A cell with only blanks looks empty to the curator who fills in the table.
    let cell = |column: &str| cells.get(column).map(String::as_str).map(str::trim).filter(|c| !c.is_empty());
    let Some(word) = cell("verdict") else { return Ok(DecideRow::Blank) };
    let verdict = Verdict::from_name(word).ok_or_else(|| DecideRowError::UnknownVerdict(word.to_owned()))?;
    let record = cell("record").ok_or(DecideRowError::NoRecord)?;
    let digest = |column: &str| cell(column).map(str::parse::<Digest>).transpose();
    let text = cells.get("text").filter(|text| !text.trim().is_empty());
    let previous = digest("decision")?.and_then(|id| log.all_decisions().iter().find(|d| d.id == id));
    if let Some(previous) = previous {
        // A cell that only gained blanks at its ends is no new decision.
        let as_it_stood = previous.verdict == verdict
            && previous.text.as_deref().map(str::trim) == text.map(|text| text.trim());
        if as_it_stood {
            return Ok(DecideRow::Known);
        }
        let since = log
            .all_decisions()
            .iter()
            .rfind(|d| d.question_key() == previous.question_key() && d.id != previous.id);
        // The one found may also be older: one that the exported decision replaced.
        let since = since.filter(|d| {
            log.all_decisions().iter().position(|x| x.id == d.id)
                > log.all_decisions().iter().position(|x| x.id == previous.id)
        });
        if let Some(since) = since {
            return Err(DecideRowError::Since { record: record.to_owned(), by: since.by.clone() });
        }
    }
    // `--by` names who filled in the table; the column is the author of the exported decision.
    let by = by.or(cell("by")).ok_or(DecideRowError::NoName)?;
    check_entitled(config, by)?;
    // A reason in the row is more specific than that of the flag.
    let why = cell("why").or(why).unwrap_or_default();
    let other = cell("other").filter(|_| verdict.is_of_pair()).map(str::to_owned);
    let edits = verdict.is_edit();
    let wish = DecisionRequest {
        verdict,
        record: record.to_owned(),
        other,
        text: text.cloned(),
        recipe: cell("recipe").filter(|_| !all).map(str::to_owned),
        // A decision on the text belongs to another stage than the one that stopped the record.
        stage: cell("stage")
            .filter(|_| !edits && verdict != Verdict::Drop && verdict != Verdict::Hold)
            .map(str::to_owned),
        seen: if edits { None } else { digest("seen")? },
    };
    let at = current_time();
    let act = Act { by, why, at: &at, source: file };
    Ok(DecideRow::Decided(plan(config, &wish, act)?))
}
