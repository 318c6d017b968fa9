//! What keeps records from going on, stage by stage, grouped by cause, each with a remedy.

use std::collections::BTreeMap;
use std::fmt;

use super::RunError;
use super::refused::{moved, parameter};
use super::unread::{self, short, source};
use super::voting::{self, Remedy, Voting};
use crate::config::Config;
use crate::recipe::{Recipe, Step};
use crate::stages::{Stage, draft};
use riddlemill_llm::ApiKey;
use riddlemill_review::Pending;
use riddlemill_review::ballot::Round;
use riddlemill_tables::{Filter, Manifest, StageReader, Workspace, fold_parts};
use riddlemill_text::record::{Entry, Reason, State};
use riddlemill_text::text::grouped;

/// Prefix of evidence about requests in a batch.
const IN_A_BATCH: &str = "in a batch of ";
/// The state of a cause's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseState {
    /// They wait for a model's reply.
    Model,
    /// They failed.
    Failed,
    /// They wait for votes in a round.
    Votes(Round),
    /// They continue provisionally, and their votes are still missing.
    Provisional(Round),
    /// They wait for a person's decision.
    Person,
    /// They wait for something else.
    Other,
    /// They continued without a draft.
    Undrafted,
    /// They continued without an embedding.
    Unembedded,
    /// They continued with a draft from a reply that was cut or refused.
    HalfDrafted,
}

/// Records of one stage that one thing keeps back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub stage: &'static str,
    pub state: CauseState,
    /// How many.
    pub records: u64,
    /// What keeps them back; empty if the state implies it.
    pub what: String,
    pub remedy: Remedy,
    /// Whether input or an endpoint failed, rather than somebody being waited for.
    pub failed: bool,
    /// Whether fixing it would add rows to a release, and is possible.
    pub blocks: bool,
}

impl Remedy {
    /// The command or the setting; `None` if there is none.
    pub fn text(&self) -> Option<&str> {
        match self {
            Remedy::Nothing => None,
            Remedy::Run => Some("riddlemill run"),
            Remedy::First(what) | Remedy::Command(what) => Some(what),
        }
    }
}

/// `434 wait for a model: MINE_KEY is not set; export MINE_KEY=…`.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = self.records == 1;
        let what = match self.state {
            CauseState::Model => ["wait for a model", "waits for a model"],
            CauseState::Failed => ["failed", "failed"],
            CauseState::Votes(Round::Adjudication) => ["wait for a decision", "waits for a decision"],
            CauseState::Votes(_) => ["wait for votes", "waits for votes"],
            CauseState::Provisional(_) => {
                ["are provisional, on their draft, and wait for votes", "is provisional and waits for votes"]
            }
            CauseState::Person => ["wait for a person", "waits for a person"],
            CauseState::Other => ["wait", "waits"],
            CauseState::Undrafted => ["continued without a draft", "continued without a draft"],
            CauseState::Unembedded => ["continued without an embedding", "continued without an embedding"],
            CauseState::HalfDrafted => ["continued on half a reply", "continued on half a reply"],
        };
        write!(f, "{} {}", grouped(i64::try_from(self.records).unwrap_or(i64::MAX)), what[usize::from(one)])?;
        let more = [Some(self.what.as_str()).filter(|what| !what.is_empty()), self.remedy.text()];
        let more: Vec<&str> = more.into_iter().flatten().collect();
        if more.is_empty() { Ok(()) } else { write!(f, ": {}", more.join("; ")) }
    }
}

