//! The life of one request: wait for the pace, reserve and journal, send, settle, and possibly retry. A
//! request contains one chat, or several texts to embed; each is journalled, charged and stored separately.

use std::future::Future;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use riddlemill_record::Reason;

use super::answer::{Answer, Failed, Reply, ReplyOrigin};
use super::cause::{self, Hint, budget_reached, interrupted_answer, left_alone_answer, store_failed};
use super::embedding_batch;
use super::engine::{Engine, Question, from_store};
use super::fault::Fault;
use super::http::{Received, Transport};
use super::money::Usd;
use super::progress::Tally;
use super::provider;
use super::request::Request;
use super::retry::{Waits, clamp_seconds};
use super::store::{Begin, BeginReply, Failure, SegmentLine, Shared, StoredReply, Usage, now_ms};
use super::tokens;
use super::wire::{self, Content, Stated};

/// How often a question that another process is asking is polled.
const BUSY_POLL: Duration = Duration::from_millis(200);
/// How often a full budget is polled while attempts in flight may release some of it.
pub(super) const BUDGET_POLL: Duration = Duration::from_millis(20);
/// Bytes of an answer without its tokens, of a stored error, or of a vector.
const ANSWER: u64 = 96 << 10;
/// A lease outlasts the longest attempt by this much.
const LEASE_MARGIN: Duration = Duration::from_secs(60);

impl Engine {
    /// Answers the questions of one request, in order: a single chat, or texts to embed.
    pub(super) async fn send_questions(
        &self,
        transport: &dyn Transport,
        questions: &[&Question],
        tally: &Tally<'_>,
    ) -> Vec<Answer> {
        let mut answers: Vec<Option<Answer>> = vec![None; questions.len()];
        let mut waits = Waits::new(&self.endpoint.retries);
        let mut attempts = 0;
        loop {
            let open: Vec<usize> = (0..questions.len()).filter(|&at| answers[at].is_none()).collect();
            if open.is_empty() {
                break;
            }
            // Looked up before every attempt: the failures of other requests count, too.
            if let Some(how) = self.limits.run.failure_of_endpoint(&self.endpoint.name) {
                open.into_iter().for_each(|at| answers[at] = Some(left_alone_answer(&how)));
                break;
            }
            let counted = open.iter().map(|&at| self.rate_limited_tokens(questions[at])).sum();
            // Before the reservation, so that no budget is blocked while the request waits for the pace.
            if self.unless_cancelled(self.pace.wait_for_tokens(counted)).await.is_none() {
                open.into_iter().for_each(|at| answers[at] = Some(interrupted_answer()));
                break;
            }
            let begun = self.begin_attempts(questions, &open, attempts + 1, &mut answers).await;
            if begun.is_empty() {
                continue;
            }
            // Only a journalled attempt counts; the wait for a question that is asked elsewhere does not.
            attempts += 1;
            let mut settle = |answer: &dyn Fn(&Question) -> Answer| {
                begun.iter().for_each(|attempt| answers[attempt.at] = Some(answer(attempt.question)));
            };
            let fault = match self.send_attempts(transport, &begun, tally).await {
                Ok(AttemptResult::Answers(given)) => {
                    begun.iter().zip(given).for_each(|(attempt, answer)| answers[attempt.at] = Some(answer));
                    continue;
                }
                Ok(AttemptResult::Apart) => {
                    for attempt in &begun {
                        let mut alone =
                            Box::pin(self.send_questions(transport, &[attempt.question], tally)).await;
                        answers[attempt.at] = alone.pop();
                    }
                    continue;
                }
                Ok(AttemptResult::Again(fault)) => fault,
                Err(error) => {
                    settle(&|question| store_failed(question.key, &error.to_string()));
                    continue;
                }
            };
            let wait = match fault.asked_wait {
                // The pace is already paused for all requests.
                Some(_) => Duration::ZERO,
                None => waits.next(),
            };
            if self.unless_cancelled(tokio::time::sleep(wait)).await.is_none() {
                settle(&|_| interrupted_answer());
            }
        }
        answers.into_iter().flatten().collect()
    }

