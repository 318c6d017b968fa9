//! Assigns work: with a preview, and the option to take mistakes back.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::ballot::label_in;
use super::open_items::{FEW, Items, count_items, kept_by_sample, unassigned_items};
use super::review::find_ballot;
use crate::app::{App, find_recipe, read_blocking};
use crate::config::{Config, sections};
use crate::error::PageError;
use crate::form::Form;
use crate::i18n::{Language, fill_text, language_names, text_of_key};
use crate::pipeline::{Tasks, current_time, known_answers, read_due_day, stopped_annotators, votes_as_tasks};
use crate::recipe::Recipe;
use crate::review::ballot::{Role, Round};
use crate::review::people::Right;
use crate::review::{
    Annotator, AssignError, AssignSettings, Ballot, Digest, Resolution, Task, assign_items, kept_off,
    resolve_all,
};
use crate::view;
use crate::visitor::Visitor;
use crate::voting::BallotItems;

/// Assignments listed, latest first.
const LISTED: usize = 20;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AssignQuery {
    /// The round that is chosen in the form.
    round: String,
    /// Not empty to count a ballot of many items, too.
    whole: String,
}

#[derive(Serialize)]
struct AssignPage {
    recipe: &'static str,
    step: &'static str,
    title: &'static str,
    languages: Vec<&'static str>,
    rounds: Vec<&'static str>,
    wish: AssignForm,
    people: Vec<AssignablePerson>,
    /// Open items without enough voters in the round; `None` if they are counted after the page has come.
    open: Option<usize>,
    /// Those of them that only a sample's votes keep.
    made_up: usize,
    /// Known items of the settings' folder.
    known: usize,
    preview: Option<Preview>,
    /// The obstacle.
    problem: Option<String>,
    /// The preview is outdated.
    changed: bool,
    given: Vec<AssignmentBatch>,
}

/// The form's values.
#[derive(Clone, Debug, Serialize)]
struct AssignForm {
    round: &'static str,
    overlap: f64,
    /// The share of known items in each person's work, in percent.
    gold: f64,
    /// Draws which of them a person gets.
    seed: u64,
    to: Vec<String>,
    /// The day by which the answers are wanted, YYYY-MM-DD; empty if none is named.
    until: String,
}

#[derive(Serialize)]
struct AssignablePerson {
    name: String,
    role: &'static str,
    languages: String,
    /// Their tasks in the round.
    load: usize,
    /// What keeps them from voting here.
    lacks: Option<String>,
    chosen: bool,
}

/// The planned assignment.
#[derive(Serialize)]
struct Preview {
    tasks: usize,
    items: usize,
    /// Person, new tasks, tasks in total.
    people: Vec<(String, usize, usize)>,
    /// A digest of exactly these tasks.
    digest: String,
}

/// Tasks assigned together.
#[derive(Serialize)]
struct AssignmentBatch {
    at: String,
    round: &'static str,
    people: Vec<(String, usize)>,
    /// Tasks without a vote yet, which can be taken back.
    open: usize,
}

/// The form.
pub(crate) async fn show_assignment(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
    Query(asked): Query<AssignQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let who = visitor.clone();
    let settings: sections::Review = app.current_config().0.typed_settings(Some(recipe.name), "review");
    let wish = AssignForm {
        round: Round::from_name(&asked.round).unwrap_or_default().name(),
        overlap: 0.0,
        gold: settings.gold_share * 100.0,
        seed: settings.gold_seed,
        to: Vec::new(),
        until: String::new(),
    };
    let whole = !asked.whole.is_empty();
    let found =
        read_blocking(move || prepare_assign_page(&app, recipe, &step, wish, Shows::Form { whole }, &who))
            .await?;
    view::render_page(&visitor, "assign.html", found)
}

