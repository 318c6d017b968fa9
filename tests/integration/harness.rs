//! A workspace in a temporary folder, and the real command in it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use riddlemill::pipeline::Progress;
use riddlemill::stages::Pulse;
use riddlemill::store::{Manifest, StageReader, json_parts};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::{Asked, Reply, Server};

/// The command under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_riddlemill");
/// The recipes whose sample ends in reviewed items.
pub const RECIPES: [&str; 4] = ["ruozhibench-gen", "ruozhibench-mc", "flub", "chumor"];
/// Settings for puzzles that are the same whether the machine has WordNet or not.
pub const WITHOUT_WORDNET: &str = "[puzzles]\nwordnet = \"\"\n";
/// A salt for workspaces whose bytes are compared: pseudonyms depend on it.
pub const SALT: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";

/// A workspace that is removed when it goes out of scope.
pub struct Workspace {
    dir: TempDir,
}

/// The output of a call, and its exit code.
pub struct CallResult {
    /// The exit code; -1 if it was ended by a signal.
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The files of a folder by their path, except locks.
pub type Tree = BTreeMap<String, Vec<u8>>;

impl Workspace {
    /// The workspace created by `init`, with a fixed salt.
    pub fn sample() -> Workspace {
        let workspace = Workspace { dir: tempfile::tempdir().unwrap() };
        workspace.call(["init"]).expect(0);
        workspace.write("raw/salt", SALT);
        workspace
    }

    /// A workspace with only these settings and the salt.
    pub fn with(settings: &str) -> Workspace {
        let workspace = Workspace { dir: tempfile::tempdir().unwrap() };
        workspace.write("pipeline.toml", settings);
        workspace.write("raw/salt", SALT);
        workspace
    }

    /// A workspace with one source of this kind, `dump`, that contains these bytes.
    pub fn with_dump(kind: &str, bytes: impl AsRef<[u8]>) -> Workspace {
        let workspace = Workspace::with(&source("dump", kind, "raw/dumps/dump"));
        workspace.write("raw/dumps/dump", bytes);
        workspace
    }

    /// A copy of its current state, as on another machine.
    pub fn copy(&self) -> Workspace {
        let copy = Workspace::folder();
        let from = self.dir.path().join(".");
        let done = Command::new("cp").arg("-r").arg(from).arg(copy.dir.path()).status().unwrap();
        assert!(done.success());
        copy
    }

    /// An empty folder.
    pub fn folder() -> Workspace {
        Workspace { dir: tempfile::tempdir().unwrap() }
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    pub fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    pub fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else if path.exists() {
            fs::remove_file(path).unwrap();
        }
    }

    /// Removes everything that a run derives.
    pub fn remove_derived(&self) {
        self.remove("staged");
        self.remove("output");
    }

    /// The command in this workspace, without settings from the caller's environment.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(BINARY);
        command.args(args);
        self.bare(&mut command);
        command
    }