    /// The question's tokens that count against the limit per minute.
    fn rate_limited_tokens(&self, question: &Question) -> u64 {
        match self.pace.counts_tokens() {
            true => tokens::count_request(&question.request) + question.request.max_completion_tokens(),
            false => 0,
        }
    }

    /// Reserves and journals an attempt of every open question that may be sent now; waits for the first one.
    /// Questions whose wait ends otherwise are answered; those that would have to wait while others can be
    /// sent stay open.
    async fn begin_attempts<'q>(
        &self,
        questions: &[&'q Question],
        open: &[usize],
        number: u32,
        answers: &mut [Option<Answer>],
    ) -> Vec<QuestionAttempt<'q>> {
        let ask = async |at: usize, waits: bool| {
            let question = questions[at];
            let most = question.request.max_completion_tokens();
            let reserved = self.price.highest_cost(tokens::bound_prompt_tokens(&question.request), most);
            let leave = self.reserve_attempt(question, reserved, waits).await;
            (at, leave.map(|id| id.map(|id| QuestionAttempt { at, question, id, number, reserved })))
        };
        let mut begun = Vec::new();
        let mut rest = open.iter().copied();
        for at in rest.by_ref() {
            match ask(at, true).await {
                (_, Ok(attempt)) => begun.extend(attempt),
                (at, Err(answer)) => answers[at] = Some(*answer),
            }
            if !begun.is_empty() {
                break;
            }
        }
        // Concurrently, so that they share a sync.
        for (at, leave) in join_all(rest.map(|at| ask(at, false))).await {
            match leave {
                Ok(attempt) => begun.extend(attempt),
                Err(answer) => answers[at] = Some(*answer),
            }
        }
        begun
    }

    /// Reserves and journals an attempt. Waits while another process asks the same, or while attempts in
    /// flight may release what they reserved; `None` instead of waiting unless `waits`.
    async fn reserve_attempt(
        &self,
        question: &Question,
        reserved: Usd,
        waits: bool,
    ) -> Result<Option<String>, Box<Answer>> {
        let lease = clamp_seconds(self.endpoint.timeouts.total_secs) + LEASE_MARGIN;
        let room = room_needed(&question.request);
        let asked = Instant::now();
        loop {
            let begin = Begin {
                key: question.key,
                reserved,
                caps: self.caps.clone(),
                lease_ms: lease.as_millis() as u64,
                room,
                outlives: false,
            };
            let poll = match self.store.begin(begin).await {
                Ok(BeginReply::Go { id }) => return Ok(Some(id)),
                Ok(BeginReply::Stored) => {
                    return Err(Box::new(match self.store.get(&question.key) {
                        Ok(Some(reply)) => from_store(reply, &self.endpoint.marks),
                        Ok(None) => store_failed(question.key, "a reply vanished"),
                        Err(error) => store_failed(question.key, &error.to_string()),
                    }));
                }
                Ok(BeginReply::Busy | BeginReply::Refused { .. }) if !waits => return Ok(None),
                Ok(BeginReply::Busy) => BUSY_POLL,
                // Attempts in flight reserve the most that they can cost, and usually release a part of it.
                Ok(BeginReply::Refused { unsettled: 1.., .. }) if asked.elapsed() < lease => BUDGET_POLL,
                Ok(BeginReply::Refused { scope, spent, cap, .. }) => {
                    return Err(Box::new(budget_reached(&scope, spent, cap, reserved)));
                }
                Err(error) => return Err(Box::new(store_failed(question.key, &error.to_string()))),
            };
            if self.unless_cancelled(tokio::time::sleep(poll)).await.is_none() {
                return Err(Box::new(interrupted_answer()));
            }
        }
    }

    /// Sends once and settles. The slot is held until the outcome is written, so that a kill causes at most
    /// as many repeated requests as there are slots.
    async fn send_attempts(
        &self,
        transport: &dyn Transport,
        begun: &[QuestionAttempt<'_>],
        tally: &Tally<'_>,
    ) -> Result<AttemptResult, Shared> {
        let slot = async {
            let slot = self.slots.acquire().await;
            // A server may have asked for a pause while this request waited for its slot.
            self.pace.wait_for_pause().await;
            slot
        };
        let Some(slot) = self.unless_cancelled(slot).await else {
            // Without an outcome, the reservation would count as spent.
            let unsent = |attempt| {
                SegmentLine::Failure(failure_of(attempt, "interrupted before it was sent", Usd::ZERO, 0))
            };
            self.settle_outcomes(begun.iter().map(unsent), || {}).await?;
            return Ok(AttemptResult::Answers(begun.iter().map(|_| interrupted_answer()).collect()));
        };
        // An attempt begun ahead of its slot is not sent if a write has failed meanwhile.
        if let Err(stopped) = self.store.refuse_stopped() {
            let error = stopped.to_string();
            let unsent = |attempt| {
                SegmentLine::Failure(failure_of(attempt, "not sent: the disk is full", Usd::ZERO, 0))
            };
            self.settle_outcomes(begun.iter().map(unsent), || drop(slot)).await?;
            let failed = |attempt: &QuestionAttempt<'_>| store_failed(attempt.question.key, &error);
            return Ok(AttemptResult::Answers(begun.iter().map(failed).collect()));
        }
        // Nor one whose endpoint was left while it waited for its slot.
        if let Some(how) = self.limits.run.failure_of_endpoint(&self.endpoint.name) {
            let unsent = |attempt| {
                SegmentLine::Failure(failure_of(attempt, "not sent: the endpoint was left", Usd::ZERO, 0))
            };
            self.settle_outcomes(begun.iter().map(unsent), || drop(slot)).await?;
            return Ok(AttemptResult::Answers(begun.iter().map(|_| left_alone_answer(&how)).collect()));
        }
        let requests: Vec<&Request> = begun.iter().map(|attempt| &attempt.question.request).collect();
        let sending = self.endpoint_in_force();
        let call = provider::call(&sending, &requests);
        let sent = Instant::now();
        // Before it is sent: after a kill, an attempt without this mark is known to have cost nothing.
        self.store.sending(begun.iter().map(|attempt| attempt.id.as_str()));
        tally.note_sending();
        let received = transport.send_call(&call).await;
        let elapsed_ms = sent.elapsed().as_millis() as u64;
        // The headers of an answer can announce that the limit per minute is used up.
        if let Ok(Received { pause: Some(pause), .. }) = received {
            self.pace.pause_for(pause);
        }
        // Never charges less than the server states. For texts sent together it states one sum.
        let stated = match (&received, begun) {
            (Ok(received), [attempt]) => wire::stated_cost(received, attempt.reserved),
            (Ok(received), _) => {
                Stated { miscounted: wire::is_miscounted(&received.body), ..Stated::default() }
            }
            _ => Stated::default(),
        };
        let least = |attempt: &QuestionAttempt<'_>| stated.least_charge(attempt.reserved);
        let leave_after = self.endpoint.retries.leave_after;
        let marks = &self.endpoint.marks;
        match received.and_then(|received| embedding_batch::split_embeddings(&requests, received, marks)) {
            Ok(contents) => {
                self.limits.run.record_result(&self.endpoint.name, None, leave_after);
                let mut answers = Vec::with_capacity(begun.len());
                let mut lines = Vec::with_capacity(begun.len());
                let (mut usage, mut charged) = (Usage::default(), Usd::ZERO);
                for (attempt, (content, raw)) in begun.iter().zip(contents) {
                    let cost = match content.usage {
                        Some(usage) => self.price.charge_for_usage(usage),
                        // Without token counts only the most it can have cost is certain, and caps must not
                        // be exceeded.
                        None => attempt.reserved,
                    };
                    let cost = cost.max(least(attempt));
                    self.leave_if_over(attempt.reserved_bounds(), cost, content.usage, stated);
                    let counted = content.usage.unwrap_or_default();
                    usage.prompt_tokens += counted.prompt_tokens;
                    usage.completion_tokens += counted.completion_tokens;
                    charged += cost;
                    lines.push(SegmentLine::Reply(stored_reply(attempt, &content, raw, cost, elapsed_ms)));
                    answers.push(Answer::Reply(Reply {
                        key: attempt.question.key,
                        text: content.text,
                        whole: content.whole,
                        vector: content.vector,
                        usage: content.usage,
                        charged: cost,
                        marks: ReplyOrigin { truncated: content.truncated, ..ReplyOrigin::default() },
                    }));
                }
                tally.note_returned(Some(usage), charged);
                self.settle_outcomes(lines.into_iter(), || drop(slot)).await?;
                Ok(AttemptResult::Answers(answers))
            }
            Err(fault) => {
                // A longer wait, as until the quota of the next day, is left to a later run.
                let too_long = clamp_seconds(self.endpoint.retries.max_asked_wait_secs);
                let number = begun.first().map_or(0, |attempt| attempt.number);
                // What is asked in another way at once is no failure of the endpoint.
                let otherwise = begun.iter().all(|attempt| {
                    self.question_after_refusal(attempt.question, fault.http_status(), &fault.raw).is_some()
                });
                let elsewhere = self.goes_elsewhere(&sending, &requests, &fault);
                let again = elsewhere
                    || fault.is_retriable()
                        && !otherwise
                        && number < self.endpoint.retries.max_attempts
                        && fault.asked_wait.is_none_or(|wait| wait <= too_long);
                // Only one of the texts may be the reason for the refusal.
                let apart = !again && begun.len() > 1 && fault.refuses_content();
                // The wait applies to all requests, and the slot is reused at once.
                if let Some(wait) = fault.asked_wait.filter(|&wait| wait <= too_long) {
                    self.pace.pause_for(wait);
                }
                let hint =
                    if again { Hint::default() } else { self.near_miss(transport, &fault, &call).await };
                let mut lasting = fault.is_lasting();
                if !again && fault.may_be_of_endpoint() && !otherwise {
                    let name = &self.endpoint.name;
                    let how = fault.describe_for_ledger(name) + &hint.said;
                    let how = cause::of_fault(name, &fault, &hint, how.clone(), how);
                    let times = self.limits.run.record_result(name, Some(&how), leave_after);
                    // Refused like others before it, or by an endpoint that never answered: nothing shows that
                    // it is for its text.
                    lasting &= times == 1 && self.has_answered();
                }
                let charged = |attempt: &QuestionAttempt<'_>| match fault.usage {
                    // Only the answer to a single question can be empty but counted.
                    Some(usage) => self.price.charge_for_usage(usage).max(least(attempt)),
                    None if fault.is_unbilled() => least(attempt),
                    None => attempt.reserved.max(least(attempt)),
                };
                for attempt in begun {
                    self.leave_if_over(attempt.reserved_bounds(), charged(attempt), fault.usage, stated);
                }
                tally.note_returned(fault.usage, begun.iter().map(charged).sum());
                let line = |attempt: &QuestionAttempt<'_>| {
                    let mut line = failure_of(attempt, &fault.to_string(), charged(attempt), elapsed_ms);
                    line.status = fault.http_status();
                    line.raw.clone_from(&fault.raw);
                    line.usage = fault.usage;
                    if !again && !apart {
                        line.request = Some(attempt.question.request.clone());
                        line.lasting = lasting;
                        line.error = self.describe_failure(attempt, &fault, &hint);
                    }
                    SegmentLine::Failure(line)
                };
                self.settle_outcomes(begun.iter().map(line), || drop(slot)).await?;
                Ok(match (again, apart) {
                    (true, _) => AttemptResult::Again(fault),
                    (_, true) => AttemptResult::Apart,
                    _ => AttemptResult::Answers(
                        begun.iter().map(|attempt| self.given_up(attempt, &fault, &hint, lasting)).collect(),
                    ),
                })
            }
        }
    }

    /// The description of a failed item, stored and shown in this and later runs.
    fn describe_failure(&self, attempt: &QuestionAttempt<'_>, fault: &Fault, hint: &Hint) -> String {
        let mut error = self.describe_fault(fault, hint);
        if attempt.number > 1 {
            error.push_str(&format!(" (attempt {})", attempt.number));
        }
        error
    }

    /// The same without the number of the attempt.
    fn describe_fault(&self, fault: &Fault, hint: &Hint) -> String {
        let error = fault.describe_for_ledger(&self.endpoint.name) + &hint.said;
        match fault.asked_wait.filter(|_| fault.is_retriable()) {
            Some(wait) => format!("{error}, asking to wait {} s", wait.as_secs()),
            None => error,
        }
    }

    /// Whether the endpoint's model has ever answered anything.
    fn has_answered(&self) -> bool {
        let endpoint = &self.endpoint;
        self.limits.run.has_answered(&endpoint.name)
            || self
                .store
                .origins(endpoint.identity(), &endpoint.model)
                .is_ok_and(|origins| !origins.is_empty())
    }

    fn given_up(&self, attempt: &QuestionAttempt<'_>, fault: &Fault, hint: &Hint, lasting: bool) -> Answer {
        let reason = if lasting { Reason::RequestRefused } else { Reason::RequestFailed };
        let (said, error) = (self.describe_fault(fault, hint), self.describe_failure(attempt, fault, hint));
        let error = cause::of_fault(&self.endpoint.name, fault, hint, said, error);
        Answer::Failed(Failed { reason, error, raw: fault.raw.clone(), key: attempt.question.key })
    }

    /// Appends outcomes; `written` is called once they outlive this process.
    async fn settle_outcomes(
        &self,
        lines: impl Iterator<Item = SegmentLine>,
        written: impl FnOnce(),
    ) -> Result<(), Shared> {
        let mut settling = lines.map(|line| self.store.settle(line)).collect::<Result<Vec<_>, _>>()?;
        for one in &mut settling {
            one.written().await;
        }
        // The slot is free once the outcomes survive this process; the next request need not wait for the
        // sync.
        written();
        for one in settling {
            one.synced().await?;
        }
        Ok(())
    }

    /// The future's value, or `None` as soon as the run is cancelled.
    async fn unless_cancelled<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        self.limits.cancel.run_until_cancelled(future).await
    }
}

