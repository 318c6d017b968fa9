//! What a workspace from somebody else may do on this machine before a person said yes, and how they say it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::generate::GEN;
use crate::harness::{BINARY, CallResult, Site, Workspace};
use crate::support::Reply;

/// A stranger's server, which keeps what it was sent.
struct Stranger {
    site: Site,
    requests: Arc<AtomicUsize>,
    keys: Arc<Mutex<Vec<String>>>,
}

impl Stranger {
    fn start() -> Stranger {
        let (requests, keys) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, kept) = (requests.clone(), keys.clone());
        let site = Site::start(move |asked| {
            count.fetch_add(1, Ordering::SeqCst);
            kept.lock().unwrap().push(format!("{:?}", asked.headers));
            let body = r#"{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 400, "completion_tokens": 1}}"#;
            Reply::Plain(200, "Content-Type: application/json\r\n".into(), body.as_bytes().to_vec())
        });
        Stranger { site, requests, keys }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.site.server.port)
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    fn saw(&self, text: &str) -> bool {
        self.keys.lock().unwrap().iter().any(|headers| headers.contains(text))
    }
}

/// A machine: a place for what its user agreed to.
struct Machine {
    state: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        Machine { state: tempfile::tempdir().unwrap() }
    }

    /// The command on this machine, with nothing agreed to by the environment.
    fn command(&self, ws: &Workspace, args: &[&str]) -> Command {
        let mut command = ws.command(args);
        command.env("RIDDLEMILL_STATE", self.state.path()).env_remove("RIDDLEMILL_TRUST");
        command.env("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI-secret");
        command
    }

    fn call(&self, ws: &Workspace, args: &[&str]) -> CallResult {
        CallResult::from(&mut self.command(ws, args))
    }

    /// A workspace that `init` makes here.
    fn init(&self) -> Workspace {
        let ws = Workspace::folder();
        self.call(&ws, &["init"]).expect(0);
        ws
    }
}

/// Who makes a workspace here needs no yes for what stays on this machine. The other tests agree to everything by the environment,
/// which hid that rehearsals were refused their own workspace's raw/.
#[test]
fn a_workspace_made_here_needs_no_yes_for_what_stays_here() {
    let machine = Machine::new();
    let ws = machine.init();
    for (args, code) in [
        (&["run", "--offline"][..], 0),
        (&["estimate"], 0),
        (&["estimate", "--json"], 0),
        (&["status"], 0),
        (&["audit"], 0),
        (&["fsck"], 0),
        (&["release", "flub", "--draft", "--date", "2026-01-02"], 0),
        (&["verify", "output/flub/1.0.0-draft.1", "--raw"], 0),
    ] {
        let result = machine.call(&ws, args).expect(code);
        assert!(!result.err.contains("trust add"), "{args:?}: {}", result.err);
    }
}

/// The exit code after requests were sent: the stranger's answers cannot be read.
const ASKED: i32 = 3;

/// Settings of a stranger, for the drafts.
fn endpoint(stranger: &Stranger, more: &str) -> String {
    format!(
        "\n[llm.theirs]\nbase_url = \"{}/v1\"\nmodel = \"m\"\n{more}\nretries = {{ max_attempts = 1 }}\n",
        stranger.origin()
    )
}

const RUN: [&str; 6] = ["run", "--recipe", GEN, "--to", "screen", "--set"];

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    RUN.iter().copied().chain(["draft.endpoint=theirs"]).chain(more.iter().copied()).collect()
}

fn add(ws: &Workspace, text: &str) {
    ws.write("pipeline.toml", ws.read("pipeline.toml") + text);
}

#[test]
fn no_variable_goes_to_a_host_that_nobody_agreed_to() {
    let (machine, stranger) = (Machine::new(), Stranger::start());
    for more in [
        "free = true\nkey_env = \"AWS_SECRET_ACCESS_KEY\"",
        "free = true\nheaders = { x-team = \"AWS_SECRET_ACCESS_KEY\" }",
        "usd_per_million_in = 0.1\nusd_per_million_out = 0.1\nmax_usd = 1.0\nkey_env = \"AWS_SECRET_ACCESS_KEY\"",
    ] {
        // Also of a workspace that was made here: settings come with a pull.
        let ws = machine.init();
        add(&ws, &endpoint(&stranger, more));
        for flags in [&[][..], &["--yes"], &["--set", "run.max_usd=5"]] {
            let result = machine.call(&ws, &run(flags)).expect(2);
            let word = stranger.origin();
            assert!(
                result.err.contains("would send the value of AWS_SECRET_ACCESS_KEY to"),
                "{}",
                result.err
            );
            assert!(result.err.contains(&format!("--trust {word}")), "{}", result.err);
            assert!(result.err.contains("--yes does not cover it"), "{}", result.err);
        }
        // Nothing is needed offline.
        machine.call(&ws, &run(&["--offline"])).expect(0);
    }
    assert_eq!(stranger.requests(), 0, "nothing was sent");
}

