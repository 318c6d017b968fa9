//! What keeps a record back, and what mends it: decided by the fields of its cause, by nothing that is written beside them.

use super::kept::{CauseState, Kept};
use super::refused::{self, remedy_of_parameter, remedy_of_redirect};
use super::voting::Remedy;
use super::words::{KeyedSentence, Word, shorten_line};
use crate::config::Config;
use crate::recipe::{Recipe, Step};
use crate::stages::draft;
use riddlemill_llm::{ApiKey, Endpoint};
use riddlemill_record::{BatchStands, Cause as Fact, Reason, Request, RequestFault, Scope};

/// What is asked for advice: a stage.
pub(super) struct OfStage<'a> {
    pub config: &'a Config,
    pub recipe: &'static Recipe,
    pub step: &'static Step,
    /// Whether there is no output at all.
    pub empty: bool,
}

impl OfStage<'_> {
    /// What keeps records like this one back, and the remedy.
    pub(super) fn cause_and_remedy(&self, state: CauseState, kept: &Kept) -> (KeyedSentence, Remedy) {
        match &kept.fact {
            Some(fact) => self.of_fact(kept.reason, fact),
            None => self.of_reason(state, kept),
        }
    }

    fn of_fact(&self, reason: Option<Reason>, fact: &Fact) -> (KeyedSentence, Remedy) {
        let remedy = match fact {
            Fact::NoEndpoint | Fact::Offline { .. } | Fact::NotInPack { .. } => {
                return self.cause_of_missing(fact);
            }
            Fact::Unread { said, hint, file, whole, source } => {
                let what = refused::RefusedFile { source, file, whole: *whole, said, hint: hint.as_deref() };
                return refused::cause_of_unread(
                    self.config,
                    &what,
                    reason,
                    self.empty,
                    self.show_failed_command(),
                );
            }
            Fact::Without { reason, said, why } => {
                let reason = Reason::from_code(reason);
                return match why {
                    Some(why) => self.of_fact(reason, why),
                    None if reason == Some(Reason::ReplyUnparseable) => {
                        (shorten_line(said), self.retry_command())
                    }
                    None => (shorten_line(said), Remedy::Run),
                };
            }
            // The review itself says what helps its items.
            Fact::Votes { .. } | Fact::Decision { .. } | Fact::Beside => Remedy::Nothing,
            Fact::NoPrice { endpoint } => {
                match self.find_endpoint(endpoint).is_some_and(|endpoint| endpoint.token_price().is_some()) {
                    true => Remedy::Run,
                    false => Remedy::First(KeyedSentence::from_word(Word::SetPrices, [endpoint])),
                }
            }
            Fact::NoKey { variable, .. } => {
                // Since the stage was made, the settings may name another one, or somebody set it.
                let mut names =
                    self.config.endpoints.iter().flat_map(|endpoint| endpoint.environment_variables());
                match names.any(|name| name == variable) && ApiKey::from_env(variable).is_none() {
                    true => Remedy::First(KeyedSentence::from_word(Word::Export, [variable])),
                    false => Remedy::Run,
                }
            }
            Fact::NoConsent { command, .. } => Remedy::First(KeyedSentence::verbatim(command.as_str())),
            Fact::InBatch { stands: BatchStands::Lost { command }, .. } => Remedy::Command(command.clone()),
            // The next run has the same cap of its own again.
            Fact::AskedElsewhere
            | Fact::InBatch { .. }
            | Fact::Interrupted
            | Fact::Store { .. }
            | Fact::Budget { scope: Scope::Run, .. }
            | Fact::Cut { offline: true, .. } => Remedy::Run,
            Fact::Budget { scope: Scope::Endpoint(name), .. } => {
                Remedy::First(KeyedSentence::from_word(Word::Raise, ["max_usd", name]))
            }
            Fact::Budget { scope: Scope::Recipe(_), .. } => Remedy::First(KeyedSentence::from_word(
                Word::RaiseKey,
                [&*self.key_in_force("draft.max_usd")],
            )),
            Fact::Cut { endpoint, .. } => {
                Remedy::First(KeyedSentence::from_word(Word::Raise, ["max_tokens_ceiling", endpoint]))
            }
            Fact::Request(request) => self.of_request(reason, request),
            Fact::Unreadable { .. } => self.retry_command(),
        };
        (describe_fact(fact), remedy)
    }

    /// The same of a record of which only the reason is known: no program has to do anything about most of them, and stages
    /// of earlier versions have no more.
    fn of_reason(&self, state: CauseState, kept: &Kept) -> (KeyedSentence, Remedy) {
        let text = || shorten_line(&kept.text);
        match kept.reason {
            Some(Reason::DraftedFromCut) => (
                KeyedSentence::from_word(Word::HalfReply, []),
                Remedy::Command("riddlemill replies cut".into()),
            ),
            Some(Reason::Interrupted) => (KeyedSentence::from_word(Word::Interrupted, []), Remedy::Run),
            Some(
                Reason::KeyMissing
                | Reason::NoPrice
                | Reason::BudgetReached
                | Reason::AnswerCut
                | Reason::ReplyMissing
                | Reason::RequestFailed
                | Reason::EndpointLeft
                | Reason::NotDrafted
                | Reason::NotEmbedded
                | Reason::NotJudged,
            ) => (text(), Remedy::Run),
            Some(
                Reason::RequestRefused
                | Reason::ReplyUnparseable
                | Reason::Undraftable
                | Reason::Unembeddable
                | Reason::Unjudgeable,
            ) => (text(), self.retry_command()),
            Some(Reason::ResponsesMissing) => {
                (text(), Remedy::First(KeyedSentence::from_word(Word::NameModels, [])))
            }
            Some(Reason::JudgesMissing) => {
                (text(), Remedy::First(KeyedSentence::from_word(Word::NameJudges, [])))
            }
            Some(Reason::ListedTerm) => {
                (KeyedSentence::from_word(Word::ListedTerm, []), self.decide_command())
            }
            Some(Reason::Own(own)) => (KeyedSentence::verbatim(own.definition), self.decide_command()),
            // Those who voted change their answer, or somebody decides.
            Some(Reason::RequirementBroken) => (text(), self.look_at("held")),
            Some(Reason::OptionsMissing) if self.declares_options() => (
                text(),
                Remedy::First(KeyedSentence::from_word(
                    Word::GiveOptions,
                    [self.step.name, self.recipe.name],
                )),
            ),
            Some(Reason::DecidedHold) => (KeyedSentence::from_word(Word::Decided, []), Remedy::Nothing),
            reason if state == CauseState::Failed && self.step.stage.is_import() => {
                let (source, file) = (kept.source(), kept.source_file());
                let what = refused::RefusedFile { source, file, whole: false, said: &kept.text, hint: None };
                refused::cause_of_unread(self.config, &what, reason, self.empty, self.show_failed_command())
            }
            _ if state == CauseState::Failed => (text(), self.show_failed_command()),
            _ => (text(), Remedy::Nothing),
        }
    }

    /// Whether the benchmark's folder says from what the step takes its options.
    fn declares_options(&self) -> bool {
        let benchmark = riddlemill_benchmarks::find_benchmark(self.recipe.name);
        benchmark.is_some_and(|one| {
            one.options.iter().any(|options| options.declared && options.name == self.step.name)
        })
    }

    /// The endpoint of this name.
    fn find_endpoint(&self, name: &str) -> Option<&Endpoint> {
        self.config.endpoints.iter().find(|endpoint| endpoint.name == name)
    }

    /// The cause of replies that were not asked for.
    fn cause_of_missing(&self, fact: &Fact) -> (KeyedSentence, Remedy) {
        let asked_yet = match fact {
            Fact::Offline { .. } => describe_fact(fact),
            _ => KeyedSentence::from_word(Word::NotAsked, []),
        };
        let Some(kind) = self.step.stage.declared_draft() else { return (asked_yet, Remedy::Run) };
        let endpoints = draft::endpoints_of_draft(kind, self.config, self.recipe.name).unwrap_or_default();
        if endpoints.iter().any(draft::may_answer_later) {
            return (asked_yet, Remedy::Run);
        }
        let asks = draft::whom_to_ask(kind, self.config, self.recipe.name);
        let setting = &*self.key_in_force(&asks.key);
        let what = match (endpoints.is_empty(), fact) {
            (true, _) if asks.several => KeyedSentence::from_word(Word::NoEndpoints, [setting]),
            (true, _) => KeyedSentence::from_word(Word::NoEndpoint, [setting]),
            (false, Fact::NotInPack { .. }) => describe_fact(fact),
            (false, _) => KeyedSentence::from_word(Word::SampleLacks, []),
        };
        (what, Remedy::First(KeyedSentence::from_word(Word::NameEndpoint, [setting])))
    }

    fn of_request(&self, reason: Option<Reason>, request: &Request) -> Remedy {
        let Some(endpoint) = self.find_endpoint(&request.endpoint) else {
            // Nobody asks it any more.
            return if reason == Some(Reason::RequestRefused) { self.retry_command() } else { Remedy::Run };
        };
        let recipe = self.recipe.name;
        remedy_of_parameter(endpoint, request).unwrap_or_else(|| match (reason, request.fault) {
            (_, RequestFault::TooLarge) => {
                Remedy::First(KeyedSentence::from_word(Word::RaiseReply, [&request.endpoint, recipe]))
            }
            // The same model refuses the same text again.
            (Some(Reason::RequestRefused), RequestFault::Text) => {
                Remedy::First(KeyedSentence::from_word(Word::AskAnother, [recipe, &*self.setting_of_model()]))
            }
            (Some(Reason::RequestRefused), _) => self.retry_command(),
            _ => remedy_of_request(endpoint, request),
        })
    }

    /// The setting that names whom the step asks.
    fn setting_of_model(&self) -> String {
        let stage = self.step.stage;
        match stage.declared_draft() {
            Some(draft) => self.key_in_force(&draft::whom_to_ask(draft, self.config, self.recipe.name).key),
            None if stage.is_pair_judge() => self.key_in_force("same_joke.endpoint"),
            None if stage.embedding_task().is_some() => self.key_in_force("embeddings.endpoint"),
            None => self.key_in_force("draft.endpoint"),
        }
    }

    /// A setting as it is written where it counts: that of the recipe, if there is one.
    fn key_in_force(&self, key: &str) -> String {
        let (recipe, (section, name)) = (self.recipe.name, key.split_once('.').unwrap_or((key, "")));
        let own = self
            .config
            .written_settings()
            .any(|one| (one.recipe, one.section, one.key) == (Some(recipe), section, name));
        if own { format!("recipe.{recipe}.{key}") } else { key.to_owned() }
    }

    /// The command that asks again for permanent failures.
    fn retry_command(&self) -> Remedy {
        Remedy::Command(format!("riddlemill run --recipe {} --retry-failed", self.recipe.name))
    }

    /// The command that writes a table of the held records for a person's decisions.
    fn decide_command(&self) -> Remedy {
        let (stage, recipe) = (self.step.name, self.recipe.name);
        Remedy::Command(format!("riddlemill decide export --recipe {recipe} --stage {stage} --out held.csv"))
    }

    /// The command that shows the failed records.
    fn show_failed_command(&self) -> Remedy {
        self.look_at("failed")
    }

    fn look_at(&self, outcome: &str) -> Remedy {
        let (stage, recipe) = (self.step.name, self.recipe.name);
        Remedy::Command(format!("riddlemill show {stage} --recipe {recipe} --outcome {outcome}"))
    }
}

