//! What is advised mends: for each cause that holds or fails a record, the advice of `status --json`, of `next:` and of `run`
//! is followed to the letter, and then the cause is gone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::generate::{GEN, reply_to};
use crate::harness::{CallResult, Workspace, title};

const QUESTIONS: [&str; 3] = ["为什么鱼不会口渴？", "雨伞会不会淋湿？", "云会恐高吗？"];
const KEY: &str = "sk-right-12345678";
/// What people let riddlemill do for the tests.
const TRUST: &str =
    "127.0.0.1,localhost,/,/bin/echo sk-wrong-12345678,/bin/echo sk-right-12345678,/bin/false";

/// A request as the server sees it.
pub struct Asked {
    path: String,
    key: String,
    pub body: Value,
    /// How many came before.
    pub before: u32,
    paid: bool,
}

/// What the server says.
pub enum Told {
    /// A sound draft.
    Draft,
    /// A text, and why it ends there.
    Text(&'static str, &'static str),
    /// A status, a message and a code.
    Refused(u16, &'static str, &'static str),
    /// A page.
    Page,
    /// Another address.
    Moved(&'static str),
}

pub type Answer = fn(&Asked) -> Told;

/// A server that answers as the function says; it ends with the process.
fn serve(answer: Answer, paid: Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = AtomicU32::new(0);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
            let (head, body) = loop {
                let n = stream.read(&mut buffer).unwrap_or(0);
                bytes.extend_from_slice(&buffer[..n]);
                let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
                    if n == 0 {
                        break (String::new(), Value::Null);
                    }
                    continue;
                };
                let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                let length = head.lines().filter_map(|line| line.split_once(": "));
                let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
                let length: usize = length.filter_map(|(_, value)| value.parse().ok()).next().unwrap_or(0);
                if n == 0 || bytes.len() >= end + 4 + length {
                    break (head, serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null));
                }
            };
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            if body.is_null() {
                let models = json!({ "object": "list", "data": [{ "id": "m" }, { "id": "right" }] });
                send(&mut stream, "200 OK", "", &models.to_string());
                continue;
            }
            let bearer = head.lines().find_map(|line| line.split_once("earer ").map(|(_, key)| key));
            let key = bearer.unwrap_or_default().trim().to_owned();
            let (before, paid) = (count.fetch_add(1, Ordering::Relaxed), paid.load(Ordering::Relaxed));
            let asked = Asked { path, key, body, before, paid };
            let text = |text: &str, end: &str| {
                json!({
                    "id": "1", "object": "chat.completion", "model": "m",
                    "choices": [{ "index": 0, "finish_reason": end, "message": { "role": "assistant", "content": text } }],
                    "usage": { "prompt_tokens": 100, "completion_tokens": 20 },
                })
                .to_string()
            };
            match answer(&asked) {
                Told::Draft => {
                    let messages = asked.body["messages"].as_array().cloned().unwrap_or_default();
                    let prompt: String = messages.iter().filter_map(|m| m["content"].as_str()).collect();
                    send(&mut stream, "200 OK", "", &text(&reply_to(&prompt).1, "stop"));
                }
                Told::Text(reply, end) => send(&mut stream, "200 OK", "", &text(reply, end)),
                Told::Refused(status, message, code) => {
                    let body = json!({ "error": { "message": message, "code": code } }).to_string();
                    send(&mut stream, &format!("{status} Refused"), "", &body);
                }
                Told::Page => {
                    send(&mut stream, "200 OK", "content-type: text/html\r\n", "<html>Log in</html>")
                }
                Told::Moved(path) => {
                    let to = format!("location: http://127.0.0.1:{port}{path}\r\n");
                    send(&mut stream, "308 Moved", &to, "");
                }
            }
        }
    });
    port
}