/// What keeps records back in the stages of these manifests, in the order of the recipe; within a stage the
/// largest cause first.
///
/// # Errors
/// [`RunError`] if a ledger, votes or tasks cannot be read.
pub fn causes(config: &Config, recipe: &'static Recipe, made: &[Manifest]) -> Result<Vec<Cause>, RunError> {
    let workspace = Workspace::new(&config.root);
    let mut causes = Vec::new();
    for step in recipe.steps() {
        let Some(manifest) = made.iter().find(|manifest| manifest.stage == step.name) else { continue };
        let Some(filter) = describe_filter(manifest) else { continue };
        let Some(stage) = StageReader::open(&workspace.stage(recipe.name, step.number, step.name))? else {
            continue;
        };
        let mut groups: BTreeMap<(CauseState, String), (u64, Entry)> = BTreeMap::new();
        for part in fold_parts(&stage, "ledger", &filter, |entries| grouped_entries(step, entries))? {
            for (key, (records, first)) in part {
                groups.entry(key).or_insert_with(|| (0, first)).0 += records;
            }
        }
        let of_stage = OfStage { config, recipe, step, empty: manifest.counts.records_out == 0 };
        let mut found = Vec::new();
        let mut voting: Option<Voting<'_>> = None;
        for ((state, _), (records, first)) in groups {
            let (what, remedy) = match (state, step.stage) {
                (CauseState::Votes(round) | CauseState::Provisional(round), Stage::Review(review)) => {
                    let untouched = match round {
                        Round::Vote if voting.is_none() => voting::untouched(config, recipe, review)?,
                        _ => None,
                    };
                    if voting.is_none() && untouched.is_none() {
                        voting = Voting::open(config, recipe, review)?;
                    }
                    let looked = || voting.as_ref().map_or(Remedy::Run, |voting| voting.remedy(round));
                    (String::new(), untouched.unwrap_or_else(looked))
                }
                _ => of_stage.remedy(state, &first),
            };
            let reason = reason(&first);
            let of_endpoint = matches!(reason, Some(Reason::RequestFailed | Reason::EndpointLeft));
            let without = matches!(state, CauseState::Undrafted | CauseState::Unembedded);
            let failed = state == CauseState::Failed || without && of_endpoint;
            let blocks = match state {
                CauseState::Model | CauseState::Votes(_) | CauseState::Provisional(_) => {
                    remedy != Remedy::Nothing
                }
                CauseState::Failed => matches!(remedy, Remedy::Run | Remedy::First(_)),
                CauseState::Other => matches!(remedy, Remedy::First(_)),
                CauseState::Person
                | CauseState::Undrafted
                | CauseState::Unembedded
                | CauseState::HalfDrafted => false,
            };
            found.push(Cause { stage: step.name, state, records, what, remedy, failed, blocks });
        }
        found.sort_by_key(|cause| std::cmp::Reverse(cause.records));
        causes.append(&mut found);
    }
    Ok(causes)
}

/// Reasons of records that went on without what a model was asked for.
const WITHOUT: [Reason; 4] =
    [Reason::NotDrafted, Reason::Undraftable, Reason::NotEmbedded, Reason::Unembeddable];

/// Reasons of records that went on, and for which there is something left to do.
const WENT_ON: [Reason; 6] =
    [WITHOUT[0], WITHOUT[1], WITHOUT[2], WITHOUT[3], Reason::Provisional, Reason::DraftedFromCut];

/// Entries of one part of a ledger, grouped by cause: how many, and the first of them.
fn grouped_entries(step: &Step, entries: Vec<Entry>) -> BTreeMap<(CauseState, String), (u64, Entry)> {
    let mut groups = BTreeMap::new();
    for entry in entries {
        groups.entry(group(step, &entry)).or_insert_with(|| (0, entry)).0 += 1;
    }
    groups
}

/// How many records of a stage [`causes`] examines.
pub fn kept_back(manifest: &Manifest) -> u64 {
    let count = |reason: &Reason| {
        let key = format!("{}/{}", State::Changed.code(), reason.code());
        manifest.counts.reasons.get(&key).copied().unwrap_or(0)
    };
    let went_on = WENT_ON.iter().map(count);
    manifest.counts.state(State::Held) + manifest.counts.state(State::Failed) + went_on.sum::<u64>()
}

/// A filter for the ledger entries of records that were stopped; `None` if none was.
fn describe_filter(manifest: &Manifest) -> Option<Filter> {
    let count = |state: State, reason: Reason| {
        let key = format!("{}/{}", state.code(), reason.code());
        manifest.counts.reasons.get(&key).copied().unwrap_or(0)
    };
    let states = [State::Held, State::Failed].into_iter().filter(|state| manifest.counts.state(*state) > 0);
    let reasons = WENT_ON.into_iter().filter(|reason| count(State::Changed, *reason) > 0).map(Reason::code);
    let states: Vec<&str> = states.map(State::code).collect();
    let reasons: Vec<&str> = reasons.collect();
    match (states.is_empty(), reasons.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Filter::any_of("outcome", states)),
        (true, false) => Some(Filter::any_of("reason", reasons)),
        (false, false) => Some(Filter::any_of("outcome", states).or(Filter::any_of("reason", reasons))),
    }
}

/// Why a record is kept back; for one that continued without a draft, why that is missing.
fn reason(entry: &Entry) -> Option<Reason> {
    let reason = Reason::from_code(entry.reason.as_deref()?);
    match reason {
        Some(reason) if WITHOUT.contains(&reason) => {
            let (code, _) = entry.evidence.as_deref()?.split_once(": ")?;
            Reason::from_code(code)
        }
        other => other,
    }
}

