//! `review qualify`: trials on items with known answers, graded and stored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::args::Global;
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::review_session::{ReviewSession, io_failure, usage_failure};
use crate::pipeline::{current_time, read_blinding};
use crate::report::TrialRow;
use crate::review::ballot::{Qualification, Role, Round};
use crate::review::exchange::{disarm_formula, table_rows, write_sheet};
use crate::review::grades::{self, Grade, TrialAnswer, TrialLine};
use crate::review::qualify::{Trial, TrialLevel, qualified_level, wants_a_senior};
use crate::review::{
    Annotator, Blinding, Gold, ImportSettings, Item, ItemIndex, LastTrial, Values, Vote, VoteTable,
    import_tables, read_gold,
};
use crate::store::{Error, Workspace, durable};
use riddlemill_files::reading::decode_text;

/// The options of `review qualify`.
pub(super) struct QualifyOptions<'a> {
    /// The known answers.
    pub gold: Option<&'a Path>,
    /// The fewest answers for a judgement.
    pub fewest: usize,
    /// Files of trials.
    pub files: &'a [PathBuf],
    /// Where answers in words are written, for a senior to grade.
    pub sheet: Option<&'a Path>,
    /// That sheet, filled in.
    pub graded: Option<&'a Path>,
    /// Who filled it in.
    pub by: Option<&'a str>,
}

/// The known answers of a file.
pub(super) fn read_gold_file<'r>(room: &'r ReviewSession<'_>, file: &Path) -> Result<Vec<Gold<'r>>, Failure> {
    let text = fs::read(file).and_then(|bytes| decode_text(&bytes)).map_err(Error::io("read", file))?;
    let items: FxHashMap<&str, &Item> = room.items.iter().map(|item| (item.id.as_str(), item)).collect();
    read_gold(&text, &room.step, |id| items.get(id).copied()).map_err(|problems| {
        let lines: Vec<String> =
            problems.iter().map(|problem| format!("{}: {problem}", file.display())).collect();
        usage_failure(lines.join("\n"))
    })
}

/// Everybody's graded trials on a step, in the order they were made.
fn graded_attempts(room: &ReviewSession<'_>) -> Result<BTreeMap<String, Vec<Grade>>, Failure> {
    grades::read_attempts(&raw_folder(room), room.step.recipe, room.step.name).map_err(io_failure)
}

/// The items that somebody has answered in trials that were graded.
pub(super) fn tried_items(room: &ReviewSession<'_>, annotator: &str) -> Result<BTreeSet<String>, Failure> {
    let made = graded_attempts(room)?.remove(annotator).unwrap_or_default();
    Ok(made.iter().flat_map(|grade| &grade.answers).map(|(answer, _)| answer.item.clone()).collect())
}

/// Grades the trials, and stored votes on the same items.
pub(super) fn grade_trials(
    room: &ReviewSession<'_>,
    options: &QualifyOptions<'_>,
    global: &Global,
) -> Result<Exit, Failure> {
    match (options.gold, options.graded) {
        (_, Some(graded)) => by_a_senior(room, graded, options, global),
        (Some(gold), None) => grade_by_gold(room, gold, options, global),
        (None, None) => Err(usage_failure(
            "--gold FILE names the known answers, --graded FILE a sheet that a senior filled in",
        )),
    }
}

fn qualification_shares(room: &ReviewSession<'_>) -> Qualification {
    room.step.qualification.unwrap_or(Qualification::USUAL)
}

fn raw_folder(room: &ReviewSession<'_>) -> PathBuf {
    Workspace::new(&room.config.root).raw_folder()
}

fn store_grades(room: &ReviewSession<'_>, lines: &[TrialLine]) -> Result<usize, Failure> {
    grades::append_trials(&raw_folder(room), room.step.recipe, room.step.name, lines).map_err(io_failure)
}