#[test]
fn what_the_message_advises_mends_it_once_and_for_one_workspace() {
    let (machine, stranger) = (Machine::new(), Stranger::start());
    let key = "free = true\nkey_env = \"AWS_SECRET_ACCESS_KEY\"";
    let ws = machine.init();
    add(&ws, &endpoint(&stranger, key));
    // For one call.
    let word = stranger.origin();
    machine.call(&ws, &run(&["--trust", &word])).expect(ASKED);
    let sent = stranger.requests();
    assert!(sent > 0 && stranger.saw("wJalrXUtnFEMI-secret"));
    // By the environment, as in CI.
    let other = machine.init();
    add(&other, &endpoint(&stranger, key));
    machine.call(&other, &run(&[])).expect(2);
    let result = CallResult::from(machine.command(&other, &run(&[])).env("RIDDLEMILL_TRUST", "127.0.0.1"));
    result.expect(ASKED);
    assert!(stranger.requests() > sent);
    // From now on, and taken back.
    let third = machine.init();
    add(&third, &endpoint(&stranger, key));
    let listed = machine.call(&third, &["trust"]).expect(0).out;
    assert!(listed.contains("not agreed") && listed.contains("AWS_SECRET_ACCESS_KEY"), "{listed}");
    machine.call(&third, &["trust", "add", &word]).expect(0);
    let listed = machine.call(&third, &["trust", "list", "--json"]).expect(0).out;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["wants"][0]["agreed"], true, "{listed}");
    let before = stranger.requests();
    machine.call(&third, &run(&[])).expect(ASKED);
    assert!(stranger.requests() > before);
    // A copy of it, and another variable, are asked about again.
    let settings = third.read("pipeline.toml").replace("model = \"m\"", "model = \"n\"");
    third.write("pipeline.toml", &settings);
    let copy = third.copy();
    machine.call(&copy, &run(&[])).expect(2);
    third.write("pipeline.toml", settings.replace("AWS_SECRET_ACCESS_KEY", "PATH"));
    assert!(machine.call(&third, &run(&[])).expect(2).err.contains("the value of PATH"));
    third.write("pipeline.toml", &settings);
    machine.call(&third, &["trust", "withdraw", &word]).expect(0);
    machine.call(&third, &run(&["--yes"])).expect(2);
    assert_eq!(machine.call(&third, &["trust", "withdraw", &word]).code, 1);
    let wrong = machine.call(&third, &["trust", "add", "api.example.org"]).expect(2).err;
    assert!(wrong.contains(&word), "{wrong}");
}

#[test]
fn a_free_endpoint_is_agreed_to_like_any_other() {
    let (machine, stranger) = (Machine::new(), Stranger::start());
    let ws = machine.init();
    add(&ws, &endpoint(&stranger, "free = true"));
    let result = machine.call(&ws, &run(&[])).expect(2).err;
    assert!(result.contains("would send requests to") && result.contains("--yes agrees, too"), "{result}");
    assert_eq!(stranger.requests(), 0);
    machine.call(&ws, &run(&["--yes"])).expect(ASKED);
    assert!(stranger.requests() > 0);
    // A cap in the settings of somebody else is theirs, one on the command line is not.
    let clone = Workspace::folder();
    clone.write(
        "pipeline.toml",
        ws.read("pipeline.toml").replace(
            "\nfree = true",
            "\nusd_per_million_in = 0.001\nusd_per_million_out = 0.001\nmax_usd = 5.0",
        ),
    );
    let copied =
        Command::new("cp").arg("-r").arg(ws.path("raw/sample")).arg(clone.path("raw-sample")).status();
    assert!(copied.unwrap().success());
    fs::create_dir_all(clone.path("raw")).unwrap();
    fs::rename(clone.path("raw-sample"), clone.path("raw/sample")).unwrap();
    let before = stranger.requests();
    machine.call(&clone, &run(&[])).expect(2);
    assert_eq!(stranger.requests(), before);
    machine.call(&clone, &run(&["--set", "draft.max_usd=5"])).expect(ASKED);
    assert!(stranger.requests() > before);
}

#[test]
fn a_terminal_is_asked_once() {
    if Command::new("script").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no `script` to make a terminal with");
    }
    let (machine, stranger) = (Machine::new(), Stranger::start());
    let ws = machine.init();
    add(&ws, &endpoint(&stranger, "free = true\nkey_env = \"AWS_SECRET_ACCESS_KEY\""));
    let line = |answer: &str| {
        let mut command = Command::new("bash");
        let line = format!(
            "echo {answer} | script -qec \"$0 run --recipe {GEN} --to screen --set draft.endpoint=theirs\" /dev/null"
        );
        command.args(["-c", &line, BINARY]).current_dir(ws.root());
        command.env("RIDDLEMILL_STATE", machine.state.path()).env_remove("RIDDLEMILL_TRUST");
        command.env("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI-secret");
        CallResult::from(&mut command)
    };
    let result = line("n");
    assert!(result.out.contains("allow it from now on? [y/N]"), "{}", result.out);
    assert!(
        result.out.contains("not agreed, and nothing was sent") && stranger.requests() == 0,
        "{}",
        result.out
    );
    line("y");
    assert!(stranger.requests() > 0);
    // Never again, with or without a terminal.
    let before = stranger.requests();
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("model = \"m\"", "model = \"n\""));
    machine.call(&ws, &run(&[])).expect(ASKED);
    assert!(stranger.requests() > before);
}

