//! The evidence of a draft or a review in full: the prompt as sent, the reply, every vote.

use serde::Serialize;

use crate::config::{Config, sections};
use crate::llm::{Ask, Engine, Pack, Prompts, Role, What, spoken};
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::record::{Post, Row};
use crate::review::ballot::Round;
use crate::review::review_item;
use crate::review::votes::current;
use crate::stages::review::Votes;
use crate::stages::{Draft, Review, Rows, StageError, draft, subject};
use crate::store::{Filter, StageReader, Workspace, select, select_of};
use riddlemill_text::text::counted;

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// `prompt`, `reply`, `item` or `vote`.
    pub what: &'static str,
    /// The template, key or vote's id.
    pub id: String,
    pub text: String,
}

/// The evidence for a stage's decision on a record. Empty for stages without models or people.
///
/// # Errors
/// [`RunError`] if rows, prompts, replies or votes cannot be read.
pub fn details(
    config: &Config,
    recipe: &'static Recipe,
    stage: &str,
    id: &str,
) -> Result<Vec<Detail>, RunError> {
    let Some((_, step)) = recipe.step(stage) else { return Ok(Vec::new()) };
    if step.stage.rows() == Rows::Posts {
        return Ok(Vec::new());
    }
    let workspace = Workspace::new(&config.root);
    for input in step.inputs {
        let Some((from, number, before)) = recipe.input(input) else { continue };
        let Some(reader) = StageReader::open(&workspace.stage(from.name, number, before.name))? else {
            continue;
        };
        let rows = before.stage.rows();
        let found =
            match (step.stage.draft(), step.stage.review()) {
                (Some(kind), _) => record(&reader, rows, kind.subjects(), id)?
                    .map(|record| asked(config, recipe, kind, record)),
                (_, Some(kind)) => record(&reader, rows, kind.subjects(), id)?
                    .map(|record| voted(config, recipe, kind, &record)),
                _ => None,
            };
        if let Some(details) = found {
            return Ok(details?);
        }
    }
    Ok(Vec::new())
}

/// One record of a stage.
fn record(reader: &StageReader, rows: Rows, of: Rows, id: &str) -> Result<Option<Row>, RunError> {
    let wanted = Filter::equals("id", id);
    Ok(match rows {
        Rows::Posts => {
            let post = select::<Post>(reader, "rows", &wanted)?.into_iter().next();
            post.map(|post| subject::of_post(of, post))
        }
        rows => select_of(rows.columns(), reader, "rows", &wanted)?.into_iter().next(),
    })
}

fn asked(config: &Config, recipe: &Recipe, kind: Draft, record: Row) -> Result<Vec<Detail>, StageError> {
    let prompts = draft::prompts(config)?;
    let endpoints = draft::endpoints(kind, config, recipe.name)?;
    let slots = draft::slots(kind, config, recipe.name, &endpoints)?;
    let requests = draft::requests(kind, &prompts, &slots, &[record])?;
    let replies = Workspace::new(&config.root).raw().join("replies");
    // Opening would create the store, and reading must not change raw/.
    let store = replies.exists().then(|| draft::open_store(config)).transpose()?;
    let mut details: Vec<Detail> = Vec::new();
    for request in requests {
        let prompt = prompt(&prompts, &request.ask)?;
        // Several models, or several replies of one, share a prompt.
        if !details.contains(&prompt) {
            details.push(prompt);
        }
        let endpoint = &endpoints[request.slot.endpoint];
        if !draft::sends(endpoint) {
            let pack = endpoint.pack.as_deref().map(Pack::load).transpose()?;
            let answer = pack.map(|pack| pack.answer(&request.ask, endpoint.identity()));
            if let Some(reply) = answer.as_ref().and_then(|answer| answer.reply()) {
                let (id, text) = (format!("sample:{}", reply.key), reply.text.clone());
                details.push(Detail { what: "reply", id, text });
            }
        } else if let Some(store) = &store {
            let asked = Engine::request(endpoint, &request.ask);
            // A reply that was cut is requested again with more tokens, under another key.
            for asked in std::iter::once(asked.clone()).chain(Engine::larger(endpoint, &asked)) {
                let Some(reply) = store.get(&asked.key())? else { continue };
                let (text, reasoning) = spoken(&reply.request, &reply.raw);
                let id = format!("reply:{}", reply.key);
                if !reasoning.is_empty() {
                    details.push(Detail { what: "reasoning", id: id.clone(), text: folded(&reasoning) });
                }
                details.push(Detail { what: "reply", id, text });
            }
        }
    }
    Ok(details)
}

/// The messages of a request.
fn prompt(prompts: &Prompts, ask: &Ask) -> Result<Detail, StageError> {
    let hash = prompts.hash(&ask.template)?;
    let id = format!("{} {}", ask.template, &hash[..8]);
    let What::Chat { messages, .. } = &ask.what else {
        return Ok(Detail { what: "prompt", id, text: String::new() });
    };
    let message = |message: &crate::llm::Message| {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        format!("[{role}] {}", message.content)
    };
    let text = messages.iter().map(message).collect::<Vec<_>>().join("\n");
    Ok(Detail { what: "prompt", id, text })
}

/// The beginning of a model's reasoning, and how much more there is; the raw reply has all of it.
fn folded(reasoning: &str) -> String {
    let more = reasoning.chars().skip(FOLD).count();
    let begun: String = reasoning.chars().take(FOLD).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if more == 0 { begun } else { format!("{begun}… and {} more", counted(more as u64, "character")) }
}

/// Characters of reasoning that are shown.
const FOLD: usize = 200;

fn voted(config: &Config, recipe: &Recipe, kind: Review, record: &Row) -> Result<Vec<Detail>, StageError> {
    let settings: sections::Review = config.typed(Some(recipe.name), "review");
    let seed = config.typed::<sections::Options>(Some(recipe.name), "options").seed;
    let step = kind.ballot(&settings);
    let votes = Votes::load(config, recipe.name)?;
    let by_item = votes.by_item(step.recipe, step.name);
    let mut details = Vec::new();
    for item in subject::items(record, &step, seed) {
        let on_it = by_item.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let seen = review_item(&step, &item, on_it).content_hash;
        for vote in current(on_it) {
            let answers: Vec<String> =
                vote.values.iter().map(|(field, value)| format!("{field}={value}")).collect();
            let sample = if vote.synthetic { ", of the sample" } else { "" };
            // Reviewers also see the earlier votes, so their content has another hash.
            let today = if vote.round == Round::Review { seen } else { item.content_hash };
            let carried = vote.carried.as_ref().map_or_else(String::new, |carried| {
                format!(", carried over from another text by {}: {}", carried.by, carried.why)
            });
            let stale = if vote.content_hash == today { "" } else { ", on another text" };
            let text = format!(
                "{} ({}{sample}{stale}{carried}): {}",
                vote.annotator,
                vote.round.name(),
                answers.join(", ")
            );
            details.push(Detail { what: "vote", id: format!("vote:{}", vote.id), text });
        }
        for (vote, aside) in votes.set_aside(step.recipe, step.name).filter(|(vote, _)| vote.item == item.id)
        {
            let answers: Vec<String> =
                vote.values.iter().map(|(field, value)| format!("{field}={value}")).collect();
            let text = format!(
                "{} ({}, set aside by {}: {}): {}",
                vote.annotator,
                vote.round.name(),
                aside.by,
                aside.why,
                answers.join(", ")
            );
            details.push(Detail { what: "vote", id: format!("vote:{}", vote.id), text });
        }
    }
    Ok(details)
}
