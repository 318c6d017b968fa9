use proptest::prelude::*;
use serde_json::json;

use super::*;

/// RuozhiBench's categories.
fn categories(reply: &str) -> Result<Vec<u8>, Unreadable> {
    parse_numbers(reply, 3, 1..=6, "2 6 3")
}

#[test]
fn the_authors_take_the_first_tag_wherever_it_is() {
    let allowed = ["AnswerA", "AnswerB"];
    let reply = "I take <choice> AnswerB </choice> here.\nOr <choice>AnswerA</choice>, in the end.";
    assert_eq!(choice_within(reply, &allowed), Ok("AnswerB"));
    assert!(parse_choice(reply, &allowed).is_err(), "the program's own form wants it alone on the last line");
    for none in
        ["<choice>answera</choice>", "<choice>AnswerA or AnswerB</choice>", "AnswerA", "<choice>AnswerA"]
    {
        assert!(choice_within(none, &allowed).is_err(), "{none}");
    }
}

#[test]
fn objects_are_found_in_every_wrapping() {
    for reply in [
        r#"{"rating": 2, "explanation": "x"}"#,
        "```json\n{\"rating\": 2, \"explanation\": \"x\"}\n```",
        "Sure! Here is my rating:\n{\"rating\": 2, \"explanation\": \"x\"}\nI hope {this} helps.",
        r#"{"rating": 2, "explanation": "x",}"#,
        "{'rating': 2, 'explanation': 'x'}",
        "{rating: 2, explanation: \"x\"} // done",
        "Let {x} be set. {\"rating\": 2, \"explanation\": \"x\"}",
        "{\"rating\": 2, \"explanation\": \"x\"}\n\n{\"rating\": 2, \"explanation\": \"x\"}",
        "{\"note\": 1}\n{\"rating\": 2, \"explanation\": \"x\"}",
    ] {
        let map = parse_object(reply, &["rating", "explanation"])
            .unwrap_or_else(|error| panic!("{reply}: {error}"));
        assert_eq!((map["rating"].as_f64(), &map["explanation"]), (Some(2.0), &json!("x")), "{reply}");
    }
    let map =
        parse_object(r#"{"explanation": "it's a } in \"quotes\" {", "rating": 1}"#, &["rating"]).unwrap();
    assert_eq!(map["explanation"], "it's a } in \"quotes\" {");
}

#[test]
fn two_different_objects_or_none_are_unreadable() {
    let error = |reply| parse_object(reply, &["rating"]).unwrap_err().to_string();
    assert!(error("{\"rating\": 1} or {\"rating\": 2}").contains("two different"));
    assert!(error("{\"score\": 1}").contains("must have the keys \"rating\""));
    assert!(error("four").contains("no JSON object"));
    let twice = |reply| parse_object(reply, &["rating"]).unwrap_err();
    for reply in ["{\"rating\": 1, \"rating\": 2}", "Here: {\"a\": 1, \"rating\": 1, \"rating\": 2} so."] {
        assert_eq!(twice(reply).to_string(), "the JSON object gives the key \"rating\" two different values");
        let before = twice(reply).as_before().unwrap();
        assert_eq!(before.to_string(), "the reply holds no JSON object with the keys \"rating\"");
    }
    assert_eq!(twice("four").as_before(), None);
    assert!(error(&"{\"a\":".repeat(100_000)).contains("no JSON object"));
}

/// A screening, as its prompt asks for it.
const SCREEN: [&str; 6] = [
    "culture_bound",
    "culture_bound_reason",
    "harmful",
    "harmful_reason",
    "trap_survives",
    "trap_survives_reason",
];
const SCREENED: &str = r#"{"culture_bound": false, "culture_bound_reason": "It works anywhere.", "harmful": false, "harmful_reason": "Nothing harmful.", "trap_survives": true, "trap_survives_reason": "The false premise stays."}"#;

#[test]
fn slips_that_leave_no_doubt_are_read() {
    let whole = parse_object(SCREENED, &SCREEN).unwrap();
    let mut open = false;
    let curly: String = SCREENED
        .chars()
        .map(|c| match c {
            '"' => {
                open = !open;
                if open { '“' } else { '”' }
            }
            c => c,
        })
        .collect();
    for reply in [
        curly.clone(),
        format!("Here:\n```json\n{curly}\n```\nDone."),
        SCREENED.replace("anywhere.\"", "anywhere.”"),
        SCREENED.replace(',', "，").replace(':', "："),
        SCREENED.replace("\"harmful\":", "\"harmful\"："),
        SCREENED.trim_end_matches('}').to_owned(),
        format!("```json\n{}\n```", SCREENED.trim_end_matches('}')),
        SCREENED.replace(", \"", "\n\""),
        format!("\u{feff}{SCREENED}"),
        format!("[{SCREENED}]"),
        format!("{{\"properties\": {SCREENED}, \"type\": \"object\"}}"),
        SCREENED.replace("harmful.", "harm\u{200b}ful.\\u0007"),
    ] {
        assert_eq!(parse_object(&reply, &SCREEN).as_ref(), Ok(&whole), "{reply}");
    }
    for (from, to, read) in [
        ("Nothing harmful.", "Nothing\nharmful.", "Nothing\nharmful."),
        ("Nothing harmful.", "Nothing \"harmful\", really.", "Nothing \"harmful\", really."),
        ("Nothing harmful.", "\"Nothing\" at all", "\"Nothing\" at all"),
        ("Nothing harmful.", "Nothing\\ud83d", "Nothing\u{fffd}"),
        ("Nothing harmful.", "Nothing \\harmful\\_ here.", "Nothing harmful_ here."),
        ("Nothing harmful.", "Nothing\tharmful.", "Nothing\tharmful."),
    ] {
        let reply = SCREENED.replace(from, to);
        let map = parse_object(&reply, &SCREEN).unwrap_or_else(|error| panic!("{reply}: {error}"));
        assert_eq!((&map["harmful_reason"], &map["trap_survives"]), (&json!(read), &json!(true)), "{reply}");
    }
}

#[test]
fn slips_that_leave_doubt_are_not_read() {
    let other = SCREENED.replace("false", "true");
    for reply in [
        SCREENED.replace("{", "{\"harmful\": true, "),
        format!("{SCREENED}\nOn reflection:\n{other}"),
        format!("{{\"draft\": {SCREENED}, \"answer\": {other}}}"),
        SCREENED[..SCREENED.len() - 9].to_owned(),
        format!("{} and so on", SCREENED.trim_end_matches('}')),
    ] {
        assert!(parse_object(&reply, &SCREEN).is_err(), "{reply}");
    }
    assert!(parse_object("{\"a\": [\"x \"y\" z\", “b”]}", &["a"]).is_err());
}

#[test]
fn a_cut_reply_is_whole_if_its_object_is_closed_at_the_end() {
    for (reply, is_whole) in [
        (SCREENED.to_owned(), true),
        (format!("Here you go:\n```json\n{SCREENED}\n```\n"), true),
        (format!("[{SCREENED}]"), true),
        (format!("I would start with {SCREENED} but on reflection"), false),
        (SCREENED.trim_end_matches('}').to_owned(), false),
        (format!("{{\"answer\": {SCREENED}"), false),
        (format!("{SCREENED}\n{{\"culture_bound\": tr"), false),
        ("The answer is A.".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(ends_with_object(&reply), is_whole, "{reply}");
    }
}

#[test]
fn fields_are_read_or_refused() {
    let map = parse_object(
        r#"{"a": " x ", "b": null, "c": "none", "d": "Yes", "e": false, "f": ["1", "2"], "g": 5}"#,
        &[],
    )
    .unwrap();
    assert_eq!(text_field(&map, "a").unwrap(), "x");
    assert!(
        text_field(&map, "b").is_err() && text_field(&map, "g").is_err() && text_field(&map, "z").is_err()
    );
    assert_eq!(optional_text(&map, "a").unwrap(), Some("x"));
    assert_eq!((optional_text(&map, "b").unwrap(), optional_text(&map, "c").unwrap()), (None, None));
    assert!(optional_text(&map, "g").is_err());
    assert_eq!((parse_flag(&map, "d").unwrap(), parse_flag(&map, "e").unwrap()), (true, false));
    assert!(parse_flag(&map, "a").is_err());
    assert_eq!(parse_strings(&map, "f", 2).unwrap(), ["1", "2"]);
    assert!(parse_strings(&map, "f", 3).is_err() && parse_strings(&map, "a", 1).is_err());
}

#[test]
fn ratings_are_exact() {
    for (value, expected) in [
        ("2", Some(2)),
        ("[2]", Some(2)),
        ("2.0", Some(2)),
        ("\"2\"", Some(2)),
        ("\"２\"", Some(2)),
        ("\"2/4\"", Some(2)),
        ("0", Some(0)),
        ("4", Some(4)),
        ("5", None),
        ("-1", None),
        ("2.5", None),
        ("[2, 3]", None),
        ("[]", None),
        ("null", None),
        ("\"two\"", None),
        ("\"2/5\"", None),
        ("true", None),
    ] {
        assert_eq!(
            parse_rating(&format!("{{\"rating\": {value}, \"explanation\": \"\"}}"), 0..=4).ok(),
            expected,
            "{value}"
        );
    }
    assert!(parse_rating("", 0..=4).is_err());
}

#[test]
fn bracketed_ratings_are_the_last_ones() {
    for (reply, expected) in [
        ("Rating: [[5]]", Some(5)),
        ("The form is [[5]]. My rating: [[ 8 ]].", Some(8)),
        ("评分：［［７］］", Some(7)),
        ("评分：【【7】】", Some(7)),
        ("[[10]]", Some(10)),
        ("[[8]] (see [[rating]])", Some(8)),
        ("[[11]]", None),
        ("[[0]]", None),
        ("[5]", None),
        ("Rating: 5", None),
        ("[[7.5]]", None),
    ] {
        assert_eq!(parse_bracketed_rating(reply, 1..=10).ok(), expected, "{reply}");
    }
}

#[test]
fn choices_are_on_the_last_line() {
    let allowed = ["AnswerA", "AnswerB"];
    for (reply, expected) in [
        ("<choice>AnswerA</choice>", Some("AnswerA")),
        ("Because…\n\n<choice>AnswerB</choice>\n\n", Some("AnswerB")),
        ("<choice>AnswerA</choice>\n<choice>AnswerB</choice>", Some("AnswerB")),
        ("<choice> Answer B </choice>", Some("AnswerB")),
        ("**<CHOICE>answera</CHOICE>**", Some("AnswerA")),
        ("```\n<choice>AnswerA</choice>\n```", Some("AnswerA")),
        ("<choice>AnswerA</choice> is better", None),
        ("AnswerA", None),
        ("<choice>A</choice>", None),
        ("<choice>AnswerA</choice>\nI am sure.", None),
        ("<choice></choice>", None),
        ("", None),
    ] {
        assert_eq!(parse_choice(reply, &allowed).ok(), expected, "{reply}");
    }
}

#[test]
fn letters_are_read_with_their_trimmings() {
    let letters = ['A', 'B', 'C', 'D'];
    for (reply, expected) in [
        ("B", Some('B')),
        ("b", Some('B')),
        ("Ｂ", Some('B')),
        ("(B)", Some('B')),
        ("B. 因为", Some('B')),
        ("答案：C", Some('C')),
        ("分析: A 不对，B 也不对。\n答案: D", Some('D')),
        ("**答案**: D", Some('D')),
        ("Answer: B", Some('B')),
        ("选 C", Some('C')),
        ("B，因为 A 没有说明", Some('B')),
        ("A or B", None),
        ("A、B", None),
        ("E", None),
        ("Apples", None),
        ("A question like this has no answer", None),
        ("可能是 A，也可能是 B", None),
        ("", None),
        // What is denied is no answer, and what is left beside it is one.
        ("The answer is not A.", None),
        ("It isn’t option A.", None),
        ("It cannot be the answer A", None),
        ("不选A", None),
        ("A不对", None),
        ("A is wrong.", None),
        ("Neither A nor B", None),
        ("除了A都不对", None),
        ("Anything but A.", None),
        ("A? No, B? Perhaps.", None),
        ("A? No, B.", Some('B')),
        ("A - no. B - no. C - yes. D - no.", Some('C')),
        ("The correct answer is option C, not A.", Some('C')),
        ("A不对，B不对，D不对，所以选C", Some('C')),
        ("A, B and D are wrong. C", Some('C')),
        ("It is B rather than A or C.", Some('B')),
        ("选C不选A", Some('C')),
        ("排除A、B和D，选 C", Some('C')),
        // The text of an option may deny something itself.
        ("A 不是所有的鱼都会游泳", Some('A')),
        ("A. Not every fish swims", Some('A')),
        ("B: 错误地把比喻当真", Some('B')),
    ] {
        assert_eq!(parse_letter(reply, &letters).ok(), expected, "{reply}");
    }
}

#[test]
fn names_are_read_alone_or_in_a_sentence() {
    let names = ["推理错误", "歧义", "文字游戏"];
    assert_eq!(one_of("歧义。", &names).unwrap(), "歧义");
    assert_eq!(one_of("我认为是“文字游戏”。", &names).unwrap(), "文字游戏");
    assert!(one_of("歧义或文字游戏", &names).is_err());
    assert!(one_of("悖论", &names).is_err());
    assert!(one_of("这不是歧义", &names).is_err());
    assert_eq!(one_of("不是歧义，而是文字游戏", &names).unwrap(), "文字游戏");
    assert!(one_of("除了歧义都可以", &names).is_err());
    assert_eq!(text_after_label("解释: 一\n理由：二\n分类：歧义", &["分类"]), Some("歧义"));
    assert_eq!(text_after_label("分类是歧义", &["分类"]), None);
}

#[test]
fn categories_are_three_different_numbers() {
    for (reply, expected) in [
        ("2 6 3", Some([2, 6, 3])),
        (" 2 6 3\n", Some([2, 6, 3])),
        ("2, 6, 3", Some([2, 6, 3])),
        ("２ ６ ３", Some([2, 6, 3])),
        ("２，６，３", Some([2, 6, 3])),
        ("```\n2 6 3\n```", Some([2, 6, 3])),
        ("The categories, by priority:\n2 6 3", Some([2, 6, 3])),
        ("1. Logical error\n2 6 3", Some([2, 6, 3])),
        ("2\n6\n3", Some([2, 6, 3])),
        ("2 6 6", None),
        ("2 6", None),
        ("2 6 3 1", None),
        ("0 1 2", None),
        ("2 6 7", None),
        ("2 6 300", None),
        ("263", None),
        ("", None),
    ] {
        assert_eq!(categories(reply).ok(), expected.map(Vec::from), "{reply}");
    }
}

#[test]
fn plain_words_lose_their_wrapping() {
    let labels = ["Irrationality Analysis"];
    for (reply, expected) in [
        ("  The fan is not muted.  ", "The fan is not muted."),
        ("\"The fan is not muted.\"", "The fan is not muted."),
        ("Irrationality analysis: The fan is not muted.", "The fan is not muted."),
        ("```\nThe fan is not muted.\n```", "The fan is not muted."),
        ("“风扇”和“静音”", "“风扇”和“静音”"),
        ("\"One\" and \"two\"", "\"One\" and \"two\""),
    ] {
        assert_eq!(plain_text(reply, &labels).unwrap(), expected, "{reply}");
    }
    for reply in [
        "**Translation:** Ten.",
        "**Translation**: Ten.",
        "Sure! Here is the translation:\n\nTen.",
        "Here's the English translation:\n\n\"Ten.\"\n\n(Note: the pun is kept.)",
        "Ten.\n\n*Note: I kept the trap.*\n\nLet me know if you need more.",
        "好的，以下是译文：\nTen.",
        "Ten.\n\n（注：保留了双关。）",
    ] {
        assert_eq!(plain_text(reply, &["translation", "answer"]).unwrap(), "Ten.", "{reply}");
    }
    for text in [
        "Sure, why do clocks run:\nthey are late.",
        "Note: this sign is a note. Why?",
        "*Why* do clocks run?",
        "Here is the thing: why do clocks run?",
    ] {
        assert_eq!(plain_text(text, &["translation"]).unwrap(), text);
    }
    for nothing in ["N/A", "null", "\"null\""] {
        assert!(plain_text(nothing, &labels).is_err(), "{nothing}");
    }
    assert!(plain_text(" \n ", &labels).is_err());
    assert!(plain_text("\"\"", &labels).is_err());
}

#[test]
fn words_and_sentences_are_counted_as_people_do() {
    assert_eq!(count_words("The fan isn't muted - at all."), 6);
    assert_eq!(count_words("风扇 is 风扇"), 5);
    assert_eq!(count_words(""), 0);
    assert_eq!(count_sentences("It is 3.5 m. Really? Yes"), 3);
    assert_eq!(count_sentences("这是一句。这是第二句！"), 2);
    assert_eq!(count_sentences("……"), 0);
}

/// Runs every parser on one reply.
fn read_all(reply: &str) {
    let _ = parse_object(reply, &["rating"]);
    let _ = (ends_with_object(reply), without_halves(reply));
    let _ = parse_rating(reply, 0..=4);
    let _ = parse_bracketed_rating(reply, 1..=10);
    let _ = parse_choice(reply, &["AnswerA", "AnswerB"]);
    let _ = parse_letter(reply, &['A', 'B', 'C', 'D']);
    let _ = one_of(reply, &["歧义", "type"]);
    let _ = text_after_label(reply, &["答案", "answer"]);
    let _ = categories(reply);
    let _ = plain_text(reply, &["answer", "答案"]);
    let _ = (count_words(reply), count_sentences(reply));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_reply_like_text_panics(
        reply in r#"(\{|\}|\[|\]|“|”|，|：|\\ud83d|\\udc00|"|'|\\|:|,|rating|[0-9０-９]|```|\n|<choice>|</choice>|AnswerA|[AB答案：]|弱| ){0,80}"#,
    ) {
        read_all(&reply);
    }

    #[test]
    fn a_rating_survives_any_wrapping(value in 0..=4u32, before in "[a-z .\n]{0,40}", after in "[a-z .\n]{0,40}", list: bool, quote in "[\"']") {
        let value_text = if list { format!("[{value}]") } else { value.to_string() };
        let reply = format!("{before}{{{quote}rating{quote}: {value_text}, {quote}explanation{quote}: {quote}x{quote},}}{after}");
        prop_assert_eq!(parse_rating(&reply, 0..=4).unwrap(), value);
    }

    #[test]
    fn what_is_read_is_on_the_scale(reply in ".{0,60}") {
        if let Ok(value) = parse_rating(&reply, 0..=4) { prop_assert!(value <= 4); }
        if let Ok(value) = parse_bracketed_rating(&reply, 1..=10) { prop_assert!((1..=10).contains(&value)); }
        if let Ok(values) = categories(&reply) { prop_assert!(values.iter().all(|value| (1..=6).contains(value))); }
    }

    #[test]
    fn categories_read_what_was_written(a in 1..=6u8, b in 1..=6u8, c in 1..=6u8) {
        let read = categories(&format!("{a} {b} {c}"));
        prop_assert_eq!(read.ok(), (a != b && b != c && a != c).then_some(vec![a, b, c]));
    }
}

/// Regression: a reply with 40,000 opened lists behind comments that a scan took for quotes overflowed the
/// stack, in every run, since it was stored.
#[test]
fn no_nesting_overflows_whatever_hides_it() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for (before, after) in
            [("", ""), ("/*'*/", "/*'*/"), ("/*\"*/", "/*\"*/"), ("//'\n", "//'\n"), ("'{':1,", "")]
        {
            let deep = format!("{{{before}\"a\":{}1{}{after}}}", open.repeat(40_000), close.repeat(40_000));
            assert!(parse_object(&deep, &["a"]).is_err(), "{before} {open}");
        }
    }
    let as_deep_as_may_be = format!("{{/*'*/\"a\":{}1{}/*'*/}}", "[".repeat(31), "]".repeat(31));
    assert!(parse_object(&as_deep_as_may_be, &["a"]).is_ok());
}

#[test]
fn values_are_read_as_json_has_them() {
    let text = r#"{"a": [1, -2, 0.5, 18446744073709551615, 1e400, true, null, "x\u0041", {"b": {}}], "a": 1, "n": 12345678901234567890123}"#;
    let text = &text.replace(r#", "a": 1"#, "");
    let strict: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let own = parse_object(text, &["a"]).ok();
    assert_eq!(own.map(serde_json::Value::Object), strict.or_else(|| json5::from_str(text).ok()));
    let lenient = "{a: [1, -2, .5, 0x10, +3, 'x', Infinity,], b: {c: null,},}";
    let own = parse_object(lenient, &["a"]).map(serde_json::Value::Object).unwrap();
    assert_eq!(own, json5::from_str::<serde_json::Value>(lenient).unwrap());
}