/// Previews, makes or takes back an assignment.
pub(crate) async fn submit_assignment(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
    form: Form,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let here = format!("/curate/{}/{}/assign", recipe.name, view::encode_segment(&step));
    let back = form.get("undo").to_string();
    if !back.is_empty() {
        read_blocking(move || take_back(&app, recipe, &step, &back)).await?;
        return Ok(Redirect::to(&format!("{here}#given")).into_response());
    }
    let round = Round::from_name(form.get("round")).unwrap_or_default();
    let overlap = match form.get("overlap").trim() {
        "" => 0.0,
        text => text.parse().unwrap_or(-1.0),
    };
    if !(0.0..=100.0).contains(&overlap) {
        return Err(PageError::bad_request("the overlap is a share of 0 to 100 %").about("overlap"));
    }
    let settings: sections::Review = app.current_config().0.typed_settings(Some(recipe.name), "review");
    let given = |name: &str| form.get(name).trim().to_string();
    // Where there are no known items the form does not ask for them.
    let gold = match given("gold").as_str() {
        "" => settings.gold_share * 100.0,
        text => text.parse().unwrap_or(-1.0),
    };
    let seed = match given("seed").as_str() {
        "" => settings.gold_seed,
        text => {
            text.parse().map_err(|_| PageError::bad_request("the seed is a whole number").about("seed"))?
        }
    };
    if !(0.0..=100.0).contains(&gold) {
        return Err(PageError::bad_request("the known items are a share of 0 to 100 %").about("gold"));
    }
    let until = form.get("until").trim().to_string();
    if !until.is_empty() {
        read_due_day(&until, &current_time())
            .map_err(|why| PageError::bad_request(why.to_string()).about("until"))?;
    }
    let to = form.values_of("to").map(str::to_string).collect();
    let wish = AssignForm { round: round.name(), overlap, gold, seed, to, until };
    let confirmed: Option<String> = Some(form.get("digest").to_string()).filter(|digest| !digest.is_empty());
    let who = visitor.clone();
    let found = read_blocking(move || {
        if let Some(digest) = &confirmed
            && assign_tasks(&app, recipe, &step, &wish, digest)?
        {
            return Ok(None);
        }
        prepare_assign_page(&app, recipe, &step, wish, Shows::Preview { changed: confirmed.is_some() }, &who)
            .map(Some)
    })
    .await?;
    match found {
        None => Ok(Redirect::to(&format!("{here}#given")).into_response()),
        Some(found) => view::render_page(&visitor, "assign.html", found),
    }
}

/// What keeps somebody from voting here, in the page's language.
fn missing_requirement(
    person: &Annotator,
    ballot: &Ballot,
    round: Round,
    language: Language,
) -> Option<String> {
    let mut lacks = Vec::new();
    if !ballot.roles_of_round(round).contains(&person.role) {
        let name =
            |role: Role| text_of_key(language, &format!("role_{}", role.name())).unwrap_or(role.name());
        let roles: Vec<&str> = ballot.roles_of_round(round).into_iter().map(name).collect();
        lacks.push(fill_text(
            language,
            "lacks_role",
            &[&roles.join(text_of_key(language, "list_comma").unwrap_or(", "))],
        ));
    } else if !person.may_vote(ballot, round) {
        lacks.push(text_of_key(language, "lacks_trial").unwrap_or_default().to_string());
    }
    let unread = person.unread_languages(ballot);
    if !unread.is_empty() {
        lacks.push(fill_text(language, "lacks_languages", &[&language_names(language, &unread.join(", "))]));
    }
    (!lacks.is_empty()).then(|| lacks.join(text_of_key(language, "comma").unwrap_or("; ")))
}

/// What there is to assign.
struct Work<'b> {
    ballot: &'b BallotItems,
    resolved: Vec<Resolution>,
    /// Open items without enough voters in the round.
    open: Vec<&'b str>,
    /// Known items of the settings' folder.
    known: Vec<&'b str>,
    /// Whoever gets no more work.
    stopped: BTreeMap<String, Right>,
}

impl<'b> Work<'b> {
    fn of_round(
        app: &App,
        config: &Config,
        ballot: &'b BallotItems,
        tasks: &Tasks,
        round: Round,
    ) -> Result<Work<'b>, PageError> {
        let step = &ballot.step;
        let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
        let votes = vote_index.by_item(step.recipe, step.name);
        let resolved = resolve_all(step, &ballot.items, &votes);
        let known = known_answers(config, step.recipe, step, &ballot.items)?;
        let of = find_recipe(step.recipe)?;
        Ok(Work {
            ballot,
            open: unassigned_items(ballot, &resolved, tasks, round),
            known: known.iter().map(|gold| gold.item.id.as_str()).collect(),
            stopped: stopped_annotators(config, of, step, &ballot.items, &votes, &vote_index.asides())?,
            resolved,
        })
    }

    /// The tasks that would be assigned now.
    fn plan_tasks(
        &self,
        app: &App,
        config: &Config,
        tasks: &Tasks,
        wish: &AssignForm,
    ) -> Result<Result<Vec<Task>, AssignError>, PageError> {
        let BallotItems { step, items, .. } = self.ballot;
        let round = Round::from_name(wish.round).unwrap_or_default();
        let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
        let votes = vote_index.by_item(step.recipe, step.name);
        // A voter is on the item, whether it was their task or not.
        let mut given = tasks.all_tasks().to_vec();
        given.extend(votes_as_tasks(round, items, &self.resolved, &votes, tasks.all_tasks()));
        let to: Vec<&str> = wish.to.iter().map(String::as_str).collect();
        let written_by = kept_off(items, &config.annotators);
        let settings = AssignSettings {
            round,
            overlap: wish.overlap / 100.0,
            to: &to,
            gold: &self.known,
            gold_share: wish.gold / 100.0,
            gold_seed: wish.seed,
            gold_is_due: true,
            written_by: Some(&written_by),
            ..AssignSettings::default()
        };
        let gets_work = |person: &&Annotator| !self.stopped.contains_key(&person.name);
        let people: Vec<Annotator> = config.annotators.iter().filter(gets_work).cloned().collect();
        Ok(assign_items(step, &self.open, &people, &given, &settings))
    }
}

