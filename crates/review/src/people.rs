//! Each person's votes beside everybody's: agreement with the outcome, with the other voters and with known answers,
//! the distribution of answers, and how unlikely the votes are to be honest work.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

use super::agreement::exact;
use super::ballot::{Ballot, Field, Round};
use super::item::Item;
use super::qualify::{comparable_fields, has_right_answers};
use super::resolve::{Outcome, Resolution};
use super::status::is_hasty;
use super::value::{Value, Values};
use super::votes::{Asides, Vote, current_votes};

/// The fewest known answers over which somebody is stopped.
pub const FEWEST_GOLD: usize = 10;

/// The share of votes that an honest person may give faster than reading: glances at items known from before.
const HONEST_HASTE: f64 = 0.05;

/// How often somebody was right, with the exact interval of 95 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Right {
    /// Votes that agree.
    pub right: usize,
    /// Votes that could be compared.
    pub of: usize,
    /// The lower end of the interval, 0 to 1.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Right {
    fn new(right: usize, of: usize) -> Right {
        let [low, high] =
            if of == 0 { [0.0, 1.0] } else { exact::share_interval(right as f64 / of as f64, of, 0.95) };
        Right { right, of, low, high }
    }

    /// The share, unless there is nothing to compare.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.right as f64 / self.of as f64)
    }

    /// Whether somebody gets no more work: over enough known answers the whole interval lies below the bound. A bound
    /// of 0 stops nobody.
    pub fn is_below(&self, bound: f64) -> bool {
        self.of >= FEWEST_GOLD && self.high < bound
    }
}

/// What makes votes unlikely to be honest work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// Votes faster than the items can be read.
    Haste,
    /// Fewer agreements with the other voters than those have among themselves.
    Others,
    /// Fewer right answers to known items than other people give.
    Gold,
}

/// How often an answer was given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Given {
    /// The answer's code; for scores the number.
    pub code: String,
    /// By the person.
    pub count: usize,
    /// By the others.
    pub others: usize,
}

/// The distribution of a field's answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    pub field: &'static str,
    pub answers: Vec<Given>,
}

/// One person's votes on a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Person {
    pub annotator: String,
    /// Current first-round votes on current texts.
    pub votes: usize,
    /// Agreement with what was decided.
    pub outcome: Right,
    /// Agreement with the majority of the other voters on an item.
    pub others: Right,
    /// Agreement with known answers.
    pub gold: Right,
    /// Votes faster than reading, of those with a time.
    pub hasty: (usize, usize),
    pub distributions: Vec<Distribution>,
    /// The probability that an honest person's votes look at least like this, by sign; only signs with votes.
    pub signs: Vec<(Sign, f64)>,
}

impl Person {
    /// The probability over all signs together, 0 to 1: the smallest, times their number.
    pub fn honest_probability(&self) -> f64 {
        let least = self.signs.iter().map(|(_, p)| *p).fold(1.0, f64::min);
        (least * self.signs.len() as f64).min(1.0)
    }
}

/// What was voted on a step.
#[derive(Clone, Copy)]
pub struct StepVotes<'a> {
    pub step: &'a Ballot,
    pub items: &'a [Item],
    pub resolved: &'a [Resolution],
    /// The votes that count, by item.
    pub votes: &'a FxHashMap<&'a str, Vec<&'a Vote>>,
    /// Known answers by item.
    pub known: &'a BTreeMap<&'a str, Values>,
}

/// Everybody's current first-round votes on a step, with whose votes they are beside. The least likely to be honest
/// work come first.
pub fn describe_people(step_votes: StepVotes<'_>) -> Vec<Person> {
    let StepVotes { step, items, resolved, votes, known } = step_votes;
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for (item, resolution) in items.iter().zip(resolved) {
        let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let counts = |vote: &&Vote| {
            vote.round == Round::Vote && !vote.synthetic && vote.content_hash == item.content_hash
        };
        let heads: Vec<&Vote> = current_votes(on_it).into_iter().filter(counts).collect();
        let decided = match &resolution.outcome {
            Outcome::Confirmed { values, synthetic: false, .. } => Some(values),
            _ => None,
        };
        for vote in &heads {
            let tally = tallies.entry(&vote.annotator).or_default();
            tally.votes += 1;
            tally.outcome.add(decided.map(|values| has_right_answers(step, values, &vote.values)));
            let gold = known.get(item.id.as_str());
            tally.gold.add(gold.map(|values| has_right_answers(step, values, &vote.values)));
            tally.hasty.add(vote.seconds.map(|seconds| is_hasty(item, seconds)));
            let others = heads.iter().filter(|other| other.annotator != vote.annotator);
            let others: Vec<&Values> = others.map(|other| &other.values).collect();
            tally.others.add(with_others(step, &vote.values, &others));
            for field in comparable_fields(step) {
                for code in codes_of(vote.values.get(field.name)) {
                    *tally.given.entry((field.name, code)).or_default() += 1;
                }
            }
        }
    }
    let all: Tally = tallies.values().fold(Tally::default(), Tally::add_tally);
    let mut people: Vec<Person> =
        tallies.iter().map(|(name, tally)| tally.describe_person(name, step, &all)).collect();
    people.sort_by(|a, b| {
        a.honest_probability().total_cmp(&b.honest_probability()).then_with(|| a.annotator.cmp(&b.annotator))
    });
    people
}