/// A cause in words, as far as its fields say it.
pub fn describe_fact(fact: &Fact) -> KeyedSentence {
    match fact {
        Fact::NoEndpoint | Fact::AskedElsewhere => KeyedSentence::from_word(Word::NotAsked, []),
        Fact::Offline { .. } => KeyedSentence::from_word(Word::Offline, []),
        Fact::NoPrice { endpoint } => KeyedSentence::from_word(Word::NoPrices, [endpoint]),
        Fact::NoKey { variable, .. } => KeyedSentence::from_word(Word::NotSet, [variable]),
        Fact::NoConsent { wish, .. } => KeyedSentence::from_word(Word::NotAgreed, [wish]),
        Fact::NotInPack { made: true } => KeyedSentence::from_word(Word::PackLacks, []),
        Fact::NotInPack { made: false } => KeyedSentence::from_word(Word::SampleLacks, []),
        Fact::Interrupted => KeyedSentence::from_word(Word::Interrupted, []),
        Fact::Budget { scope: Scope::Endpoint(name) | Scope::Recipe(name), spent, cap } => {
            KeyedSentence::from_word(Word::CapOf, [name, spent, cap])
        }
        Fact::Budget { scope: Scope::Run, spent, cap } => {
            KeyedSentence::from_word(Word::CapOfRun, [spent, cap])
        }
        Fact::Cut { endpoint, tokens, offline: true } => {
            KeyedSentence::from_word(Word::CutOffline, [endpoint, &tokens.to_string()])
        }
        Fact::Cut { tokens, offline: false, .. } => {
            KeyedSentence::from_word(Word::Cut, [&tokens.to_string()])
        }
        Fact::InBatch { said, .. } => KeyedSentence::verbatim(said.as_str()),
        Fact::Request(Request { said, .. }) | Fact::Store { said } | Fact::Unread { said, .. } => {
            shorten_line(said)
        }
        Fact::Unreadable { said } => {
            KeyedSentence::from_word(Word::UnreadableReply, [&shorten_line(said).in_english()])
        }
        Fact::Without { why: Some(why), .. } => describe_fact(why),
        Fact::Without { why: None, said, .. } => shorten_line(said),
        Fact::Votes { review, votes, roles } => {
            let word = if *review { Word::ReviewVotes } else { Word::Votes };
            KeyedSentence::from_word(word, [&votes.to_string(), &roles.join(" / ")])
        }
        Fact::Decision { role } => KeyedSentence::from_word(Word::Decision, [role]),
        Fact::Beside => KeyedSentence::default(),
    }
}

