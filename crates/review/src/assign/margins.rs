//! Who is asked at the margins: the other rounds, trials, languages, known items, and what people have already.

use super::*;
use crate::ballots;

fn qualified_person(name: &str, role: Role) -> Annotator {
    Annotator { qualified: true, ..Annotator::new(name, role) }
}

fn qualified_people(names: &[&str], role: Role) -> Vec<Annotator> {
    names.iter().map(|name| qualified_person(name, role)).collect()
}

fn task_of_round(item: &str, annotator: &str, round: Round) -> Task {
    Task { item: item.into(), annotator: annotator.into(), round, ..Task::default() }
}

fn of_round(round: Round) -> AssignSettings<'static> {
    AssignSettings { seed: 1, round, ..AssignSettings::default() }
}

fn last_trial(recipe: &str, step: &str, right: usize, of: usize, level: TrialLevel) -> LastTrial {
    LastTrial { recipe: recipe.into(), step: step.into(), right, of, fewest: 20, level }
}

fn numbered_ids(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{at:03}")).collect()
}

fn borrow_ids(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

#[test]
fn a_trial_decides_who_votes_in_which_round() {
    use TrialLevel::{Failed, Formal, Senior};
    let step = ballots::find_step("flub", "type").unwrap();
    let may = |role, level: Option<TrialLevel>, qualified, round| {
        let trials = level.map(|level| last_trial("flub", "type", 20, 20, level)).into_iter().collect();
        Annotator { qualified, trials, ..Annotator::new("a", role) }.may_vote(&step, round)
    };
    for (level, votes, reviews) in [
        (None, false, false),
        (Some(Failed), false, false),
        (Some(Formal), true, false),
        (Some(Senior), true, true),
    ] {
        assert_eq!(may(Role::Junior, level, false, Round::Vote), votes, "{level:?}");
        assert_eq!(may(Role::Senior, level, false, Round::Review), reviews, "{level:?}");
    }
    // `qualified` stands for a trial, and says nothing beside one.
    assert!(may(Role::Junior, None, true, Round::Vote) && may(Role::Senior, None, true, Round::Review));
    assert!(!may(Role::Junior, Some(Failed), true, Round::Vote));
    assert!(!may(Role::Senior, Some(Formal), true, Round::Review));
    // Nobody needs a trial to settle disputes, and only one role does.
    assert!(may(step.adjudication.by, None, false, Round::Adjudication));
    assert!(!may(Role::Junior, Some(Senior), true, Round::Adjudication));
    assert!(!may(Role::Junior, Some(Senior), true, Round::Review));
    let free = ballots::find_step("chumor", "preference").unwrap();
    assert!(free.qualification.is_none());
    assert!(Annotator::new("a", Role::Annotator).may_vote(&free, Round::Vote));
}

#[test]
fn trials_on_other_steps_of_a_recipe_count_together() {
    use TrialLevel::{Formal, Senior, TooFew};
    let step = ballots::find_step("flub", "explanation").unwrap();
    let level = |trials: &[LastTrial]| {
        Annotator { trials: trials.to_vec(), ..Annotator::new("a", Role::Junior) }.trial_level(&step)
    };
    assert_eq!(level(&[]), None);
    let parts = [last_trial("flub", "type", 12, 12, TooFew), last_trial("flub", "clean", 7, 8, TooFew)];
    assert_eq!(level(&parts), Some(Formal), "19 of 20");
    assert_eq!(level(&parts[..1]), None, "12 are too few");
    let own = last_trial("flub", "explanation", 20, 20, Senior);
    assert_eq!(level(&[parts[0].clone(), own, parts[1].clone()]), Some(Senior), "its own alone");
    assert_eq!(level(&[last_trial("chumor", "explanation", 20, 20, Senior)]), None, "of another recipe");
}

#[test]
fn who_reads_other_languages_is_not_asked_and_is_told_why() {
    let step = ballots::find_step("flub", "type").unwrap();
    assert_eq!(step.languages, ["zh"]);
    let reads = |languages: &[&str]| Annotator {
        languages: languages.iter().map(ToString::to_string).collect(),
        ..qualified_person("a", Role::Junior)
    };
    assert_eq!(reads(&["en"]).unread_languages(&step), ["zh"]);
    assert!(
        reads(&["en", "zh"]).unread_languages(&step).is_empty()
            && reads(&[]).unread_languages(&step).is_empty()
    );
    let lacks = |languages: &[&str], wanted: &'static [&'static str]| {
        let settings = AssignSettings { languages: wanted, ..of_round(Round::Vote) };
        missing_requirement(&reads(languages), &step, &settings)
    };
    assert_eq!(lacks(&["en"], &[]).as_deref(), Some("a: languages lack zh"));
    assert_eq!(lacks(&["en"], &["zh", "fr"]).as_deref(), Some("a: languages lack zh, fr"), "each once");
    assert_eq!(lacks(&["fr", "zh"], &["zh", "fr"]), None);
    assert_eq!(lacks(&[], &[]), None);
    let refused = assign_items(&step, &["i"], &[reads(&["en"])], &[], &of_round(Round::Vote)).unwrap_err();
    assert!(matches!(refused, AssignError::TooFew { needed: 3, there: 0, .. }), "{refused}");
}

