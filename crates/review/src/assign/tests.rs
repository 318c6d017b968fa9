use proptest::prelude::*;

use super::*;
use crate::ballots;

fn people(names: &[&str], role: Role) -> Vec<Annotator> {
    let person = |name: &&str| Annotator {
        name: (*name).to_owned(),
        role,
        languages: vec!["zh".into()],
        qualified: true,
        accounts: Vec::new(),
        trials: Vec::new(),
    };
    names.iter().map(person).collect()
}

fn settings() -> AssignSettings<'static> {
    AssignSettings { seed: 1, round: Round::Vote, languages: &["zh"], ..AssignSettings::default() }
}

fn loads(tasks: &[Task]) -> BTreeMap<&str, usize> {
    let mut loads = BTreeMap::new();
    tasks
        .iter()
        .filter(|task| !task.gold)
        .for_each(|task| *loads.entry(task.annotator.as_str()).or_default() += 1);
    loads
}

#[test]
fn only_those_who_may_vote_are_asked() {
    let step = ballots::find_step("flub", "type").unwrap();
    let mut people = people(&["a", "b", "c", "d", "e", "f"], Role::Junior);
    people[3].role = Role::Senior;
    people[4].qualified = false;
    people[5].languages.clear();
    let tasks = assign_items(&step, &["i"], &people, &[], &settings()).unwrap();
    assert_eq!(loads(&tasks).into_keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    people[2].qualified = false;
    let error = assign_items(&step, &["i"], &people, &[], &settings()).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    type: 3 different annotators are needed for each item, but 2 may vote
      c: no trial passed (`riddlemill review qualify type --recipe flub --gold FILE`; or qualified = true)
      d: role = "senior", but the step requires junior
      e: no trial passed (`riddlemill review qualify type --recipe flub --gold FILE`; or qualified = true)
      f: languages lack zh
    "#);
    let error = assign_items(&step, &["i"], &[], &[], &settings()).unwrap_err();
    insta::assert_snapshot!(error, @r"
    type: 3 different annotators are needed for each item, but 0 may vote
      hint: pipeline.toml has no [[annotator]]; `riddlemill config --explain annotator`
    ");
}

#[test]
fn a_sample_goes_to_whom_one_names_and_overlap_reaches_what_is_decided() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let people = people(&["a", "b", "c"], Role::Annotator);
    let ids: Vec<String> = (0..300).map(|at| at.to_string()).collect();
    let (open, decided): (Vec<&str>, Vec<&str>) = ids.iter().map(String::as_str).partition(|id| id.len() < 3);
    // One vote decides, and `a` cast it on each of these.
    let cast: Vec<Task> = decided
        .iter()
        .map(|item| Task {
            item: (*item).into(),
            annotator: "a".into(),
            round: Round::Vote,
            gold: false,
            ..Task::default()
        })
        .collect();
    let all = AssignSettings { decided: &decided, to: &["b"], sample: Some(100), ..settings() };
    let sample = assign_items(&step, &open, &people, &cast, &all).unwrap();
    assert_eq!(loads(&sample), BTreeMap::from([("b", 100)]));
    assert!(sample.iter().any(|task| decided.contains(&task.item.as_str())), "decided items are drawn too");
    let again: Vec<Task> = cast.iter().chain(&sample).cloned().collect();
    assert_eq!(
        assign_items(&step, &open, &people, &again, &all).unwrap(),
        [],
        "the same sample is given once"
    );
    let other = AssignSettings { seed: 2, ..all.clone() };
    assert_ne!(assign_items(&step, &open, &people, &cast, &other).unwrap(), sample, "the seed draws it");

    let overlap = AssignSettings { decided: &decided, overlap: 0.25, ..settings() };
    let new = assign_items(&step, &open, &people, &cast, &overlap).unwrap();
    let second = new.iter().filter(|task| decided.contains(&task.item.as_str())).count();
    assert!((30..70).contains(&second), "{second} of 200 decided items get a second vote");
    assert!(
        new.iter().all(|task| task.annotator != "a" || open.contains(&task.item.as_str())),
        "nobody votes twice"
    );
    let unknown = AssignSettings { to: &["d"], ..settings() };
    let error = assign_items(&step, &open, &people, &cast, &unknown).unwrap_err();
    assert_eq!(error.to_string(), "unknown annotator \"d\"\n  hint: did you mean \"a\"?");
}

#[test]
fn overlap_and_gold_come_in_their_shares() {
    let step = ballots::find_step("chumor", "screen").unwrap();
    let people = people(&["a", "b", "c", "d"], Role::Annotator);
    let ids: Vec<String> = (0..1000).map(|at| at.to_string()).collect();
    let items: Vec<&str> = ids.iter().map(String::as_str).collect();
    let gold: Vec<&str> = items[..100].to_vec();
    let settings = AssignSettings { overlap: 0.2, gold: &gold, gold_share: 0.1, ..settings() };
    let tasks = assign_items(&step, &items, &people, &[], &settings).unwrap();
    let plain = tasks.iter().filter(|task| !task.gold).count();
    assert!((1040..1120).contains(&plain), "{plain} of 900 with a fifth twice");
    for (name, load) in loads(&tasks) {
        let gold = tasks.iter().filter(|task| task.gold && task.annotator == name).count();
        let share = gold as f64 / (gold + load) as f64;
        assert!((share - 0.1).abs() < 0.01, "{name}: {share}");
    }
    assert_eq!(
        assign_items(&step, &items, &people, &tasks, &settings).unwrap(),
        [],
        "nothing is assigned twice"
    );

    // Known items that stay in the recipe get the votes that they need, by whoever it is.
    let due = AssignSettings { gold_is_due: true, ..settings.clone() };
    let tasks = assign_items(&step, &items, &people, &[], &due).unwrap();
    let given = |item: &str| tasks.iter().any(|task| task.item == item && task.gold);
    assert!(gold.iter().copied().all(given));
    assert_eq!(assign_items(&step, &items, &people, &tasks, &due).unwrap(), []);
    let other = AssignSettings { gold_seed: 7, ..settings };
    let golden = |tasks: &[Task]| -> Vec<Task> { tasks.iter().filter(|task| task.gold).cloned().collect() };
    let drawn =
        |settings: &AssignSettings<'_>| golden(&assign_items(&step, &items, &people, &[], settings).unwrap());
    assert_ne!(
        drawn(&other),
        drawn(&AssignSettings { gold_seed: 8, ..other.clone() }),
        "the seed draws them"
    );
}

#[test]
fn what_is_handed_on_goes_to_somebody_else_and_no_further_than_it_needs() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let people = people(&["a", "b", "c", "d"], Role::Annotator);
    let task = |item: &str, annotator: &str| Task {
        item: item.into(),
        annotator: annotator.into(),
        ..Task::default()
    };
    // Three are needed: of the first a fourth is on it already.
    let tasks: Vec<Task> = ["a", "b", "c", "d"]
        .into_iter()
        .map(|name| task("full", name))
        .chain(["a", "b", "c"].into_iter().map(|name| task("short", name)))
        .collect();
    let new = hand_on(&step, "a", &["full", "short"], &people, &tasks, &settings());
    assert_eq!(new, [Task { instead_of: Some("a".into()), ..task("short", "d") }]);
    // Once it is given, nothing is given again.
    let all: Vec<Task> = tasks.into_iter().chain(new).collect();
    assert_eq!(hand_on(&step, "a", &["full", "short"], &people, &all, &settings()), []);
}

