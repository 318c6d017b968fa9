//! The work of models and people on the rows: prompts, models, cost, decisions and agreement, for the card.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::data::parse_day;
use super::manifest::Link;
use super::source::CandidateSource;
use crate::config::Config;
use crate::llm::store::Origin;
use crate::llm::{Key, Store, Usd};
use crate::pages::time::format_utc;
use crate::pipeline::{RunError, review_items};
use crate::recipe::{Recipe, Step};
use crate::record::{Reason, State};
use crate::review::agreement::{self, Bootstrap};
use crate::review::{Voted, resolve_all};
use crate::stages::review::Votes;
use crate::stages::{GROUPS, Stage, StageError, draft};
use crate::store::{Error, StageReader, Workspace, json_parts};
use crate::text::format_decimals;
use riddlemill_benchmarks::scope::group_name;

/// The work behind the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Work {
    /// Every stage with a model.
    pub asked: Vec<LlmUsage>,
    /// Every stage with people.
    pub decided: Vec<ReviewCounts>,
    /// Cost in dollars of the replies used.
    pub usd: String,
    /// The day of the newest of these replies and of the votes.
    pub newest: Option<String>,
}

/// A stage with a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LlmUsage {
    pub stage: String,
    /// Its prompts: template and hash.
    pub prompts: Vec<(String, String)>,
    /// Replies used, by model; those of a sample pack under its own name.
    pub models: BTreeMap<String, u64>,
    /// Cost in dollars of these replies.
    pub usd: String,
}

/// A stage with people.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReviewCounts {
    pub stage: String,
    /// Accepted as drafted by people.
    pub confirmed: u64,
    /// Rewritten by people.
    pub rewritten: u64,
    /// Decided by synthetic votes.
    pub synthetic: u64,
    /// Provisionally on a draft.
    pub provisional: u64,
    /// Rejected.
    pub rejected: u64,
    /// Waiting.
    pub held: u64,
    /// Summary of the votes: agreement, disputes, trials.
    pub voted: Voted,
    /// Shares and agreement if several questions have the same options; empty otherwise.
    pub rated: String,
}

/// A reply's cost and origin.
struct Reply {
    model: String,
    /// The model that answered under that name, as stated in the reply.
    answered: Option<String>,
    charged: Usd,
    /// The day it was received; `None` for a sample.
    day: Option<String>,
}

/// Collects the work behind the rows of a chain's last stage.
///
/// # Errors
/// [`RunError`] if replies, votes or rows cannot be read.
pub fn gather(config: &Config, recipe: &'static Recipe, stages: &[Link]) -> Result<Work, RunError> {
    let asks =
        |link: &&Link| stage_of_name(recipe, &link.stage).is_some_and(|kind| kind.declared_draft().is_some());
    let reviews = |link: &&Link| {
        stage_of_name(recipe, &link.stage).is_some_and(|kind| kind.declared_review().is_some())
    };
    let mut work = Work::default();
    if !stages.iter().any(|link| asks(&link) || reviews(&link)) {
        return Ok(work);
    }
    let basis = basis_by_step(config, recipe, stages.len())?;
    let mut total = Usd::ZERO;
    for link in stages.iter().filter(asks) {
        let replies = replies_of_basis(
            config,
            basis.get(&name_of(recipe, link)).map(Vec::as_slice).unwrap_or_default(),
        )?;
        let usd: Usd = replies.iter().map(|reply| reply.charged).sum();
        work.newest = work.newest.max(replies.iter().filter_map(|reply| reply.day.clone()).max());
        let models = count_by_model(replies);
        let prompts = link
            .evidence
            .iter()
            .filter_map(|(key, hash)| Some((key.strip_prefix("prompt ")?.to_string(), hash.clone())));
        work.asked.push(LlmUsage {
            stage: link.stage.clone(),
            prompts: prompts.collect(),
            models,
            usd: format_dollars(usd),
        });
        total += usd;
    }
    let votes = Votes::load(config, recipe.name)?;
    for link in stages.iter().filter(reviews) {
        work.newest = work.newest.max(newest_vote(recipe, link, &votes));
        let (voted, rated) = voted_on(config, recipe, link, &votes)?;
        work.decided.push(ReviewCounts { voted, rated, ..count_decisions(link) });
    }
    work.usd = format_dollars(total);
    Ok(work)
}

