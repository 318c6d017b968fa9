//! Sets with planted changes: these are reported, and nothing else is.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::*;

const TEXTS: [&str; 12] = [
    "雨伞会不会觉得自己总是在淋雨？",
    "电梯里的镜子照过那么多人，它记得谁？",
    "闹钟叫醒了我，谁叫醒闹钟？",
    "楼梯走了一天，怎么还在原地？",
    "冰箱里的灯关门以后还亮着吗？",
    "鱼在雨天会不会以为天空也是海？",
    "影子为什么从来不嫌我胖？",
    "门槛到底算不算门的一部分？",
    "井盖为什么偏要盖住那口井？",
    "秒针跑了一辈子，追上过时针吗？",
    "雪人夏天去哪里上班？",
    "路灯白天睡觉会不会做梦？",
];

const PUZZLES: [[&str; 3]; 4] = [
    [
        "What has a neck but no head and stands on the table?",
        "On the table stands something with a neck and no head. What?",
        "What wears a collar without having a throat in the laundry?",
    ],
    [
        "A man shaves all day and keeps his beard. Who is he?",
        "Who shaves from morning to evening and still has a beard?",
        "A woman cuts hair all week and her own grows long. Why?",
    ],
    [
        "Which room has neither doors nor windows nor walls?",
        "Neither walls nor windows nor doors: which room is it?",
        "Which bank has no money and no counter?",
    ],
    [
        "What gets wetter the more that it dries everything?",
        "Drying everything makes it wetter and wetter. What is it?",
        "What gets dirtier the more that it cleans the board?",
    ],
];

fn to_json_row(value: Json) -> JsonRow {
    value.as_object().cloned().unwrap()
}

fn flub_rows() -> Vec<JsonRow> {
    let kinds = ["歧义", "悖论", "推理错误"];
    let row = |(at, text): (usize, &&str)| {
        let wrong = |n: usize| format!("第{at}条的第{n}个错误解释。");
        let right = format!("第{at}条的解释。");
        to_json_row(json!({
            "id": format!("id{at}"), "text": text, "is_question": true, "type": kinds[at % 3], "explanation": right,
            "options": [wrong(1), right, wrong(2), wrong(3)], "answer": "B", "standing": "confirmed",
        }))
    };
    TEXTS.iter().enumerate().map(row).collect()
}

fn puzzle_rows() -> Vec<JsonRow> {
    let mut rows = Vec::new();
    for (at, group) in PUZZLES.iter().enumerate() {
        for (question, end) in group.iter().zip(["", "_SR", "_CR"]) {
            let answer = format!("Answer {at}{end}.");
            let choices =
                [format!("No {at}."), answer.clone(), format!("Not {at}."), "None of above.".into()];
            rows.push(to_json_row(json!({
                "id": format!("SP-{at}{end}"), "question": question, "answer": answer, "label": 1,
                "choice_list": choices, "choice_order": [1, 0, 2, 3],
            })));
        }
    }
    rows
}

fn compare_against(rows: &[JsonRow], reference: &[JsonRow]) -> Comparison {
    let types = layout::renamed_labels();
    let likeness = crate::config::Config::defaults().typed_settings(None, "dedup");
    compare(rows, reference, &types, &likeness, &crate::join::Unwatched)
}

/// Everything that a comparison reports, one word each.
fn reported_words(found: &Comparison) -> BTreeSet<String> {
    let near = found.near.iter().map(|near| format!("near {}", near.item));
    let missing = found.missing.iter().map(|missing| format!("missing {}", missing.item));
    let differing = found.differing.iter().map(|field| {
        format!("{} {} {}", if field.spelling { "spelt" } else { "other" }, field.item, field.column)
    });
    let extra = (0..found.extra).map(|n| format!("extra {n}"));
    near.chain(missing).chain(differing).chain(extra).collect()
}

/// Changes an item of a set, and lists what has to be reported.
type Change = (fn(&mut Vec<JsonRow>, usize), fn(usize) -> Vec<String>);

const CHANGES: [Change; 9] = [
    (|_, _| {}, |_| vec![]),
    // Another order of the options is reported as such and is not another answer.
    (
        |rows, at| {
            rows[at]["options"].as_array_mut().unwrap().swap(1, 3);
            rows[at]["answer"] = json!("D");
        },
        |_| vec![],
    ),
    (|rows, at| rows[at]["answer"] = json!("A"), |at| vec![format!("other id{at} answer")]),
    (
        |rows, at| rows[at]["options"][0] = json!("换了一个错误选项。"),
        |at| vec![format!("other id{at} options")],
    ),
    (|rows, at| rows[at]["type"] = json!("文字游戏"), |at| vec![format!("other id{at} type")]),
    // A published name for the same type.
    (
        |rows, at| {
            if rows[at]["type"] == "歧义" {
                rows[at]["type"] = json!("偷换词义/字义");
            }
        },
        |_| vec![],
    ),
    (
        |rows, at| rows[at]["explanation"] = json!(format!("第{at}条的 解释")),
        |at| vec![format!("spelt id{at} explanation")],
    ),
    (
        |rows, at| rows[at]["text"] = json!(rows[at]["text"].as_str().unwrap().replace('？', "呢？")),
        |at| vec![format!("near id{at}")],
    ),
    (|rows, at| rows[at]["is_question"] = json!(false), |at| vec![format!("other id{at} is_question")]),
];

