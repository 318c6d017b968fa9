//! The evidence of a draft or a review in full: the prompt as sent, the reply, every vote.

use serde::Serialize;

use crate::config::{Config, sections};
use crate::llm::{Ask, Engine, Pack, Prompts, RequestContent, Role, text_and_reasoning};
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::record::{Post, Row};
use crate::review::ballot::Round;
use crate::review::review_item;
use crate::review::votes::current_votes;
use crate::stages::review::Votes;
use crate::stages::{DraftStep, ReviewStep, StageError, StageRows, draft, subject};
use crate::store::{Filter, StageReader, Workspace, select_of, select_rows};
use riddlemill_text::text::count_with_noun;

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
pub fn evidence_details(
    config: &Config,
    recipe: &'static Recipe,
    stage: &str,
    id: &str,
) -> Result<Vec<Detail>, RunError> {
    let Some((_, step)) = recipe.find_step(stage) else { return Ok(Vec::new()) };
    if step.stage.rows() == StageRows::Posts {
        return Ok(Vec::new());
    }
    let workspace = Workspace::new(&config.root);
    for input in step.inputs {
        let Some((from, number, before)) = recipe.find_input(input) else { continue };
        let Some(reader) = StageReader::open(&workspace.stage_folder(from.name, number, before.name))? else {
            continue;
        };
        let rows = before.stage.rows();
        let found = match (step.stage.declared_draft(), step.stage.declared_review()) {
            (Some(kind), _) => find_record(&reader, rows, kind.subject_rows(), id)?
                .map(|record| details_of_draft(config, recipe, kind, record)),
            (_, Some(kind)) => find_record(&reader, rows, kind.subject_rows(), id)?
                .map(|record| details_of_review(config, recipe, kind, &record)),
            _ => None,
        };
        if let Some(details) = found {
            return Ok(details?);
        }
    }
    Ok(Vec::new())
}

/// One record of a stage.
fn find_record(
    reader: &StageReader,
    rows: StageRows,
    subject_rows: StageRows,
    id: &str,
) -> Result<Option<Row>, RunError> {
    let wanted = Filter::equals("id", id);
    Ok(match rows {
        StageRows::Posts => {
            let post = select_rows::<Post>(reader, "rows", &wanted)?.into_iter().next();
            post.map(|post| subject::of_post(subject_rows, post))
        }
        rows => select_of(rows.columns(), reader, "rows", &wanted)?.into_iter().next(),
    })
}

fn details_of_draft(
    config: &Config,
    recipe: &Recipe,
    kind: DraftStep,
    record: Row,
) -> Result<Vec<Detail>, StageError> {
    let prompts = draft::load_prompts(config)?;
    let endpoints = draft::endpoints_of_draft(kind, config, recipe.name)?;
    let slots = draft::slots_of_draft(kind, config, recipe.name, &endpoints)?;
    let requests = draft::requests_of_step(kind, &prompts, &slots, &[record])?;
    let replies = Workspace::new(&config.root).raw_folder().join("replies");
    // Opening would create the store, and reading must not change raw/.
    let store = replies.exists().then(|| draft::open_store(config)).transpose()?;
    let mut details: Vec<Detail> = Vec::new();
    for request in requests {
        let prompt = detail_of_prompt(&prompts, &request.ask)?;
        // Several models, or several replies of one, share a prompt.
        if !details.contains(&prompt) {
            details.push(prompt);
        }
        let endpoint = &endpoints[request.slot.endpoint];
        if !draft::may_answer_later(endpoint) {
            let pack = match endpoint.pack.as_deref().map(Pack::load_pack).transpose() {
                Ok(pack) => pack,
                // The rest of the record's history is told all the same.
                Err(error) => {
                    let id = format!("llm.{}", endpoint.name);
                    details.push(Detail { what: "reply", id, text: format!("not shown: {error}") });
                    continue;
                }
            };
            let answer = pack.map(|pack| pack.answer_from_pack(&request.ask, endpoint.identity()));
            if let Some(reply) = answer.as_ref().and_then(|answer| answer.reply()) {
                let (id, text) = (format!("sample:{}", reply.key), reply.text.clone());
                details.push(Detail { what: "reply", id, text });
            }
        } else if let Some(store) = &store {
            let asked = Engine::request_of_ask(endpoint, &request.ask);
            // A reply that was cut is requested again with more tokens, under another key.
            for asked in std::iter::once(asked.clone()).chain(Engine::with_larger_limit(endpoint, &asked)) {
                let Some(reply) = store.get(&asked.key())? else { continue };
                let (text, reasoning) = text_and_reasoning(&reply.request, &reply.raw);
                let id = format!("reply:{}", reply.key);
                if !reasoning.is_empty() {
                    details.push(Detail {
                        what: "reasoning",
                        id: id.clone(),
                        text: fold_reasoning(&reasoning),
                    });
                }
                details.push(Detail { what: "reply", id, text });
            }
        }
    }
    Ok(details)
}

/// The messages of a request.
fn detail_of_prompt(prompts: &Prompts, ask: &Ask) -> Result<Detail, StageError> {
    let hash = prompts.hash(&ask.template)?;
    let id = format!("{} {}", ask.template, &hash[..8]);
    let RequestContent::Chat { messages, .. } = &ask.what else {
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
fn fold_reasoning(reasoning: &str) -> String {
    let more = reasoning.chars().skip(FOLD).count();
    let begun: String = reasoning.chars().take(FOLD).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if more == 0 {
        begun
    } else {
        format!("{begun}… and {} more", count_with_noun(more as u64, "character"))
    }
}

/// Characters of reasoning that are shown.
const FOLD: usize = 200;

fn details_of_review(
    config: &Config,
    recipe: &Recipe,
    kind: ReviewStep,
    record: &Row,
) -> Result<Vec<Detail>, StageError> {
    let settings: sections::Review = config.typed_settings(Some(recipe.name), "review");
    let seed = config.typed_settings::<sections::Options>(Some(recipe.name), "options").seed;
    let step = kind.ballot_by_settings(&settings);
    let votes = Votes::load(config, recipe.name)?;
    let by_item = votes.by_item(step.recipe, step.name);
    let mut details = Vec::new();
    for item in subject::items_of_record(record, &step, seed) {
        let on_it = by_item.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let seen = review_item(&step, &item, on_it).content_hash;
        for vote in current_votes(on_it) {
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