#[test]
fn what_keeps_somebody_is_said_whole() {
    let step = ballots::find_step("flub", "type").unwrap();
    let failed = last_trial("flub", "type", 1, 20, TrialLevel::Failed);
    let lacks = |person: &Annotator| missing_requirement(person, &step, &of_round(Round::Vote)).unwrap();
    let failed = Annotator { trials: vec![failed], ..qualified_person("a", Role::Junior) };
    assert_eq!(
        lacks(&failed),
        "a: their trial was not passed (`riddlemill review qualify type --recipe flub --gold FILE`)"
    );
    let meta = Annotator { languages: vec!["en".into()], ..qualified_person("m", Role::Meta) };
    assert_eq!(lacks(&meta), "m: role = \"meta\", but the step requires junior; languages lack zh");
    let named = AssignSettings { to: &["a"], ..of_round(Round::Vote) };
    let refused = assign_items(&step, &["i"], &[failed], &[], &named).unwrap_err();
    assert!(matches!(&refused, AssignError::MayNot(why) if why.starts_with("a: their trial")), "{refused}");
}

#[test]
fn fewer_than_an_item_needs_may_be_named() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let all = qualified_people(&["a", "b", "c"], Role::Annotator);
    let named = AssignSettings { to: &["a"], ..of_round(Round::Vote) };
    assert_eq!(
        assign_items(&step, &["i"], &all, &[], &named).unwrap(),
        [task_of_round("i", "a", Round::Vote)]
    );
    assert!(assign_items(&step, &["i"], &all[..2], &[], &of_round(Round::Vote)).is_err());
}

#[test]
fn each_round_is_assigned_by_itself() {
    let step = ballots::find_step("flub", "type").unwrap();
    let mut all = qualified_people(&["a", "b", "c", "d"], Role::Junior);
    all.extend(qualified_people(&["s"], Role::Senior));
    let of = |round, tasks: &[Task]| assign_items(&step, &["i"], &all, tasks, &of_round(round)).unwrap();
    let review = of(Round::Review, &[]);
    assert_eq!(review, [task_of_round("i", "s", Round::Review)]);
    let votes = of(Round::Vote, &review);
    assert!(votes.len() == 3 && votes.iter().all(|task| task.round == Round::Vote), "{votes:?}");
    assert_eq!(of(Round::Review, &votes), review);
    // Whoever was replaced as a reviewer has still voted.
    let instead = Task { instead_of: Some(votes[0].annotator.clone()), ..review[0].clone() };
    assert_eq!(of(Round::Vote, &[&votes[..], &[instead]].concat()), []);
}

#[test]
fn only_what_is_open_in_the_round_moves_from_who_leaves() {
    let step = ballots::find_step("flub", "type").unwrap();
    let mut all = qualified_people(&["a", "b"], Role::Junior);
    all.extend(qualified_people(&["s", "t"], Role::Senior));
    let known = Task { gold: true, ..task_of_round("known", "a", Round::Vote) };
    let tasks = [
        task_of_round("open", "a", Round::Vote),
        task_of_round("voted", "a", Round::Vote),
        task_of_round("reviewed", "a", Round::Review),
        known,
        task_of_round("another's", "b", Round::Vote),
        task_of_round("review", "s", Round::Review),
    ];
    let is_open = |task: &Task| task.item != "voted";
    let moved = |task: Task, from: &str| Task { instead_of: Some(from.to_owned()), ..task };
    let new = reassign_tasks(&step, "a", &all, &tasks, is_open, &of_round(Round::Vote)).unwrap();
    assert_eq!(new, [moved(task_of_round("open", "b", Round::Vote), "a")]);
    let new = reassign_tasks(&step, "s", &all, &tasks, is_open, &of_round(Round::Review)).unwrap();
    assert_eq!(new, [moved(task_of_round("review", "t", Round::Review), "s")]);
    let new = hand_on(&step, "s", &["review"], &all, &tasks, &of_round(Round::Review));
    assert_eq!(new, [moved(task_of_round("review", "t", Round::Review), "s")]);
}

