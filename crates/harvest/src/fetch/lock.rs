//! pipeline.lock: the hash of each url's bytes when it was fetched.

use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use riddlemill_files::{Error, durable};

/// The file's name, next to pipeline.toml.
pub const LOCK: &str = "pipeline.lock";

const HEAD: &str =
    "# Written by `riddlemill fetch`: the bytes behind each url. Keep it with pipeline.toml.\n";

/// A fetched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Where it came from.
    pub url: String,
    /// Its SHA-256, in hex.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Its path, relative to the workspace.
    pub file: String,
}

/// All pins, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePins(Vec<Pin>);

impl FilePins {
    /// Reads a workspace's lock file; an absent one pins nothing.
    ///
    /// # Errors
    /// [`Error`] if it cannot be read or was not written by this program.
    pub fn read_pins(root: &Path) -> Result<FilePins, Error> {
        let path = root.join(LOCK);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(FilePins::default()),
            Err(e) => return Err(Error::io("read", &path)(e)),
        };
        let damaged = |what: String| Error::Damaged {
            path: path.clone(),
            what,
            hint: "restore it, or delete it: `riddlemill fetch` then pins the present files".into(),
        };
        let document: DocumentMut =
            text.parse().map_err(|e: toml_edit::TomlError| damaged(e.message().to_string()))?;
        let files = match document.get("file") {
            None => return Ok(FilePins::default()),
            Some(item) => item.as_array_of_tables().ok_or_else(|| damaged("expected [[file]]".into()))?,
        };
        let pin = |table: &Table| {
            let text = |key: &str| table.get(key)?.as_str().map(str::to_string);
            let bytes = table.get("bytes")?.as_integer()?.try_into().ok()?;
            Some(Pin { url: text("url")?, sha256: text("sha256")?, bytes, file: text("file")? })
        };
        let pins = files
            .iter()
            .map(|t| pin(t).ok_or_else(|| damaged("a [[file]] lacks url, sha256, bytes or file".into())));
        pins.collect::<Result<_, _>>().map(FilePins)
    }

    /// The pin of a file.
    pub fn find_pin(&self, file: &str) -> Option<&Pin> {
        self.0.iter().find(|pin| pin.file == file)
    }

    /// Sets the pin of its file.
    pub fn set_pin(&mut self, pin: Pin) {
        self.0.retain(|other| other.file != pin.file);
        self.0.push(pin);
        // A fixed order keeps the differences between two versions of the file small.
        self.0.sort_by(|x, y| x.file.cmp(&y.file));
    }

    /// Writes the lock file atomically.
    ///
    /// # Errors
    /// [`Error`] if it cannot be written; the old one is then unchanged.
    pub fn write_pins(&self, root: &Path) -> Result<(), Error> {
        let mut files = ArrayOfTables::new();
        for pin in &self.0 {
            let mut table = Table::new();
            table.insert("file", value(&pin.file));
            table.insert("url", value(&pin.url));
            table.insert("sha256", value(&pin.sha256));
            // TOML has only signed integers.
            table.insert("bytes", value(i64::try_from(pin.bytes).unwrap_or(i64::MAX)));
            files.push(table);
        }
        let mut document = DocumentMut::new();
        document.insert("file", Item::ArrayOfTables(files));
        durable::replace_file(&root.join(LOCK), format!("{HEAD}{document}").as_bytes())
    }
}
