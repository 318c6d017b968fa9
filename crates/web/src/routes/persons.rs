//! Each person's votes beside everybody's: whose are least likely to be honest work, what they answered and when, and
//! setting them aside.

mod figures;

use figures::describe_figures;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;
use serde_json::json;

use super::ballot::label_in;
use super::decide::{DecisionDesk, decision_desk, find_decider};
use super::faults::list_answers;
use crate::app::{App, read_blocking};
use crate::config::Config;
use crate::error::PageError;
use crate::form::Form;
use crate::i18n::Language;
use crate::pipeline::{
    AsideEffect, current_time, known_answers, look_aside, restore_votes, set_aside, stopped_annotators,
};
use crate::recipe::{self, Recipe};
use crate::review::people::{Person, Right, StepVotes, describe_people};
use crate::review::qualify::has_right_answers;
use crate::review::votes::{Admitted, AsideLine, Asides, Restored, SetAside, aside, current_votes};
use crate::review::{Outcome, Resolution, Values, Vote, resolve_all};
use crate::view;
use crate::visitor::Visitor;
use crate::voting::{Assignments, BallotItems};

/// Votes listed for each step, latest first.
const LISTED: usize = 100;

/// A person on a step, as figures.
#[derive(Serialize)]
struct Figures {
    recipe: &'static str,
    step: &'static str,
    title: &'static str,
    name: String,
    votes: usize,
    outcome: Right,
    others: Right,
    gold: Right,
    hasty: (usize, usize),
    /// The probability that honest votes look at least like this.
    honest: f64,
    /// The same for people.
    chance: String,
    /// Each sign with its probability for people.
    signs: Vec<(&'static str, String)>,
    /// Whether they get no more work here.
    stopped: bool,
    distributions: Vec<AnswerShares>,
}

/// The distribution of a field's answers.
#[derive(Serialize)]
struct AnswerShares {
    field: &'static str,
    /// Label, own votes, thousandths of the own votes, thousandths of the others'.
    answers: Vec<(String, usize, usize, usize)>,
}

/// One vote of the person.
#[derive(Serialize)]
struct PersonVote {
    item: String,
    at: String,
    seconds: Option<f64>,
    round: &'static str,
    answers: Vec<(&'static str, String)>,
    /// Whether it is what was decided; unknown while nothing is.
    agrees: Option<bool>,
    /// Whether it is the known answer, for known items.
    right: Option<bool>,
    aside: bool,
}

/// A person's votes on a step.
#[derive(Serialize)]
struct OnStep {
    recipe: &'static str,
    step: &'static str,
    title: &'static str,
    figures: Option<Figures>,
    votes: Vec<PersonVote>,
    /// All of them, listed or not.
    all: usize,
}

/// A decision on the person's votes.
#[derive(Serialize)]
struct PersonDecision {
    id: String,
    recipe: Option<String>,
    step: Option<String>,
    from: Option<String>,
    until: Option<String>,
    by: String,
    why: String,
    at: String,
    /// Who withdrew it, and why.
    undone: Option<(String, String)>,
}

/// What was typed into the form.
#[derive(Clone, Debug, Default, Serialize)]
struct Wish {
    /// `recipe/step`, or empty for everything.
    place: String,
    from: String,
    until: String,
    by: String,
    why: String,
}

/// Everybody with votes, the least likely to be honest work first.
pub(crate) async fn show_persons(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let language = visitor.language;
    let rows = read_blocking(move || {
        let (config, _) = app.current_config();
        let mut rows = Vec::new();
        for recipe in recipe::used_recipes(&config) {
            for review in recipe.review_steps() {
                let Some(on) = VotedStep::open(&app, &config, recipe, review.benchmark_and_ballot().1)?
                else {
                    continue;
                };
                rows.extend(on.person_figures(&app, &config, recipe, language)?);
            }
        }
        rows.sort_by(|a, b| {
            let place = |row: &Figures| (row.name.clone(), row.recipe, row.step);
            a.honest.total_cmp(&b.honest).then_with(|| place(a).cmp(&place(b)))
        });
        Ok(rows)
    })
    .await?;
    view::render_page(&visitor, "persons.html", json!({ "rows": rows }))
}

/// One person.
pub(crate) async fn show_person(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let (reader, who) = (app.clone(), visitor.clone());
    let found =
        read_blocking(move || prepare_person_page(&reader, &name, &who, Wish::default(), None)).await?;
    view::render_page(&visitor, "person.html", found)
}

/// Previews or makes a decision, withdraws one, or gives somebody work again.
pub(crate) async fn act_on_person(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    form: Form,
) -> Result<Response, PageError> {
    let here = format!("/curate/people/{}#decisions", view::encode_segment(&name));
    let field = |key: &str| form.get(key).trim().to_string();
    // On an open server nobody has logged in, so that the form asks who decides.
    let by = find_decider(&app.current_config().0, &visitor, &form)?;
    let wish =
        Wish { place: field("place"), from: field("from"), until: field("until"), by, why: field("why") };
    if wish.why.is_empty() {
        return Err(PageError::bad_request("a decision needs a name and a reason").about("why"));
    }
    let action = field("action");
    let undo = field("undo");
    let who = visitor.clone();
    let shown = read_blocking(move || match action.as_str() {
        "undo" => take_back(&app, &name, &undo, &wish).map(|()| None),
        "admit" => admit_person(&app, &name, &wish).map(|()| None),
        "aside" => set_votes_aside(&app, &name, &wish).map(|()| None),
        _ => {
            let (config, _) = app.current_config();
            let recipes: Vec<&'static Recipe> = recipe::used_recipes(&config).collect();
            let effects = look_aside(&config, &recipes, &parse_decision(&name, &wish)?)?;
            prepare_person_page(&app, &name, &who, wish, Some(effects)).map(Some)
        }
    })
    .await?;
    match shown {
        None => Ok(Redirect::to(&here).into_response()),
        Some(found) => view::render_page(&visitor, "person.html", found),
    }
}

/// A step with its votes.
struct VotedStep {
    ballot: Arc<BallotItems>,
    given: Arc<Assignments>,
}

impl VotedStep {
    /// `None` if nobody has voted on it, or it has no items yet.
    fn open(
        app: &App,
        config: &Config,
        recipe: &'static Recipe,
        name: &str,
    ) -> Result<Option<VotedStep>, PageError> {
        // Opening the items of a large set takes long; without votes there is nothing to show.
        if app
            .desk
            .current_votes()
            .map_err(PageError::internal_error)?
            .voted_items(recipe.name, name)
            .is_none()
        {
            return Ok(None);
        }
        let Some(ballot) = app.ballots.open_ballot(config, recipe, name)? else { return Ok(None) };
        let given = app.desk.read_assignments(recipe.name, ballot.step.name)?;
        Ok(Some(VotedStep { ballot, given }))
    }

