//! Small sets, one per aspect.

use super::*;

fn rows(rows: &[(&str, &str, &str)]) -> Vec<JsonRow> {
    let row = |(id, text, kind): &(&str, &str, &str)| {
        serde_json::json!({ "text": text, "type": kind, "id": id }).as_object().cloned().unwrap()
    };
    rows.iter().map(row).collect()
}

fn against(ours: &[JsonRow], reference: &[JsonRow]) -> Comparison {
    compare(
        ours,
        reference,
        &layout::renamed_labels(),
        &crate::config::Config::defaults().typed_settings(None, "dedup"),
        &crate::join::Unwatched,
    )
}

/// The predicates for Chinese posts would confuse riddles of a few letters.
#[test]
fn english_puzzles_are_near_by_their_words() {
    let reference = rows(&[
        ("1", "What has a neck and no head?", "x"),
        ("2", "What has teeth and cannot bite?", "x"),
        ("3", "A man walks into a bar and asks for water. Why?", "x"),
    ]);
    let ours = rows(&[
        ("a", "What has a neck, and no head", "x"),
        ("b", "What can run and never walks?", "x"),
        ("c", "What has hands but cannot clap?", "x"),
    ]);
    let found = against(&ours, &reference);
    let near: Vec<(&str, &str)> =
        found.near.iter().map(|near| (near.item.as_str(), near.text.as_str())).collect();
    assert_eq!(near, [("1", "What has a neck, and no head")]);
    assert_eq!((found.missing.len(), found.extra), (2, 2));
}

#[test]
fn planted_edits_and_nothing_else() {
    let reference = rows(&[
        ("1", "雨伞会不会觉得自己总是在淋雨？", "谐音"),
        ("2", "电梯里的镜子照过那么多人，它记得谁？", "歧义"),
        ("3", "闹钟叫醒了我，谁叫醒闹钟？", "推理错误"),
        ("4", "楼梯走了一天，怎么还在原地？", "推理错误"),
    ]);
    let ours = rows(&[
        ("a", "雨伞会不会觉得自己总是在淋雨？", "字音错误"),
        ("b", "电梯里的镜子照过那么多人，它记得谁", "歧义"),
        ("c", "闹钟叫醒了我，谁叫醒闹钟？", "文字游戏"),
        ("d", "冰箱的灯关门以后还亮着吗？", "文字游戏"),
    ]);
    let found = against(&ours, &reference);
    assert_eq!((found.exact, found.near.len(), found.missing.len(), found.extra), (2, 1, 1, 1));
    assert_eq!((found.near[0].item.as_str(), found.missing[0].item.as_str()), ("2", "4"));
    assert_eq!(
        found.differing.iter().map(|f| (f.item.as_str(), f.column.as_str())).collect::<Vec<_>>(),
        [("3", "type")]
    );
    assert!((found.labels["type"].percent.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert!(!found.is_perfect());
}

#[test]
fn another_order_is_no_other_answer_and_a_full_stop_no_other_text() {
    let row = |options: [&str; 4], answer: &str, explanation: &str, category: &str| {
        let [a, b, c, d] = options;
        let options = serde_json::json!({ "A": a, "B": b, "C": c, "D": d });
        let text = "闹钟叫醒了我，谁叫醒闹钟？";
        serde_json::json!({ "text": text, "options": options, "answer": answer, "explanation": explanation,
            "category": category })
        .as_object()
        .cloned()
        .unwrap()
    };
    let published = [row(["甲", "乙", "丙", "丁"], "C", "闹钟不睡觉。", "2(B), 3(C)")];
    let compared = |ours: JsonRow| {
        let found = against(&[ours], &published);
        let fields: Vec<(String, bool)> =
            found.differing.iter().map(|f| (f.column.clone(), f.spelling)).collect();
        (fields, found)
    };
    let (fields, found) = compared(row(["丙", "丁", "甲", "乙"], "A", "闹钟不睡觉。", "3(C), 2(B)"));
    let options = found.options.unwrap();
    assert!(fields.is_empty() && !found.labels.contains_key("answer"), "{fields:?}");
    assert_eq!((options.items, options.contents, options.right, options.order), (1, 1, 1, 0));
    assert!(found.text().contains("options of 1: 1 are equal, 1 with the same right answer, 0 in the same"));
    let (fields, _) = compared(row(["丙", "丁", "甲", "乙"], "C", "闹钟 不睡觉", "2(B), 3(C)"));
    assert_eq!(fields, [("answer".into(), false), ("explanation".into(), true)]);
    let (fields, found) = compared(row(["甲", "乙", "丙", "戊"], "C", "闹钟要睡觉。", "6(F)"));
    let want = ["options", "explanation", "category"].map(|column| (column.to_string(), false));
    assert_eq!(fields.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(want));
    assert_eq!(found.labels["category"].by_label.iter().map(|l| l.both).sum::<u64>(), 0);
}