fn stage_of_name(recipe: &Recipe, stage: &str) -> Option<&'static dyn Stage> {
    Some(recipe.find_step(stage)?.1.stage)
}

/// The name of a draft's basis column in a row.
fn name_of(recipe: &Recipe, link: &Link) -> String {
    let draft = stage_of_name(recipe, &link.stage).and_then(|kind| kind.declared_draft());
    draft.map_or_else(|| link.stage.clone(), |draft| group_name(draft.name()))
}

/// The basis of the rows by the name of the step, with `_` for `-`: every `<step>_basis` of the stage's rows, and what the
/// groups of declared records rest on.
fn basis_by_step(
    config: &Config,
    recipe: &'static Recipe,
    stages: usize,
) -> Result<BTreeMap<String, Vec<String>>, RunError> {
    let mut basis: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let step = CandidateSource::of_chain(recipe, stages).step();
    each_basis(&Workspace::new(&config.root), recipe, step, |_, step, names| {
        basis.entry(step.to_string()).or_default().extend(names);
    })?;
    Ok(basis)
}

/// The replies that each record of a stage rests on, by its id: `reply:` and a key, `sample:` and a key. Empty if the stage
/// is not made.
///
/// # Errors
/// [`Error`] if the stage cannot be read.
pub fn replies_of_records(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &'static Step,
) -> Result<BTreeMap<String, BTreeSet<String>>, Error> {
    let mut records: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    each_basis(workspace, recipe, step, |id, _, names| {
        let replies = names.into_iter().filter(|name| !name.starts_with("vote:"));
        records.entry(id.to_string()).or_default().extend(replies);
    })?;
    Ok(records)
}

/// Hands over what each record of a stage rests on: its id, the step (empty for the record as a whole), and the names.
fn each_basis(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &'static Step,
    mut found: impl FnMut(&str, &str, Vec<String>),
) -> Result<(), Error> {
    let place = workspace.stage_folder(recipe.name, step.number, step.name);
    let Some(reader) = StageReader::open(&place)? else { return Ok(()) };
    for part in json_parts(&reader, "rows", &[]) {
        for row in part? {
            let id = row.get("id").and_then(Json::as_str).unwrap_or_default();
            let mut add = |step: &str, list: &[Json]| {
                found(id, step, list.iter().filter_map(Json::as_str).map(str::to_string).collect());
            };
            for (column, value) in &row {
                let of_whole = (column == "basis").then_some("");
                if let (Some(step), Json::Array(list)) = (column.strip_suffix("_basis").or(of_whole), value) {
                    add(step, list);
                }
            }
            let groups = row.get(GROUPS).and_then(Json::as_str).unwrap_or_default();
            let groups: Map<String, Json> = serde_json::from_str(groups).unwrap_or_default();
            for (step, group) in &groups {
                let lists = ["basis", "draft_basis"].map(|key| group.get(key).and_then(Json::as_array));
                lists.into_iter().flatten().for_each(|list| add(step, list));
            }
        }
    }
    Ok(())
}

/// The replies named in a basis, each once.
fn replies_of_basis(config: &Config, basis: &[String]) -> Result<Vec<Reply>, StageError> {
    let of =
        |prefix: &str| -> BTreeSet<&str> { basis.iter().filter_map(|b| b.strip_prefix(prefix)).collect() };
    let sample = of("sample:").into_iter().map(|_| Reply {
        model: "replies written for the sample".into(),
        answered: None,
        charged: Usd::ZERO,
        day: None,
    });
    let mut replies: Vec<Reply> = sample.collect();
    let keys: Vec<Key> = of("reply:").into_iter().filter_map(|key| key.parse().ok()).collect();
    if !keys.is_empty() {
        let store: Store = draft::open_store(config)?;
        let stored = store.get_many(&keys)?.into_iter().flatten();
        replies.extend(stored.map(|r| Reply {
            answered: Origin::parse(&r.raw).model,
            model: r.request.model,
            charged: r.charged_picousd,
            day: parse_day(&format_utc(UNIX_EPOCH + Duration::from_millis(r.at_ms))),
        }));
    }
    Ok(replies)
}

