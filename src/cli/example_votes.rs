//! Example votes of `benchmark try`: lines as `review export --format jsonl` writes them, read as `review import` does. A line
//! may leave out what one post makes plain: the recipe, the round, the item where there is one, and the hash of what is shown.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::args::{ReviewArgs, RoundArg};
use super::exit::Failure;
use super::review_session::{ReviewSession, io_failure};
use crate::config::Config;
use crate::pipeline::current_time;
use crate::recipe::Recipe;
use crate::review::ballot::Round;
use crate::review::{ImportSettings, Item, ItemIndex, import_votes};
use crate::store::Error;
use riddlemill_text::hint::unknown;

/// The ending by which a file of votes is read as JSON Lines.
const ENDING: &str = "jsonl";

/// A line that is not cast yet.
struct VoteLine {
    number: usize,
    recipe: String,
    step: String,
    round: Round,
    row: Map<String, Json>,
}

/// The lines of a file of votes.
#[derive(Default)]
pub(super) struct Votes {
    file: String,
    waiting: Vec<VoteLine>,
    /// What is wrong, by line.
    problems: Vec<(usize, String)>,
}

impl Votes {
    /// Reads a file; nothing without one. Lines that are of no ballot of these recipes are problems.
    ///
    /// # Errors
    /// [`Failure`] if the file cannot be read, or is no JSON Lines.
    pub(super) fn read_file(
        file: Option<&Path>,
        recipe: &Recipe,
        recipes: &[&'static Recipe],
    ) -> Result<Votes, Failure> {
        let Some(path) = file else { return Ok(Votes::default()) };
        if path.extension().is_none_or(|ending| ending != ENDING) {
            return Err(Failure::usage(format!(
                "--votes {}: expected JSON Lines, in a file that ends in .{ENDING}\n  hint: as `riddlemill review export STEP --format \
                 jsonl` writes them",
                path.display()
            )));
        }
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        let mut votes = Votes { file: path.display().to_string(), ..Votes::default() };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match parse_line(at + 1, line, recipe, recipes) {
                Ok(line) => votes.waiting.push(line),
                Err(what) => votes.problems.push((at + 1, what.0)),
            }
        }
        Ok(votes)
    }

    /// Casts what can be cast now: the ballots that the post has reached. Returns whether any was.
    ///
    /// # Errors
    /// [`Failure`] if votes cannot be stored.
    pub(super) fn cast_votes(&mut self, config: &Config) -> Result<bool, Failure> {
        let mut cast = false;
        for line in std::mem::take(&mut self.waiting) {
            let number = line.number;
            match cast_line(&self.file, config, &line)? {
                LineOutcome::Waits => self.waiting.push(line),
                LineOutcome::Cast(problems) => {
                    cast = true;
                    self.problems.extend(problems.into_iter().map(|what| (number, what)));
                }
                LineOutcome::Refused(problems) => {
                    self.problems.extend(problems.into_iter().map(|what| (number, what)));
                }
            }
        }
        Ok(cast)
    }

    /// Everything that is wrong, in the order of the file.
    pub(super) fn into_problems(self) -> Vec<String> {
        let Votes { file, waiting, mut problems } = self;
        let unreached = |line: VoteLine| {
            let what = format!(
                "{} {} was not reached in the round `{}`\n  hint: a step or round before it waits or left the post out: see above",
                line.recipe,
                line.step,
                line.round.name()
            );
            (line.number, what)
        };
        problems.extend(waiting.into_iter().map(unreached));
        problems.sort();
        problems.into_iter().map(|(number, what)| format!("{file}: line {number}: {what}")).collect()
    }
}

/// Why a line is no vote.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoVote(String);

