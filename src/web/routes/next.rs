//! What comes next: the page on which what keeps records back is mended, one button a thing.

use serde::Serialize;

use super::curate::disputes;
use super::decide::decides;
use crate::config::Config;
use crate::pipeline::{Cause, CauseState, Remedy, Said, Word};
use crate::recipe::{Recipe, Step};
use crate::review::ballot::Round;
use crate::review::ballots;
use crate::stages::{Review, Stage};
use crate::text::grouped;
use crate::web::access::Rank;
use crate::web::i18n::{self, Language, filled, word};
use crate::web::view;
use crate::web::visitor::Visitor;

/// The button for what waits until an endpoint is named.
const NAME_ENDPOINT: &str = "go_endpoint";

/// A page that helps a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) href: String,
    /// The key of the button's words, which may count the records.
    key: &'static str,
    /// Whether it is done there; otherwise the page tells what to write or to call.
    mends: bool,
}

/// A button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Go {
    pub(super) href: String,
    pub(super) label: String,
}

/// One thing to do.
#[derive(Serialize)]
pub(super) struct Thing {
    go: Go,
    /// Recipe and stage, where it keeps something back; without a stage, what a run would make.
    places: Vec<(&'static str, &'static str)>,
    /// What keeps it back, without a command.
    words: String,
}

/// What is to be done, before it is put into words.
struct Todo {
    place: Place,
    places: Vec<(&'static str, &'static str)>,
    cause: Cause,
}

/// Things to do, gathered while recipes are read.
#[derive(Default)]
pub(super) struct Todos(Vec<Todo>);

impl Place {
    /// Whether it is done on the page.
    pub(super) fn mends(&self) -> bool {
        self.mends
    }

    /// Whether an endpoint has to be named.
    pub(super) fn names_an_endpoint(&self) -> bool {
        self.key == NAME_ENDPOINT
    }

    /// The button for as many records.
    pub(super) fn button(&self, language: Language, records: u64) -> Go {
        Go { href: self.href.clone(), label: counted(language, self.key, records) }
    }

    /// The words for a cause beside the button: without a command where a page does the same.
    pub(super) fn words(&self, language: Language, cause: &Cause) -> String {
        let command = matches!(cause.remedy, Remedy::Run | Remedy::Command(_));
        i18n::cause(language, &if self.mends && command { without_remedy(cause) } else { cause.clone() })
    }
}

impl Todos {
    /// Adds a cause of a recipe; one that no page helps is none of the things to do.
    pub(super) fn add(&mut self, config: &Config, recipe: &'static Recipe, cause: &Cause, visitor: &Visitor) {
        let Some(place) = place(config, recipe, cause, visitor) else { return };
        let here = (recipe.name, cause.stage);
        // One line of the settings, or one queue, helps all of them.
        let alike = |todo: &&mut Todo| {
            let same_setting = todo.place.key == place.key
                && todo.cause.what == cause.what
                && todo.cause.remedy == cause.remedy;
            match place.mends {
                true => todo.place.href == place.href && todo.place.key == place.key,
                false => same_setting,
            }
        };
        match self.0.iter_mut().find(alike) {
            Some(todo) => {
                todo.cause.records += cause.records;
                // Only what they have in common is said of several.
                if todo.cause.what != cause.what {
                    todo.cause.what = Said::default();
                }
                if todo.cause.state != cause.state {
                    todo.cause.state = CauseState::Other;
                }
                if !todo.places.contains(&here) {
                    todo.places.push(here);
                }
            }
            None => self.0.push(Todo { place, places: vec![here], cause: cause.clone() }),
        }
    }