/// How often everybody is right on known items answered since they were last given work again; only their last
/// answers, and only on today's texts.
pub fn gold_standing(
    ballot: &Ballot,
    gold: &[(&Item, &Values)],
    votes: &FxHashMap<&str, Vec<&Vote>>,
    asides: &Asides,
) -> BTreeMap<String, Right> {
    let mut counted: BTreeMap<&str, Counted> = BTreeMap::new();
    for (item, values) in gold {
        let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        for vote in current_votes(on_it) {
            let since = asides.last_admission(&vote.annotator).is_none_or(|admitted| vote.at > admitted.at);
            let counts = vote.round == Round::Vote && !vote.synthetic && since;
            if counts && vote.content_hash == item.content_hash {
                counted.entry(&vote.annotator).or_default().add(Some(has_right_answers(
                    ballot,
                    values,
                    &vote.values,
                )));
            }
        }
    }
    counted.into_iter().map(|(name, counted)| (name.to_owned(), counted.to_right())).collect()
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    yes: usize,
    of: usize,
}

impl Counted {
    fn add(&mut self, yes: Option<bool>) {
        self.of += usize::from(yes.is_some());
        self.yes += usize::from(yes == Some(true));
    }

    fn add_counts(self, other: Counted) -> Counted {
        Counted { yes: self.yes + other.yes, of: self.of + other.of }
    }

    fn to_right(self) -> Right {
        Right::new(self.yes, self.of)
    }

    /// The probability of at most as many agreements, if each has the share of the others.
    fn unlikely_few(self, everybody: Counted) -> Option<f64> {
        let others = Counted { yes: everybody.yes - self.yes, of: everybody.of - self.of };
        // One agreement and one difference more, so that few others are no certainty.
        let share = (others.yes + 1) as f64 / (others.of + 2) as f64;
        (self.of > 0).then(|| at_most(self.yes, self.of, share))
    }
}

#[derive(Clone, Debug, Default)]
struct Tally {
    votes: usize,
    outcome: Counted,
    others: Counted,
    gold: Counted,
    hasty: Counted,
    given: BTreeMap<(&'static str, String), usize>,
}

impl Tally {
    fn add_tally(mut self, other: &Tally) -> Tally {
        self.votes += other.votes;
        self.outcome = self.outcome.add_counts(other.outcome);
        self.others = self.others.add_counts(other.others);
        self.gold = self.gold.add_counts(other.gold);
        self.hasty = self.hasty.add_counts(other.hasty);
        for (answer, count) in &other.given {
            *self.given.entry(answer.clone()).or_default() += count;
        }
        self
    }

    fn describe_person(&self, name: &str, ballot: &Ballot, everybody: &Tally) -> Person {
        let haste = (self.hasty.of > 0).then(|| at_least(self.hasty.yes, self.hasty.of, HONEST_HASTE));
        let signs = [
            (Sign::Haste, haste),
            (Sign::Others, self.others.unlikely_few(everybody.others)),
            (Sign::Gold, self.gold.unlikely_few(everybody.gold)),
        ];
        Person {
            annotator: name.to_owned(),
            votes: self.votes,
            outcome: self.outcome.to_right(),
            others: self.others.to_right(),
            gold: self.gold.to_right(),
            hasty: (self.hasty.yes, self.hasty.of),
            distributions: comparable_fields(ballot)
                .map(|field| self.answer_distribution(field, everybody))
                .collect(),
            signs: signs.into_iter().filter_map(|(sign, p)| Some((sign, p?))).collect(),
        }
    }

    fn answer_distribution(&self, field: &Field, everybody: &Tally) -> Distribution {
        let in_order = |code: &str| field.options().iter().position(|option| option.code == code);
        let mut answers: Vec<Given> = everybody
            .given
            .iter()
            .filter(|((name, _), _)| *name == field.name)
            .map(|(answer, total)| {
                let count = self.given.get(answer).copied().unwrap_or(0);
                Given { code: answer.1.clone(), count, others: total - count }
            })
            .collect();
        answers.sort_by_cached_key(|given| (in_order(&given.code).is_none(), in_order(&given.code)));
        Distribution { field: field.name, answers }
    }
}

/// Whether answers are those of most others; `None` if no field has an answer of most of them.
fn with_others(ballot: &Ballot, own: &Values, others: &[&Values]) -> Option<bool> {
    let mut majority = Values::new();
    for field in comparable_fields(ballot) {
        let given: Vec<&Value> = others.iter().filter_map(|values| values.get(field.name)).collect();
        let most =
            given.iter().find(|value| 2 * given.iter().filter(|other| other == value).count() > others.len());
        if let Some(most) = most {
            majority.set(field.name, (*most).clone());
        }
    }
    (!majority.is_empty()).then(|| has_right_answers(ballot, &majority, own))
}

/// The codes of an answer.
fn codes_of(value: Option<&Value>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(Value::List(codes)) => codes.clone(),
        Some(one) => vec![one.to_string()],
    }
}