    /// The command as in a terminal. A shell's background job ignores interrupts, and so do all its children,
    /// including these tests.
    pub fn interruptible<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", BINARY]).args(args);
        self.bare(&mut command);
        command
    }

    /// A shell line in this workspace; `$0` is the command.
    pub fn shell(&self, line: &str) -> CallResult {
        let mut command = Command::new("bash");
        command.args(["-c", line, BINARY]);
        self.bare(&mut command);
        CallResult::new(command.output().unwrap())
    }

    fn bare(&self, command: &mut Command) {
        command.current_dir(self.root()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("RIDDLEMILL_") {
                command.env_remove(name);
            }
        }
        // Tests write their settings by hand, and their servers and dumps are this machine's.
        command.env("RIDDLEMILL_TRUST", "127.0.0.1,localhost,/").env("RIDDLEMILL_STATE", state());
    }

    pub fn call<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> CallResult {
        CallResult::new(self.command(args).output().unwrap())
    }

    /// Starts the command without waiting.
    pub fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// `run`, which must succeed.
    pub fn run(&self) -> CallResult {
        self.call(["run", "--offline"]).expect(0)
    }

    /// `audit`, which must find nothing.
    pub fn audit_clean(&self) {
        self.audit_clean_with(&[]);
    }

    /// `audit` with the settings that the run was given, which must find nothing.
    pub fn audit_clean_with(&self, flags: &[&str]) {
        let result = self.call(["audit"].iter().chain(flags)).expect(0);
        assert!(result.out.contains("every record is accounted for"), "{}", result.out);
    }

    /// Everything that a run derives.
    pub fn derived(&self) -> Tree {
        let mut tree = Tree::new();
        collect(self.root(), &self.path("staged"), &mut tree);
        collect(self.root(), &self.path("output"), &mut tree);
        tree
    }

    /// The files of one of its folders, by their path in it.
    pub fn tree(&self, folder: &str) -> Tree {
        let mut tree = Tree::new();
        collect(&self.path(folder), &self.path(folder), &mut tree);
        tree
    }

    /// Identifies a version of a stage on disk: it changes when the stage is rewritten.
    pub fn making(&self, stage: &str) -> (u64, i64, i64) {
        let meta = fs::metadata(self.path(stage).join("manifest.json")).unwrap();
        (meta.ino(), meta.mtime(), meta.mtime_nsec())
    }

    /// `explain --json` of a post in one recipe.
    pub fn explain(&self, recipe: &str, post: &str) -> serde_json::Value {
        let result = self.call(["explain", post, "--recipe", recipe, "--json"]).expect(0);
        let actual: serde_json::Value = serde_json::from_str(&result.out).unwrap();
        actual["explained"][0].clone()
    }

    /// The reasons of a recipe's report, `state/reason` with its count, over all stages.
    pub fn reasons(&self, recipe: &str) -> BTreeMap<String, u64> {
        let result = self.call(["report", "--recipe", recipe, "--json"]).expect(0);
        let funnels: serde_json::Value = serde_json::from_str(&result.out).unwrap();
        let mut reasons = BTreeMap::new();
        for stage in funnels[0]["stages"].as_array().unwrap() {
            for (reason, n) in stage["counts"]["reasons"].as_object().unwrap() {
                *reasons.entry(reason.clone()).or_default() += n.as_u64().unwrap();
            }
        }
        reasons
    }

    /// The posts in the output of a recipe's dedup.
    pub fn posts(&self, recipe: &str) -> Vec<serde_json::Value> {
        let stage = StageReader::open(&self.path(&format!("staged/{recipe}/05_dedup"))).unwrap().unwrap();
        let rows = json_parts(&stage, "rows", &[]).flat_map(|part| part.unwrap());
        rows.map(serde_json::Value::Object).collect()
    }

    /// The rows of a recipe's candidate.
    pub fn candidates(&self, recipe: &str) -> Vec<serde_json::Value> {
        let text = self.read(&format!("output/{recipe}/candidate/data/{recipe}/test.jsonl"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl CallResult {
    pub fn new(output: Output) -> CallResult {
        CallResult {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The result of a prepared command.
    pub fn from(command: &mut Command) -> CallResult {
        CallResult::new(command.output().unwrap())
    }

    #[track_caller]
    pub fn expect(self, code: i32) -> CallResult {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

/// A folder for what these tests agree to, instead of the user's own.
pub fn state() -> &'static Path {
    static STATE: std::sync::LazyLock<TempDir> = std::sync::LazyLock::new(|| tempfile::tempdir().unwrap());
    STATE.path()
}

/// A `[[source]]` table.
pub fn source(name: &str, kind: &str, path: &str) -> String {
    format!("[[source]]\nname = {name:?}\nkind = {kind:?}\npath = {path:?}\n")
}

/// A list page's row with this title.
pub fn title(tid: u64, title: &str) -> String {
    serde_json::json!({ "title": title, "abs": null, "href": format!("/p/{tid}?fr=good"), "lz": "某人" })
        .to_string()
}

fn collect(root: &Path, folder: &Path, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            // An empty folder is a difference too.
            tree.insert(format!("{}/", path.strip_prefix(root).unwrap().display()), Vec::new());
            collect(root, &path, tree);
        } else if path.file_name() != Some(OsStr::new(".lock")) {
            tree.insert(path.strip_prefix(root).unwrap().display().to_string(), fs::read(&path).unwrap());
        }
    }
}

/// Asserts that two trees are the same, byte for byte; the message names the files that differ.
#[track_caller]
pub fn assert_same(want: &Tree, got: &Tree, when: &str) {
    let names: std::collections::BTreeSet<&String> = want.keys().chain(got.keys()).collect();
    let differ: Vec<String> = names
        .into_iter()
        .filter_map(|name| match (want.get(name), got.get(name)) {
            (Some(a), Some(b)) if a == b => None,
            (Some(_), Some(_)) => Some(format!("{name} differs")),
            (Some(_), None) => Some(format!("{name} is missing")),
            _ => Some(format!("{name} is too many")),
        })
        .collect();
    assert!(differ.is_empty(), "{when}:\n{}", differ.join("\n"));
    assert!(!want.is_empty(), "{when}: nothing to compare");
}

/// A fixture server that runs as long as this is in scope.
pub struct Site {
    _runtime: Runtime,
    pub server: Server,
}

impl Site {
    pub fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Site {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(answer, &[]));
        Site { _runtime: runtime, server }
    }
}

/// The folder of reference data, if it exists.
pub fn reference() -> Option<PathBuf> {
    match std::env::var_os("RIDDLEMILL_REFERENCE") {
        Some(folder) => Some(fs::canonicalize(folder).unwrap()),
        None => {
            eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
            None
        }
    }
}

/// Whether the tests run as root, who has all permissions and can switch to other users.
pub fn root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    let root = id.stdout == b"0\n";
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// A run without progress output.
pub struct Silent;

impl Pulse for Silent {
    fn report_done(&self, _: u64) {}
}

impl Progress for Silent {
    fn begin_stage(&self, _: &str, _: &str, _: &str, _: u64) {}
    fn end_stage(&self, _: &str, _: &Manifest) {}
    fn report_fresh(&self, _: &str, _: &Manifest) {}
}
