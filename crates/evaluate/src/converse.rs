//! Conversations: a player asks about an item, turn by turn, and a host who knows the answer replies, until it says that the
//! item is solved or the turns are used up.

use std::collections::BTreeMap;

use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::scope::layer_variables;
use riddlemill_benchmarks::task::{Conversation, SOLVED, compute_values};
use serde_json::{Map, Value as Json, json};

use super::answer::Answer;
use super::ask::{
    Missing, Plan, PlannedRequest, answer_or_missing, basis_of_reply, build_raw_answer, without_answer,
};
use super::error::EvaluateError;
use super::item::Item;
use super::prompt;
use super::set::Set;
use super::task::Task;
use crate::llm::parse::{self, Unreadable};
use crate::llm::prompt::PromptError;
use crate::llm::{Ask, Endpoint, Parsed, Prompts};
use crate::record::Reason;
use crate::stages::StageError;
use crate::stages::draft::{LlmContext, ask_endpoints};

/// A question and its reply.
type Turn = (String, &'static str);

/// One model's conversation about an item.
struct Game {
    /// The index of the player among the endpoints.
    player: usize,
    place: PlannedRequest,
    turns: Vec<Turn>,
    /// The basis of the last question.
    basis: String,
}

/// The conversations that a plan has with each of its endpoints.
fn list_games(plan: &Plan, set: &Set, player: usize) -> Vec<Game> {
    let tasks = plan.tasks.iter().filter(|(task, _)| task.conversation().is_some());
    let mut games = Vec::new();
    for &(task, setting) in tasks {
        for sample in 0..task.samples_per_item() {
            let items = set.items.iter().enumerate().filter(|(_, item)| item.has_task(task));
            games.extend(items.map(|(item, _)| Game {
                player,
                place: PlannedRequest { item, task, setting, sample },
                turns: Vec::new(),
                basis: String::new(),
            }));
        }
    }
    games
}

/// The name of a turn in a pack of replies.
fn record_of_turn(item: &Item, place: PlannedRequest, who: &str, turn: usize) -> String {
    format!("{}{who} turn {turn}", prompt::record_of_request(item, place.task, place.setting))
}

/// What the player is asked next.
fn request_to_player(plan: &Plan, set: &Set, prompts: &Prompts, game: &Game) -> Result<Ask, EvaluateError> {
    let (place, item) = (game.place, &set.items[game.place.item]);
    let shots = set.draw_shots(place.item, place.task, place.setting.shots, plan.seed);
    let turns: Vec<Json> =
        game.turns.iter().map(|(question, reply)| json!({ "question": question, "reply": reply })).collect();
    let more = [("turns", Json::from(turns))];
    let ask = prompt::ask_with(prompts, item, place.task, place.setting, &shots, prompt::Form::Chat, &more);
    let ask = ask.map_err(StageError::from)?;
    let record = record_of_turn(item, place, "", game.turns.len() + 1);
    Ok(Ask { record, sample: place.sample, ..ask })
}

/// What the host is asked about a question.
fn request_to_host(
    set: &Set,
    prompts: &Prompts,
    model: &str,
    game: &Game,
    conversation: &Conversation,
    question_text: &str,
) -> Result<Ask, EvaluateError> {
    let item = &set.items[game.place.item];
    let columns = item.column_values();
    let over = layer_variables(BTreeMap::from([("said", question_text.trim().into())]), &columns);
    let trouble = |trouble: ExpressionError| {
        let name = conversation.host.default_prompt().to_owned();
        StageError::from(PromptError::Values { name, what: trouble.to_string() })
    };
    let host = conversation.host.prompt_of_row(|| columns).map_err(trouble)?;
    let values = compute_values(&conversation.with, &over).map_err(trouble)?;
    let values: Map<String, Json> =
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let rendered = prompts.render_prompt(host, values).map_err(StageError::from)?;
    let record = record_of_turn(item, game.place, &format!(" {model}"), game.turns.len() + 1);
    Ok(Ask::new(record, rendered, game.place.sample))
}

/// The reply of a host, which is one of those of the task with this prompt.
fn parse_host_reply(tasks: &[Task], template: &str, reply: &str) -> Result<&'static str, Unreadable> {
    let asked = tasks.iter().filter_map(|task| task.conversation()).find(|one| one.host.has_prompt(template));
    parse::one_of(reply, &asked.ok_or_else(|| Unreadable::new("nobody asked"))?.replies)
}

/// The answer that a conversation ended in.
fn answer_of_game(set: &Set, model: &str, game: Game) -> Answer {
    let is_solved = game.turns.last().is_some_and(|(_, reply)| *reply == SOLVED);
    let line = |(question, reply): &Turn| format!("{}\n> {reply}", question.trim());
    let text = game.turns.iter().map(line).collect::<Vec<_>>().join("\n");
    let turns = u32::try_from(game.turns.len()).ok();
    let item = &set.items[game.place.item];
    let answer = Answer::from_option_index(
        item,
        build_raw_answer(game.place, model, game.basis, text),
        usize::from(!is_solved),
    );
    Answer { turns, ..answer }
}