    /// Known answers: those of the settings' folder, and what was decided of items that were given as known ones.
    fn gold_answers<'s>(
        &'s self,
        config: &Config,
        recipe: &'static Recipe,
        resolved: &[Resolution],
    ) -> Result<BTreeMap<&'s str, Values>, PageError> {
        let BallotItems { step, items, .. } = &*self.ballot;
        let mut known: BTreeMap<&'s str, Values> = BTreeMap::new();
        let given: std::collections::BTreeSet<&str> = self
            .given
            .tasks()
            .all_tasks()
            .iter()
            .filter(|task| task.gold)
            .map(|task| task.item.as_str())
            .collect();
        for (item, resolution) in items.iter().zip(resolved) {
            if let Outcome::Confirmed { values, .. } = &resolution.outcome
                && given.contains(item.id.as_str())
            {
                known.insert(&item.id, values.clone());
            }
        }
        for gold in known_answers(config, recipe.name, step, items)? {
            known.insert(&gold.item.id, gold.answers);
        }
        Ok(known)
    }

    /// Everybody's figures.
    fn person_figures(
        &self,
        app: &App,
        config: &Config,
        recipe: &'static Recipe,
        language: Language,
    ) -> Result<Vec<Figures>, PageError> {
        let BallotItems { step, items, .. } = &*self.ballot;
        let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
        let votes = vote_index.by_item(recipe.name, step.name);
        let resolved = resolve_all(step, items, &votes);
        let known = self.gold_answers(config, recipe, &resolved)?;
        let stopped = stopped_annotators(config, recipe, step, items, &votes, &vote_index.asides())?;
        let all =
            describe_people(StepVotes { step, items, resolved: &resolved, votes: &votes, known: &known });
        let title = label_in(language, step.title);
        let one = |person: Person| {
            let stopped = stopped.contains_key(&person.annotator);
            describe_figures(recipe.name, step, title, person, stopped, language)
        };
        Ok(all.into_iter().map(one).collect())
    }
}

