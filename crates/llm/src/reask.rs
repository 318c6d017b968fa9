//! Asks until the reply can be parsed, a bounded number of times.

use riddlemill_record::Reason;

use super::answer::{Answer, Ask, Failed, Held, Reply, RequestContent};
use super::cause::unreadable_reply as evidence_of;
use super::engine::Engine;
use super::parse::Unreadable;
use super::progress::Progress;
use super::request::{Message, Role};
use super::settings::Endpoint;
use super::store::{Shared, Store, StoreError};

/// Bytes of what is wrong with a reply that a re-ask says.
const MOST_SAID: usize = 600;

/// The result of an item whose reply is parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed<T> {
    /// The reply was parsed.
    Value {
        /// The parsed value.
        value: T,
        /// The reply it is from.
        reply: Reply,
        /// How many replies before it could not be parsed.
        reasks: u32,
    },
    /// It waits for something.
    Held(Held),
    /// It failed, or no reply could be parsed; `raw` is the text of the last one.
    Failed(Failed),
}

/// Asks everything and parses the replies with `read`. A reply that cannot be parsed is quoted back with what
/// is wrong with it, at most `max_reasks` times per item. The questions and replies of every round are stored
/// like any other: improving a parser costs nothing.
pub async fn ask_parsed<T>(
    engine: &Engine,
    asks: Vec<Ask>,
    read: impl Fn(&Ask, &str) -> Result<T, Unreadable>,
    max_reasks: u32,
    on_event: impl Fn(&Progress) + Send + Sync,
) -> Vec<Parsed<T>> {
    let mut parsed: Vec<Option<Parsed<T>>> = asks.iter().map(|_| None).collect();
    let accept_before = engine.accepts_before();
    let mut open: Vec<(usize, Ask, bool)> =
        asks.into_iter().enumerate().map(|(at, ask)| (at, ask, accept_before)).collect();
    for reasks in 0.. {
        let asked = open.iter().map(|(_, ask, accept_before)| (ask.clone(), *accept_before)).collect();
        let answers = engine.ask_each(asked, &on_event).await;
        let mut again = Vec::new();
        for ((at, ask, accept_before), answer) in open.into_iter().zip(answers) {
            parsed[at] = Some(match answer {
                Answer::Held(held) => Parsed::Held(held),
                Answer::Failed(failed) => Parsed::Failed(failed),
                Answer::Reply(reply) => match read(&ask, &reply.text) {
                    Ok(value) => Parsed::Value { value, reply, reasks },
                    Err(unreadable) => {
                        let reason = Reason::ReplyUnparseable;
                        // Half an answer from before, of which nothing was made: it is asked for again as such.
                        let holds = |text: &str| {
                            let words = [Some(unreadable.clone()), unreadable.as_before()];
                            let mut words = words.into_iter().flatten();
                            words.any(|why| engine.has_reply(&quote_reply(ask.clone(), text, &why)))
                        };
                        let is_half = reply.marks.before
                            && accept_before
                            && !holds(&reply.text)
                            && !holds(&reply.whole);
                        if is_half {
                            again.push((at, ask, false));
                        } else if reasks < max_reasks && !reply.marks.sample && !reply.marks.made {
                            // Earlier versions quoted a reply with its reasoning, and however long it was: replies
                            // bought then are used.
                            let with_reasoning = (reply.whole != reply.text)
                                .then(|| {
                                    Some(quote_reply(
                                        ask.clone(),
                                        &reply.whole,
                                        &read(&ask, &reply.whole).err()?,
                                    ))
                                })
                                .flatten();
                            let whole = is_long(&engine.endpoint, &ask, &reply.text, &unreadable)
                                .then(|| quote_reply(ask.clone(), &reply.text, &unreadable));
                            let worded = unreadable.as_before().map(|before| {
                                quoting_beginning(&engine.endpoint, ask.clone(), &reply.text, &before)
                            });
                            let before = [with_reasoning, whole, worded]
                                .into_iter()
                                .flatten()
                                .find(|before| engine.has_reply(before));
                            let bounded =
                                || quoting_beginning(&engine.endpoint, ask, &reply.text, &unreadable);
                            again.push((at, before.unwrap_or_else(bounded), accept_before));
                        }
                        let error = evidence_of(unreadable.to_string());
                        Parsed::Failed(Failed { reason, error, raw: reply.text, key: reply.key })
                    }
                },
            });
        }
        open = again;
        if open.is_empty() {
            break;
        }
    }
    parsed.into_iter().flatten().collect()
}