fn grade_by_gold(
    room: &ReviewSession<'_>,
    gold: &Path,
    options: &QualifyOptions<'_>,
    global: &Global,
) -> Result<Exit, Failure> {
    let gold = read_gold_file(room, gold)?;
    // In a trial everybody votes as a voter, whatever their role and before they are qualified.
    let voter = |person: &Annotator| Annotator {
        qualified: true,
        trials: Vec::new(),
        role: room.step.voters.first().copied().unwrap_or(person.role),
        ..person.clone()
    };
    let people: Vec<Annotator> = room.config.annotators.iter().map(voter).collect();
    let items: ItemIndex<'_> = gold.iter().map(|gold| (gold.item.id.as_str(), gold.item)).collect();
    let at = current_time();
    let settings = ImportSettings {
        step: &room.step,
        round: Round::Vote,
        people: &people,
        assigned: &[],
        at: &at,
        synthetic: false,
    };
    let (mut sent, mut troubled) = (Vec::new(), false);
    let table = |path: &PathBuf| -> Result<VoteTable, Failure> {
        let bytes = fs::read(path).map_err(Error::io("read", path))?;
        Ok(VoteTable { file: output::short_name(path, options.files), bytes, sheet: None })
    };
    let tables = options.files.iter().map(table).collect::<Result<Vec<_>, _>>()?;
    for found in import_tables(tables, &items, &settings) {
        found.problems.iter().for_each(|problem| eprintln!("{problem}"));
        troubled |= found.problems.iter().any(|problem| !problem.trouble.is_note());
        // Answers of a trial are only graded; they never enter the log of votes.
        sent.extend(found.votes);
    }
    let stored = room.by_item();
    // A sample's votes qualify nobody.
    let of_people = stored.values().flatten().copied().filter(|vote| !vote.synthetic);
    let votes: Vec<&Vote> =
        of_people.chain(&sent).filter(|vote| items.contains_key(vote.item.as_str())).collect();
    if wants_a_senior(&room.step) || options.sheet.is_some() {
        return to_a_senior(room, &gold, &votes, options)
            .map(|()| if troubled { Exit::Partial } else { Exit::Done });
    }
    let answers: Vec<_> = gold.iter().map(|gold| (gold.item, &gold.answers)).collect();
    let (graded, grades) = grades::grade_against(&room.step, &answers, &votes, options.fewest, &at);
    let lines: Vec<TrialLine> = grades.into_iter().map(TrialLine::Grade).collect();
    let new = store_grades(room, &lines)?;
    print_trials(room, &graded, options.fewest, new, global)?;
    Ok(if troubled { Exit::Partial } else { Exit::Done })
}

fn print_trials(
    room: &ReviewSession<'_>,
    graded: &[Trial],
    fewest: usize,
    new: usize,
    global: &Global,
) -> Result<(), Failure> {
    let shares = qualification_shares(room);
    let made = graded_attempts(room)?;
    let attempt = |trial: &Trial| {
        let made = made.get(&trial.annotator).map(Vec::as_slice).unwrap_or_default();
        (made.len(), grades::seen_before(made))
    };
    if global.json {
        let rows: Vec<TrialRow<'_>> =
            graded.iter().map(|trial| TrialRow::new(trial, attempt(trial))).collect();
        return output::print_json(&rows);
    }
    let mut text: String =
        graded.iter().map(|trial| trial_line(room, trial, fewest, attempt(trial))).collect();
    let (formal, senior) = (shares.formal * 100.0, shares.senior * 100.0);
    text.push_str(&format!("over {formal:.0} % may vote, over {senior:.0} % may be a senior\n"));
    if room.step.qualification.is_none() {
        text.push_str(&format!("{} requires no trial\n", room.step.name));
    } else {
        text.push_str(&format!(
            "{} stored; from now on they decide who may vote\n",
            count(new as u64, "new grade")
        ));
    }
    output::print_text(&text)
}