/// The page of a person.
#[derive(Serialize)]
struct PersonPage {
    /// Who may decide.
    desk: DecisionDesk,
    name: String,
    steps: Vec<OnStep>,
    decisions: Vec<PersonDecision>,
    /// Where they get no more work.
    stopped: bool,
    wish: Wish,
    /// What the decision in the form would change.
    preview: Option<Vec<AsideEffect>>,
}

fn prepare_person_page(
    app: &App,
    name: &str,
    visitor: &Visitor,
    wish: Wish,
    effects: Option<Vec<AsideEffect>>,
) -> Result<PersonPage, PageError> {
    let (config, _) = app.current_config();
    let language = visitor.language;
    let mut steps = Vec::new();
    for recipe in recipe::used_recipes(&config) {
        for review in recipe.review_steps() {
            let Some(on) = VotedStep::open(app, &config, recipe, review.benchmark_and_ballot().1)? else {
                continue;
            };
            let votes = list_cast_votes(app, &config, recipe, &on, name, language)?;
            if votes.is_empty() {
                continue;
            }
            let figures = on.person_figures(app, &config, recipe, language)?;
            steps.push(OnStep {
                recipe: recipe.name,
                step: on.ballot.step.name,
                title: label_in(language, on.ballot.step.title),
                figures: figures.into_iter().find(|person| person.name == name),
                all: votes.len(),
                votes: votes.into_iter().take(LISTED).collect(),
            });
        }
    }
    let asides = app.desk.current_votes().map_err(PageError::internal_error)?.asides();
    let decisions: Vec<PersonDecision> = asides
        .all_decisions()
        .iter()
        .rev()
        .filter(|of| of.annotator == name)
        .map(|of| describe_decision(&asides, of))
        .collect();
    let known = config.annotators.iter().any(|person| person.name == name);
    if !known && steps.is_empty() && decisions.is_empty() {
        return Err(PageError::not_found());
    }
    Ok(PersonPage {
        name: name.to_string(),
        desk: decision_desk(&config, visitor)?,
        stopped: steps.iter().any(|on| on.figures.as_ref().is_some_and(|figures| figures.stopped)),
        steps,
        decisions,
        wish,
        preview: effects,
    })
}

fn describe_decision(asides: &Asides, aside: &SetAside) -> PersonDecision {
    PersonDecision {
        id: aside.id.to_string(),
        recipe: aside.recipe.clone(),
        step: aside.step.clone(),
        from: aside.from.clone(),
        until: aside.until.clone(),
        by: aside.by.clone(),
        why: aside.why.clone(),
        at: aside.at.clone(),
        undone: asides.undo_of(aside.id).map(|undo| (undo.by.clone(), undo.why.clone())),
    }
}

