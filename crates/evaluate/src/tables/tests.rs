//! Hand-made answers, and all tables of them to the last digit.

use std::collections::BTreeMap;

use super::super::builtin::BuiltIn;
use super::super::testing::{
    flub_type_names, joke_item, pair_item, parsed_answer, puzzle_group, question_item, rated_answer,
    rating_of_judge, raw_answer, set_of_items, task_of_name, text_item,
};
use super::super::{Answer, Item, Setting, Task};
use super::*;
use crate::Set;
use crate::figures::{Cell, Figure, Row, Table, figures_of, name_of};
use crate::review::agreement::Bootstrap;
use crate::review::ballot::Combine;

const BOOTSTRAP: Bootstrap = Bootstrap { resamples: 300, seed: 1, level: 0.95 };

fn report_of(set: &Set, answers: &[Answer]) -> Report {
    let sizes = BTreeMap::from([("m".to_string(), 7.0), ("n".to_string(), 70.0)]);
    let scores = ScoreBook::new(set, answers, &[], sizes, BOOTSTRAP);
    compute_report(&scores, &Scores::new())
}

/// A table's values by row, with two digits, `-` for missing ones; and each cell's n.
fn values(report: &Report, name: &str) -> BTreeMap<String, (Vec<String>, Vec<usize>)> {
    let table = report.tables.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("{name}"));
    let row = |row: &Row| {
        assert_eq!(row.len(), table.columns.len(), "{name}: {}", name_of(row));
        let value = |cell: Option<&Figure>| {
            cell.map_or("-".into(), |cell| {
                if let Some([low, high]) = cell.ends {
                    assert!(low <= cell.value + 1e-9 && cell.value <= high + 1e-9, "{name}: {cell:?}");
                }
                format!("{:.2}", cell.value)
            })
        };
        let n = |cell: Option<&Figure>| cell.and_then(|cell| cell.n).unwrap_or(0);
        (name_of(row).to_owned(), (figures_of(row).map(value).collect(), figures_of(row).map(n).collect()))
    };
    table.rows.iter().map(row).collect()
}

#[test]
fn table_4_of_ruozhibench() {
    let items: Vec<_> = (0..4)
        .map(|at| pair_item(at, if at < 2 { &["Logical Error"] } else { &["Others", "Logical Error"] }))
        .collect();
    let (a, b) = ("<choice>AnswerA</choice>", "So.\n<choice>answerb</choice>");
    // Good first: right, right, wrong, no form. Bad first: right, wrong, wrong, wrong.
    let replies = [(a, b), (a, a), (b, a), ("A", a)];
    let mut answers = Vec::new();
    for (item, (good, bad)) in items.iter().zip(replies) {
        answers.push(parsed_answer(item, task_of_name("good-first"), "m", good));
        answers.push(parsed_answer(item, task_of_name("bad-first"), "m", bad));
    }
    let report = report_of(&set_of_items("ruozhibench-mc", items), &answers);
    let (row, n) = &values(&report, "orders")["m"];
    // 2 of 3, 1 of 4, their mean, their difference, 7 of 8.
    // These are no replies of an endpoint, which alone may be cut or refused.
    assert_eq!(row, &["66.67", "25.00", "45.83", "41.67", "87.50", "-", "-", "-"]);
    assert_eq!(n[..5], [3, 4, 7, 7, 8]);
    let (row, _) = &values(&report, "categories")["m"];
    // Others: 0 of 1 and 0 of 2: 2 (0 - 0.5). All: 2 (0.4583 - 0.5).
    assert_eq!((row[0].as_str(), row[5].as_str(), row[6].as_str()), ("-8.33", "-100.00", "-8.33"));
    assert_eq!(row[1], "-");
}

