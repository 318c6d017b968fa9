//! One item's way: wait for the pace, reserve and journal, send, settle, and perhaps again.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::record::Reason;

use super::answer::{Answer, Failed, Held, Marks, Reply};
use super::engine::{Engine, Question, from_store, store_failed};
use super::fault::Fault;
use super::http::{Call, Received, Transport};
use super::money::Usd;
use super::progress::Tally;
use super::retry::{Waits, seconds};
use super::store::{Begin, Begun, Failure, Line, Shared, StoredReply, now_ms};
use super::tokens;
use super::wire::{self, Content};

/// How often another process's question is looked after.
const BUSY_POLL: Duration = Duration::from_millis(200);
/// How often a full budget is looked after while attempts in flight may give some of it back.
const BUDGET_POLL: Duration = Duration::from_millis(20);
/// A lease outlives the longest attempt by this much.
const LEASE_MARGIN: Duration = Duration::from_secs(60);

impl Engine {
    pub(super) async fn fly(
        &self,
        transport: &dyn Transport,
        question: &Question,
        tally: &Tally<'_>,
    ) -> Answer {
        let request = &question.request;
        let call = wire::call(request, self.endpoint.limit_field);
        let reserved = self.price.cost(tokens::bound(request), request.max_completion_tokens());
        let counted = match self.pace.counts_tokens() {
            true => tokens::count_request(request) + request.max_completion_tokens(),
            false => 0,
        };
        let mut waits = Waits::new(&self.endpoint.retries);
        let mut attempts = 0;
        loop {
            if self.unless_cancelled(self.pace.ready(counted)).await.is_none() {
                return interrupted();
            }
            let id = match self.leave_to_send(question, reserved).await {
                Ok(id) => id,
                Err(answer) => return *answer,
            };
            attempts += 1;
            let attempt = Attempt { id, number: attempts, reserved };
            let landed = self.attempt(transport, &call, question, attempt, tally).await;
            let fault = match landed {
                Ok(Landed::Answer(answer)) => return answer,
                Ok(Landed::Again(fault)) => fault,
                Err(error) => return store_failed(question.key, &error.to_string()),
            };
            let wait = match fault.asked_wait {
                // The pace is paused for everybody already.
                Some(_) => Duration::ZERO,
                None => waits.next(),
            };
            if self.unless_cancelled(tokio::time::sleep(wait)).await.is_none() {
                return interrupted();
            }
        }
    }

    /// Reserves and journals an attempt. Waits while another process asks the same, or while attempts in flight may
    /// yet give back what they reserved.
    async fn leave_to_send(&self, question: &Question, reserved: Usd) -> Result<String, Box<Answer>> {
        let lease = seconds(self.endpoint.timeouts.total_secs) + LEASE_MARGIN;
        let asked = Instant::now();
        loop {
            let begin = Begin {
                key: question.key,
                reserved,
                caps: self.caps.clone(),
                lease_ms: lease.as_millis() as u64,
            };
            let poll = match self.store.begin(begin).await {
                Ok(Begun::Go { id }) => return Ok(id),
                Ok(Begun::Stored) => {
                    return Err(Box::new(match self.store.get(&question.key) {
                        Ok(Some(reply)) => from_store(reply),
                        Ok(None) => store_failed(question.key, "a reply vanished"),
                        Err(error) => store_failed(question.key, &error.to_string()),
                    }));
                }
                Ok(Begun::Busy) => BUSY_POLL,
                Ok(Begun::Refused { unsettled: 1.., .. }) if asked.elapsed() < lease => BUDGET_POLL,
                Ok(Begun::Refused { scope, spent, cap, .. }) => {
                    let what =
                        format!("{scope}: {spent} of {cap} spent, the next request could cost {reserved}");
                    return Err(Box::new(Answer::Held(Held { reason: Reason::BudgetReached, what })));
                }
                Err(error) => return Err(Box::new(store_failed(question.key, &error.to_string()))),
            };
            if self.unless_cancelled(tokio::time::sleep(poll)).await.is_none() {
                return Err(Box::new(interrupted()));
            }
        }
    }

