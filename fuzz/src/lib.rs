//! What all fuzzing shares: bytes to a dump of one kind, read as import reads it. The targets next to it
//! are driven by libFuzzer; `tests/integration/fuzz.rs` drives the same function on a stable compiler.

use std::collections::BTreeMap;
use std::path::Path;

use riddlemill::config::{Profiles, SourceKind, Take, sections};
use riddlemill::pages::Profile;
use riddlemill::stages::import::{Dump, Piece, survey};

/// Reads bytes as a dump that lies at `path` for the time being: the posts in it, and the items that are
/// none. Whatever the bytes are, reading ends and nothing panics.
pub fn import(kind: &str, bytes: &[u8], path: &Path) -> (u64, u64) {
    let profile = match SourceKind::profile_of(kind) {
        Some(name) => Profiles::default().load_profile(name).ok().flatten(),
        None if kind == "profile" => profile(),
        None => None,
    };
    let Some(kind) = SourceKind::from_name(kind) else { return (0, 0) };
    if std::fs::write(path, bytes).is_err() {
        return (0, 0);
    }
    let fields = [
        ("id", "tieba:{id}"),
        ("title", "title"),
        ("content", "body"),
        ("author", "author"),
        ("score", "score"),
    ];
    let dump = Dump {
        source: "fuzz".into(),
        kind,
        language: None,
        take: Take::Jokes,
        published: (kind == SourceKind::Published).then_some("brainteaser"),
        fields: match kind {
            SourceKind::Table => fields.map(|(k, v)| (k.to_string(), v.to_string())).into(),
            _ => BTreeMap::new(),
        },
        optional: ["id", "title", "author", "time", "score"].map(str::to_owned).to_vec(),
        at: None,
        profile,
        licence: None,
        file: "fuzz".into(),
        path: path.to_path_buf(),
        named: path.to_path_buf(),
        sha256: String::new(),
        bytes: bytes.len() as u64,
        piece: Piece::default(),
    };
    survey(&dump, &sections::Import { max_line_mib: 1, annual_posts: 2, common_words: Vec::new() })
}

/// A profile that looks for something in every page.
fn profile() -> Option<Profile> {
    let settings = serde_json::json!({
        "item": "p, div, li", "id": { "from": "@id", "match": "(.)(.*)" }, "title": ["h1", "b"], "time": "i", "next": "a",
        "author": "@data-x#/a", "strip": "s", "list": "a", "row": "tr", "changed": "td", "jokes": "numbered", "thread": "h1",
        "floor": "u",
    });
    Profile::from_json(&settings).ok()
}

/// For libFuzzer, one process a job: a file of the process's own.
pub fn target(kind: &str, bytes: &[u8]) {
    import(kind, bytes, &std::env::temp_dir().join(format!("riddlemill-fuzz-{}", std::process::id())));
}