#[test]
fn who_leaves_moves_only_their_own_open_items() {
    let step = ballots::find_step("flub", "type").unwrap();
    let people = people(&["a", "b", "c", "d", "e"], Role::Junior);
    let ids: Vec<String> = (0..40).map(|at| format!("{at:02}")).collect();
    let items: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut tasks = assign_items(&step, &items, &people, &[], &settings()).unwrap();
    let is_open = |task: &Task| task.item.as_str() >= "20";
    let open = tasks.iter().filter(|task| task.annotator == "b" && is_open(task)).count();
    let new = reassign_tasks(&step, "b", &people, &tasks, is_open, &settings()).unwrap();
    let to_two = AssignSettings { to: &["a", "d"], ..settings() };
    let of_two = reassign_tasks(&step, "b", &people, &tasks, is_open, &to_two).unwrap();
    assert!(!of_two.is_empty() && of_two.iter().all(|task| ["a", "d"].contains(&task.annotator.as_str())));
    let told =
        reassign_tasks(&step, "nobody", &people, &tasks, is_open, &settings()).unwrap_err().to_string();
    assert!(told.contains("nobody") && told.contains("a, b, c"), "{told}");
    let to_nobody = AssignSettings { to: &["nobody"], ..settings() };
    assert!(reassign_tasks(&step, "b", &people, &tasks, is_open, &to_nobody).is_err());
    assert_eq!(new.len(), open);
    for task in &new {
        assert!(is_open(task) && task.annotator != "b" && task.instead_of.as_deref() == Some("b"));
        let mut on = tasks.iter().filter(|other| other.item == task.item);
        assert!(on.all(|other| other.annotator != task.annotator), "twice on {}", task.item);
    }
    tasks.extend(new);
    assert_eq!(reassign_tasks(&step, "b", &people, &tasks, is_open, &settings()).unwrap(), [], "moved once");
    let stayed: Vec<Annotator> = people.into_iter().filter(|person| person.name != "b").collect();
    assert_eq!(
        assign_items(&step, &items, &stayed, &tasks, &settings()).unwrap(),
        [],
        "items are full again"
    );
}

