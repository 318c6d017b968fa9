use super::*;
use crate::request::{Message, Role};
use crate::settings::Format;
use crate::settings::Sampling;
use proptest::prelude::*;
use serde_json::json;

fn request() -> Request {
    let messages = vec![Message::new(Role::User, "Why is the mute button loud?")];
    let sampling = Sampling { max_tokens: 50, seed: Some(7), ..Sampling::default() };
    let input = Input::Chat { messages, sampling, format: Format::JsonObject };
    Request { identity: "i".into(), model: "m".into(), input, sample: 2 }
}

fn received(status: u16, body: impl ToString) -> Received {
    Received { status, body: body.to_string(), ..Received::default() }
}

fn read_one(received: &Received) -> Result<Content, Fault> {
    parse_received(&request(), received, &ReplyMarks::default())
}

fn answer(usage: Value) -> Result<Content, Fault> {
    let body =
        json!({"choices": [{"message": {"content": "an answer"}, "finish_reason": "stop"}], "usage": usage});
    read_one(&received(200, body))
}

#[test]
fn a_usage_is_believed_where_it_can_be_true() {
    let usage = |usage| answer(usage).unwrap().usage;
    let fine = Usage { prompt_tokens: 9, completion_tokens: 3, ..Usage::default() };
    assert_eq!(usage(json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12})), Some(fine));
    assert_eq!(usage(json!({"prompt_tokens": 9, "completion_tokens": 3})), Some(fine));
    for wrong in [
        json!(null),
        json!({}),
        json!("12"),
        json!({"prompt_tokens": "9", "completion_tokens": 3}),
        json!({"prompt_tokens": -9, "completion_tokens": 3}),
        json!({"prompt_tokens": 9.5, "completion_tokens": 3}),
        json!({"prompt_tokens": 0, "completion_tokens": 0}),
        json!({"prompt_tokens": 1, "completion_tokens": 3}),
        json!({"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX, "total_tokens": 1}),
    ] {
        assert_eq!(usage(wrong.clone()), None, "{wrong}");
    }
}

#[test]
fn what_a_server_bills_beyond_the_limit_is_booked() {
    let usage = |usage| answer(usage).unwrap().usage.unwrap();
    let high = usage(json!({"prompt_tokens": 9000, "completion_tokens": 51}));
    assert_eq!((high.prompt_tokens, high.completion_tokens), (9000, 51));
    // Reasoning only in the total, within the answer, and not counted at all.
    let total = usage(json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 99}));
    assert_eq!((total.completion_tokens, total.reasoning_tokens), (90, 87));
    let with = json!({"prompt_tokens": 9, "completion_tokens": 40, "total_tokens": 49, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 30}});
    let with = usage(with);
    assert_eq!((with.completion_tokens, with.reasoning_tokens, with.cached_tokens), (40, 30, 4));
    let less = usage(json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 3}));
    assert_eq!((less.prompt_tokens, less.completion_tokens), (9, 3));
}

#[test]
fn a_cost_that_a_server_states_is_read() {
    let reserved = Usd::from_dollars(0.1);
    let all = |body: Value, cost_usd| stated_cost(&Received { cost_usd, ..received(200, body) }, reserved);
    let stated = |body: Value, cost_usd| all(body, cost_usd).cost;
    assert_eq!(stated(json!({"usage": {"cost": 0.5}}), None), Some(Usd::from_dollars(0.5)));
    assert_eq!(stated(json!({"usage": {"cost": 0.5}}), Some(2.0)), Some(Usd::from_dollars(2.0)));
    assert_eq!(stated(json!({"usage": {"cost": "free"}}), Some(-1.0)), None);
    for (body, header) in [
        (json!({"usage": {"cost": 1e7}}), None),
        (json!({}), Some(1e300)),
        (json!({}), Some(f64::NAN)),
        (json!({"usage": {"cost": -1}}), None),
    ] {
        assert_eq!(all(body, header), Stated { cost: None, unbelievable: true, miscounted: false });
    }
}

