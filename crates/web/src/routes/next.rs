//! What comes next: the page on which what keeps records back is mended, one button a thing.

use serde::Serialize;

use super::curate::locate_disputes;
use super::decide::possible_decisions;
use super::open_items::{self, Items};
use crate::access::Rank;
use crate::app::App;
use crate::config::Config;
use crate::error::PageError;
use crate::i18n::{self, Language, fill_text, text_of_key};
use crate::pipeline::{Cause, CauseState, KeyedSentence, Remedy, Word};
use crate::recipe::{Recipe, Step};
use crate::report::Next;
use crate::review::ballot::Round;
use crate::review::ballots;
use crate::text::group_digits;
use crate::view;
use crate::visitor::Visitor;
use riddlemill_pipeline::stages::ReviewStep;

/// The button for what waits until an endpoint is named.
const NAME_ENDPOINT: &str = "go_endpoint";
/// Where stages are run.
const RUN: &str = "/run";

/// A page that helps a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CausePage {
    pub(super) href: String,
    /// The key of the button's words, which may count the records.
    key: &'static str,
    /// Whether it is done there; otherwise the page tells what to write or to call.
    mends: bool,
    /// How many items the page is about, where those are others than the records that wait.
    items: Option<u64>,
    /// Those of them that only a sample's votes keep: none of the records that wait.
    made_up: u64,
}

/// A button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ActionButton {
    pub(super) href: String,
    pub(super) label: String,
}

/// One thing to do.
#[derive(Serialize)]
pub(super) struct Thing {
    go: ActionButton,
    /// Recipe and stage, where it keeps something back; without a stage, what a run would make.
    places: Vec<(&'static str, &'static str)>,
    /// What keeps it back, without a command.
    words: String,
}

/// What is to be done, before it is put into words.
struct Todo {
    place: CausePage,
    places: Vec<(&'static str, &'static str)>,
    cause: Cause,
}

/// Things to do, gathered while recipes are read.
#[derive(Default)]
pub(super) struct Todos(Vec<Todo>);

impl CausePage {
    /// Whether it is done on the page.
    pub(super) fn mends(&self) -> bool {
        self.mends
    }

    /// Whether an endpoint has to be named.
    pub(super) fn names_an_endpoint(&self) -> bool {
        self.key == NAME_ENDPOINT
    }

    fn new(key: &'static str, href: String, mends: bool) -> CausePage {
        CausePage { href, key, mends, items: None, made_up: 0 }
    }

    /// The button for as many records.
    pub(super) fn make_button(&self, language: Language, records: u64) -> ActionButton {
        let label = counted_words(language, self.key, self.items.unwrap_or(records));
        ActionButton { href: self.href.clone(), label }
    }

    /// The words for a cause beside the button: without a command where a page does the same.
    pub(super) fn cause_words(&self, language: Language, cause: &Cause) -> String {
        let command = matches!(cause.remedy, Remedy::Run | Remedy::Command(_));
        self.full_words(language, &if self.mends && command { without_remedy(cause) } else { cause.clone() })
    }

    /// The words for a cause, and what else the page is about.
    fn full_words(&self, language: Language, cause: &Cause) -> String {
        let words = i18n::explain_cause(language, cause);
        if self.made_up == 0 {
            return words;
        }
        let more = counted_words(language, "go_made_up", self.made_up);
        let parts = [words, more].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(text_of_key(language, "comma").unwrap_or("; "))
    }
}

impl Thing {
    /// Whether it is about what the command line names next; a run is about no stage.
    pub(super) fn is_named(&self, next: Option<&Next>) -> bool {
        next.and_then(|next| next.at).is_some_and(|at| self.places.contains(&at))
    }
}