proptest! {
    #[test]
    fn loads_are_level_and_order_is_irrelevant(count in 1usize..60, seed in any::<u64>(), by in 0usize..5) {
        let step = ballots::find_step("flub", "type").unwrap();
        let mut people = people(&["a", "b", "c", "d", "e"], Role::Junior);
        let ids: Vec<String> = (0..count).map(|at| at.to_string()).collect();
        let mut items: Vec<&str> = ids.iter().map(String::as_str).collect();
        let settings = AssignSettings { seed, ..settings() };
        let tasks = assign_items(&step, &items, &people, &[], &settings).unwrap();
        prop_assert_eq!(tasks.len(), 3 * count);
        let loads = loads(&tasks);
        let most = loads.values().max().unwrap();
        prop_assert!(people.iter().all(|person| most - loads.get(person.name.as_str()).unwrap_or(&0) <= 1));
        people.rotate_left(by);
        items.reverse();
        prop_assert_eq!(&tasks, &assign_items(&step, &items, &people, &[], &settings).unwrap());
    }
}

#[test]
fn nobody_is_given_what_they_wrote() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let people: Vec<Annotator> =
        ["a", "b", "c", "d"].map(|name| Annotator::new(name, Role::Annotator)).into();
    let ids: Vec<String> = (0..40).map(|at| format!("i{at}")).collect();
    let items: Vec<&str> = ids.iter().map(String::as_str).collect();
    let written_by: std::collections::BTreeMap<String, Vec<String>> =
        ids.iter().take(30).map(|id| (id.clone(), vec!["a".to_owned()])).collect();
    let settings = AssignSettings { written_by: Some(&written_by), ..AssignSettings::default() };
    let tasks = assign_items(&step, &items, &people, &[], &settings).unwrap();
    assert_eq!(tasks.len(), 120, "three for each");
    assert!(tasks.iter().all(|task| task.annotator != "a" || !written_by.contains_key(&task.item)));
    assert_eq!(tasks.iter().filter(|task| task.annotator == "a").count(), 10, "and the others");
}

#[test]
fn an_item_is_kept_from_its_authors_and_from_those_who_do_not_read_it() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let mut item = Item::new(&step, "i", crate::item::Content::new(), crate::Values::new());
    let person = |name: &str, languages: &[&str]| {
        let languages = languages.iter().map(ToString::to_string).collect();
        Annotator { languages, ..Annotator::new(name, Role::Annotator) }
    };
    let people = [person("a", &["zh"]), person("b", &["zh", "en"]), person("c", &[])];
    let kept = |item: &Item| people.each_ref().map(|person| person.is_kept_from(item));
    assert_eq!(kept(&item), [false, false, false]);
    item.language = Some("en".to_owned());
    assert_eq!(kept(&item), [true, false, false]);
    item.written_by = vec!["b".to_owned(), "gone".to_owned()];
    assert_eq!(kept(&item), [true, true, false]);
    assert_eq!(kept_off(&[item], &people)["i"], ["b", "gone", "a"]);
}