/// Replies by model; if other models answered under one name, by these.
fn count_by_model(replies: Vec<Reply>) -> BTreeMap<String, u64> {
    let mut behind: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    for reply in &replies {
        behind.entry(reply.model.clone()).or_default().insert(reply.answered.clone());
    }
    let mut models: BTreeMap<String, u64> = BTreeMap::new();
    for Reply { model, answered, .. } in replies {
        let several = behind.get(&model).is_some_and(|behind| behind.len() > 1);
        let name = match answered.filter(|_| several) {
            Some(answered) => format!("{model} (answered as {answered})"),
            None => model,
        };
        *models.entry(name).or_default() += 1;
    }
    models
}

/// The day of the newest vote on a review's items.
fn newest_vote(recipe: &'static Recipe, link: &Link, votes: &Votes) -> Option<String> {
    let (recipe, step) = stage_of_name(recipe, &link.stage)?.declared_review()?.benchmark_and_ballot();
    votes.by_item(recipe, step).values().flatten().filter_map(|vote| parse_day(&vote.at)).max()
}

fn format_dollars(usd: Usd) -> String {
    format!("{:.2}", usd.in_dollars())
}

fn count_decisions(link: &Link) -> ReviewCounts {
    let so_many = |state: State, reason: Reason| {
        link.counts.reasons.get(&format!("{}/{}", state.code(), reason.code())).copied().unwrap_or(0)
    };
    let changed = |reason| so_many(State::Changed, reason);
    ReviewCounts {
        stage: link.stage.clone(),
        confirmed: changed(Reason::Confirmed),
        rewritten: changed(Reason::Rewritten),
        synthetic: changed(Reason::SampleConfirmed) + changed(Reason::SampleRewritten),
        provisional: changed(Reason::Provisional),
        rejected: so_many(State::Dropped, Reason::Rejected),
        held: link.counts.records_in_state(State::Held),
        voted: Voted::default(),
        rated: String::new(),
    }
}

/// Summary of the votes on a review; a sample's if no person voted.
fn voted_on(
    config: &Config,
    recipe: &'static Recipe,
    link: &Link,
    votes: &Votes,
) -> Result<(Voted, String), RunError> {
    let Some(ballot) = link.stage.strip_prefix("review:") else { return Ok(Default::default()) };
    let Some((step, items)) = review_items(config, recipe, ballot)? else { return Ok(Default::default()) };
    let on = votes.by_item(step.recipe, step.name);
    let resolved = resolve_all(&step, &items, &on);
    let rated = agreement::pool_questions(&step, &items, &on, Bootstrap::NONE).map(|pooled| {
        let shares: Vec<String> =
            pooled.shares.iter().map(|(field, share)| format!("`{field}` {:.1} %", share * 100.0)).collect();
        let why = "not defined (every vote gives the same answer, or no items have equally many votes)";
        let kappa = pooled.fleiss.map_or_else(|| why.into(), |e| format_decimals(e.value, 3));
        format!(
            "Rated `{}` on average: {}; Fleiss' kappa over these questions together: {kappa} ({} items).",
            pooled.code,
            shares.join(", "),
            pooled.items
        )
    });
    let set_aside = votes.set_aside(step.recipe, step.name).count();
    let voted = Voted::summarise_step(&step, &items, &resolved, &on, &config.annotators, Bootstrap::NONE);
    let voted = Voted { set_aside, ..voted };
    Ok((voted, rated.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_names_who_answered_where_they_were_several() {
        let reply = |model: &str, answered: &str| Reply {
            model: model.into(),
            answered: Some(answered.into()),
            charged: Usd::ZERO,
            day: None,
        };
        let all = vec![reply("a", "a-1"), reply("b", "b-1"), reply("b", "b-2"), reply("b", "b-2")];
        let names: Vec<(String, u64)> = count_by_model(all).into_iter().collect();
        let expected = [("a", 1), ("b (answered as b-1)", 1), ("b (answered as b-2)", 2)];
        assert_eq!(names, expected.map(|(name, n)| (name.to_string(), n)));
    }
}
