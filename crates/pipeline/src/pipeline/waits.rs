//! What keeps records from going on, stage by stage, grouped by cause, each with a remedy.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use super::RunError;
use super::advice::OfStage;
use super::kept::{CauseState, Kept, WITHOUT};
use super::voting::{self, Remedy, Voting};
use super::words::KeyedSentence;
use crate::config::Config;
use crate::recipe::{Recipe, Step};
use crate::stages::reason_of_code as reason_of;
use riddlemill_record::{Cause as Fact, Caused, Entry, Reason, State};
use riddlemill_review::ballot::Round;
use riddlemill_tables::{CAUSES, Error, Filter, Manifest, StageReader, Workspace, fold_parts};
use riddlemill_text::text::group_digits;

/// Records of one stage that one thing keeps back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub stage: &'static str,
    pub state: CauseState,
    /// How many.
    pub records: u64,
    /// What keeps them back; empty if the state implies it.
    pub what: KeyedSentence,
    pub remedy: Remedy,
    /// Whether input or an endpoint failed, rather than somebody being waited for.
    pub failed: bool,
    /// Whether fixing it would add rows to a release, and is possible.
    pub blocks: bool,
}

impl Remedy {
    /// The command or the setting, in English; `None` if there is none.
    pub fn english_text(&self) -> Option<String> {
        match self {
            Remedy::Nothing => None,
            Remedy::Run => Some("riddlemill run".to_owned()),
            Remedy::First(what) => Some(what.in_english()),
            Remedy::Command(command) => Some(command.clone()),
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
            CauseState::Unjudged => ["continued without a judgement", "continued without a judgement"],
            CauseState::HalfDrafted => ["continued on half a reply", "continued on half a reply"],
        };
        write!(
            f,
            "{} {}",
            group_digits(i64::try_from(self.records).unwrap_or(i64::MAX)),
            what[usize::from(one)]
        )?;
        let more = [Some(self.what.in_english()).filter(|what| !what.is_empty()), self.remedy.english_text()];
        let more: Vec<String> = more.into_iter().flatten().collect();
        if more.is_empty() { Ok(()) } else { write!(f, ": {}", more.join("; ")) }
    }
}

/// What keeps records back in the stages of these manifests, in the order of the recipe; within a stage the
/// largest cause first.
///
/// # Errors
/// [`RunError`] if a ledger, votes or tasks cannot be read.
pub fn list_causes(
    config: &Config,
    recipe: &'static Recipe,
    made: &[Manifest],
) -> Result<Vec<Cause>, RunError> {
    let workspace = Workspace::new(&config.root);
    let mut causes = Vec::new();
    for step in recipe.steps() {
        let Some(manifest) = made.iter().find(|manifest| manifest.stage == step.name) else { continue };
        let Some(filter) = describe_filter(manifest) else { continue };
        let Some(stage) = StageReader::open(&workspace.stage_folder(recipe.name, step.number, step.name))?
        else {
            continue;
        };
        let of_stage = OfStage { config, recipe, step, empty: manifest.counts.records_out == 0 };
        let mut found = Vec::new();
        let mut voting: Option<Voting<'_>> = None;
        for ((state, _), (records, first)) in group_causes(step, &stage, manifest, &filter)? {
            let (what, remedy) = match (state, step.stage.declared_review()) {
                (CauseState::Votes(round) | CauseState::Provisional(round), Some(review)) => {
                    let untouched = match round {
                        Round::Vote if voting.is_none() => {
                            voting::remedy_before_votes(config, recipe, review)?
                        }
                        _ => None,
                    };
                    if voting.is_none() && untouched.is_none() {
                        voting = Voting::open(config, recipe, review)?;
                    }
                    let looked = || {
                        voting.as_ref().map_or(Remedy::Run, |voting| {
                            // A stage of an earlier version does not say which votes are missing.
                            let is_told = first.fact.is_some() || round == Round::Adjudication;
                            voting.remedy_of_round(if is_told { round } else { voting.first_round() })
                        })
                    };
                    (KeyedSentence::default(), untouched.unwrap_or_else(looked))
                }
                _ => of_stage.cause_and_remedy(state, &first),
            };
            let of_endpoint =
                matches!(first.reason_of_missing(), Some(Reason::RequestFailed | Reason::EndpointLeft));
            let without =
                matches!(state, CauseState::Undrafted | CauseState::Unembedded | CauseState::Unjudged);
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
                | CauseState::Unjudged
                | CauseState::HalfDrafted => false,
            };
            found.push(Cause { stage: step.name, state, records, what, remedy, failed, blocks });
        }
        found.sort_by_key(|cause| std::cmp::Reverse(cause.records));
        causes.append(&mut found);
    }
    Ok(causes)
}

/// What the records of one cause share, in addition to their state: the reason, the fields, and of import without fields the
/// source.
type SharedCause = (String, Option<Fact>, String);

/// The records that are kept back, by cause: how many, and the first of them.
type CauseGroups = BTreeMap<(CauseState, SharedCause), (u64, Kept)>;