/// The probability of at most `k` successes of `n`.
fn at_most(k: usize, n: usize, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    // Exact also where it is tiny, unlike one minus the other tail.
    Beta::new((n - k) as f64, (k + 1) as f64).map_or(1.0, |beta| beta.cdf(1.0 - p))
}

/// The probability of at least `k` successes of `n`.
fn at_least(k: usize, n: usize, p: f64) -> f64 {
    at_most(n - k, n, 1.0 - p)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::status::resolve_all;
    use crate::{ballots, testing};

    const KINDS: [&str; 3] = ["paradox", "ambiguity", "word_game"];

    fn figures(cast: &[(usize, &str, usize, f64)], known: &[(usize, usize)]) -> Vec<Person> {
        let step = ballots::find_step("flub", "type").unwrap();
        let items: Vec<Item> = (0..40).map(|at| testing::test_item(&step, &format!("i{at}"), &[])).collect();
        let vote = |&(at, who, kind, seconds): &(usize, &str, usize, f64)| {
            let values = testing::one_answer("type", KINDS[kind]);
            let vote = testing::test_vote(&step, &items[at], Round::Vote, who, values);
            Vote { seconds: Some(seconds), ..vote }
        };
        let votes: Vec<Vote> = cast.iter().map(vote).collect();
        let mut on: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
        votes.iter().for_each(|vote| on.entry(&vote.item).or_default().push(vote));
        let resolved = resolve_all(&step, &items, &on);
        let known: BTreeMap<&str, Values> = known
            .iter()
            .map(|&(at, kind)| (items[at].id.as_str(), testing::one_answer("type", KINDS[kind])))
            .collect();
        describe_people(StepVotes {
            step: &step,
            items: &items,
            resolved: &resolved,
            votes: &on,
            known: &known,
        })
    }

    #[test]
    fn whoever_clicks_through_comes_first_and_honest_people_do_not_look_like_them() {
        let mut cast = Vec::new();
        for at in 0..40 {
            cast.extend([(at, "a", at % 3, 20.0), (at, "b", at % 3, 30.0)]);
            // One answer to everything, at once.
            cast.push((at, "clicks", 0, 0.4));
            // Somebody who differs now and then.
            cast.push((at, "own", if at % 8 == 0 { (at + 1) % 3 } else { at % 3 }, 25.0));
        }
        let known: Vec<(usize, usize)> = (0..12).map(|at| (at, at % 3)).collect();
        let people = figures(&cast, &known);
        assert_eq!(people[0].annotator, "clicks");
        assert!(people[0].honest_probability() < 1e-6, "{:?}", people[0].signs);
        assert!(people[1..].iter().all(|person| person.honest_probability() > 0.001), "{people:?}");
        assert_eq!((people[0].hasty, people[0].gold.right, people[0].gold.of), ((40, 40), 4, 12));
        assert!(people[0].gold.low < 1.0 / 3.0 && people[0].gold.high > 1.0 / 3.0);
        let given = &people[0].distributions[0].answers;
        assert_eq!(given.iter().map(|given| given.count).sum::<usize>(), 40);
        assert_eq!(given.iter().filter(|given| given.count > 0).count(), 1);
        assert_eq!(given.iter().map(|given| given.others).sum::<usize>(), 120);
    }

    #[test]
    fn nobody_is_stopped_before_ten_known_answers_or_within_the_interval() {
        assert!(!Right::new(0, 9).is_below(0.9));
        assert!(Right::new(0, 10).is_below(0.5) && !Right::new(0, 10).is_below(0.0));
        assert!(!Right::new(6, 12).is_below(0.6), "its interval reaches beyond");
    }

    #[test]
    fn tails_are_those_of_the_binomial_distribution() {
        for (k, n, p, expected) in
            [(0, 2, 0.5, 0.25), (1, 2, 0.5, 0.75), (2, 2, 0.5, 1.0), (1, 3, 0.2, 0.896)]
        {
            assert!((at_most(k, n, p) - expected).abs() < 1e-9, "{k} {n} {p}");
        }
        assert!((at_least(24, 24, 0.05).log10() - 24.0 * 0.05_f64.log10()).abs() < 1e-6);
        assert_eq!(at_least(0, 5, 0.05), 1.0);
    }

    proptest! {
        #[test]
        fn a_probability_is_one(right in 0usize..30, more in 0usize..30, p in 0.01f64..0.99) {
            let of = right + more;
            for probability in [at_most(right, of, p), at_least(right, of, p)] {
                prop_assert!((0.0..=1.0).contains(&probability), "{probability}");
            }
            let right = Right::new(right, of);
            prop_assert!(right.low <= right.high && right.share().is_none_or(|s| s >= right.low - 1e-9 && s <= right.high + 1e-9));
        }
    }
}
