//! What a draft or a review rests on, in full: the prompt as it was sent, the reply, every vote.

use serde::Serialize;

use crate::config::{Config, sections};
use crate::llm::{Engine, Pack, Role};
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::record::{Post, Question};
use crate::stages::review::Votes;
use crate::stages::{Draft, Review, Rows, Stage, StageError, draft};
use crate::store::{StageReader, Workspace, any_of, select};

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// `prompt`, `reply`, `item` or `vote`.
    pub what: &'static str,
    /// Whose or which one: a template, a key, a vote's id.
    pub id: String,
    /// What it says.
    pub text: String,
}

/// What a stage had before it when it decided on a record. Nothing for stages that ask nobody.
///
/// # Errors
/// [`RunError`] where rows, prompts, replies or votes cannot be read.
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
        let Some((number, before)) = recipe.step(input) else { continue };
        let Some(reader) = StageReader::open(&workspace.stage(recipe.name, number, before.name))? else {
            continue;
        };
        let found = match before.stage.rows() {
            Rows::Posts => {
                select::<Post>(&reader, "rows", any_of("id", [id]))?.into_iter().next().map(Question::from)
            }
            Rows::Questions => select::<Question>(&reader, "rows", any_of("id", [id]))?.into_iter().next(),
        };
        let Some(question) = found else { continue };
        return Ok(match step.stage {
            Stage::Draft(kind) => asked(config, recipe, kind, question)?,
            Stage::Review(kind) => voted(config, recipe, kind, &question)?,
            _ => Vec::new(),
        });
    }
    Ok(Vec::new())
}

fn asked(
    config: &Config,
    recipe: &Recipe,
    kind: Draft,
    question: Question,
) -> Result<Vec<Detail>, StageError> {
    let prompts = draft::prompts(config)?;
    let prompt = prompts
        .render(kind.template(), kind.values(&question))
        .map_err(|e| StageError::Settings(e.to_string()))?;
    let message = |message: &crate::llm::Message| {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        format!("[{role}] {}", message.content)
    };
    let text = prompt.messages.iter().map(message).collect::<Vec<_>>().join("\n");
    let id = format!("{} {}", prompt.template, &prompt.hash[..8]);
    let mut details = vec![Detail { what: "prompt", id, text }];
    let wrong = |e: &dyn std::fmt::Display| StageError::Settings(e.to_string());
    let asks = draft::requests(kind, &prompts, &[question])?;
    let (Some(ask), Some(endpoint)) = (asks.first(), draft::endpoint(kind, config, recipe.name)?) else {
        return Ok(details);
    };
    if !draft::sends(&endpoint) {
        let pack = endpoint.pack.as_deref().map(Pack::load).transpose().map_err(|e| wrong(&e))?;
        let answer = pack.map(|pack| pack.answer(ask));
        if let Some(reply) = answer.as_ref().and_then(|answer| answer.reply()) {
            details.push(Detail {
                what: "reply",
                id: format!("sample:{}", reply.key),
                text: reply.text.clone(),
            });
        }
        return Ok(details);
    }
    if Workspace::new(&config.root).raw().join("replies").exists() {
        let store = draft::open_store(config)?;
        let key = Engine::request(&endpoint, ask).key();
        if let Some(reply) = store.get(&key)? {
            details.push(Detail { what: "reply", id: format!("reply:{key}"), text: content(reply.raw) });
        }
    }
    Ok(details)
}

/// The words of a raw chat completion or translation, or all of it where it is neither.
fn content(raw: String) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(&raw).ok();
    let words = parsed.and_then(|v| {
        let words = v["choices"][0]["message"]["content"].as_str().or(v["translatedText"].as_str());
        words.map(str::to_string)
    });
    words.unwrap_or(raw)
}

fn voted(
    config: &Config,
    recipe: &Recipe,
    kind: Review,
    question: &Question,
) -> Result<Vec<Detail>, StageError> {
    let settings: sections::Review = config.typed(Some(recipe.name), "review");
    let step = kind.ballot(&settings);
    let item = kind.item(&step, question);
    let votes = Votes::load(config, recipe.name)?;
    let by_item = votes.by_item(step.recipe, step.name);
    let on_it = by_item.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    let detail = |vote: &crate::review::Vote| {
        let said: Vec<String> = vote.values.iter().map(|(field, value)| format!("{field}={value}")).collect();
        let sample = if vote.synthetic { ", of the sample" } else { "" };
        let stale = if vote.content_hash == item.content_hash { "" } else { ", on another text" };
        let text = format!("{} ({}{sample}{stale}): {}", vote.annotator, vote.round.name(), said.join(", "));
        Detail { what: "vote", id: format!("vote:{}", vote.id), text }
    };
    Ok(crate::review::votes::current(on_it).into_iter().map(detail).collect())
}