/// The evidence in the ledger, for a draft without the reason why it is missing.
fn evidence(entry: &Entry) -> &str {
    let evidence = entry.evidence.as_deref().unwrap_or_default();
    match (is_without(entry), evidence.split_once(": ")) {
        (true, Some((code, rest))) if Reason::from_code(code).is_some() => rest,
        _ => evidence,
    }
}

/// Whether a record continued without a draft or an embedding.
fn is_without(entry: &Entry) -> bool {
    entry.reason.as_deref().is_some_and(|reason| WITHOUT.map(Reason::code).contains(&reason))
}

/// The group of an entry: its state, and what the entries of one cause share.
fn group(step: &Step, entry: &Entry) -> (CauseState, String) {
    let reason = reason(entry);
    let code = || entry.reason.clone().unwrap_or_default();
    let evidence_text = evidence(entry);
    let shared = match reason {
        Some(
            Reason::RequestFailed
            | Reason::RequestRefused
            | Reason::EndpointLeft
            | Reason::KeyMissing
            | Reason::NoPrice,
        ) => fault(evidence_text).to_owned(),
        Some(Reason::BudgetReached) => evidence_text.split(": ").next().unwrap_or_default().to_owned(),
        Some(Reason::ReplyMissing) if evidence_text.starts_with("the sample pack") => "sample".to_owned(),
        // Each batch has its own time; the first represents those of its endpoint.
        Some(Reason::ReplyMissing)
            if evidence_text.starts_with(IN_A_BATCH) && !evidence_text.contains("; riddlemill ") =>
        {
            evidence_text.split(" since ").next().unwrap_or(evidence_text).to_owned()
        }
        Some(Reason::ReplyMissing) => evidence_text.to_owned(),
        // Each file has a cause of its own.
        Some(Reason::ForeignFile | Reason::ColumnMissing | Reason::NothingRead) => {
            format!("{} {} {evidence_text}", code(), source(entry))
        }
        // A source is named before its file.
        _ if step.stage == Stage::Import => format!("{} {}", code(), source(entry)),
        _ => code(),
    };
    if is_without(entry) {
        let embeds = step.stage == Stage::Embed;
        return (if embeds { CauseState::Unembedded } else { CauseState::Undrafted }, shared);
    }
    let round = || Pending::round_of_evidence(evidence_text);
    let state = match (State::from_code(&entry.outcome), reason) {
        (_, Some(Reason::DraftedFromCut)) => CauseState::HalfDrafted,
        (Some(State::Changed), _) => CauseState::Provisional(round()),
        // Requests skipped because an endpoint was left alone would have failed like those before.
        (Some(State::Failed), _) | (_, Some(Reason::EndpointLeft)) => CauseState::Failed,
        (_, Some(Reason::VotesMissing)) => CauseState::Votes(round()),
        (_, Some(Reason::Disputed)) => CauseState::Votes(Round::Adjudication),
        (_, Some(Reason::ListedTerm | Reason::DecidedHold)) => CauseState::Person,
        (
            _,
            Some(
                Reason::ReplyMissing
                | Reason::BudgetReached
                | Reason::NoPrice
                | Reason::KeyMissing
                | Reason::AnswerCut
                | Reason::Interrupted,
            ),
        ) => CauseState::Model,
        _ => CauseState::Other,
    };
    (state, shared)
}

/// What went wrong with a request, without the server's message and the number of attempts.
fn fault(evidence: &str) -> &str {
    let ends = [" (", ", asking to wait", "; ", ": it points to "];
    let end = ends.iter().filter_map(|end| evidence.find(end)).min().unwrap_or(evidence.len());
    &evidence[..end]
}

/// Whether a model or a filter refused what a text says, and not how it was asked.
fn is_of_text(evidence: &str) -> bool {
    ["the model refused", "content filter"].iter().any(|words| fault(evidence).contains(words))
}

struct OfStage<'a> {
    config: &'a Config,
    recipe: &'static Recipe,
    step: &'static Step,
    /// Whether there is no output at all.
    empty: bool,
}