    /// The things to do, a run first, then what helps most records. `due` are the recipes with stages that a run would make,
    /// and their number.
    pub(super) fn things(self, language: Language, due: &[(&'static str, usize)]) -> Vec<Thing> {
        let stages: usize = due.iter().map(|(_, stages)| stages).sum();
        let run = (stages > 0).then(|| Thing {
            go: Go { href: "/run".to_owned(), label: counted(language, "go_make", stages as u64) },
            places: due.iter().map(|(recipe, _)| (*recipe, "")).collect(),
            words: String::new(),
        });
        let mut todos = self.0;
        todos.sort_by_key(|todo| std::cmp::Reverse(todo.cause.records));
        let thing = |todo: Todo| {
            let told = matches!(todo.cause.remedy, Remedy::First(_));
            let cause = if told { todo.cause.clone() } else { without_remedy(&todo.cause) };
            Thing {
                go: todo.place.button(language, todo.cause.records),
                words: i18n::cause(language, &cause),
                places: todo.places,
            }
        };
        run.into_iter().chain(todos.into_iter().map(thing)).collect()
    }
}

/// The words of a key, or of its singular.
fn counted(language: Language, key: &str, records: u64) -> String {
    let number = grouped(i64::try_from(records).unwrap_or(i64::MAX));
    let one = (records == 1).then(|| format!("{key}_one")).filter(|one| word(language, one).is_some());
    filled(language, one.as_deref().unwrap_or(key), &[&number])
}

fn without_remedy(cause: &Cause) -> Cause {
    Cause { remedy: Remedy::Nothing, ..cause.clone() }
}

/// The page that helps a cause; `None` if nothing does.
pub(super) fn place(
    config: &Config,
    recipe: &'static Recipe,
    cause: &Cause,
    visitor: &Visitor,
) -> Option<Place> {
    let (_, step) = recipe.step(cause.stage)?;
    let stage = format!("/{}/stage/{}", recipe.name, view::encoded(step.name));
    let page = |key: &'static str, href: String| Some(Place { href, key, mends: true });
    // There the command or the setting is told in full.
    let told = |key| {
        Some(Place {
            href: format!("/{}/causes/{}", recipe.name, view::encoded(step.name)),
            key,
            mends: false,
        })
    };
    let curates = visitor.rank() >= Some(Rank::Curator);
    if cause.remedy == Remedy::Run {
        return page("go_run", "/run".to_owned());
    }
    match (step.stage, cause.state) {
        (Stage::Review(_), _) if !curates => page("go_look", format!("{stage}?outcome=held")),
        (Stage::Review(review), _) => of_votes(config, recipe, review, cause, visitor),
        (_, CauseState::Person) => {
            page(if curates { "go_decide" } else { "go_look" }, of_held(recipe, step, &stage))
        }
        (_, CauseState::Failed) if is_shown(&cause.remedy) => {
            page("go_failed", format!("{stage}?outcome=failed"))
        }
        _ => match &cause.remedy {
            Remedy::Nothing | Remedy::Run => None,
            Remedy::First(what) => told(match what.word() {
                Some(Word::NameEndpoint | Word::NameModels | Word::NameJudges) => NAME_ENDPOINT,
                Some(Word::SetPrices) => "go_prices",
                Some(Word::Export | Word::NameKey | Word::CheckKey | Word::CheckPrintedKey) => "go_key",
                Some(Word::Raise | Word::RaiseKey | Word::RaiseReply) => "go_limit",
                _ => "go_settings",
            }),
            Remedy::Command(_) => told("go_told"),
        },
    }
}

/// Whether a remedy is only to look at the records, as a page does.
fn is_shown(remedy: &Remedy) -> bool {
    matches!(remedy, Remedy::Command(command) if command.starts_with("riddlemill show "))
}

/// Where held posts are decided on: one after the other where there is a queue of them.
fn of_held(recipe: &Recipe, step: &Step, stage: &str) -> String {
    match decides(step).is_empty() {
        true => format!("{stage}?outcome=held"),
        false => format!("/{}/held", recipe.name),
    }
}

/// The page that helps what waits for votes, for a manager.
fn of_votes(
    config: &Config,
    recipe: &'static Recipe,
    review: Review,
    cause: &Cause,
    visitor: &Visitor,
) -> Option<Place> {
    let ballot = ballots::step(recipe.name, review.place().1)?;
    let progress = format!("/curate/{}/{}", recipe.name, view::encoded(ballot.name));
    let (round, is_first) = match cause.state {
        CauseState::Votes(round) | CauseState::Provisional(round) => (round, round == Round::Vote),
        _ => (Round::Vote, true),
    };
    let assign = || match is_first {
        true => format!("{progress}/assign"),
        false => format!("{progress}/assign?round={}", round.name()),
    };
    let (key, href) = match &cause.remedy {
        _ if round == Round::Adjudication => ("go_settle", disputes(config, recipe, &ballot, visitor).href),
        Remedy::Command(command) if command.starts_with("riddlemill review assign ") => {
            ("go_assign", assign())
        }
        Remedy::First(_) => ("go_voters", assign()),
        _ => ("go_waited", format!("{progress}#waits")),
    };
    Some(Place { href, key, mends: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(stage: &'static str, remedy: Remedy) -> Cause {
        Cause {
            stage,
            state: CauseState::Model,
            records: 3,
            what: Said::of(Word::NoEndpoint, ["draft.endpoint"]),
            remedy,
            failed: false,
            blocks: true,
        }
    }

    #[test]
    fn words_beside_a_button_name_no_command_that_the_button_does() {
        let place = Place { href: "/run".into(), key: "go_run", mends: true };
        let told = cause("screen", Remedy::Command("riddlemill review assign screen".into()));
        assert!(!place.words(Language::En, &told).contains("riddlemill"));
        assert!(!place.words(Language::En, &cause("screen", Remedy::Run)).contains("riddlemill"));
        let told_there = Place { mends: false, ..place };
        assert!(told_there.words(Language::En, &told).contains("riddlemill review assign screen"));
    }

    #[test]
    fn a_button_counts_its_records() {
        let place = Place { href: "/x".into(), key: "go_assign", mends: true };
        assert_eq!(place.button(Language::En, 1450).label, "Assign 1,450 texts");
        assert_eq!(place.button(Language::En, 1).label, "Assign 1 text");
    }
}