fn tasks_digest(new: &[Task]) -> String {
    let parts = new.iter().flat_map(|task| [task.item.as_bytes(), task.annotator.as_bytes()]);
    Digest::of_parts("riddlemill assignment v1", parts).to_string()
}

/// What a page shows.
enum Shows {
    /// The form; of a ballot of many items what waits is counted only if the whole is asked for.
    Form { whole: bool },
    /// What would be assigned, and whether that is no longer what was looked at.
    Preview { changed: bool },
}

fn prepare_assign_page(
    app: &App,
    recipe: &'static Recipe,
    name: &str,
    wish: AssignForm,
    shows: Shows,
    visitor: &Visitor,
) -> Result<AssignPage, PageError> {
    let (config, _) = app.current_config();
    let settings: sections::Review = config.typed_settings(Some(recipe.name), "review");
    let review = recipe.find_review(name).ok_or_else(PageError::not_found)?.review;
    let step = &review.ballot_by_settings(&settings);
    let records = app.ballots.count_records(&config, recipe, name)?.ok_or_else(PageError::not_found)?;
    // Whoever is stopped is known from their answers on known items.
    let later = matches!(shows, Shows::Form { whole: false }) && records > FEW && settings.gold.is_empty();
    let items = if later { None } else { Some(find_ballot(app, &config, recipe, name)?) };
    let assigned = app.desk.read_assignments(recipe.name, step.name)?;
    let tasks = assigned.tasks();
    let round = Round::from_name(wish.round).unwrap_or_default();
    let work = items.as_deref().map(|items| Work::of_round(app, &config, items, tasks, round)).transpose()?;
    let mut loads: BTreeMap<&str, usize> = BTreeMap::new();
    tasks.current_tasks(round).iter().for_each(|task| *loads.entry(&task.annotator).or_default() += 1);
    let load = |name: &str| loads.get(name).copied().unwrap_or(0);
    let is_stopped = |name: &str| work.as_ref().is_some_and(|work| work.stopped.contains_key(name));
    let of_gold = |name: &str| {
        text_of_key(visitor.language, "lacks_gold").filter(|_| is_stopped(name)).map(str::to_string)
    };
    let people = config.annotators.iter().map(|person| {
        let lacks = missing_requirement(person, step, round, visitor.language);
        let lacks = lacks.or_else(|| of_gold(&person.name));
        AssignablePerson {
            name: person.name.clone(),
            role: person.role.name(),
            languages: person.languages.join(", "),
            load: load(&person.name),
            chosen: lacks.is_none() && (wish.to.is_empty() || wish.to.contains(&person.name)),
            lacks,
        }
    });
    let people: Vec<AssignablePerson> = people.collect();
    // Where nobody may vote, the problem says what each of them lacks.
    if matches!(shows, Shows::Preview { .. })
        && wish.to.is_empty()
        && people.iter().any(|p| p.lacks.is_none())
    {
        return Err(PageError::bad_request("choose at least one annotator").about("to"));
    }
    let new = match (&work, &shows) {
        (Some(work), Shows::Preview { .. }) => Some(work.plan_tasks(app, &config, tasks, &wish)?),
        _ => None,
    };
    let (preview, problem) = match new {
        None => (None, None),
        Some(Err(problem)) => (None, Some(problem.to_string())),
        Some(Ok(new)) => {
            let mut more: BTreeMap<&str, usize> = BTreeMap::new();
            new.iter().for_each(|task| *more.entry(&task.annotator).or_default() += 1);
            let items: FxHashSet<&str> = new.iter().map(|task| task.item.as_str()).collect();
            let people = more.iter().map(|(name, n)| ((*name).to_string(), *n, load(name) + n)).collect();
            (Some(Preview { tasks: new.len(), items: items.len(), people, digest: tasks_digest(&new) }), None)
        }
    };
    let open = work.as_ref().map(|work| -> Result<Items, PageError> {
        Ok(count_items(&work.open, &kept_by_sample(&config, recipe, work.ballot)?))
    });
    let open = open.transpose()?;
    let second = step.review.as_ref().map(|_| Round::Review.name());
    Ok(AssignPage {
        recipe: recipe.name,
        step: step.name,
        title: label_in(visitor.language, step.title),
        languages: step.languages.clone(),
        rounds: std::iter::once(Round::Vote.name()).chain(second).collect(),
        people,
        open: open.map(|open| open.number),
        made_up: open.map_or(0, |open| open.made_up),
        known: work.as_ref().map_or(0, |work| work.known.len()),
        preview,
        problem,
        changed: matches!(shows, Shows::Preview { changed: true }),
        given: list_assignments(app, step, tasks)?,
        wish,
    })
}