fn group_causes(
    step: &Step,
    stage: &StageReader,
    manifest: &Manifest,
    filter: &Filter,
) -> Result<CauseGroups, RunError> {
    let mut groups = CauseGroups::new();
    let mut typed = 0;
    for ((outcome, reason, cause), (records, id)) in count_causes(stage)? {
        typed += records;
        let Ok(fact) = serde_json::from_str::<Fact>(&cause) else {
            return Err(Error::stale_file(&stage.folder().join(CAUSES), "a cause of another version").into());
        };
        // An answer that waits with its question is no item of its own.
        if fact == Fact::Beside {
            continue;
        }
        let (state, code) = (State::from_code(&outcome), reason_of(&reason));
        // An endpoint that fails is one cause of what it was asked and of what it was not asked any more.
        let by_fact = matches!(fact, Fact::Request(_) | Fact::Without { .. });
        let shared = (if by_fact { String::new() } else { reason }, Some(fact.shared_part()), String::new());
        let kept = Kept { id, state, reason: code, fact: Some(fact), text: String::new() };
        let key = (kept.cause_state(step), shared);
        groups.entry(key).or_insert_with(|| (0, kept)).0 += records;
    }
    if typed == kept_back(manifest) {
        return Ok(groups);
    }
    // Those without fields have no more than a reason: what waits for people, and what an earlier version wrote.
    let mut known: FxHashSet<String> = FxHashSet::default();
    for part in stage.read_parts::<Caused>(CAUSES) {
        known.extend(part?.into_iter().map(|caused| caused.id));
    }
    for part in fold_parts(stage, "ledger", filter, |entries| by_reason(step, entries, &known))? {
        for (key, (records, first)) in part {
            groups.entry(key).or_insert_with(|| (0, first)).0 += records;
        }
    }
    Ok(groups)
}

/// A cause as it is written (state, reason, JSON), how many records have it, and the first of them.
type Alike = ((String, String, String), (u64, String));

/// The causes of a stage as they are written, with their state and reason: how many records have each, and the first of them.
/// In the order in which they come first.
fn count_causes(stage: &StageReader) -> Result<Vec<Alike>, RunError> {
    let mut places: FxHashMap<(String, String, String), usize> = FxHashMap::default();
    let mut found: Vec<Alike> = Vec::new();
    for part in stage.read_parts::<Caused>(CAUSES) {
        for Caused { id, outcome, reason, cause } in part? {
            let key = (outcome, reason, cause);
            match places.get(&key) {
                Some(at) => found[*at].1.0 += 1,
                None => {
                    places.insert(key.clone(), found.len());
                    found.push((key, (1, id)));
                }
            }
        }
    }
    Ok(found)
}

/// Entries of one part of a ledger without the `known` ones, grouped by their reason.
fn by_reason(step: &Step, entries: Vec<Entry>, known: &FxHashSet<String>) -> CauseGroups {
    let mut groups = CauseGroups::new();
    for entry in entries.into_iter().filter(|entry| !known.contains(&entry.id)) {
        let code = entry.reason.unwrap_or_default();
        let kept = Kept {
            id: entry.id,
            state: State::from_code(&entry.outcome),
            reason: reason_of(&code),
            fact: None,
            text: entry.evidence.unwrap_or_default(),
        };
        // A source is named before its file.
        let source = if step.stage.is_import() { kept.source().to_owned() } else { String::new() };
        let key = (kept.cause_state(step), (code, None, source));
        groups.entry(key).or_insert_with(|| (0, kept)).0 += 1;
    }
    groups
}

/// Reasons of records that went on, and for which there is something left to do.
fn went_on() -> impl Iterator<Item = Reason> {
    WITHOUT.into_iter().chain([Reason::Provisional, Reason::DraftedFromCut])
}

/// How many records of a stage [`list_causes`] examines.
pub fn kept_back(manifest: &Manifest) -> u64 {
    let count = |reason: Reason| {
        let key = format!("{}/{}", State::Changed.code(), reason.code());
        manifest.counts.reasons.get(&key).copied().unwrap_or(0)
    };
    let went_on = went_on().map(count);
    manifest.counts.records_in_state(State::Held)
        + manifest.counts.records_in_state(State::Failed)
        + went_on.sum::<u64>()
}

/// A filter for the ledger entries of records that were stopped; `None` if none was.
fn describe_filter(manifest: &Manifest) -> Option<Filter> {
    let count = |state: State, reason: Reason| {
        let key = format!("{}/{}", state.code(), reason.code());
        manifest.counts.reasons.get(&key).copied().unwrap_or(0)
    };
    let states =
        [State::Held, State::Failed].into_iter().filter(|state| manifest.counts.records_in_state(*state) > 0);
    let reasons = went_on().filter(|reason| count(State::Changed, *reason) > 0).map(Reason::code);
    let states: Vec<&str> = states.map(State::code).collect();
    let reasons: Vec<&str> = reasons.collect();
    match (states.is_empty(), reasons.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Filter::any_of("outcome", states)),
        (true, false) => Some(Filter::any_of("reason", reasons)),
        (false, false) => Some(Filter::any_of("outcome", states).or(Filter::any_of("reason", reasons))),
    }
}