/// A line, with the ballot that it is of.
fn parse_line(
    number: usize,
    line: &str,
    recipe: &Recipe,
    recipes: &[&'static Recipe],
) -> Result<VoteLine, NoVote> {
    let row: Map<String, Json> = riddlemill_text::notation::from_str(line)
        .map_err(|error| NoVote(format!("not a JSON object: {error}")))?;
    let text = |key: &str| row.get(key).and_then(Json::as_str);
    let name = text("recipe").unwrap_or(recipe.name);
    let Some(of) = recipes.iter().find(|of| of.name == name) else {
        return Err(NoVote(unknown("recipe", name, recipes.iter().map(|of| of.name))));
    };
    let ballots: Vec<&str> = of.review_steps().map(|review| review.benchmark_and_ballot().1).collect();
    let Some(step) = text("step").map(|step| step.strip_prefix("review:").unwrap_or(step)) else {
        return Err(NoVote(format!(
            "`step` is missing: the ballot\n  hint: there are {}",
            ballots.join(", ")
        )));
    };
    if !ballots.contains(&step) {
        return Err(NoVote(unknown("ballot", step, ballots.iter().copied())));
    }
    let named = text("round").unwrap_or(Round::Vote.name());
    let Some(round) = Round::from_name(named) else {
        return Err(NoVote(unknown("round", named, Round::ALL.map(Round::name))));
    };
    Ok(VoteLine { number, recipe: name.to_owned(), step: step.to_owned(), round, row })
}

/// What became of a line.
enum LineOutcome {
    /// Its ballot has no items yet.
    Waits,
    /// It counts, with remarks.
    Cast(Vec<String>),
    /// It does not, with the reasons.
    Refused(Vec<String>),
}

/// Casts one line.
fn cast_line(file: &str, config: &Config, line: &VoteLine) -> Result<LineOutcome, Failure> {
    let round = match line.round {
        Round::Vote => RoundArg::Vote,
        Round::Review => RoundArg::Review,
        Round::Adjudication => RoundArg::Adjudication,
    };
    let place = ReviewArgs { step: line.step.clone(), recipe: Some(line.recipe.clone()), round };
    let room = ReviewSession::open(config, &place)?;
    let seen = room.seen_items();
    // A vote may be given although it is not needed any more; a review of votes is only of what waits for it.
    let items: Vec<&Item> =
        seen.iter().filter(|(_, open)| *open || line.round == Round::Vote).map(|(item, _)| item).collect();
    let ids = || items.iter().map(|item| item.id.as_str());
    let item = match (line.row.get("item").and_then(Json::as_str), &items[..]) {
        (_, []) => return Ok(LineOutcome::Waits),
        (None, [item]) => item,
        (None, _) => {
            let known = ids().collect::<Vec<_>>().join(", ");
            return Ok(LineOutcome::Refused(vec![format!(
                "`item` is missing, of which there are several\n  hint: {known}"
            )]));
        }
        (Some(id), _) => match items.iter().find(|item| item.id == id) {
            Some(item) => item,
            None => return Ok(LineOutcome::Refused(vec![unknown("item", id, ids())])),
        },
    };
    let answers = ["answers", "values"].iter().find_map(|key| line.row.get(*key)?.as_object());
    let Some(answers) = answers else {
        return Ok(LineOutcome::Refused(vec![
            "`answers` is missing: an object of fields and their answers".to_owned(),
        ]));
    };
    let fields: Vec<&str> = room.step.questions_of_round(line.round).iter().map(|field| field.name).collect();
    let strange: Vec<String> = answers
        .keys()
        .filter(|name| !fields.contains(&name.as_str()))
        .map(|name| unknown("field", name, fields.iter().copied()))
        .collect();
    if !strange.is_empty() {
        return Ok(LineOutcome::Refused(strange));
    }
    let row = json!({
        "item": item.id, "annotator": line.row.get("annotator"), "answers": answers, "round": line.round.name(),
        "recipe": line.recipe, "step": line.step, "vote": null, "content_hash": item.sheet_hash(),
    });
    let at = current_time();
    let settings = ImportSettings {
        step: &room.step,
        round: line.round,
        people: &config.annotators,
        assigned: &[],
        at: &at,
        synthetic: false,
    };
    let found = import_votes(
        file,
        format!("{row}\n").as_bytes(),
        &ItemIndex::from_iter([(item.id.as_str(), *item)]),
        &settings,
    );
    // The place in the one line that was read says only the field.
    let told = |problem: &crate::review::Problem| {
        let field = problem.place.split_once(", ").map(|(_, field)| format!("{field}: ")).unwrap_or_default();
        format!("{field}{}", problem.trouble)
    };
    let mut problems: Vec<String> = found.problems.iter().map(told).collect();
    if found.votes.is_empty() {
        if problems.is_empty() {
            problems.push(format!("it has no answer\n  hint: the ballot asks for {}", fields.join(", ")));
        }
        return Ok(LineOutcome::Refused(problems));
    }
    room.open_vote_log()?.append_sheet(found.votes).map_err(io_failure)?;
    Ok(LineOutcome::Cast(problems))
}