fn trial_line(
    room: &ReviewSession<'_>,
    trial: &Trial,
    fewest: usize,
    (nth, again): (usize, usize),
) -> String {
    let person = room.config.annotators.iter().find(|person| person.name == trial.annotator);
    let role = person.map_or(Role::Annotator, |person| person.role);
    let passed = LastTrial {
        recipe: room.step.recipe.to_owned(),
        step: room.step.name.to_owned(),
        right: trial.right,
        of: trial.of,
        fewest,
        level: trial.level,
    };
    let now = Annotator { trials: vec![passed], ..Annotator::new(&trial.annotator, role) };
    let barred = if now.may_vote(&room.step, Round::Vote) { "" } else { ", but not with their role here" };
    let level = match trial.level {
        TrialLevel::Senior if role == Role::Senior => "may be a senior".into(),
        TrialLevel::Senior => "may be a senior (role = \"senior\" in pipeline.toml)".into(),
        TrialLevel::Formal => format!("may vote{barred}"),
        TrialLevel::Failed => "may not vote".into(),
        TrialLevel::TooFew => format!("not judged: {} needed", count(fewest as u64, "answer")),
    };
    let share = 100.0 * trial.right as f64 / trial.of.max(1) as f64;
    let attempt = match (nth, again) {
        (..=1, _) => String::new(),
        (nth, 0) => format!("; attempt {nth}"),
        (nth, again) => {
            format!("; attempt {nth}, in which {} had been in an earlier one", count(again as u64, "item"))
        }
    };
    format!(
        "{:<14} {} of {} right ({share:.0} %): {level}{attempt}\n",
        trial.annotator, trial.right, trial.of
    )
}

/// The sheet's column for the grade.
const RIGHT: &str = "right";

