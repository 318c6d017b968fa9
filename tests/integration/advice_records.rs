//! What is advised mends, of replies, caps, people and files; and what an endpoint that is not used has nothing to do with.

use serde_json::Value;

use crate::advice::{Answer, Bench, Case, DRAFT, Told, mends, of_endpoint};
use crate::browser::{Browser, Server, coded};
use crate::generate::GEN;
use crate::harness::CallResult;

/// A screening that gives one key two values.
const TWICE: &str = r#"{"culture_bound": false, "culture_bound_reason": "No.", "harmful": false, "harmful": true, "harmful_reason": "No.", "trap_survives": true, "trap_survives_reason": "Yes."}"#;
/// Asks again for what failed for good.
const AGAIN: &str = "riddlemill run --recipe ruozhibench-gen --retry-failed";

/// An endpoint whose first replies, one for each of the three questions, are like this.
#[track_caller]
fn at_first(answer: Answer, says: &'static str, advises: &'static str) {
    let mut bench = Bench::new(answer);
    bench.set("draft", "max_reasks", "0");
    mends(Case { bench, args: &[], says, advises });
}

#[test]
fn replies_that_say_nothing_or_too_much() {
    let idea: Answer = |asked| if asked.before < 3 { Told::Text("no idea", "stop") } else { Told::Draft };
    at_first(idea, "the reply holds no JSON object with the keys", AGAIN);
    let twice: Answer = |asked| if asked.before < 3 { Told::Text(TWICE, "stop") } else { Told::Draft };
    at_first(twice, "the JSON object gives the key \"harmful\" two different values", AGAIN);
    let empty: Answer = |asked| if asked.before < 3 { Told::Text("", "stop") } else { Told::Draft };
    at_first(empty, "an empty answer from mine", AGAIN);
    let policy: Answer = |asked| match asked.before {
        0..3 => Told::Refused(400, "content policy", ""),
        _ => Told::Draft,
    };
    at_first(policy, "400 from mine (content policy)", "ask another model: set draft.endpoint");
    let busy: Answer = |asked| match asked.before {
        0..3 => Told::Refused(500, "overloaded", ""),
        _ => Told::Draft,
    };
    at_first(busy, "500 from mine (overloaded)", "riddlemill run");
}

#[test]
fn a_key_with_two_values_is_not_called_a_missing_object() {
    let mut bench = Bench::new(|_| Told::Text(TWICE, "stop"));
    bench.set("draft", "max_reasks", "0");
    bench.run(&[]);
    let told = bench.cause("two different values").unwrap()["words"].as_str().unwrap().to_owned();
    assert!(!told.contains("holds no JSON object"), "{told}");
}

#[test]
fn texts_that_one_model_refuses_and_answers_that_are_cut() {
    let filter: Answer = |asked| match asked.body["model"].as_str() {
        Some("right") => Told::Draft,
        _ => Told::Text("", "content_filter"),
    };
    of_endpoint(filter, &[], "its content filter blocked it", "ask another model: set ");
    let cut: Answer = |asked| match asked.body["max_tokens"].as_u64() {
        Some(most) if most > 4096 => Told::Draft,
        _ => Told::Text("{\"culture", "length"),
    };
    of_endpoint(cut, &[], "the answer was cut at 4096 tokens", "raise max_tokens_ceiling under [llm.mine]");
}

/// An endpoint that costs something.
fn paid() -> Bench {
    let mut bench = Bench::new(DRAFT);
    bench.take("llm.mine", "free");
    bench.set("llm.mine", "usd_per_million_in", "1000.0");
    bench.set("llm.mine", "usd_per_million_out", "1000.0");
    bench.agrees = true;
    bench
}

#[test]
fn caps_that_are_reached() {
    let mut bench = paid();
    bench.set("llm.mine", "max_usd", "0.001");
    mends(Case {
        bench,
        args: &[],
        says: "the cap of mine leaves too little",
        advises: "raise max_usd under [llm.mine]",
    });
    let mut bench = paid();
    bench.set("draft", "max_usd", "0.001");
    let says = "the cap of ruozhibench-gen leaves too little";
    mends(Case { bench, args: &[], says, advises: "raise draft.max_usd in pipeline.toml" });
    let args = &["--set", "run.max_usd=0.001"];
    mends(Case { bench: paid(), args, says: "the run's cap leaves too little", advises: "riddlemill run" });
}