#[test]
fn dumps_outside_of_somebody_elses_workspace_are_read_after_a_yes() {
    let machine = Machine::new();
    let outside = tempfile::tempdir().unwrap();
    let place = fs::canonicalize(outside.path()).unwrap().join("titles.json");
    let title =
        r#"[{"title": "为什么飞机不在地上修路呢", "abs": null, "href": "/p/7?fr=good", "lz": "某人"}]"#;
    fs::write(&place, title).unwrap();
    let named = |path: &str| {
        format!(
            "[[source]]\nname = \"s\"\nkind = \"leymore-titles\"\npath = \"{path}\"\nlicence = \"CC0-1.0\"\n"
        )
    };
    let absolute = place.display().to_string();
    let clone = Workspace::folder();
    for path in [absolute.as_str(), &format!("{}/*.json", place.parent().unwrap().display())] {
        clone.write("pipeline.toml", named(path));
        for verb in [&["run", "--offline", "--recipe", GEN, "--to", "import"][..], &["status"], &["fsck"]] {
            let result = machine.call(&clone, verb);
            assert_eq!(result.code, 2, "{verb:?} {} {}", result.out, result.err);
            assert!(
                result.err.contains("riddlemill trust add /") && !result.err.contains("为什么"),
                "{}",
                result.err
            );
        }
    }
    // A link in the clone leads out as well.
    clone.write("pipeline.toml", named("raw/dumps/*.json"));
    fs::create_dir_all(clone.path("raw/dumps")).unwrap();
    std::os::unix::fs::symlink(&place, clone.path("raw/dumps/x.json")).unwrap();
    let result = machine.call(&clone, &["run", "--offline", "--recipe", GEN, "--to", "import"]).expect(2).err;
    assert!(result.contains("trust add") && !clone.exists("staged/ruozhibench-gen/01_import"), "{result}");
    // What the message advises mends it.
    machine
        .call(&clone, &["run", "--offline", "--recipe", GEN, "--to", "import", "--trust", &absolute])
        .expect(0);
    clone.write("pipeline.toml", named(&absolute));
    machine.call(&clone, &["trust", "add", &absolute]).expect(0);
    machine.call(&clone, &["run", "--offline", "--recipe", GEN, "--to", "import"]).expect(0);
    // Who made the workspace here is not asked.
    let own = Workspace::folder();
    machine.call(&own, &["init", "--empty"]).expect(0);
    own.write("pipeline.toml", named(&absolute));
    machine.call(&own, &["run", "--offline", "--recipe", GEN, "--to", "import"]).expect(0);
    let copy = own.copy();
    machine.call(&copy, &["run", "--offline", "--recipe", GEN, "--to", "import"]).expect(2);
    // Other settings that name files do not lead around it.
    let wordnet: PathBuf = place.parent().unwrap().into();
    for setting in [
        format!("[puzzles]\nwordnet = {wordnet:?}\n"),
        format!("[import]\ncommon_words = [{absolute:?}]\n"),
        format!("[anonymise]\npolicy = [\"builtin\", {absolute:?}]\n"),
        format!("[release]\ncurator = {wordnet:?}\n"),
        format!("[llm.pack]\nprovider = \"made\"\npack = {absolute:?}\n"),
        "[llm.pack]\nprovider = \"made\"\npack = \"../../etc/passwd\"\n".to_owned(),
    ] {
        clone.write("pipeline.toml", named("raw/dumps/none.json") + &setting);
        machine.call(&clone, &["trust", "withdraw"]);
        assert!(machine.call(&clone, &["status"]).expect(2).err.contains("trust add"), "{setting}");
    }
}

#[test]
fn a_pattern_does_not_walk_the_disk() {
    let machine = Machine::new();
    let ws = Workspace::folder();
    machine.call(&ws, &["init", "--empty"]).expect(0);
    add(
        &ws,
        "\n[[source]]\nname = \"s\"\nkind = \"leymore-titles\"\npath = \"/**/*.json\"\nlicence = \"CC0-1.0\"\n",
    );
    let began = std::time::Instant::now();
    let result = machine.call(&ws, &["run", "--offline", "--recipe", GEN, "--to", "import"]).expect(2).err;
    assert!(result.contains("looks at more than 200,000 files and folders below /"), "{result}");
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}