/// Assigns what was previewed; false if that would differ now.
fn assign_tasks(
    app: &App,
    recipe: &'static Recipe,
    name: &str,
    wish: &AssignForm,
    looked_at: &str,
) -> Result<bool, PageError> {
    let (config, _) = app.current_config();
    let ballot = find_ballot(app, &config, recipe, name)?;
    // On a second press everything is assigned already.
    let _alone = app.assigning.lock().unwrap_or_else(PoisonError::into_inner);
    let tasks = Tasks::open(&app.workspace, recipe.name, ballot.step.name)?;
    let round = Round::from_name(wish.round).unwrap_or_default();
    let work = Work::of_round(app, &config, &ballot, &tasks, round)?;
    let Ok(mut new) = work.plan_tasks(app, &config, &tasks, wish)? else { return Ok(false) };
    if tasks_digest(&new) != looked_at {
        return Ok(false);
    }
    let at = current_time();
    let until = Some(wish.until.clone()).filter(|until| !until.is_empty());
    for task in &mut new {
        task.at = Some(at.clone());
        task.until.clone_from(&until);
    }
    tasks.append_tasks(&new)?;
    Ok(true)
}

/// Whether a task has a vote of its annotator.
fn voted_tasks(app: &App, ballot: &Ballot) -> Result<FxHashSet<(String, String, Round)>, PageError> {
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(ballot.recipe, ballot.name);
    let people = votes.values().flatten().filter(|vote| !vote.synthetic);
    Ok(people.map(|vote| (vote.item.clone(), vote.annotator.clone(), vote.round)).collect())
}

/// The assignments made on the pages, latest first.
fn list_assignments(app: &App, ballot: &Ballot, tasks: &Tasks) -> Result<Vec<AssignmentBatch>, PageError> {
    let voted = voted_tasks(app, ballot)?;
    // People with their tasks, and tasks without a vote.
    type Batch<'b> = (BTreeMap<&'b str, usize>, usize);
    let mut batches: BTreeMap<(&str, Round), Batch<'_>> = BTreeMap::new();
    for task in tasks.all_tasks() {
        let Some(at) = task.at.as_deref() else { continue };
        let (people, open) = batches.entry((at, task.round)).or_default();
        *people.entry(&task.annotator).or_default() += 1;
        let is_voted = voted.contains(&(task.item.clone(), task.annotator.clone(), task.round));
        *open += usize::from(!is_voted);
    }
    // Times are RFC 3339 in UTC, whose order as texts is that of time.
    let given = batches.into_iter().rev().take(LISTED).map(|((at, round), (people, open))| AssignmentBatch {
        at: at.to_string(),
        round: round.name(),
        people: people.into_iter().map(|(name, n)| (name.to_string(), n)).collect(),
        open,
    });
    Ok(given.collect())
}

/// Takes back the assignments made at a time, except for tasks with votes.
fn take_back(app: &App, recipe: &'static Recipe, name: &str, at: &str) -> Result<(), PageError> {
    let (config, _) = app.current_config();
    let ballot = find_ballot(app, &config, recipe, name)?;
    // A second press at the same time would end earlier assignments of the items, too.
    let _alone = app.assigning.lock().unwrap_or_else(PoisonError::into_inner);
    let tasks = Tasks::open(&app.workspace, recipe.name, ballot.step.name)?;
    let voted = voted_tasks(app, &ballot.step)?;
    let of_it = tasks.all_tasks().iter().filter(|task| task.at.as_deref() == Some(at));
    let open = of_it
        .filter(|task| !voted.contains(&(task.item.clone(), task.annotator.clone(), task.round)))
        .map(|task| Task { back: true, at: Some(current_time()), ..task.clone() });
    Ok(tasks.append_tasks(&open.collect::<Vec<_>>())?)
}