/// What mends a request that failed, so that another run gets it.
pub fn remedy_of_request(endpoint: &Endpoint, request: &Request) -> Remedy {
    if let Some(setting) = remedy_of_parameter(endpoint, request) {
        return setting;
    }
    let name = endpoint.name.as_str();
    let first = |word| Remedy::First(KeyedSentence::from_word(word, [name]));
    match (request.fault, request.status) {
        (RequestFault::Quota, _) | (_, Some(402)) => first(Word::Pay),
        (_, Some(401 | 403)) => Remedy::First(key_of(endpoint)),
        (_, Some(404 | 405)) if request.versioned => first(Word::CheckUrlVersionModel),
        (_, Some(404)) => first(Word::CheckUrlModel),
        (_, Some(405)) => first(Word::CheckUrl),
        (_, Some(300..=399)) => remedy_of_redirect(name, request.to.as_deref()),
        (_, Some(408 | 409 | 425 | 429 | 500..)) => Remedy::Run,
        (_, Some(_)) => first(Word::ChangeNamed),
        (RequestFault::NotJson, None) => first(Word::CheckUrl),
        (RequestFault::KeyCommand, None) => first(Word::RunKeyCommand),
        (RequestFault::NoConnection, None) => {
            Remedy::First(KeyedSentence::from_word(Word::CheckAnswers, [&endpoint.base_url, name]))
        }
        (_, None) => Remedy::Run,
    }
}

/// What to do about a key that a server refuses.
fn key_of(endpoint: &Endpoint) -> KeyedSentence {
    match &endpoint.key_env {
        Some(variable) => KeyedSentence::from_word(Word::CheckKey, [variable]),
        None if !endpoint.key_command.is_empty() => {
            KeyedSentence::from_word(Word::CheckPrintedKey, [&endpoint.name])
        }
        None => KeyedSentence::from_word(Word::NameKey, [&endpoint.name]),
    }
}