/// Has the conversations of a plan, a turn of all of them at once. What is missing is reported, and the rest goes on.
///
/// # Errors
/// [`EvaluateError::Stage`] after a Ctrl-C, and if prompts, endpoints or the store cannot be used.
pub(super) fn hold_conversations(
    plan: &Plan,
    set: &Set,
    prompts: &Prompts,
    max_reasks: u32,
    context: &LlmContext<'_>,
) -> Result<(Vec<Answer>, Vec<Missing>), EvaluateError> {
    let players = plan.asked_endpoints();
    let mut open: Vec<Game> = (0..players.len()).flat_map(|player| list_games(plan, set, player)).collect();
    let (mut answers, mut missing) = (Vec::new(), Vec::new());
    let lacks = |game: &Game, reason: Reason, what: String, judge: Option<String>| {
        let PlannedRequest { item, task, setting, sample } = game.place;
        let (item, model) = (set.items[item].id.clone(), players[game.player].name.clone());
        Missing { item, task, setting, model, sample, judge, reason: reason.code(), what, no_answer: None }
    };
    // Without a host there are no conversations, which was told before.
    let Some(host) = &plan.host else { return Ok((answers, missing)) };
    let tasks: Vec<Task> = plan.tasks.iter().map(|(task, _)| *task).collect();
    while !open.is_empty() {
        let mut asks: Vec<Vec<Ask>> = players.iter().map(|_| Vec::new()).collect();
        for game in &open {
            asks[game.player].push(request_to_player(plan, set, prompts, game)?);
        }
        // As for other answers, a question is not asked for again.
        let as_text = |_: &Ask, reply: &str| Ok::<String, Unreadable>(reply.to_owned());
        let replied = ask_endpoints(players.clone(), asks, as_text, 0, context)?;
        context.stop.fail_if_stopped()?;
        let mut replied: Vec<_> = replied.into_iter().map(Vec::into_iter).collect();
        let (mut asked, mut to_host) = (Vec::new(), Vec::new());
        for mut game in open {
            let model = &players[game.player].name;
            let Some(parsed) = replied[game.player].next() else { continue };
            match (without_answer(&parsed), parsed) {
                (None, Parsed::Value { value, reply: from, .. }) => {
                    let Some(conversation) = game.place.task.conversation() else { continue };
                    game.basis = basis_of_reply(&from);
                    to_host.push(request_to_host(set, prompts, model, &game, conversation, &value)?);
                    asked.push((game, value));
                }
                (_, parsed) => match answer_or_missing(set, game.place, model, parsed) {
                    Ok(answer) => answers.push(answer),
                    Err(one) => missing.push(*one),
                },
            }
        }
        open = Vec::new();
        if asked.is_empty() {
            break;
        }
        let by_task = |ask: &Ask, reply: &str| parse_host_reply(&tasks, &ask.template, reply);
        let replied = ask_endpoints(vec![host.clone()], vec![to_host], by_task, max_reasks, context)?;
        context.stop.fail_if_stopped()?;
        for ((mut game, question), parsed) in asked.into_iter().zip(replied.into_iter().flatten()) {
            let judge = Some(host.name.clone());
            let said = match parsed {
                Parsed::Value { value, .. } => value,
                Parsed::Held(held) => {
                    missing.push(lacks(&game, held.reason, held.what.into_text(), judge));
                    continue;
                }
                Parsed::Failed(failed) => {
                    missing.push(lacks(&game, failed.reason, failed.error.into_text(), judge));
                    continue;
                }
            };
            game.turns.push((question, said));
            let most = game.place.task.conversation().map_or(0, |conversation| conversation.turns as usize);
            match said == SOLVED || game.turns.len() >= most {
                true => answers.push(answer_of_game(set, &players[game.player].name, game)),
                false => open.push(game),
            }
        }
    }
    Ok((answers, missing))
}

/// The requests of the conversations with a player that are not over, each with as many and as long questions as it may have:
/// of the player, and of the host.
///
/// # Errors
/// [`EvaluateError::Stage`] if a prompt cannot be rendered.
pub(super) fn longest_requests(
    plan: &Plan,
    set: &Set,
    player: &Endpoint,
    prompts: &Prompts,
    finished: &[Answer],
) -> Result<[Vec<Ask>; 2], EvaluateError> {
    let (mut questions, mut replies) = (Vec::new(), Vec::new());
    let most = player.larger_token_limit().unwrap_or(player.sampling.max_tokens) as usize;
    for mut game in list_games(plan, set, 0) {
        let Some(conversation) = game.place.task.conversation() else { continue };
        let PlannedRequest { item, task, setting, sample } = game.place;
        let is_over = |answer: &Answer| {
            (answer.item.as_str(), answer.task, answer.setting, answer.sample, answer.model.as_str())
                == (set.items[item].id.as_str(), task, setting, sample, player.name.as_str())
        };
        if finished.iter().any(is_over) {
            continue;
        }
        let long = conversation.replies.iter().copied().max_by_key(|reply| reply.len()).unwrap_or_default();
        for turn in 1..=conversation.turns {
            questions.push(request_to_player(plan, set, prompts, &game)?);
            // Distinct questions, because requests about two of them are two.
            let asked = format!("{} {sample} {turn}{}", player.name, " a".repeat(most));
            replies.push(request_to_host(set, prompts, &player.name, &game, conversation, &asked)?);
            game.turns.push((asked, long));
        }
    }
    Ok([questions, replies])
}