/// A port without a listener.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn an_endpoint_that_is_not_used_is_not_blamed() {
    // Each is a word of what is said of the other one.
    for name in ["connection", "answer", "model"] {
        let mut bench = Bench::new(DRAFT);
        let port = closed_port();
        bench.set("llm.mine", "base_url", &format!("\"http://127.0.0.1:{port}/v1\""));
        bench.set(&format!("llm.{name}"), "base_url", "\"http://127.0.0.1:1/unused\"");
        bench.set(&format!("llm.{name}"), "model", "\"unused\"");
        bench.set(&format!("llm.{name}"), "free", "true");
        let met = bench.run(&[]).expect(3).err;
        let found = bench.cause("no connection to mine").unwrap();
        let advice = found["mend"].as_str().unwrap();
        let wanted = format!("check that http://127.0.0.1:{port}/v1 answers, the base_url of [llm.mine]");
        assert_eq!(advice, wanted, "{met}");
        assert!(!met.contains("unused") && !met.contains(&format!("[llm.{name}]")), "{met}");
        mends(Case { bench, args: &[], says: "no connection to mine", advises: "check that http" });
    }
}

#[test]
fn an_endpoint_that_is_left_alone_is_one_cause_of_everything() {
    let mut bench = Bench::new(|_| Told::Refused(401, "invalid api key", ""));
    bench.set("llm.mine", "retries", "{ max_attempts = 1, leave_after = 1 }");
    bench.set("llm.mine", "concurrency", "1");
    bench.run(&[]).expect(3);
    let of_screen: Vec<Value> =
        bench.causes().into_iter().filter(|cause| cause["stage"] == "screen").collect();
    assert_eq!(of_screen.len(), 1, "{of_screen:#?}");
    assert_eq!(of_screen[0]["records"], 3, "{of_screen:#?}");
}

#[test]
fn people_who_are_missing_or_may_not_vote() {
    let says = "who may vote on an item, there are 0";
    mends(Case { bench: Bench::new(DRAFT), args: &[], says, advises: "add [[annotator]]s to pipeline.toml" });
    let mut bench = Bench::new(DRAFT);
    ["a1", "a2", "a3"].iter().for_each(|name| bench.person(name, "annotator", ""));
    let says = "riddlemill review assign screen";
    mends(Case { bench, args: &[], says, advises: says });
    // Three are there, and none has passed a trial: `review assign` says so, and so does the advice.
    let unqualified = || {
        let mut bench = Bench::new(DRAFT);
        bench.recipe = "flub";
        bench.set("review", "optional", "[\"clean\"]");
        ["j1", "j2", "j3"].iter().for_each(|name| bench.person(name, "junior", ""));
        bench
    };
    let bench = unqualified();
    bench.run(&[]);
    let advice = bench.cause("and 0 may").unwrap()["mend"].as_str().unwrap().to_owned();
    let refused = bench.call(&["review", "assign", "type", "--recipe", "flub"]).err;
    for name in ["j1", "j2", "j3"] {
        let lacks =
            format!("{name}: no trial passed (`riddlemill review qualify type --recipe flub --gold FILE`;");
        assert!(advice.contains(&lacks) && refused.contains(&lacks), "{advice}\n{refused}");
    }
    assert!(!advice.contains("there are 0"), "{advice}");
    let advises = "mend what keeps [[annotator]]s from voting";
    mends(Case { bench: unqualified(), args: &[], says: "and 0 may; j1", advises });
}

#[test]
fn a_listed_term_waits_until_somebody_has_decided() {
    let mut bench = Bench::new(DRAFT);
    bench.ws.write("raw/terms.txt", "口渴\n");
    bench.person("me", "meta", "");
    bench.set("anonymise", "policy", "[\"raw/terms.txt\"]");
    bench.run(&[]);
    let says = "the text contains a listed term";
    let advice = bench.cause(says).unwrap()["mend"].as_str().unwrap().to_owned();
    assert!(
        advice.starts_with("riddlemill decide export --recipe ruozhibench-gen --stage anonymise"),
        "{advice}"
    );
    bench.follow(&advice);
    // The verdict is the sixth column.
    let held = bench.ws.read("held.csv");
    let mut lines = held.lines();
    let head = lines.next().unwrap().trim_start_matches('\u{feff}');
    let verdict = head.split(',').position(|name| name == "verdict").unwrap();
    let mut cells: Vec<&str> = lines.next().unwrap().split(',').collect();
    cells[verdict] = "keep";
    bench.ws.write("held.csv", format!("{head}\n{}\n", cells.join(",")));
    bench.call(&["decide", "import", "held.csv", "--by", "me", "--why", "harmless"]).expect(0);
    bench.run(&[]);
    assert!(bench.cause(says).is_none(), "{:#?}", bench.causes());
}