/// Upper bound of a request's outcome on disk, if servers keep to the limits: the request itself, an answer
/// of eight bytes per token, a page of an error.
fn room_needed(request: &Request) -> u64 {
    let request_bytes = serde_json::to_vec(request).map_or(0, |bytes| bytes.len() as u64);
    request_bytes + request.max_completion_tokens().saturating_mul(8) + ANSWER
}

/// A journalled attempt of one question.
struct QuestionAttempt<'q> {
    /// Index of the question in its request.
    at: usize,
    question: &'q Question,
    id: String,
    number: u32,
    reserved: Usd,
}

impl QuestionAttempt<'_> {
    /// The tokens that its answer may have, and what was reserved for it.
    fn reserved_bounds(&self) -> (u64, Usd) {
        (self.question.request.max_completion_tokens(), self.reserved)
    }
}

enum AttemptResult {
    /// One per question.
    Answers(Vec<Answer>),
    Again(Fault),
    /// Refused together; sent one by one, all except one may be answered.
    Apart,
}

fn failure_of(attempt: &QuestionAttempt<'_>, error: &str, charged: Usd, elapsed_ms: u64) -> Failure {
    Failure {
        id: attempt.id.clone(),
        key: attempt.question.key,
        error: error.to_owned(),
        status: None,
        raw: String::new(),
        charged_picousd: charged,
        usage: None,
        at_ms: now_ms(),
        elapsed_ms,
        lasting: false,
        request: None,
    }
}

fn stored_reply(
    attempt: &QuestionAttempt<'_>,
    content: &Content,
    raw: String,
    charged: Usd,
    elapsed_ms: u64,
) -> StoredReply {
    StoredReply {
        key: attempt.question.key,
        id: Some(attempt.id.clone()),
        template: attempt.question.template.clone(),
        request: attempt.question.request.clone(),
        raw,
        usage: content.usage,
        cut: content.truncated,
        charged_picousd: charged,
        attempts: attempt.number,
        at_ms: now_ms(),
        elapsed_ms,
    }
}