#[test]
fn reasoning_is_no_answer_wherever_it_comes() {
    let content = |message: Value| {
        let content = read_one(&received(200, json!({"choices": [{"message": message}]}))).unwrap();
        (content.text, content.reasoning)
    };
    let parted = ("5 2 3".to_owned(), "1 2 3?".to_owned());
    for message in [
        json!({"content": "<think>1 2 3?</think>5 2 3"}),
        json!({"content": "5 2 3", "reasoning_content": "1 2 3?"}),
        json!({"content": "5 2 3", "reasoning": "1 2 3?"}),
        json!({"content": "5 2 3", "reasoning": "1 2 3?", "reasoning_content": "1 2 3?"}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "1 2 3?"}]}, {"type": "text", "text": "5 2 3"}]}),
        json!({"content": [{"type": "reasoning", "text": "1 2 3?"}, {"text": "5 2 3"}]}),
    ] {
        assert_eq!(content(message.clone()), parted, "{message}");
    }
    let kind = |message: Value| {
        read_one(&received(200, json!({"choices": [{"message": message}]}))).unwrap_err().kind
    };
    assert_eq!(kind(json!({"content": "<think>1 2 3?</think>"})), Kind::OnlyReasoning);
    assert_eq!(kind(json!({"content": null, "reasoning": "1 2 3?"})), Kind::OnlyReasoning);
    let cut = json!({"choices": [{"message": {"content": "<think>1 2"}, "finish_reason": "length"}]});
    let cut = read_one(&received(200, cut)).unwrap();
    assert!(cut.truncated && cut.text.is_empty() && cut.reasoning == "1 2");
}

#[test]
fn statuses_and_quotas_are_distinguished() {
    let kind = |status, body: Value| read_one(&received(status, body)).unwrap_err().kind;
    assert_eq!(kind(429, json!({"error": {"code": "rate_limit_exceeded"}})), Kind::Status(429));
    assert_eq!(kind(429, json!({"error": {"code": "insufficient_quota"}})), Kind::QuotaExhausted(429));
    assert_eq!(kind(403, json!({"error": {"type": "insufficient_quota"}})), Kind::QuotaExhausted(403));
    assert_eq!(kind(402, json!("")), Kind::QuotaExhausted(402));
    assert_eq!(kind(302, json!("")), Kind::Status(302));
    assert_eq!(kind(200, json!({"error": {"code": 401}})), Kind::Status(401));
    assert!(matches!(kind(200, json!({"error": {"code": 503}})), Kind::Garbage(_)));
    assert!(matches!(kind(200, json!({"choices": []})), Kind::Garbage(_)));
    assert_eq!(kind(200, json!({"choices": [{"message": {"content": " \n"}}]})), Kind::Empty);
    assert_eq!(kind(200, json!({"choices": [{"message": {"content": null}}]})), Kind::Empty);
}

#[test]
fn lenient_forms_are_read() {
    let text =
        |message: Value| read_one(&received(200, json!({"choices": [{"message": message}]}))).unwrap().text;
    assert_eq!(
        text(json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})),
        "ab"
    );
    for (reason, is_cut) in [
        (json!("length"), true),
        (json!("MAX_TOKENS"), true),
        (json!({"type": "length"}), true),
        (json!("model_length"), true),
        (json!("stop"), false),
        (json!("eos"), false),
        (json!(null), false),
    ] {
        let body = json!({"choices": [{"message": {"content": "cut of"}, "finish_reason": reason}]});
        assert_eq!(read_one(&received(200, body)).unwrap().truncated, is_cut, "{reason}");
    }
}