    /// Sends once and settles. The slot is held until the outcome is written: what a kill makes be sent twice is
    /// never more than the slots.
    async fn attempt(
        &self,
        transport: &dyn Transport,
        call: &Call,
        question: &Question,
        attempt: Attempt,
        tally: &Tally<'_>,
    ) -> Result<Landed, Shared> {
        let slot = async {
            let slot = self.slots.acquire().await;
            self.pace.open().await;
            slot
        };
        let Some(slot) = self.unless_cancelled(slot).await else {
            let line = self.failure(question, &attempt, "interrupted before it was sent", Usd::ZERO, 0);
            self.store.settle(Line::Failure(line))?.synced().await?;
            return Ok(Landed::Answer(interrupted()));
        };
        let sent = Instant::now();
        tally.sending();
        let received = transport.send(call).await;
        let elapsed_ms = sent.elapsed().as_millis() as u64;
        if let Ok(Received { pause: Some(pause), .. }) = received {
            self.pace.pause(pause);
        }
        let outcome = received.and_then(|received| {
            let content = wire::read(&question.request, &received)?;
            Ok((content, received.body))
        });
        let usage = match &outcome {
            Ok((content, _)) => content.usage,
            Err(fault) => fault.usage,
        };
        let charged = match (usage, &outcome) {
            (Some(usage), _) => self.price.cost(usage.prompt_tokens, usage.completion_tokens),
            (None, Err(fault)) if fault.unbilled() => Usd::ZERO,
            (None, _) => attempt.reserved,
        };
        tally.returned(usage, charged);
        match outcome {
            Ok((content, raw)) => {
                let reply = stored_reply(question, &attempt, &content, raw, charged, elapsed_ms);
                let mut settling = self.store.settle(Line::Reply(reply))?;
                settling.written().await;
                drop(slot);
                settling.synced().await?;
                Ok(Landed::Answer(Answer::Reply(Reply {
                    key: question.key,
                    text: content.text,
                    vector: content.vector,
                    usage: content.usage,
                    charged,
                    marks: Marks { sample: false, truncated: content.truncated },
                })))
            }
            Err(fault) => {
                let too_long = seconds(self.endpoint.retries.max_asked_wait_secs);
                let again = fault.retriable()
                    && attempt.number < self.endpoint.retries.max_attempts
                    && fault.asked_wait.is_none_or(|wait| wait <= too_long);
                // The server means everybody, and the slot goes to the next in a moment.
                if let Some(wait) = fault.asked_wait.filter(|&wait| wait <= too_long) {
                    self.pace.pause(wait);
                }
                let mut line = self.failure(question, &attempt, &fault.to_string(), charged, elapsed_ms);
                line.status = fault.status();
                line.raw.clone_from(&fault.raw);
                line.usage = fault.usage;
                line.request = (!again).then(|| question.request.clone());
                let mut settling = self.store.settle(Line::Failure(line))?;
                settling.written().await;
                drop(slot);
                settling.synced().await?;
                Ok(if again {
                    Landed::Again(fault)
                } else {
                    Landed::Answer(given_up(question, &attempt, fault))
                })
            }
        }
    }

    fn failure(
        &self,
        question: &Question,
        attempt: &Attempt,
        error: &str,
        charged: Usd,
        elapsed_ms: u64,
    ) -> Failure {
        Failure {
            id: attempt.id.clone(),
            key: question.key,
            error: error.to_owned(),
            status: None,
            raw: String::new(),
            charged_picousd: charged,
            usage: None,
            at_ms: now_ms(),
            elapsed_ms,
            request: None,
        }
    }

    /// The future's value, or `None` as soon as the run is cancelled.
    async fn unless_cancelled<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        self.limits.cancel.run_until_cancelled(future).await
    }
}

/// A journalled attempt.
struct Attempt {
    id: String,
    number: u32,
    reserved: Usd,
}

enum Landed {
    Answer(Answer),
    Again(Fault),
}

fn stored_reply(
    question: &Question,
    attempt: &Attempt,
    content: &Content,
    raw: String,
    charged: Usd,
    elapsed_ms: u64,
) -> StoredReply {
    StoredReply {
        key: question.key,
        id: Some(attempt.id.clone()),
        template: question.template.clone(),
        request: question.request.clone(),
        raw,
        usage: content.usage,
        charged_picousd: charged,
        attempts: attempt.number,
        at_ms: now_ms(),
        elapsed_ms,
    }
}

fn given_up(question: &Question, attempt: &Attempt, fault: Fault) -> Answer {
    let mut error = fault.to_string();
    if let Some(wait) = fault.asked_wait.filter(|_| fault.retriable()) {
        error.push_str(&format!(", asking to wait {} s", wait.as_secs()));
    }
    if attempt.number > 1 {
        error.push_str(&format!(" (attempt {})", attempt.number));
    }
    Answer::Failed(Failed { reason: Reason::RequestFailed, error, raw: fault.raw, key: question.key })
}

fn interrupted() -> Answer {
    Answer::Held(Held { reason: Reason::Interrupted, what: "run again to go on".into() })
}