#[test]
fn figures_4_and_5_and_table_3_of_ruozhibench() {
    let items = vec![question_item(0, &["Logical Error"]), question_item(1, &["Logical Error", "Others"])];
    let answers = vec![
        rated_answer(&items[0], task_of_name("answer"), "m", &[("a", "4"), ("b", "2")]),
        rated_answer(&items[1], task_of_name("answer"), "m", &[("a", "1"), ("b", "0")]),
        rated_answer(&items[0], task_of_name("answer"), "n", &[("a", "4"), ("b", "4")]),
        rated_answer(&items[0], task_of_name("answer-normal"), "m", &[("a", "4"), ("b", "3")]),
    ];
    let report = report_of(&set_of_items("ruozhibench-gen", items), &answers);
    let scores = values(&report, "scores");
    // m: (4 + 2 + 1 + 0) / 4 times 25; of Others (1 + 0) / 2.
    assert_eq!(scores["m"].0, ["43.75", "-", "-", "-", "-", "12.50", "43.75"]);
    assert_eq!((scores["m"].1[6], scores["n"].0[6].as_str()), (4, "100.00"));
    let order: Vec<&str> = report.tables[0].rows.iter().map(|row| name_of(row)).collect();
    assert_eq!(order, ["n", "m", "Average"], "the best first, and the mean of the models as in the figure");
    assert_eq!(scores["Average"].0, ["71.88", "-", "-", "-", "-", "12.50", "-"]);
    let by_judge: Vec<&Table> = report.tables.iter().filter(|t| t.name == "scores-by-judge").collect();
    assert_eq!(by_judge.len(), 2);
    assert_eq!(by_judge[0].rows[1][7].figure().map(|figure| figure.value), Some(62.5));
    // Only the question that has a normal one counts among the tricky ones.
    let normal = values(&report, "normal");
    assert_eq!(normal["m, a"].0, ["100.00", "100.00", "0.00"]);
    assert_eq!(normal["m, b"].0, ["50.00", "75.00", "25.00"]);
    let ratings = values(&report, "ratings");
    assert_eq!(ratings["a, m"].0, ["0.00", "50.00", "0.00", "0.00", "50.00"]);
    let judges = values(&report, "judges");
    let (row, n) = &judges["a and b"];
    // Pairs (4, 2), (1, 0), (4, 4): r = 5 / sqrt(6 * 8); means by question (4, 3), (1, 0).
    assert_eq!(row, &["0.87", "1.00", "1.00", "1.00", "33.33", "0.00"]);
    assert_eq!(n, &[3, 2, 3, 2, 3, 2]);
    // The sizes of two models are known.
    assert!(report.tables.iter().any(|table| table.name == "sizes"));
}

/// A lenient judge who rated one model less does not change that model's mean of the other judges, and the
/// table says so.
#[test]
fn a_score_is_the_mean_of_the_judges_means() {
    let items: Vec<_> = (0..3).map(|at| question_item(at, &["Others"])).collect();
    // The strict judge rates all three, the lenient one only the first: 0 and 4, not (0 + 0 + 0 + 4) / 4.
    let mut answers: Vec<Answer> = items
        .iter()
        .map(|item| rated_answer(item, task_of_name("answer"), "m", &[("strict", "0")]))
        .collect();
    answers[0].ratings.push(rating_of_judge("kind", "4", false));
    answers.push(rated_answer(&items[0], task_of_name("answer"), "n", &[("strict", "1")]));
    let report = report_of(&set_of_items("ruozhibench-gen", items), &answers);
    let scores = values(&report, "scores");
    assert_eq!((scores["m"].0[6].as_str(), scores["m"].1[6]), ("50.00", 4));
    assert_eq!(scores["n"].0[6], "25.00");
    let about = &report.tables.iter().find(|table| table.name == "scores").unwrap().about;
    assert!(about.contains("n was not rated by kind") && !about.contains("m was not"), "{about}");
}

#[test]
fn table_1_of_flub() {
    let kinds = flub_type_names();
    let items = vec![
        text_item(0, true, Some(kinds[0]), 0),
        text_item(1, true, Some(kinds[1]), 1),
        text_item(2, false, Some(kinds[1]), 2),
        text_item(3, false, None, 3),
    ];
    let mut answers = Vec::new();
    for (item, reply) in items.iter().zip(["A", "B.", "D", "I cannot say"]) {
        answers.push(parsed_answer(item, task_of_name("select"), "m", reply));
    }
    for (item, reply) in items.iter().zip([kinds[0], kinds[0], kinds[1]]) {
        answers.push(parsed_answer(item, task_of_name("classify"), "m", reply));
    }
    for (item, rating) in items.iter().zip(["4", "6", "8", "10"]) {
        answers.push(rated_answer(item, task_of_name("explain"), "m", &[("j", rating)]));
    }
    let report = report_of(&set_of_items("flub", items), &answers);
    let (row, n) = &values(&report, "tasks")["m"];
    // Right: 2 of 4. F1: (2/3 + 2/3) / 2. Scores: 7. (50 * 66.67 * 7)^(1/3) = 28.58. Form: 3 of 4, 3 of 3.
    assert_eq!(row, &["50.00", "66.67", "7.00", "28.58", "75.00", "-", "-", "-", "100.00", "-", "-", "-"]);
    assert_eq!(n[..3], [4, 3, 4]);
    assert_eq!(values(&report, "questions")["m"].0[0], "100.00");
    // Of statements only one has a type, which is named correctly; F1 is over the types of the whole set,
    // which are two.
    assert_eq!(values(&report, "statements")["m"].0[..3], ["0.00", "50.00", "9.00"]);
}