impl OfStage<'_> {
    /// What keeps records like this one back, and the remedy.
    fn remedy(&self, state: CauseState, entry: &Entry) -> (String, Remedy) {
        let evidence_text = evidence(entry);
        match reason(entry) {
            Some(Reason::KeyMissing) => {
                let names = self.config.endpoints.iter().flat_map(|endpoint| endpoint.variables());
                let name = names.into_iter().find(|name| evidence_text.split(' ').any(|word| word == *name));
                let remedy = match name {
                    Some(name) if ApiKey::from_env(name).is_none() => {
                        Remedy::First(format!("export {name}=…"))
                    }
                    _ => Remedy::Run,
                };
                (fault(evidence_text).to_owned(), remedy)
            }
            Some(Reason::NoPrice) => {
                let set = self.endpoint(evidence_text).is_some_and(|endpoint| endpoint.price().is_some());
                let name = self.endpoint(evidence_text).map_or("…", |endpoint| &endpoint.name);
                let both = format!(
                    "set usd_per_million_in and usd_per_million_out, or free = true, under [llm.{name}] in pipeline.toml"
                );
                (fault(evidence_text).to_owned(), if set { Remedy::Run } else { Remedy::First(both) })
            }
            Some(Reason::BudgetReached) => self.budget(evidence_text),
            Some(Reason::DraftedFromCut) => (
                "an earlier version took what was cut or refused for whole".into(),
                Remedy::Command("riddlemill replies cut".into()),
            ),
            Some(Reason::AnswerCut) if evidence_text.contains("; without --offline") => {
                (evidence_text.split(';').next().unwrap_or(evidence_text).to_owned(), Remedy::Run)
            }
            Some(Reason::AnswerCut) => {
                let name = self.endpoint(evidence_text).map_or("…", |endpoint| &endpoint.name);
                let raise = format!("raise max_tokens_ceiling under [llm.{name}] in pipeline.toml");
                (evidence_text.split(';').next().unwrap_or(evidence_text).to_owned(), Remedy::First(raise))
            }
            Some(Reason::Interrupted) => ("the run was interrupted".into(), Remedy::Run),
            Some(Reason::ReplyMissing) => self.missing(evidence_text),
            Some(reason @ (Reason::RequestFailed | Reason::EndpointLeft | Reason::RequestRefused)) => {
                let what = evidence_text.split(" (reply:").next().unwrap_or(evidence_text);
                let what = what.split(" (attempt ").next().unwrap_or(what);
                let remedy = self
                    .endpoint(fault(evidence_text))
                    .and_then(|endpoint| parameter(endpoint, evidence_text))
                    .unwrap_or_else(|| match reason {
                        // The same model refuses the same text again.
                        Reason::RequestRefused if is_of_text(evidence_text) => Remedy::First(format!(
                            "ask another model: set `endpoint` under [draft] in pipeline.toml, then riddlemill run --recipe {} --retry-failed",
                            self.recipe.name
                        )),
                        Reason::RequestRefused => self.again(),
                        _ => self.request_failed(evidence_text),
                    });
                (short(what), remedy)
            }
            Some(Reason::ReplyUnparseable) => {
                let what = evidence_text.split(" (reply:").next().unwrap_or(evidence_text);
                (format!("the reply cannot be read: {}", short(what)), self.again())
            }
            Some(Reason::ResponsesMissing) => (
                short(evidence_text),
                Remedy::First("name models as respond.endpoints, or put answers into raw/responses".into()),
            ),
            Some(Reason::JudgesMissing) => (
                short(evidence_text),
                Remedy::First("name judges as judge.endpoints in pipeline.toml".into()),
            ),
            Some(Reason::ListedTerm) => {
                let (stage, recipe) = (self.step.name, self.recipe.name);
                let table =
                    format!("riddlemill decide export --recipe {recipe} --stage {stage} --out held.csv");
                ("the text contains a listed term".into(), Remedy::Command(table))
            }
            Some(Reason::DecidedHold) => ("somebody decided so".into(), Remedy::Nothing),
            reason if state == CauseState::Failed && self.step.stage == Stage::Import => {
                unread::cause(self.config, entry, reason, self.empty, self.look())
            }
            _ if state == CauseState::Failed => (short(evidence_text), self.look()),
            _ => (short(evidence_text), Remedy::Nothing),
        }
    }

    /// The endpoint named in evidence.
    fn endpoint(&self, evidence: &str) -> Option<&riddlemill_llm::Endpoint> {
        let tokens = || evidence.split([' ', ':', ',', ';']);
        self.config.endpoints.iter().find(|endpoint| {
            tokens().any(|word| word == endpoint.name || word.strip_prefix("llm.") == Some(&endpoint.name))
        })
    }

    fn budget(&self, evidence: &str) -> (String, Remedy) {
        let (scope, spent) = evidence.split_once(": ").unwrap_or((evidence, ""));
        let spent = spent.split(", the next").next().unwrap_or(spent);
        match scope.split_once(':') {
            Some(("endpoint", name)) => (
                format!("the cap of {name} leaves too little for the next request: {spent}"),
                Remedy::First(format!("raise max_usd under [llm.{name}] in pipeline.toml")),
            ),
            Some(("recipe", name)) => (
                format!("the cap of {name} leaves too little for the next request: {spent}"),
                Remedy::First("raise draft.max_usd in pipeline.toml".into()),
            ),
            // The next run has the same cap again.
            _ => (format!("the run's cap leaves too little for the next request: {spent}"), Remedy::Run),
        }
    }

    /// The cause of replies that were not asked for.
    fn missing(&self, evidence: &str) -> (String, Remedy) {
        if evidence.starts_with(IN_A_BATCH) {
            return match evidence.rsplit_once("; ") {
                Some((what, command)) if command.starts_with("riddlemill ") => {
                    (what.to_owned(), Remedy::Command(command.to_owned()))
                }
                cut => (cut.map_or(evidence, |(what, _)| what).to_owned(), Remedy::Run),
            };
        }
        let offline = evidence.contains("offline");
        let asked_yet = if offline { "the run was offline" } else { "nothing was asked yet" };
        let kind = match self.step.stage {
            Stage::Draft(kind) => kind,
            Stage::Embed => return (asked_yet.into(), Remedy::Run),
            _ => return (short(evidence), Remedy::Run),
        };
        let endpoints = draft::endpoints(kind, self.config, self.recipe.name).unwrap_or_default();
        if endpoints.iter().any(draft::sends) {
            return (asked_yet.into(), Remedy::Run);
        }
        let asks = draft::asks(kind, self.config, self.recipe.name);
        let setting = if asks.several { asks.key.as_str() } else { "draft.endpoint" };
        let what = match endpoints.is_empty() {
            true => draft::no_endpoint(kind, self.config, self.recipe.name),
            false => "the sample contains no replies for them".into(),
        };
        (what, Remedy::First(format!("name an [llm.<name>] of yours as {setting} in pipeline.toml")))
    }

    fn request_failed(&self, evidence: &str) -> Remedy {
        let Some(endpoint) = self.endpoint(fault(evidence)) else { return Remedy::Run };
        let name = &endpoint.name;
        // A judge's name may precede it.
        let status = evidence.split_once(" from ").and_then(|(before, _)| before.rsplit(' ').next());
        let status = status.and_then(|word| word.parse::<u16>().ok());
        match status {
            Some(401 | 403) => Remedy::First(endpoint.where_the_key_is()),
            Some(404 | 405) if evidence.contains("api_version = ") => Remedy::First(format!(
                "check base_url, api_version and model of [llm.{name}] in pipeline.toml"
            )),
            Some(404) => Remedy::First(format!("check base_url and model of [llm.{name}] in pipeline.toml")),
            Some(405) => Remedy::First(format!("check base_url of [llm.{name}] in pipeline.toml")),
            Some(300..=399) => moved(name, evidence),
            Some(402) => Remedy::First(format!("pay for {name}")),
            _ if evidence.contains("quota is exhausted") => Remedy::First(format!("pay for {name}")),
            Some(408 | 409 | 425 | 429 | 500..) => Remedy::Run,
            Some(_) => Remedy::First(format!(
                "change what the server names, under [llm.{name}] in pipeline.toml or at the server"
            )),
            None if evidence.contains(", not JSON") => {
                Remedy::First(format!("check base_url of [llm.{name}] in pipeline.toml"))
            }
            None if evidence.contains("key_command") => {
                Remedy::First(format!("run the key_command of [llm.{name}] by hand"))
            }
            None if evidence.contains("no connection to ") => Remedy::First(format!(
                "check that {} answers, the base_url of [llm.{name}]",
                endpoint.base_url
            )),
            None => Remedy::Run,
        }
    }

    /// The command that asks again for permanent failures.
    fn again(&self) -> Remedy {
        Remedy::Command(format!("riddlemill run --recipe {} --retry-failed", self.recipe.name))
    }

    /// The command that shows the failed records.
    fn look(&self) -> Remedy {
        let (stage, recipe) = (self.step.name, self.recipe.name);
        Remedy::Command(format!("riddlemill show {stage} --recipe {recipe} --outcome failed"))
    }
}