#[test]
fn what_people_have_counts_and_known_items_do_not() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let all = qualified_people(&["a", "b"], Role::Annotator);
    let items = numbered_ids(4);
    let give = |tasks: &[Task]| {
        assign_items(&step, &borrow_ids(&items), &all, tasks, &of_round(Round::Vote)).unwrap()
    };
    let has: Vec<Task> = (0..4).map(|at| task_of_round(&format!("x{at}"), "a", Round::Vote)).collect();
    assert!(give(&has).iter().all(|task| task.annotator == "b"));
    let gold: Vec<Task> = has.into_iter().map(|task| Task { gold: true, ..task }).collect();
    assert_eq!(give(&gold).iter().filter(|task| task.annotator == "a").count(), 2);
}

#[test]
fn a_greater_share_of_known_items_adds_what_is_missing() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let all = qualified_people(&["a"], Role::Annotator);
    let (open, known): (Vec<String>, Vec<String>) =
        numbered_ids(140).into_iter().partition(|id| id.as_str() < "090");
    let known = borrow_ids(&known);
    let give = |share: f64, tasks: &[Task]| {
        let settings = AssignSettings { gold: &known, gold_share: share, ..of_round(Round::Vote) };
        let new = assign_items(&step, &borrow_ids(&open), &all, tasks, &settings).unwrap();
        let count = new.iter().filter(|task| task.gold).count();
        (new, count)
    };
    let (first, count) = give(0.1, &[]);
    assert_eq!(count, 10, "10 of 100");
    let (second, count) = give(0.25, &first);
    assert_eq!(count, 20, "30 of 120, of which 10 are there");
    assert_eq!(second.len(), 20);
    let items: BTreeSet<&str> = first.iter().chain(&second).map(|task| task.item.as_str()).collect();
    assert_eq!(items.len(), 120, "each once");
}

#[test]
fn everybody_is_tried_on_other_known_items_whatever_the_seed() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let all = qualified_people(&["a", "b"], Role::Annotator);
    let (open, known): (Vec<String>, Vec<String>) =
        numbered_ids(300).into_iter().partition(|id| id.as_str() < "100");
    let known = borrow_ids(&known);
    for seed in [0, u64::MAX] {
        let settings = AssignSettings { seed, gold: &known, gold_share: 0.1, ..of_round(Round::Vote) };
        let tasks = assign_items(&step, &borrow_ids(&open), &all, &[], &settings).unwrap();
        let of = |name: &str| -> Vec<&str> {
            let own = tasks.iter().filter(|task| task.gold && task.annotator == name);
            own.map(|task| task.item.as_str()).collect()
        };
        assert!(of("a").len() > 4 && of("a") != of("b"), "{seed}: {:?}", of("a"));
    }
}

#[test]
fn known_items_get_as_many_votes_as_they_need_in_their_round() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let all = qualified_people(&["a", "b", "c", "d", "e"], Role::Annotator);
    let known = ["i", "j", "k"];
    let due = AssignSettings { gold: &known, gold_is_due: true, ..of_round(Round::Vote) };
    let tasks = assign_items(&step, &known, &all, &[], &due).unwrap();
    assert!(tasks.iter().all(|task| task.gold));
    for item in known {
        assert_eq!(tasks.iter().filter(|task| task.item == item).count(), 3, "{item}");
    }
    let step = ballots::find_step("flub", "type").unwrap();
    let half = AssignSettings { gold: &["known"], gold_share: 0.5, ..of_round(Round::Review) };
    let tasks = assign_items(&step, &["i"], &qualified_people(&["s"], Role::Senior), &[], &half).unwrap();
    let known = Task { gold: true, ..task_of_round("known", "s", Round::Review) };
    assert_eq!(tasks, [task_of_round("i", "s", Round::Review), known]);
}

#[test]
fn a_sample_is_of_one_vote_more_than_needed() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let all = qualified_people(&["a", "b", "c", "d"], Role::Annotator);
    let (items, sampled) = (numbered_ids(9), AssignSettings { sample: Some(5), ..of_round(Round::Vote) });
    let tasks = assign_items(&step, &borrow_ids(&items), &all, &[], &sampled).unwrap();
    let drawn: BTreeSet<&str> = tasks.iter().map(|task| task.item.as_str()).collect();
    assert_eq!((drawn.len(), tasks.len()), (5, 10), "{tasks:?}");
}
