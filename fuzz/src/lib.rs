//! What the targets share: bytes to a dump of one kind, read as import reads it.

use std::collections::BTreeMap;
use std::io::Write;

use riddlemill::config::{SourceKind, Take, sections};
use riddlemill::stages::import::{Dump, survey};

/// Reads bytes as a dump. Whatever they are, reading ends and nothing panics.
pub fn import(kind: SourceKind, bytes: &[u8]) {
    let path = std::env::temp_dir().join(format!("riddlemill-fuzz-{}", std::process::id()));
    let written = std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes));
    if written.is_err() {
        return;
    }
    let fields = [("id", "tieba:{id}"), ("title", "title"), ("content", "body"), ("author", "author"), ("score", "score")];
    let dump = Dump {
        source: "fuzz".into(),
        kind,
        take: Take::Jokes,
        fields: match kind {
            SourceKind::Table => fields.map(|(k, v)| (k.to_string(), v.to_string())).into(),
            _ => BTreeMap::new(),
        },
        licence: None,
        file: "fuzz".into(),
        path,
        sha256: String::new(),
        bytes: bytes.len() as u64,
    };
    survey(&dump, &sections::Import { max_line_mib: 1, annual_posts: 2 });
}