#[test]
fn a_refusal_is_no_answer_in_any_form() {
    let kind = |choice: Value| read_one(&received(200, json!({"choices": [choice]}))).unwrap_err().kind;
    let refused = || Kind::Refused("I would rather not".into());
    for message in [
        json!({"content": null, "refusal": "I would rather not"}),
        json!({"content": "", "refusal": "I would rather not"}),
        json!({"content": "Half an", "refusal": "I would rather not"}),
        json!({"content": [{"type": "refusal", "refusal": "I would rather not"}]}),
    ] {
        assert_eq!(kind(json!({"message": message})), refused(), "{message}");
    }
    for reason in ["content_filter", "SAFETY", "sensitive", "refusal"] {
        let choice = json!({"message": {"content": "Half an ans"}, "finish_reason": reason});
        assert_eq!(kind(choice), Kind::Blocked, "{reason}");
    }
    let broken = kind(json!({"message": {"content": "Half an ans"}, "finish_reason": "error"}));
    assert!(matches!(&broken, Kind::Garbage(why) if why.contains("error")), "{broken:?}");
    let fine = json!({"choices": [{"message": {"content": "Ten.", "refusal": ""}}]});
    assert_eq!(read_one(&received(200, fine)).unwrap().text, "Ten.");
}

#[test]
fn bodies_are_read_as_dumps_are() {
    let whole = json!({"choices": [{"message": {"content": "Ten."}}]}).to_string();
    for body in [
        format!("\u{feff}{whole}"),
        whole.replace("Ten.", "Ten.\\ud83d").replace("\"choices\"", "\"logprobs\": NaN, \"choices\""),
        whole.replace("Ten.", "T\\u0007e\\u202en.\\u200b"),
    ] {
        let text = read_one(&received(200, &body)).unwrap().text;
        assert_eq!(text.trim_end_matches('\u{fffd}'), "Ten.", "{body}");
    }
    let page = Received {
        content_type: Some("text/html; charset=utf-8".into()),
        ..received(200, "<html><body>Login</body></html>")
    };
    let fault = read_one(&page).unwrap_err();
    assert_eq!(fault.kind, Kind::NotJson("text/html".into()));
    assert!(fault.of_endpoint());
}

#[test]
fn vectors_are_read() {
    let input = Input::Embedding { text: "t".into(), dimensions: None };
    let request = Request { input, ..request() };
    let body =
        json!({"data": [{"embedding": [0.5, -1.0]}], "usage": {"prompt_tokens": 1, "total_tokens": 1}});
    let content = parse_received(&request, &received(200, body), &ReplyMarks::default()).unwrap();
    assert_eq!(content.vector, Some(vec![0.5, -1.0]));
    assert_eq!(content.usage, Some(Usage { prompt_tokens: 1, ..Usage::default() }));
    let none = received(200, json!({"data": [{"embedding": []}]}));
    assert!(parse_received(&request, &none, &ReplyMarks::default()).is_err());
}

proptest! {
    #[test]
    fn no_body_panics(status in 100..600u16, body in ".*") {
        let _ = read_one(&received(status, body));
    }
}

#[test]
fn counts_that_no_request_can_have_are_noticed_in_every_form() {
    for body in [
        r#"{"usage":{"prompt_tokens":10,"completion_tokens":1000000000}}"#,
        r#"{"usage": {"prompt_tokens": -1, "completion_tokens": 5}}"#,
        r#"{"usage":{"total_tokens":1e300}}"#,
        r#"{"usageMetadata":{"candidatesTokenCount":100000001}}"#,
        r#"{"eval_count":5000000000,"done":true}"#,
    ] {
        assert!(is_miscounted(body), "{body}");
    }
    for body in [
        r#"{"usage":{"prompt_tokens":10,"completion_tokens":100000000}}"#,
        r#"{"usage":{"prompt_tokens":null,"completion_tokens_details":{"reasoning_tokens":0}}}"#,
        r#"{"content":"it says \"tokens\": 1000000000","usage":null}"#,
        "tokens\"",
    ] {
        assert!(!is_miscounted(body), "{body}");
    }
}