impl Todos {
    /// Adds a cause of a recipe with the page that helps it; one that none helps is none of the things to do.
    pub(super) fn add(&mut self, recipe: &'static Recipe, cause: &Cause, place: Option<CausePage>) {
        let Some(place) = place else { return };
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
                    todo.cause.what = KeyedSentence::default();
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
    pub(super) fn list_things(self, language: Language, due: &[(&'static str, usize)]) -> Vec<Thing> {
        let stages: usize = due.iter().map(|(_, stages)| stages).sum();
        let run = (stages > 0).then(|| Thing {
            go: ActionButton {
                href: RUN.to_owned(),
                label: counted_words(language, "go_make", stages as u64),
            },
            places: due.iter().map(|(recipe, _)| (*recipe, "")).collect(),
            words: String::new(),
        });
        let mut todos = self.0;
        // What waits for another run is helped by the same button.
        if run.is_some() {
            todos.retain(|todo| todo.place.href != RUN);
        }
        todos.sort_by_key(|todo| std::cmp::Reverse(todo.cause.records));
        let thing = |todo: Todo| {
            let told = matches!(todo.cause.remedy, Remedy::First(_));
            let cause = if told { todo.cause.clone() } else { without_remedy(&todo.cause) };
            Thing {
                go: todo.place.make_button(language, todo.cause.records),
                words: todo.place.full_words(language, &cause),
                places: todo.places,
            }
        };
        run.into_iter().chain(todos.into_iter().map(thing)).collect()
    }
}

/// The words of a key, or of its singular.
fn counted_words(language: Language, key: &str, records: u64) -> String {
    let number = group_digits(i64::try_from(records).unwrap_or(i64::MAX));
    let one = (records == 1).then(|| format!("{key}_one")).filter(|one| text_of_key(language, one).is_some());
    fill_text(language, one.as_deref().unwrap_or(key), &[&number])
}

fn without_remedy(cause: &Cause) -> Cause {
    Cause { remedy: Remedy::Nothing, ..cause.clone() }
}

/// The page that helps a cause; `None` if nothing does.
///
/// # Errors
/// If the items of a ballot cannot be counted.
pub(super) fn find_place(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    cause: &Cause,
    visitor: &Visitor,
) -> Result<Option<CausePage>, PageError> {
    let Some((_, step)) = recipe.find_step(cause.stage) else { return Ok(None) };
    let stage = format!("/{}/stage/{}", recipe.name, view::encode_segment(step.name));
    let page = |key: &'static str, href: String| Some(CausePage::new(key, href, true));
    // There the command or the setting is told in full.
    let told = |key| {
        let href = format!("/{}/causes/{}", recipe.name, view::encode_segment(step.name));
        Some(CausePage::new(key, href, false))
    };
    let curates = visitor.rank() >= Some(Rank::Curator);
    if cause.remedy == Remedy::Run {
        return Ok(page("go_run", RUN.to_owned()));
    }
    Ok(match (step.stage.declared_review(), cause.state) {
        (Some(_), _) if !curates => page("go_look", format!("{stage}?outcome=held")),
        (Some(review), _) => return of_votes(app, config, recipe, review, cause, visitor),
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
    })
}

/// Whether a remedy is only to look at the records, as a page does.
fn is_shown(remedy: &Remedy) -> bool {
    matches!(remedy, Remedy::Command(command) if command.starts_with("riddlemill show "))
}

/// Where held posts are decided on: one after the other where there is a queue of them.
fn of_held(recipe: &Recipe, step: &Step, stage: &str) -> String {
    match possible_decisions(step).is_empty() {
        true => format!("{stage}?outcome=held"),
        false => format!("/{}/held", recipe.name),
    }
}

/// The page that helps what waits for votes, for a manager. Its button counts what waits there, where a sample's votes are
/// nobody's and tasks may be given already.
fn of_votes(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    review: ReviewStep,
    cause: &Cause,
    visitor: &Visitor,
) -> Result<Option<CausePage>, PageError> {
    let Some(ballot) = ballots::find_step(recipe.name, review.benchmark_and_ballot().1) else {
        return Ok(None);
    };
    let progress = format!("/curate/{}/{}", recipe.name, view::encode_segment(ballot.name));
    let (round, is_first) = match cause.state {
        CauseState::Votes(round) | CauseState::Provisional(round) => (round, round == Round::Vote),
        _ => (Round::Vote, true),
    };
    let assign = || match is_first {
        true => format!("{progress}/assign"),
        false => format!("{progress}/assign?round={}", round.name()),
    };
    let open = open_items::count_open_items(app, config, recipe, ballot.name, round)?;
    let all = open.as_ref().map(|open| open.all);
    let unassigned = open.as_ref().map(|open| open.unassigned);
    let ([key, uncounted], href, items) = match &cause.remedy {
        _ if round == Round::Adjudication => {
            let href = locate_disputes(config, recipe, &ballot, visitor).href;
            // Elsewhere than at a desk there are the records that wait, and no others.
            let items = all.filter(|_| href.starts_with("/review/"));
            let records = Items { number: cause.records as usize, made_up: 0 };
            (["go_settle", "go_settle_all"], href, items.or(Some(records)))
        }
        Remedy::Command(command) if command.starts_with("riddlemill review assign ") => {
            (["go_assign", "go_assign_all"], assign(), unassigned)
        }
        Remedy::First(_) => (["go_voters", "go_voters_all"], assign(), unassigned),
        _ => (["go_waited", "go_waited_all"], format!("{progress}#waits"), all),
    };
    let items = items.filter(|items| items.number > 0);
    let key = if items.is_some() { key } else { uncounted };
    let made_up = items.map_or(0, |items| items.made_up as u64);
    let items = items.map(|items| items.number as u64);
    Ok(Some(CausePage { items, made_up, ..CausePage::new(key, href, true) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(stage: &'static str, remedy: Remedy) -> Cause {
        Cause {
            stage,
            state: CauseState::Model,
            records: 3,
            what: KeyedSentence::from_word(Word::NoEndpoint, ["draft.endpoint"]),
            remedy,
            failed: false,
            blocks: true,
        }
    }

    #[test]
    fn words_beside_a_button_name_no_command_that_the_button_does() {
        let place = CausePage::new("go_run", RUN.into(), true);
        let told = cause("screen", Remedy::Command("riddlemill review assign screen".into()));
        assert!(!place.cause_words(Language::En, &told).contains("riddlemill"));
        assert!(!place.cause_words(Language::En, &cause("screen", Remedy::Run)).contains("riddlemill"));
        let told_there = CausePage { mends: false, ..place };
        assert!(told_there.cause_words(Language::En, &told).contains("riddlemill review assign screen"));
    }

    #[test]
    fn what_the_command_line_names_is_known_by_its_stage() {
        let thing = |stage| Thing {
            go: ActionButton { href: String::new(), label: String::new() },
            places: vec![("flub", ""), ("flub", stage)],
            words: String::new(),
        };
        let next = |at| Next { first: None, command: String::new(), why: String::new(), at };
        assert!(thing("type").is_named(Some(&next(Some(("flub", "type"))))));
        assert!(!thing("type").is_named(Some(&next(Some(("chumor", "type"))))));
        assert!(!thing("type").is_named(Some(&next(None))) && !thing("type").is_named(None));
    }

    #[test]
    fn a_button_counts_its_records() {
        let place = CausePage::new("go_assign", "/x".into(), true);
        assert_eq!(place.make_button(Language::En, 1450).label, "Assign 1,450 texts");
        assert_eq!(place.make_button(Language::En, 1).label, "Assign 1 text");
        // What waits at the desk is what is assigned, and is told from the records that wait.
        let place = CausePage { items: Some(173), made_up: 28, ..place };
        assert_eq!(place.make_button(Language::En, 145).label, "Assign 173 texts");
        let waits = cause("review:clean", Remedy::Run);
        assert!(
            place
                .cause_words(Language::En, &waits)
                .ends_with("; 28 more have only made-up votes of the sample")
        );
        assert!(place.cause_words(Language::Zh, &waits).ends_with("；另有 28 条只有示例中虚构的投票"));
    }

    #[test]
    fn what_another_run_helps_has_no_button_beside_that_of_the_run() {
        let todo = |href: &str, key| Todo {
            place: CausePage::new(key, href.into(), true),
            places: vec![("flub", "screen")],
            cause: cause("screen", Remedy::Run),
        };
        let things = |due: &[(&'static str, usize)]| -> Vec<String> {
            let todos = Todos(vec![todo(RUN, "go_run"), todo("/flub/held", "go_decide")]);
            todos.list_things(Language::En, due).into_iter().map(|thing| thing.go.href).collect()
        };
        assert_eq!(things(&[("flub", 2)]), [RUN, "/flub/held"]);
        assert_eq!(things(&[]), [RUN, "/flub/held"]);
    }
}
