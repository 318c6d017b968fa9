//! `review qualify`: trials on items whose answers are known.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde_json::json;

use super::args::Global;
use super::exit::{Exit, Failure};
use super::output;
use super::review::{Room, usage};
use crate::pipeline::now;
use crate::review::ballot::{Qualification, Round};
use crate::review::qualify::{Trial, TrialLevel, trials};
use crate::review::{Annotator, Gold, ImportSettings, Item, Vote, import, read_gold};
use crate::store::Error;

/// The known answers of a file.
pub(super) fn known<'r>(room: &'r Room<'_>, file: &Path) -> Result<Vec<Gold<'r>>, Failure> {
    let text = fs::read_to_string(file).map_err(Error::io("read", file))?;
    let items: FxHashMap<&str, &Item> = room.items.iter().map(|item| (item.id.as_str(), item)).collect();
    read_gold(&text, &room.step, |id| items.get(id).copied()).map_err(|problems| {
        let lines: Vec<String> =
            problems.iter().map(|problem| format!("{}: {problem}", file.display())).collect();
        usage(lines.join("\n"))
    })
}

/// Grades what came back, and the votes on the same items that are stored already.
pub(super) fn qualify(
    room: &Room<'_>,
    gold: &Path,
    fewest: usize,
    files: &[PathBuf],
    global: &Global,
) -> Result<Exit, Failure> {
    let gold = known(room, gold)?;
    // Whoever is on trial votes like a voter, whatever they are otherwise and before they are let in.
    let voter = |person: &Annotator| Annotator {
        qualified: true,
        role: room.step.voters.first().copied().unwrap_or(person.role),
        ..person.clone()
    };
    let people: Vec<Annotator> = room.config.annotators.iter().map(voter).collect();
    let items: FxHashMap<&str, &Item> = gold.iter().map(|gold| (gold.item.id.as_str(), gold.item)).collect();
    let at = now();
    let settings = ImportSettings {
        step: &room.step,
        round: Round::Vote,
        people: &people,
        assigned: &[],
        at: &at,
        synthetic: false,
    };
    let (mut sent, mut troubled) = (Vec::new(), false);
    for file in files {
        let bytes = fs::read(file).map_err(Error::io("read", file))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let found = import(&name, &bytes, |id| items.get(id).copied(), &settings);
        found.problems.iter().for_each(|problem| eprintln!("{problem}"));
        troubled |= found.problems.iter().any(|problem| !problem.trouble.is_note());
        sent.extend(found.votes);
    }
    let stored = room.by_item();
    let of_people = stored.values().flatten().copied().filter(|vote| !vote.synthetic);
    let votes: Vec<&Vote> = of_people.chain(&sent).collect();
    let answers: Vec<_> = gold.iter().map(|gold| (gold.item, &gold.answers)).collect();
    let shares = room.step.qualification.unwrap_or(Qualification::FLUB);
    let graded = trials(&room.step, &answers, &votes, shares, fewest);
    if global.json {
        let rows: Vec<_> = graded
            .iter()
            .map(|t| json!({ "annotator": t.annotator, "right": t.right, "of": t.of, "level": t.level.name() }))
            .collect();
        output::json(&rows)?;
    } else {
        let mut text: String = graded.iter().map(|trial| line(trial, fewest)).collect();
        let (formal, senior) = (shares.formal * 100.0, shares.senior * 100.0);
        text.push_str(&format!("over {formal:.0} % may vote, over {senior:.0} % may be a senior\n"));
        if room.step.qualification.is_none() {
            text.push_str(&format!("{} itself asks for no trial\n", room.step.name));
        }
        output::print(&text)?;
    }
    Ok(if troubled { Exit::Partial } else { Exit::Done })
}

fn line(trial: &Trial, fewest: usize) -> String {
    let level = match trial.level {
        TrialLevel::Senior => "may be a senior (qualified = true, role = \"senior\" in pipeline.toml)".into(),
        TrialLevel::Formal => "may vote (qualified = true in pipeline.toml)".into(),
        TrialLevel::Failed => "may not vote".into(),
        TrialLevel::TooFew => format!("not judged: {fewest} answers are needed"),
    };
    let share = 100.0 * trial.right as f64 / trial.of.max(1) as f64;
    format!("{:<14} {} of {} right ({share:.0} %): {level}\n", trial.annotator, trial.right, trial.of)
}
