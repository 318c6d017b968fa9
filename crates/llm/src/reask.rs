//! Asks until the reply can be parsed, a bounded number of times.

use riddlemill_text::record::Reason;

use super::answer::{Answer, Ask, Failed, Held, Reply, What};
use super::engine::Engine;
use super::parse::Unreadable;
use super::progress::Progress;
use super::request::{Message, Role};
use super::settings::Endpoint;
use super::store::{Shared, Store};

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
                        let is_half = reply.marks.before
                            && accept_before
                            && !engine.holds(&quoting(ask.clone(), &reply.text, &unreadable))
                            && !engine.holds(&quoting(ask.clone(), &reply.whole, &unreadable));
                        if is_half {
                            again.push((at, ask, false));
                        } else if reasks < max_reasks && !reply.marks.sample && !reply.marks.made {
                            // Earlier versions quoted a reply with its reasoning: replies bought then are
                            // used.
                            let before = (reply.whole != reply.text)
                                .then(|| {
                                    Some(quoting(ask.clone(), &reply.whole, &read(&ask, &reply.whole).err()?))
                                })
                                .flatten()
                                .filter(|before| engine.holds(before));
                            let quoted = before.unwrap_or_else(|| quoting(ask, &reply.text, &unreadable));
                            again.push((at, quoted, accept_before));
                        }
                        let error = unreadable.to_string();
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
            ask = quoting(ask, &text, &why);
            unreadable.push((found.key, why));
        }
        for (key, why) in unreadable {
            store.forget(&key, &format!("cannot be read ({why}), and is asked for again"))?;
        }
    }
    Ok(())
}

/// The same question, followed by the reply and what is wrong with it.
pub(super) fn quoting(mut ask: Ask, reply: &str, unreadable: &Unreadable) -> Ask {
    if let What::Chat { messages, .. } = &mut ask.what {
        messages.push(Message::new(Role::Assistant, reply));
        messages.push(Message::new(
            Role::User,
            format!(
                "Your reply could not be read: {unreadable}. Answer the first message again, in exactly the form it asks for, and write nothing else."
            ),
        ));
    }
    ask.reask += 1;
    ask
}