fn send(stream: &mut std::net::TcpStream, status: &str, more: &str, body: &str) {
    let kind = if more.contains("content-type") { "" } else { "content-type: application/json\r\n" };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\n{kind}{more}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

/// Somebody who does what is advised, and nothing else.
pub struct Bench {
    pub ws: Workspace,
    pub recipe: &'static str,
    /// The tables of pipeline.toml by their names, each with the text of its values.
    tables: BTreeMap<String, BTreeMap<String, String>>,
    /// What stands behind them.
    people: String,
    pub env: BTreeMap<String, String>,
    pub port: u16,
    paid: Arc<AtomicBool>,
    /// The file as it would be if it were whole.
    pub whole: String,
    /// Whether they agree to what a run costs.
    pub agrees: bool,
}

impl Bench {
    /// A workspace with questions, and an endpoint `mine` that answers like this.
    pub fn new(answer: Answer) -> Bench {
        let paid = Arc::new(AtomicBool::new(false));
        let port = serve(answer, paid.clone());
        let rows: Vec<String> = (1..).zip(QUESTIONS).map(|(tid, text)| title(tid, text)).collect();
        let whole = format!("[{}]", rows.join(",\n"));
        let mut bench = Bench {
            ws: Workspace::with(""),
            recipe: GEN,
            tables: BTreeMap::new(),
            people: String::new(),
            env: BTreeMap::from([("RIDDLEMILL_TRUST".to_owned(), TRUST.to_owned())]),
            port,
            paid,
            whole: whole.clone(),
            agrees: false,
        };
        bench.file("leymore-titles", "own.json", &whole);
        bench.set("draft", "endpoint", "\"mine\"");
        bench.set("llm.mine", "model", "\"m\"");
        bench.set("llm.mine", "base_url", &format!("\"http://127.0.0.1:{port}/v1\""));
        bench.set("llm.mine", "free", "true");
        bench.set("llm.mine", "retries", "{ max_attempts = 1 }");
        bench
    }

    pub fn file(&mut self, kind: &str, name: &str, bytes: impl AsRef<[u8]>) {
        self.tables.remove("[source]");
        let path = format!("raw/dumps/{name}");
        self.ws.write(&path, bytes);
        for (key, value) in [("name", "own"), ("kind", kind), ("path", &path)] {
            self.set("[source]", key, &format!("{value:?}"));
        }
    }

    pub fn set(&mut self, table: &str, key: &str, value: &str) {
        self.tables.entry(table.to_owned()).or_default().insert(key.to_owned(), value.to_owned());
    }

    pub fn take(&mut self, table: &str, key: &str) {
        let removed = self.tables.get_mut(table).and_then(|table| table.remove(key));
        assert!(removed.is_some(), "{key} is not under {table}");
    }

    fn write(&self) {
        let mut text = String::new();
        for (name, values) in &self.tables {
            let _ = writeln!(text, "[{name}]");
            for (key, value) in values {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        self.ws.write("pipeline.toml", text + &self.people);
    }

    pub fn call(&self, args: &[&str]) -> CallResult {
        self.write();
        CallResult::from(self.ws.command(args).envs(&self.env))
    }

    pub fn run(&self, more: &[&str]) -> CallResult {
        let agrees: &[&str] = if self.agrees { &["--yes"] } else { &[] };
        self.call(&[&["run", "--recipe", self.recipe], agrees, more].concat())
    }

    /// Everything that `status` says keeps records back.
    pub fn causes(&self) -> Vec<Value> {
        let result = self.call(&["status", "--recipe", self.recipe, "--json"]).expect(0);
        let rows: Vec<Value> = serde_json::from_str(&result.out).unwrap();
        rows.iter().filter_map(|row| row["causes"].as_array()).flatten().cloned().collect()
    }

    /// The cause that says this.
    pub fn cause(&self, says: &str) -> Option<Value> {
        self.causes().into_iter().find(|cause| cause["words"].as_str().unwrap().contains(says))
    }

    fn command(&self, command: &str) {
        let args: Vec<&str> = command.split_whitespace().skip(1).collect();
        let result = self.call(&args);
        assert!([0, 3].contains(&result.code), "{command}: {} {}", result.out, result.err);
    }

    /// Does what is advised.
    pub fn follow(&mut self, advice: &str) {
        let between = |before: &str, after: &str| {
            advice.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).map(str::to_owned)
        };
        let under = |verb: &str| {
            let rest = advice.strip_prefix(verb)?.strip_suffix("] in pipeline.toml")?;
            let (setting, name) = rest.split_once(" under [")?;
            Some((setting.trim_end_matches(',').to_owned(), name.to_owned()))
        };
        let right = format!("\"http://127.0.0.1:{}/v1\"", self.port);
        if advice == format!("riddlemill run --recipe {}", self.recipe) {
            // With the agreement that a person at a terminal gives.
            self.run(&[]);
        } else if advice.starts_with("riddlemill ") {
            self.command(advice);
        } else if let Some(variable) = between("export ", "=…").or(between("check the key in ", "")) {
            self.env.insert(variable, KEY.into());
        } else if advice.starts_with("name the key's variable as key_env under [llm.mine]") {
            self.set("llm.mine", "key_env", "\"MINE_KEY\"");
            self.env.insert("MINE_KEY".into(), KEY.into());
        } else if advice.starts_with("check what the key_command")
            || advice.starts_with("run the key_command")
        {
            self.set("llm.mine", "key_command", &format!("[\"/bin/echo\", \"{KEY}\"]"));
        } else if let Some((setting, table)) = under("set ") {
            let (key, value) = match setting.split_once(" = ") {
                Some(("usd_per_million_in and usd_per_million_out, or free", value)) => ("free", value),
                Some(other) => other,
                None => panic!("{advice}"),
            };
            self.set(&table, key, value);
        } else if let Some((setting, table)) = under("take ") {
            self.take(&table, setting.strip_suffix(" out").unwrap());
        } else if let Some((setting, table)) = under("raise ") {
            self.set(&table, &setting, if setting == "max_usd" { "1000.0" } else { "100_000" });
        } else if let Some((setting, table)) = under("lower ") {
            self.set(&table, &setting, "1000");
        } else if let Some(setting) = between("raise ", " in pipeline.toml") {
            let (table, key) = setting.rsplit_once('.').unwrap();
            self.set(table, key, if key == "max_usd" { "1000.0" } else { "64" });
        } else if advice.starts_with("check base_url") || advice.starts_with("check that http") {
            self.set("llm.mine", "base_url", &right);
        } else if advice == "pay for mine" {
            self.paid.store(true, Ordering::Relaxed);
        } else if let Some(setting) = between("name an [llm.<name>] of yours as ", " in pipeline.toml") {
            let (table, key) = setting.rsplit_once('.').unwrap();
            self.set(table, key, if key == "endpoint" { "\"mine\"" } else { "[\"mine\"]" });
        } else if let Some(told) = between("ask another model: set ", "") {
            let (setting, command) = told.split_once(" in pipeline.toml, then ").unwrap();
            let (table, key) = setting.rsplit_once('.').unwrap();
            let mut other = self.tables["llm.mine"].clone();
            other.insert("model".into(), "\"right\"".into());
            self.tables.insert("llm.other".into(), other);
            self.set(table, key, "\"other\"");
            self.command(command);
        } else if advice.starts_with("get the file again") || advice.starts_with("was it downloaded") {
            let path = self.tables["[source]"]["path"].trim_matches('"').to_owned();
            self.ws.write(&path, &self.whole);
        } else if let Some(at) = advice.split_once("at = ") {
            self.set("[source]", "at", at.1.split(" or ").next().unwrap());
        } else if let Some(column) = between("fields.content = ", "") {
            self.set("[source]", "fields", &format!("{{ content = {column} }}"));
        } else if let Some(fields) =
            between("another kind; kind = \"table\" reads any columns, with fields = ", "")
        {
            self.set("[source]", "kind", "\"table\"");
            self.set("[source]", "fields", &fields);
        } else if advice.starts_with("add [[annotator]]s to pipeline.toml") {
            for name in ["a1", "a2", "a3"] {
                self.person(name, "annotator", "");
                self.person(&format!("j{name}"), "junior", "qualified = true\n");
            }
        } else if advice.starts_with("mend what keeps [[annotator]]s from voting") {
            assert!(advice.contains("or qualified = true"), "{advice}");
            self.people = self.people.replace("role = \"junior\"\n", "role = \"junior\"\nqualified = true\n");
        } else {
            panic!("nobody knows how to do: {advice}");
        }
    }

    pub fn person(&mut self, name: &str, role: &str, more: &str) {
        let languages = "languages = [\"zh\", \"en\"]";
        let _ = write!(self.people, "[[annotator]]\nname = {name:?}\nrole = {role:?}\n{more}{languages}\n");
    }
}

/// A cause, how it comes about, and what has to be said of it.
pub struct Case {
    pub bench: Bench,
    /// More flags of the run that meets it.
    pub args: &'static [&'static str],
    pub says: &'static str,
    pub advises: &'static str,
}

/// Meets the cause, follows the advice, and looks whether it is gone.
#[track_caller]
pub fn mends(case: Case) {
    let Case { mut bench, args, says, advises } = case;
    let met = bench.run(args);
    let found =
        bench.cause(says).unwrap_or_else(|| panic!("{says:?} is not in {:#?}\n{}", bench.causes(), met.err));
    let advice = found["mend"].as_str().unwrap_or_default().to_owned();
    assert!(advice.starts_with(advises), "{says}: {advice:?} is advised, not {advises:?}");
    assert!(met.err.contains(advises), "`run` does not say so: {}", met.err);
    // No other advice is about another endpoint or the kind of a source.
    assert!(!advice.contains("check `kind`") && !advice.contains("[llm.connection]"), "{advice}");
    bench.follow(&advice);
    let again = bench.run(&[]);
    assert!([0, 3].contains(&again.code), "{advice}: {}", again.err);
    assert!(bench.cause(says).is_none(), "{advice:?} does not mend it: {:#?}\n{}", bench.causes(), again.err);
}

/// A case of an endpoint that answers like this, with these settings of it.
#[track_caller]
pub fn of_endpoint(answer: Answer, settings: &[(&str, &str)], says: &'static str, advises: &'static str) {
    let mut bench = Bench::new(answer);
    settings.iter().for_each(|(key, value)| bench.set("llm.mine", key, value));
    mends(Case { bench, args: &[], says, advises });
}

pub const DRAFT: Answer = |_| Told::Draft;

/// Sound drafts, unless a key is wrong.
const WITH_KEY: Answer =
    |asked| if asked.key == KEY { Told::Draft } else { Told::Refused(401, "invalid api key", "") };

#[test]
fn what_lacks_before_an_endpoint_can_be_asked() {
    of_endpoint(DRAFT, &[("key_env", "\"ADVICE_KEY\"")], "ADVICE_KEY is not set", "export ADVICE_KEY=…");
    of_endpoint(
        DRAFT,
        &[("headers", "{ x-team = \"ADVICE_TEAM\" }")],
        "ADVICE_TEAM is not set",
        "export ADVICE_TEAM=…",
    );
    let mut bench = Bench::new(DRAFT);
    bench.take("llm.mine", "free");
    bench.set("llm.mine", "usd_per_million_in", "1.0");
    mends(Case { bench, args: &[], says: "llm.mine has no prices", advises: "set usd_per_million_in and" });
    let mut bench = Bench::new(DRAFT);
    bench.take("draft", "endpoint");
    bench.set("draft", "optional", "[]");
    let says = "no endpoint to ask: draft.endpoint names none";
    mends(Case { bench, args: &[], says, advises: "name an [llm.<name>] of yours as draft.endpoint" });
    let bench = Bench::new(DRAFT);
    mends(Case { bench, args: &["--offline"], says: "the run was offline", advises: "riddlemill run" });
    let mut bench = Bench::new(DRAFT);
    bench.recipe = "chumor";
    bench.set("review", "optional", "[\"screen\", \"explanation\"]");
    let says = "no endpoint to ask: draft.opponents names none";
    mends(Case { bench, args: &[], says, advises: "name an [llm.<name>] of yours as draft.opponents" });
}

#[test]
fn nothing_is_sent_without_consent_and_the_message_says_how_to_give_it() {
    let mut bench = Bench::new(DRAFT);
    bench.env.insert("RIDDLEMILL_TRUST".into(), "/".into());
    let state = tempfile::tempdir().unwrap();
    bench.env.insert("RIDDLEMILL_STATE".into(), state.path().display().to_string());
    let refused = bench.run(&[]).expect(2).err;
    let command =
        refused.split('`').find(|part| part.starts_with("riddlemill trust add ")).unwrap().to_owned();
    bench.follow(&command);
    assert!([0, 3].contains(&bench.run(&[]).code));
    assert!(bench.causes().iter().all(|cause| cause["stage"] != "screen"), "{:#?}", bench.causes());
}

#[test]
fn keys_that_are_refused() {
    let mut bench = Bench::new(WITH_KEY);
    bench.set("llm.mine", "key_env", "\"MINE_KEY\"");
    bench.env.insert("MINE_KEY".into(), "sk-wrong-12345678".into());
    mends(Case { bench, args: &[], says: "401 from mine", advises: "check the key in MINE_KEY" });
    of_endpoint(WITH_KEY, &[], "401 from mine", "name the key's variable as key_env under [llm.mine]");
    let prints = [("key_command", "[\"/bin/echo\", \"sk-wrong-12345678\"]")];
    of_endpoint(WITH_KEY, &prints, "401 from mine", "check what the key_command of [llm.mine] prints");
    let fails = [("key_command", "[\"/bin/false\"]")];
    of_endpoint(WITH_KEY, &fails, "its key_command", "run the key_command of [llm.mine] by hand");
}

#[test]
fn addresses_models_and_accounts_that_are_refused() {
    let path: Answer = |asked| match asked.path.as_str() {
        "/v1/chat/completions" => Told::Draft,
        "/v0/chat/completions" => Told::Refused(404, "no such place", ""),
        "/page/chat/completions" => Told::Page,
        "/moved/chat/completions" => Told::Moved("/v1/chat/completions"),
        _ => Told::Refused(405, "not allowed here", ""),
    };
    for (at, says, advises) in [
        ("v0", "404 from mine", "check base_url and model of [llm.mine]"),
        ("page", "not an answer of this interface", "check base_url of [llm.mine]"),
        ("moved", "308 from mine", "set base_url = "),
        ("else", "405 from mine", "check base_url of [llm.mine]"),
    ] {
        let mut bench = Bench::new(path);
        let address = format!("\"http://127.0.0.1:{}/{at}\"", bench.port);
        bench.set("llm.mine", "base_url", &address);
        mends(Case { bench, args: &[], says, advises });
    }
    let model: Answer = |asked| match asked.body["model"].as_str() {
        Some("right") => Told::Draft,
        _ => Told::Refused(404, "The model does not exist", ""),
    };
    of_endpoint(model, &[("model", "\"rigth\"")], "404 from mine", "set model = \"right\" under [llm.mine]");
    let paid: Answer = |asked| if asked.paid { Told::Draft } else { Told::Refused(402, "no credit", "") };
    of_endpoint(paid, &[], "402 from mine", "pay for mine");
    // The key is right: only the account is empty.
    let quota: Answer =
        |asked| if asked.paid { Told::Draft } else { Told::Refused(403, "quota", "insufficient_quota") };
    of_endpoint(quota, &[], "403 from mine", "pay for mine");
}

#[test]
fn parameters_that_are_refused() {
    let none: Answer = |asked| match &asked.body {
        body if !body["top_k"].is_null() => Told::Refused(400, "Unrecognized argument: top_k", ""),
        body if !body["temperature"].is_null() => {
            Told::Refused(400, "Unsupported: 'temperature' is not it", "")
        }
        body if body["max_tokens"].as_u64().is_some_and(|most| most > 4000) => {
            Told::Refused(400, "max_tokens is too large: at most 4000", "")
        }
        _ => Told::Draft,
    };
    let few = ("sampling.max_tokens", "500");
    let top = [few, ("sampling.extra.top_k", "5")];
    of_endpoint(none, &top, "400 from mine", "take sampling.extra.top_k out under [llm.mine]");
    let warm = [few, ("sampling.temperature", "0.5")];
    of_endpoint(none, &warm, "400 from mine", "take sampling.temperature out under [llm.mine]");
    let many = [("sampling.max_tokens", "9000")];
    of_endpoint(none, &many, "400 from mine", "lower sampling.max_tokens under [llm.mine]");
    let named: Answer = |asked| match asked.body["max_tokens"].is_null() {
        true => Told::Draft,
        false => Told::Refused(400, "Unsupported parameter: 'max_tokens', use 'max_completion_tokens'", ""),
    };
    of_endpoint(named, &[], "400 from mine", "set limit_field = \"max_completion_tokens\" under [llm.mine]");
}