#[test]
fn shots_and_chain_of_thought_are_rows_of_their_own() {
    let items: Vec<_> = (0..3).map(|at| text_item(at, false, None, 0)).collect();
    let mut answers = Vec::new();
    for (setting, reply) in
        [(Setting::default(), "B"), (Setting::with_shots(2), "A"), (Setting::COT, "分析: 丙。\n答案: A")]
    {
        for item in &items {
            answers.push(Answer::parse_raw(
                item,
                super::super::RawAnswer { setting, ..raw_answer(task_of_name("select"), "m", reply) },
            ));
        }
    }
    let report = report_of(&set_of_items("flub", items), &answers);
    let tasks = values(&report, "tasks");
    let accuracy: Vec<(&str, &str)> =
        tasks.iter().map(|(name, (row, _))| (name.as_str(), row[0].as_str())).collect();
    assert_eq!(accuracy, [("m, 0-shot", "0.00"), ("m, 2-shot", "100.00"), ("m, cot", "100.00")]);
    assert_eq!(report.charts.len(), 2, "bars, and figure 3");
}

#[test]
fn table_2_of_flub() {
    let items: Vec<_> = (0..4).map(|at| text_item(at, true, None, 0)).collect();
    // People: 1, 2, 3, 5 (times two); the judge: 2, 3, 9, 8.
    let scores = [("1", "2"), ("2", "3"), ("3", "9"), ("5", "8")];
    let answers: Vec<Answer> = items
        .iter()
        .zip(scores)
        .map(|(item, (person, judge))| {
            let mut answer = rated_answer(item, task_of_name("explain"), "m", &[("j", judge)]);
            answer.ratings.push(rating_of_judge("p", person, true));
            answer
        })
        .collect();
    let report = report_of(&set_of_items("flub", items), &answers);
    let (row, n) = &values(&report, "people")["m, 0-shot"];
    // Spearman: ranks 1 2 3 4 against 1 2 4 3: 1 - 6 * 2 / 60.
    assert_eq!(row[..3], ["5.50", "5.50", "0.80"]);
    // Pearson: 29 / sqrt(35 * 37).
    assert_eq!(row[3], "0.81");
    assert_eq!(n[0], 4);
}

#[test]
fn winning_rates_of_chumor() {
    let items: Vec<_> = [[3, 0, 0], [1, 2, 0], [1, 1, 1], [0, 0, 3]]
        .into_iter()
        .enumerate()
        .map(|(at, votes)| joke_item(at, votes))
        .collect();
    let mut answers = Vec::new();
    for (item, votes) in
        items.iter().zip([["human"; 3], ["human", "llm", "llm"], ["human", "llm", "equal"], ["equal"; 3]])
    {
        let mut answer =
            rated_answer(item, task_of_name("explain-joke"), "m", &[("j", "human"), ("k", "human")]);
        answer.ratings.extend(votes.map(|vote| rating_of_judge("p", vote, true)));
        answers.push(answer);
    }
    let report = report_of(&set_of_items("chumor", items), &answers);
    let winning = values(&report, "winning");
    assert_eq!(winning["m, by people"].0, ["25.00", "25.00", "25.00", "25.00"]);
    assert_eq!(winning["m, by judges"].0, ["100.00", "0.00", "0.00", "0.00"]);
    let agreement = values(&report, "agreement");
    // Pairs that agree: 1, 1/3, 0, 1.
    assert_eq!(agreement["m: people"].0[0], "58.33");
    assert_eq!(agreement["m: judges"].0[0], "100.00");
    // The third joke is undecided among people.
    assert_eq!(
        (agreement["m: judges with people"].0[0].as_str(), agreement["m: judges with people"].1[0]),
        ("33.33", 3)
    );
}