/// Forgets the stored replies of items that have no parsable one, re-asks included: they are asked again. The
/// replies stay in raw/ with a note. Blocks on the disk: not to be called from an async task.
///
/// # Errors
/// [`Shared`] if the store cannot be read or written.
pub fn forget_unreadable<T>(
    store: &Store,
    endpoint: &Endpoint,
    asks: &[Ask],
    read: impl Fn(&Ask, &str) -> Result<T, Unreadable>,
    max_reasks: u32,
) -> Result<(), Shared> {
    for ask in asks {
        let (mut ask, mut unreadable) = (ask.clone(), Vec::new());
        for _ in 0..=max_reasks {
            let Some(found) = Engine::last_found(store, endpoint, &ask, true)? else { break };
            let Some(text) = found.text.filter(|_| !found.is_cut) else { break };
            let Err(why) = read(&ask, &text) else {
                unreadable.clear();
                break;
            };
            ask = build_reask(store, endpoint, ask, &text, &why)?;
            unreadable.push((found.key, why));
        }
        for (key, why) in unreadable {
            store.forget_reply(&key, &format!("cannot be read ({why}), and is asked for again"))?;
        }
    }
    Ok(())
}

/// The re-ask of a reply: as it is stored from when replies were quoted whole, or from when what is wrong with them had other
/// words, else with the beginning of the reply.
pub(super) fn build_reask(
    store: &Store,
    endpoint: &Endpoint,
    ask: Ask,
    reply: &str,
    unreadable: &Unreadable,
) -> Result<Ask, StoreError> {
    if is_long(endpoint, &ask, reply, unreadable) {
        let whole = quote_reply(ask.clone(), reply, unreadable);
        if Engine::find_stored_reply(store, endpoint, &Engine::request_of_ask(endpoint, &whole))?.is_some() {
            return Ok(whole);
        }
    }
    if let Some(before) = unreadable.as_before() {
        let worded = quoting_beginning(endpoint, ask.clone(), reply, &before);
        if Engine::find_stored_reply(store, endpoint, &Engine::request_of_ask(endpoint, &worded))?.is_some() {
            return Ok(worded);
        }
    }
    Ok(quoting_beginning(endpoint, ask, reply, unreadable))
}

/// Bytes of a reply that are quoted: as many as its longest answer has tokens, so that quoting cannot make more tokens of it
/// in any vocabulary, however long the server answered.
fn most_quoted(endpoint: &Endpoint, ask: &Ask) -> usize {
    let request = Engine::request_of_ask(endpoint, ask);
    let larger =
        Engine::with_larger_limit(endpoint, &request).map_or(0, |larger| larger.max_completion_tokens());
    usize::try_from(request.max_completion_tokens().max(larger)).unwrap_or(usize::MAX)
}

/// Whether something of the reply, or of what is wrong with it, is left out of the re-ask.
fn is_long(endpoint: &Endpoint, ask: &Ask, reply: &str, unreadable: &Unreadable) -> bool {
    reply.len() > most_quoted(endpoint, ask) || unreadable.to_string().len() > MOST_SAID
}

/// [`quote_reply`] with a bounded part of a reply and of what is wrong with it.
fn quoting_beginning(endpoint: &Endpoint, ask: Ask, reply: &str, unreadable: &Unreadable) -> Ask {
    let most = most_quoted(endpoint, &ask);
    let cut = |words: &str| beginning_of(words, MOST_SAID).into_owned();
    quote_reply(ask, &beginning_of(reply, most), &unreadable.with_changed_words(cut))
}

/// A text's beginning of at most this many bytes, with a mark if it goes on.
fn beginning_of(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    const MARK: &str = "…";
    if text.len() <= most {
        return text.into();
    }
    let end = text.floor_char_boundary(most.saturating_sub(MARK.len()));
    format!("{}{MARK}", &text[..end]).into()
}

/// The same question, followed by the reply and what is wrong with it.
pub(super) fn quote_reply(mut ask: Ask, reply: &str, unreadable: &Unreadable) -> Ask {
    if let RequestContent::Chat { messages, .. } = &mut ask.what {
        messages.push(Message::new(Role::Assistant, reply));
        messages.push(Message::new(Role::User, unreadable.message_to_model()));
    }
    ask.reask += 1;
    ask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::{Output, Rendered};

    fn said(why: &Unreadable) -> String {
        let messages = vec![Message::new(Role::User, "请解释。")];
        let prompt = Rendered { template: "p".into(), hash: String::new(), messages, output: Output::Text };
        let RequestContent::Chat { messages, .. } = quote_reply(Ask::new("r", prompt, 0), "好。", why).what
        else {
            return String::new();
        };
        messages.last().map(|message| message.content.clone()).unwrap_or_default()
    }

    #[test]
    fn a_model_that_was_asked_in_chinese_is_told_in_chinese_and_ledgers_keep_the_english() {
        let english = Unreadable::new("Write at most sixty words.");
        let chinese = english.clone().in_chinese("至多六十个词。");
        let told = said(&chinese);
        assert!(told.contains("至多六十个词。请重新回答") && !told.contains("Your reply"), "{told}");
        assert_eq!(chinese.to_string(), english.to_string());
        let cut = chinese.with_changed_words(|words| beginning_of(words, 12).into_owned());
        assert!(said(&cut).contains("至多六…"), "{}", said(&cut));
        // What earlier versions asked again in English is found under their words.
        let before = chinese.as_before().map(|before| said(&before));
        assert_eq!(before, Some(said(&english)));
    }
}
