//! A person's own votes as a list, for searching and correcting.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ballot::label_in;
use super::faults::list_answers;
use super::review::find_person;
use crate::app::{App, read_blocking};
use crate::config::Config;
use crate::error::PageError;
use crate::i18n::Language;
use crate::recipe;
use crate::review::ballot::Round;
use crate::review::{Annotator, Item, Value};
use crate::view;
use crate::visitor::Visitor;
use crate::voting::{BallotRound, Note, latest_notes, own_vote, shown_item};

/// Votes per page.
const SHOWN: usize = 50;

/// Whose votes, and search terms.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HistoryQuery {
    r#as: String,
    /// Words in the item, the answers or the remark.
    q: String,
    page: usize,
}

/// One of the person's current votes.
#[derive(Serialize)]
struct HistoryVote {
    recipe: &'static str,
    step: &'static str,
    round: &'static str,
    title: &'static str,
    item: String,
    /// The first text of the item.
    text: String,
    /// Each question with its answer.
    answers: Vec<(&'static str, String)>,
    at: String,
    remark: String,
    flag: bool,
    /// Whether the item has changed since.
    stale: bool,
}

/// The visitor's votes, latest first.
pub(crate) async fn show_history(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(sought): Query<HistoryQuery>,
) -> Result<Response, PageError> {
    let (config, _) = app.current_config();
    let person = find_person(&config, &visitor, &sought.r#as)?;
    let (language, name, wanted) = (visitor.language, person.name.clone(), sought.q.trim().to_lowercase());
    let mut votes = read_blocking(move || list_votes(&app, &config, &person, language)).await?;
    let holds = |text: &str| text.to_lowercase().contains(&wanted);
    votes.retain(|vote| {
        holds(&vote.text)
            || holds(&vote.item)
            || holds(&vote.remark)
            || holds(vote.title)
            || vote.answers.iter().any(|(_, answer)| holds(answer))
    });
    votes.sort_by(|a, b| (&b.at, &b.item).cmp(&(&a.at, &a.item)));
    let (found, pages) = (votes.len(), votes.len().div_ceil(SHOWN).max(1));
    let page = sought.page.clamp(1, pages);
    let votes: Vec<HistoryVote> = votes.into_iter().skip((page - 1) * SHOWN).take(SHOWN).collect();
    let all = json!({ "who": name, "sought": sought.q, "votes": votes, "found": found, "number": page, "pages": pages });
    view::render_page(&visitor, "history.html", all)
}

fn list_votes(
    app: &App,
    config: &Config,
    person: &Annotator,
    language: Language,
) -> Result<Vec<HistoryVote>, PageError> {
    let mut found = Vec::new();
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    for recipe in recipe::used_recipes(config) {
        for review in recipe.review_steps() {
            let Some(ballot) = app.ballots.open_ballot(config, recipe, review.benchmark_and_ballot().1)?
            else {
                continue;
            };
            let step = &ballot.step;
            let notes = app.desk.read_remarks(recipe.name, step.name)?;
            let notes: Vec<&Note> =
                latest_notes(&notes).into_iter().filter(|note| note.annotator == person.name).collect();
            for round in Round::ALL.into_iter().filter(|round| person.may_vote(step, *round)) {
                let place = BallotRound { recipe, ballot: &ballot, round };
                let form = step.questions_of_round(round);
                for item in &ballot.items {
                    let Some(vote) = own_vote(&vote_index, place, &item.id, &person.name) else { continue };
                    let Some(seen) = shown_item(&vote_index, place, item) else { continue };
                    let note = notes.iter().find(|note| note.item == item.id && note.round == round);
                    found.push(HistoryVote {
                        recipe: recipe.name,
                        step: step.name,
                        round: round.name(),
                        title: label_in(language, step.title),
                        item: item.id.clone(),
                        text: first_text(item, &step.shows),
                        answers: list_answers(language, &form, &seen.item, vote),
                        at: vote.at.clone(),
                        remark: note.map(|note| note.text.clone()).unwrap_or_default(),
                        flag: note.is_some_and(|note| note.flag),
                        stale: vote.content_hash != seen.item.content_hash,
                    });
                }
            }
        }
    }
    Ok(found)
}

/// What identifies an item for people: the first text on its ballot.
fn first_text<L>(item: &Item, shows: &[(&'static str, L)]) -> String {
    shows.iter().find_map(|(key, _)| item.content.get(*key)).map(Value::to_string).unwrap_or_default()
}