/// With four voters, two are not a majority, in the figure as in the votes' own rule.
#[test]
fn half_of_the_voters_are_no_majority_of_chumors() {
    let items =
        [joke_item(0, [2, 1, 1]), joke_item(1, [3, 1, 0]), joke_item(2, [1, 1, 0]), joke_item(3, [0, 0, 1])];
    let votes: [&[&str]; 4] = [
        &["human", "human", "llm", "equal"],
        &["human", "human", "human", "llm"],
        &["human", "llm"],
        &["equal"],
    ];
    let rate = |(item, votes): (&Item, &[&str])| {
        let mut answer = rated_answer(item, task_of_name("explain-joke"), "m", &[]);
        answer.ratings.extend(votes.iter().map(|vote| rating_of_judge("p", vote, true)));
        answer
    };
    let answers: Vec<Answer> = items.iter().zip(votes).map(rate).collect();
    let step = crate::review::ballots::find_step("chumor", "preference").unwrap();
    let preference = step.fields.iter().find(|field| field.name == "preference").unwrap();
    assert_eq!(preference.combine, Combine::MajorityOr("undecided"), "the votes' rule is a majority, too");
    let report = report_of(&set_of_items("chumor", items.into()), &answers);
    assert_eq!(values(&report, "winning")["m, by people"].0, ["25.00", "0.00", "25.00", "50.00"]);
}

#[test]
fn table_4_of_brainteaser() {
    let items: Vec<_> =
        [puzzle_group(0, false, 0), puzzle_group(1, false, 1), puzzle_group(2, true, 2)].concat();
    // SP-0: all right. SP-1: the context is wrong. WP-2: no form, right, right.
    let replies = ["A", "a frozen river", "The answer is A.", "B", "A boat.", "C", "?", "C", "C. A bridge."];
    let answers: Vec<Answer> = items
        .iter()
        .zip(replies)
        .map(|(item, reply)| parsed_answer(item, task_of_name("solve"), "m", reply))
        .collect();
    let report = report_of(&set_of_items("brainteaser", items), &answers);
    let (row, n) = &values(&report, "sentence-puzzles")["m"];
    assert_eq!(row, &["100.00", "100.00", "50.00", "100.00", "50.00", "83.33"]);
    assert_eq!(n, &[2, 2, 2, 2, 2, 6]);
    assert_eq!(values(&report, "word-puzzles")["m"].0, ["0.00", "100.00", "100.00", "0.00", "0.00", "66.67"]);
    assert_eq!(
        values(&report, "puzzles")["m"].0,
        ["66.67", "100.00", "66.67", "66.67", "33.33", "77.78", "88.89", "-", "-", "-"]
    );
    // Of the new situations two are solved: SP-0's, and WP-2's, whose original is not.
    let (failed, n) = &values(&report, "failed-originals")["m"];
    assert_eq!((&failed[..], &n[..]), (&["50.00", "0.00", "50.00"].map(String::from)[..], &[2, 2, 2][..]));
}

#[test]
fn people_are_pooled_and_separate() {
    let items = puzzle_group(0, false, 0);
    let mut answers = Vec::new();
    for (name, replies) in [("x", ["A", "A", "A"]), ("y", ["A", "B", "A"])] {
        for (item, reply) in items.iter().zip(replies) {
            let given =
                super::super::RawAnswer { person: true, ..raw_answer(task_of_name("solve"), name, reply) };
            answers.push(Answer::parse_raw(item, given));
        }
    }
    let report = report_of(&set_of_items("brainteaser", items), &answers);
    let all = values(&report, "sentence-puzzles");
    assert_eq!(all["people"].0, ["100.00", "50.00", "100.00", "50.00", "50.00", "83.33"]);
    assert_eq!(all["y"].0[4], "0.00");
    assert!(report.comparisons.is_empty(), "people are no models");
}