/// A case of a file of a source of this kind, which would be `whole` if it were whole.
#[track_caller]
fn of_file(
    kind: &str,
    bytes: &str,
    whole: &str,
    more: &[(&str, &str)],
    says: &'static str,
    advises: &'static str,
) {
    let mut bench = Bench::new(DRAFT);
    bench.file(kind, "own.json", bytes);
    bench.whole = whole.to_owned();
    more.iter().for_each(|(key, value)| bench.set("[source]", key, value));
    mends(Case { bench, args: &[], says, advises });
}

#[test]
fn files_that_are_not_read() {
    let record = "{\"content\": \"把月亮关掉，海水会不会失业？\"}";
    let whole = format!("{record}\n");
    let titles = Bench::new(DRAFT).whole;
    let content: (&str, &str) = ("fields", "{ content = \"content\" }");
    // Only here the kind is the cause.
    of_file(
        "leymore-annual",
        &titles,
        &titles,
        &[],
        "no row has the column `content`",
        "another kind; kind = \"table\"",
    );
    let misspelt = ("fields", "{ content = \"contnet\" }");
    of_file(
        "table",
        &whole,
        &whole,
        &[misspelt],
        "no row has the column `contnet`",
        "fields.content = \"content\"",
    );
    let lists = format!("{{\"a\": [{record}], \"b\": [{record}]}}");
    of_file("table", &lists, &lists, &[content], "2 lists of records", "name the one of the posts: at = ");
    let at = ("at", "\"/c\"");
    of_file(
        "table",
        &lists,
        &lists,
        &[content, at],
        "there is no list of records at /c",
        "name the one of the posts: at = ",
    );
    of_file("table", "", &whole, &[content], "own.json is empty", "was it downloaded or written to its end?");
    let cut = titles.trim_end_matches(']');
    of_file("leymore-titles", cut, &titles, &[], "the array is not closed", "get the file again");
    let long = format!("{{\"content\": \"{}\"}}\n{whole}", "把月亮关掉，".repeat(100_000));
    let mut bench = Bench::new(DRAFT);
    bench.file("table", "own.json", &long);
    bench.set("[source]", content.0, content.1);
    bench.set("import", "max_line_mib", "1");
    let says = "over the limit of import.max_line_mib";
    mends(Case { bench, args: &[], says, advises: "raise import.max_line_mib in pipeline.toml" });
}

#[test]
fn stages_of_earlier_versions_have_no_fields_and_are_still_told() {
    let mut bench = Bench::new(DRAFT);
    bench.set("llm.mine", "key_env", "\"ADVICE_KEY\"");
    bench.run(&[]);
    let recipe = format!("staged/{GEN}");
    let mut stages = std::fs::read_dir(bench.ws.path(&recipe)).unwrap().map(|entry| entry.unwrap().path());
    let is_screen = |name: &str| name.ends_with("_screen") && !name.contains("review");
    let stage = stages.find(|path| is_screen(&path.to_string_lossy())).unwrap();
    assert!(stage.join("causes").is_dir(), "fields are beside the ledger");
    std::fs::remove_dir_all(stage.join("causes")).unwrap();
    let manifest = stage.join("manifest.json");
    let mut described: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    described["tables"].as_object_mut().unwrap().remove("causes").unwrap();
    std::fs::write(&manifest, described.to_string()).unwrap();
    let told = bench.cause("ADVICE_KEY is not set").unwrap();
    let mend = format!("riddlemill run --recipe {GEN}");
    assert_eq!((&told["records"], &told["mend"]), (&3.into(), &mend.into()), "{told:#}");
}

#[test]
fn chinese_pages_say_in_chinese_which_votes_are_missing() {
    let mut bench = Bench::new(DRAFT);
    ["a1", "a2", "a3"].iter().for_each(|name| bench.person(name, "annotator", ""));
    let made: CallResult = bench.run(&[]);
    assert!([0, 3].contains(&made.code), "{}", made.err);
    let server = Server::start(&bench.ws, &[]);
    let mut chinese = Browser { cookies: vec![("lang".into(), "zh".into())] };
    for path in ["stage/review:screen", "record/tieba:1"] {
        let path = match path.split_once('/') {
            Some(("record", id)) => format!("/{GEN}/record/{}", coded(id)),
            _ => format!("/{GEN}/{path}"),
        };
        let page = chinese.get(&server, &path).body;
        assert!(page.contains("还需 3 票（投票）：annotator"), "{path}: {page}");
        assert!(!page.contains("first-round vote"), "{path}");
        assert!(server.get(&path).body.contains("3 first-round votes still needed from annotator"), "{path}");
    }
}