/// Writes the answers that only a person can grade, without their authors; the answers themselves are stored.
fn to_a_senior(
    room: &ReviewSession<'_>,
    gold: &[Gold<'_>],
    votes: &[&Vote],
    options: &QualifyOptions<'_>,
) -> Result<(), Failure> {
    let Some(sheet_path) = options.sheet else {
        return Err(usage_failure(format!(
            "{} asks for texts, which a senior grades\n  hint: --sheet FILE.csv writes them without their authors; \
             --graded FILE.csv --by NAME imports the sheet",
            room.step.name
        )));
    };
    let heads = crate::review::votes::current_votes(votes);
    let given: Vec<TrialAnswer> = heads
        .into_iter()
        .filter(|vote| vote.round == Round::Vote)
        .map(|vote| TrialAnswer::new(&vote.annotator, &vote.item, vote.values.clone()))
        .collect();
    let answers = |values: &Values| {
        let answers: Vec<String> = values.iter().map(|(field, value)| format!("{field}: {value}")).collect();
        answers.join("\n")
    };
    let blinding = read_blinding(&Workspace::new(&room.config.root))?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for one in &given {
        let Some(known) = gold.iter().find(|gold| gold.item.id == one.item) else { continue };
        let shown: Vec<String> = known.item.content.values().map(ToString::to_string).collect();
        rows.push(vec![
            answer_alias(&blinding, one),
            shown.join("\n"),
            answers(&known.answers),
            answers(&one.values),
            String::new(),
        ]);
    }
    // Sorted by the answers' ids, so that the order does not reveal the authors.
    rows.sort();
    rows.dedup();
    let heads = ["answer", "see.item", "see.known", "see.given", RIGHT];
    let bytes = write_sheet(&heads, &rows).map_err(io_failure)?;
    durable::replace_file(sheet_path, &bytes)?;
    let lines: Vec<TrialLine> = given.into_iter().map(TrialLine::Answers).collect();
    store_grades(room, &lines)?;
    output::print_text(&format!(
        "{}: {} to grade, `yes` or `no` each\n",
        sheet_path.display(),
        count(rows.len() as u64, "answer")
    ))?;
    Ok(())
}

/// The name of an answer in a sheet. Its own id can be computed from its author's name.
fn answer_alias(blinding: &Blinding, answer: &TrialAnswer) -> String {
    format!("k{}", blinding.make_alias(&["trial", &answer.entry.to_string()]))
}

/// Imports a sheet that a senior filled in.
fn by_a_senior(
    room: &ReviewSession<'_>,
    sheet: &Path,
    options: &QualifyOptions<'_>,
    global: &Global,
) -> Result<Exit, Failure> {
    let Some(by) = options.by else { return Err(usage_failure("--by NAME is the senior who graded")) };
    let person = room.config.annotators.iter().find(|person| person.name == by);
    let person = person.ok_or_else(|| usage_failure(output::unknown_annotator(room.config, by)))?;
    if !matches!(person.role, Role::Senior | Role::Meta) {
        return Err(usage_failure(format!(
            "{by} is not a senior: texts of a trial are graded by a senior or a meta annotator"
        )));
    }
    let blinding = read_blinding(&Workspace::new(&room.config.root))?;
    let waiting: BTreeMap<String, TrialAnswer> =
        grades::read_trials(&raw_folder(room), room.step.recipe, room.step.name)
            .map_err(io_failure)?
            .into_iter()
            .filter_map(|line| match line {
                TrialLine::Answers(given) => Some(given),
                TrialLine::Grade(_) => None,
            })
            // Older sheets have the answers' own ids.
            .flat_map(|given| {
                [(given.entry.to_string(), given.clone()), (answer_alias(&blinding, &given), given)]
            })
            .collect();
    let bytes = fs::read(sheet).map_err(Error::io("read", sheet))?;
    let table = table_rows(&bytes).map_err(|e| usage_failure(format!("{}: {e}", sheet.display())))?;
    let mut graded: BTreeMap<&str, BTreeMap<&str, (&TrialAnswer, bool)>> = BTreeMap::new();
    let mut troubled = !table.unread.is_empty();
    for (line, what) in &table.unread {
        eprintln!("{}: line {line}: {what}", sheet.display());
    }
    for (number, row) in &table.rows {
        let cell = |name: &str| row.get(name).map(|cell| cell.trim()).unwrap_or_default();
        let mut trouble = |what: String| {
            eprintln!("{}: row {number}: {what}", sheet.display());
            troubled = true;
        };
        // Seniors may answer in Chinese, and spreadsheets turn `true` into TRUE.
        let right = match cell(RIGHT).to_lowercase().as_str() {
            "yes" | "y" | "是" | "对" | "1" | "true" => true,
            "no" | "n" | "否" | "错" | "0" | "false" => false,
            // Not graded yet: the senior may fill in the rest and import the sheet again.
            "" => continue,
            other => {
                trouble(format!(
                    "`{}` is neither yes nor no; the answer is not graded",
                    disarm_formula(other)
                ));
                continue;
            }
        };
        match waiting.get(cell("answer")) {
            None => trouble(format!(
                "`{}` is not an answer that waits for a grade",
                disarm_formula(cell("answer"))
            )),
            Some(given) if given.annotator == by => {
                trouble("it is the senior's own answer; somebody else must grade it".to_owned());
            }
            Some(given) => {
                // A row copied within the sheet counts once.
                graded.entry(&given.annotator).or_default().insert(&given.item, (given, right));
            }
        }
    }
    let (shares, at) = (qualification_shares(room), current_time());
    let mut trials = Vec::new();
    let mut lines = Vec::new();
    for (annotator, answers) in graded {
        let right = answers.values().filter(|(_, right)| *right).count();
        let of = answers.len();
        let level = qualified_level(right, of, shares, options.fewest);
        let trial = Trial { annotator: annotator.to_owned(), right, of, level };
        if level != TrialLevel::TooFew {
            let answers = answers.into_values().map(|(given, right)| (given.clone(), right)).collect();
            lines.push(TrialLine::Grade(Grade::new(&trial, options.fewest, shares, &at, Some(by), answers)));
        }
        trials.push(trial);
    }
    let new = store_grades(room, &lines)?;
    print_trials(room, &trials, options.fewest, new, global)?;
    Ok(if troubled { Exit::Partial } else { Exit::Done })
}