/// A person's current votes on a step, latest first, with those that do not count.
fn list_cast_votes(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    on: &VotedStep,
    name: &str,
    language: Language,
) -> Result<Vec<PersonVote>, PageError> {
    let BallotItems { step, items, .. } = &*on.ballot;
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(recipe.name, step.name);
    let resolved = resolve_all(step, items, &votes);
    let known = on.gold_answers(config, recipe, &resolved)?;
    let mut found = Vec::new();
    for (item, resolution) in items.iter().zip(&resolved) {
        let stored = vote_index.stored_votes(recipe.name, step.name, &item.id);
        let theirs: Vec<&Vote> =
            stored.into_iter().filter(|vote| vote.annotator == name && !vote.synthetic).collect();
        let counted = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        for vote in current_votes(&theirs) {
            let first = vote.round == crate::review::ballot::Round::Vote;
            let decided = match &resolution.outcome {
                Outcome::Confirmed { values, .. } if first => Some(values),
                _ => None,
            };
            let of_gold = known.get(item.id.as_str()).filter(|_| first);
            found.push(PersonVote {
                item: item.id.clone(),
                at: vote.at.clone(),
                seconds: vote.seconds,
                round: vote.round.name(),
                answers: list_answers(language, &step.questions_of_round(vote.round), item, vote),
                agrees: decided.map(|values| has_right_answers(step, values, &vote.values)),
                right: of_gold.map(|values| has_right_answers(step, values, &vote.values)),
                aside: !counted.iter().any(|other| other.id == vote.id),
            });
        }
    }
    found.sort_by(|a, b| (&b.at, &b.item).cmp(&(&a.at, &a.item)));
    Ok(found)
}

/// The decision in the form.
fn parse_decision(name: &str, wish: &Wish) -> Result<SetAside, PageError> {
    if wish.by == name {
        return Err(PageError::bad_request("nobody sets their own votes aside").about("as"));
    }
    let mut new = SetAside::all_of(name, &wish.by, &wish.why, &current_time());
    if let Some((recipe, step)) = wish.place.split_once('/') {
        (new.recipe, new.step) = (Some(recipe.to_string()), Some(step.to_string()));
    }
    for (field, text, to) in [("from", &wish.from, &mut new.from), ("until", &wish.until, &mut new.until)] {
        if text.is_empty() {
            continue;
        }
        if text.parse::<jiff::civil::Date>().is_err() {
            return Err(PageError::bad_request("a span of time is given by days, YYYY-MM-DD").about(field));
        }
        *to = Some(text.clone());
    }
    new.check_span().map_err(|why| PageError::bad_request(why.to_string()).about("until"))?;
    Ok(new.with_id())
}

fn set_votes_aside(app: &App, name: &str, wish: &Wish) -> Result<(), PageError> {
    let (config, _) = app.current_config();
    // Tasks are assigned meanwhile, which only one may do at a time.
    let _alone = app.assigning.lock().unwrap_or_else(PoisonError::into_inner);
    let recipes: Vec<&'static Recipe> = recipe::used_recipes(&config).collect();
    set_aside(&config, &recipes, &parse_decision(name, wish)?)?;
    Ok(())
}

fn take_back(app: &App, name: &str, id: &str, wish: &Wish) -> Result<(), PageError> {
    let (config, _) = app.current_config();
    let _alone = app.assigning.lock().unwrap_or_else(PoisonError::into_inner);
    let asides = app.desk.current_votes().map_err(PageError::internal_error)?.asides();
    let of_it = |known: &&SetAside| known.annotator == name && known.id.to_string() == id;
    let decision = asides.all_decisions().iter().find(of_it).ok_or_else(PageError::not_found)?;
    // On a second press it is undone already.
    if asides.undo_of(decision.id).is_some() {
        return Ok(());
    }
    let undo =
        Restored { undoes: decision.id, by: wish.by.clone(), why: wish.why.clone(), at: current_time() };
    let recipes: Vec<&'static Recipe> = recipe::used_recipes(&config).collect();
    restore_votes(&config, &recipes, decision, &undo)?;
    Ok(())
}

fn admit_person(app: &App, name: &str, wish: &Wish) -> Result<(), PageError> {
    let _alone = app.assigning.lock().unwrap_or_else(PoisonError::into_inner);
    let line = AsideLine::Admit(Admitted {
        annotator: name.to_string(),
        by: wish.by.clone(),
        why: wish.why.clone(),
        at: current_time(),
    });
    aside::append_line(&app.workspace.raw_folder().join("votes"), &line).map_err(PageError::internal_error)
}