#[test]
fn whatever_is_changed_in_a_text_is_reported_and_nothing_else() {
    let reference = flub_rows();
    // Every change on every item, and once all kinds in one set.
    let mut all = reference.clone();
    let mut expected = BTreeSet::new();
    for at in 0..reference.len() {
        for (change, report) in CHANGES {
            let mut rows = reference.clone();
            change(&mut rows, at);
            // Other ids, and another order.
            rows.iter_mut().enumerate().for_each(|(n, row)| row["id"] = json!(format!("own{n}")));
            rows.rotate_left(at);
            let found = compare_against(&rows, &reference);
            assert_eq!(reported_words(&found), report(at).into_iter().collect(), "{}", found.text());
        }
        let (change, report) = CHANGES[at % CHANGES.len()];
        change(&mut all, at);
        expected.extend(report(at));
    }
    let removed = all.pop().unwrap();
    expected.retain(|what| !what.contains("id11"));
    expected.insert("missing id11".into());
    all.push(to_json_row(
        json!({ "id": "x", "text": "新来的这一条谁也没有见过。", "type": removed["type"] }),
    ));
    expected.insert("extra 0".into());
    let found = compare_against(&all, &reference);
    assert_eq!(reported_words(&found), expected, "{}", found.text());
    let options = found.options.unwrap();
    assert_eq!((options.items, options.contents, options.order), (11, 10, 8));
    assert_eq!(options.right, 10);
    assert!(compare_against(&reference, &reference).is_perfect());
}

#[test]
fn puzzles_are_found_as_groups_however_their_variants_are_worded() {
    let reference = puzzle_rows();
    let renumbered = |mut rows: Vec<JsonRow>| {
        for row in &mut rows {
            let id = row["id"].as_str().unwrap().to_owned();
            row["id"] = json!(id.replace("SP-", "SP-9"));
        }
        rows.rotate_left(4);
        rows
    };
    let found = compare_against(&renumbered(reference.clone()), &reference);
    assert!(found.is_perfect(), "{}", found.text());
    let groups = found.groups.unwrap();
    assert_eq!((groups.reference, groups.whole, groups.part, groups.missing), (4, 4, 0, 0));
    assert!(found.labels.is_empty(), "neither places nor answers in words are labels");

    let mut rows = reference.clone();
    // Another context for the first, options in another order in the second, another answer in the third; the
    // fourth lacks its semantic reconstruction.
    rows[2]["question"] = json!("Which coat has sleeves for nobody in the wardrobe?");
    rows[3]["choice_list"].as_array_mut().unwrap().swap(0, 1);
    rows[3]["label"] = json!(0);
    rows[3]["choice_order"] = json!([0, 1, 2, 3]);
    rows[6]["label"] = json!(2);
    rows.remove(10);
    let found = compare_against(&renumbered(rows), &reference);
    let expected = ["near SP-0_CR", "other SP-2 label", "missing SP-3_SR"].map(str::to_owned);
    assert_eq!(reported_words(&found), expected.into(), "{}", found.text());
    assert_eq!(found.near[0].score, None, "{}", found.text());
    let groups = found.groups.unwrap();
    assert_eq!((groups.whole, groups.part, groups.missing), (3, 1, 0));
    assert!(found.text().contains("groups of 4: 3 found whole, 1 in part, 0 missing"));
    assert!(found.text().contains("near SP-0_CR (by its group)"));
}

/// With every category of a set changed to the same one, each label's figures show it.
#[test]
fn a_label_that_is_always_the_same_agrees_with_nothing() {
    let row = |at: usize, categories: Json| {
        to_json_row(
            json!({ "index": at, "question_zh": TEXTS[at], "categories": categories, "irrationality": "So." }),
        )
    };
    let reference: Vec<JsonRow> = (0..12).map(|at| row(at, json!([1 + at % 3, 4 + at % 2]))).collect();
    let ours: Vec<JsonRow> = (0..12).map(|at| row(at, json!([6]))).collect();
    let found = compare_against(&ours, &reference);
    assert_eq!(found.differing.len(), 12);
    let labels = &found.labels["categories"];
    assert_eq!((labels.items, labels.percent), (12, Some(0.0)));
    assert!(labels.by_label.iter().all(|label| label.both == 0 && label.kappa.is_none_or(|k| k <= 0.0)));
}

#[test]
fn a_page_shows_both_sides_and_no_markup_of_theirs() {
    let reference = flub_rows();
    let mut rows = flub_rows();
    rows[0]["text"] = json!("雨伞会不会觉得自己总是在淋雨呢？");
    rows[1]["explanation"] = json!("<script>alert(1)</script>");
    rows.pop();
    let page = compare_against(&rows, &reference).html("mine", "theirs").unwrap();
    for shown in [
        "雨伞会不会觉得自己总是在淋雨呢？",
        TEXTS[0],
        TEXTS[11],
        "&lt;script&gt;",
        "in no dump that was read",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("<script>"), "{page}");
}