/// Two persons who both name two types are four answers to two items, of whichever figure.
#[test]
fn an_interval_counts_items_and_not_their_answers() {
    let kinds = flub_type_names();
    let items = vec![text_item(0, true, Some(kinds[0]), 0), text_item(1, true, Some(kinds[1]), 1)];
    let mut answers = Vec::new();
    for name in ["x", "y"] {
        for (at, item) in items.iter().enumerate() {
            for (of, reply) in [("select", ["A", "B"][at]), ("classify", kinds[at])] {
                let given =
                    super::super::RawAnswer { person: true, ..raw_answer(task_of_name(of), name, reply) };
                answers.push(Answer::parse_raw(item, given));
            }
        }
    }
    let report = report_of(&set_of_items("flub", items), &answers);
    let table = report.tables.iter().find(|table| table.name == "tasks").unwrap();
    let people = table.rows.iter().find(|row| name_of(row) == "people").unwrap();
    for cell in figures_of(people).take(2).flatten() {
        // The exact interval of two right of two.
        let [low, _] = cell.ends.unwrap();
        assert!(cell.value == 100.0 && cell.n == Some(4) && (low - 15.811).abs() < 0.01, "{cell:?}");
    }
    assert_eq!(figures_of(people).take(2).flatten().count(), 2);
}

#[test]
fn two_models_are_compared_where_both_answered() {
    let items: Vec<_> = (0..6).map(|at| text_item(at, true, None, 0)).collect();
    let mut answers = Vec::new();
    for (model, replies) in [("m", "AAAAB"), ("n", "BBBAA")] {
        for (item, reply) in items.iter().zip(replies.chars()) {
            answers.push(parsed_answer(item, task_of_name("select"), model, &reply.to_string()));
        }
    }
    let report = report_of(&set_of_items("flub", items), &answers);
    let [one] = &report.comparisons[..] else { panic!("{:?}", report.comparisons) };
    let mcnemar = one.mcnemar.unwrap();
    assert_eq!((one.n, mcnemar.only_first, mcnemar.only_second), (5, 3, 1));
    assert!((mcnemar.exact_p - 0.625).abs() < 1e-12);
    assert_eq!(one.difference.difference.value.round(), 40.0);
}

/// The figures of baselines (4,000 groups, 6,000 items).
#[test]
fn built_in_models_come_to_what_is_known() {
    let ask = |set: &Set| -> Vec<Answer> {
        let mut answers = Vec::new();
        for model in BuiltIn::ALL {
            for task in Task::of_config(&set.config).into_iter().filter(|task| task.is_choice()) {
                for item in set.items.iter().filter(|item| item.has_task(task)) {
                    let text = model.answer_item(item, task, Setting::default(), 1, 0).unwrap();
                    answers.push(parsed_answer(item, task, model.name(), &text));
                }
            }
        }
        answers
    };
    let kinds = flub_type_names();
    let sets = [
        set_of_items("ruozhibench-mc", (0..6000).map(|at| pair_item(at, &["Others"])).collect()),
        set_of_items(
            "flub",
            (0..6000).map(|at| text_item(at, at % 3 == 0, Some(kinds[at % 8]), at % 4)).collect(),
        ),
        set_of_items("brainteaser", (0..4000).flat_map(|at| puzzle_group(at, at % 2 == 0, at % 4)).collect()),
    ];
    let mut checked = 0;
    for set in &sets {
        let report = report_of(set, &ask(set));
        let table = report.tables.iter().find(|table| table.name == "built-in").unwrap();
        for row in &table.rows {
            let [_, Cell::Figure(expected), Cell::Figure(measured)] = &row[..] else { panic!("{row:?}") };
            let away = (expected.value - measured.value).abs();
            // Four standard errors of a share of n, in percent, and of a difference of two.
            let allowed = if name_of(row).starts_with("first") {
                1e-9
            } else {
                800.0 / (measured.n.unwrap() as f64).sqrt() * 0.5
            };
            assert!(away <= allowed, "{}: {} for {}", name_of(row), measured.value, expected.value);
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked}");
}

/// A figure does not depend on the order of answers.
#[test]
fn order_leaves_no_trace() {
    let items: Vec<_> = (0..4).flat_map(|at| puzzle_group(at, false, at)).collect();
    let mut answers: Vec<Answer> =
        items.iter().map(|item| parsed_answer(item, task_of_name("solve"), "m", "A")).collect();
    let set = set_of_items("brainteaser", items);
    let before = report_of(&set, &answers);
    answers.reverse();
    assert_eq!(before.tables, report_of(&set, &answers).tables);
}
