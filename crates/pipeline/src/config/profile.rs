//! Profiles of sites: the shipped ones, and those in a workspace's `profiles/`, which replace shipped ones of
//! the same name.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use riddlemill_harvest::pages::Profile;
use riddlemill_harvest::pages::profile::Fault;
use riddlemill_schema::Reader;
use riddlemill_schema::hint::near_miss;
use riddlemill_schema::json::item_json;
use riddlemill_schema::problem::Problem;
use serde_json::{Map, Value};
use toml_edit::{Item, TableLike};

/// The folder of a workspace's own profiles.
pub const FOLDER: &str = "profiles";

macro_rules! shipped {
    ($($name:literal),+) => {
        &[$(($name, include_str!(concat!("../profiles/", $name, ".toml")))),+]
    };
}

/// The shipped profiles: name and text.
pub const SHIPPED: &[(&str, &str)] = shipped!(
    "articles",
    "discuz",
    "nga",
    "rd",
    "reddit",
    "riddles-com",
    "stack-exchange",
    "stack-exchange-dump",
    "tieba"
);

/// The profiles available in a workspace.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    root: PathBuf,
}

impl Profiles {
    /// For the workspace at `root`.
    pub fn open(root: &Path) -> Profiles {
        Profiles { root: root.to_path_buf() }
    }

    /// Their names, sorted, each once.
    pub fn names(&self) -> Vec<String> {
        let own = fs::read_dir(self.root.join(FOLDER)).into_iter().flatten().filter_map(Result::ok);
        let own = own.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".toml").filter(|stem| !stem.starts_with('.')).map(str::to_owned)
        });
        let mut names: Vec<String> = own.chain(SHIPPED.iter().map(|(name, _)| (*name).to_owned())).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The path of a workspace's own profile with this name, whether it exists or not.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(FOLDER).join(format!("{name}.toml"))
    }

    /// Whether the workspace has its own profile with this name.
    pub fn is_own(&self, name: &str) -> bool {
        plain(name) && self.path(name).is_file()
    }

    /// The text of a profile; `None` if there is none of this name.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        if self.is_own(name) {
            let place = format!("{FOLDER}/{name}.toml");
            let bytes = fs::read(self.path(name))
                .map_err(|e| Problem { place: place.clone(), what: e.to_string() })?;
            return String::from_utf8(bytes).map(Some).map_err(|e| Problem {
                place,
                what: format!("not UTF-8 at byte {}", e.utf8_error().valid_up_to()),
            });
        }
        Ok(SHIPPED.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| (*text).to_owned()))
    }

    /// A profile by its name; `None` if there is none.
    ///
    /// # Errors
    /// All errors in it, with file, line and column.
    pub fn load(&self, name: &str) -> Result<Option<Profile>, Vec<Problem>> {
        let Some(text) = self.text(name).map_err(|problem| vec![problem])? else { return Ok(None) };
        read(&format!("{FOLDER}/{name}.toml"), &text).map(Some)
    }
}

/// Whether a name can be that of a file in the folder.
pub fn plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
}

/// Parses the text of a profile. `place` is the file's name in problems.
///
/// # Errors
/// All errors, in the order of lines.
pub fn read(place: &str, text: &str) -> Result<Profile, Vec<Problem>> {
    let text = text.trim_start_matches('\u{feff}');
    let reader = Reader::new(place, text);
    let read = reader.document(|table| of_table(table));
    let profile = read.and_then(|read| {
        read.map_err(|mistakes| mistakes.into_iter().for_each(|(span, what)| reader.problem(span, what))).ok()
    });
    profile.ok_or_else(|| reader.in_order())
}

/// An error and its place.
pub(super) type Mistake = (Option<Range<usize>>, String);

/// Parses a profile that is a table of a file.
pub(super) fn of_table(table: &dyn TableLike) -> Result<Profile, Vec<Mistake>> {
    let (mut fields, mut mistakes) = (Map::new(), Vec::new());
    for (name, item) in table.iter() {
        match item_json(item) {
            Some(value) => {
                fields.insert(name.to_owned(), value);
            }
            None => {
                mistakes.push((item.span(), format!("{name}: expected a plain value, no date and no nan")))
            }
        }
    }
    match Profile::from_json(&Value::Object(fields)) {
        Ok(profile) if mistakes.is_empty() => Ok(profile),
        Ok(_) => Err(mistakes),
        Err(faults) => {
            mistakes.extend(faults.iter().map(|fault| (span(table, &fault.path), describe(fault))));
            Err(mistakes)
        }
    }
}

fn describe(fault: &Fault) -> String {
    // The message names the key if the place alone is not enough.
    let key = match fault.path.as_slice() {
        [] => String::new(),
        _ if fault.what.starts_with("unknown key") => String::new(),
        [key, ..] => format!("{key}: "),
    };
    let near = fault.path.last().and_then(|written| near_miss(written, fault.known.iter().copied()));
    let hint = match near {
        Some(near) => format!("\n  hint: did you mean {near:?}?"),
        None if fault.what.starts_with("unknown key") => {
            "\n  hint: `riddlemill profiles keys` lists all".to_owned()
        }
        None => String::new(),
    };
    format!("{key}{}{hint}", fault.what)
}

/// The place of the longest existing prefix of a path of keys in a table.
fn span(table: &dyn TableLike, path: &[String]) -> Option<Range<usize>> {
    let (first, mut rest) = path.split_first()?;
    let mut last = table.key(first).and_then(|key| key.span());
    let mut item = table.get(first)?;
    last = item.span().filter(|_| !rest.is_empty() || last.is_none()).or(last);
    while let Some((key, more)) = rest.split_first() {
        rest = more;
        let (at, inner) = match item {
            Item::Value(toml_edit::Value::Array(list)) => {
                let inner = key.parse::<usize>().ok().and_then(|at| list.get(at));
                let Some(inner) = inner else { break };
                last = inner.span().or(last);
                // Items of an array are values; places in their tables are found from these.
                if let (Some(inner), false) = (inner.as_inline_table(), rest.is_empty()) {
                    return span(inner, rest).or(last);
                }
                break;
            }
            other => {
                let Some(table) = other.as_table_like() else { break };
                (table.key(key).and_then(|key| key.span()), table.get(key))
            }
        };
        last = at.or(last);
        let Some(inner) = inner else { break };
        item = inner;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_come_with_the_program_are_whole() {
        for (name, text) in SHIPPED {
            let profile = read(name, text).unwrap_or_else(|problems| panic!("{problems:?}"));
            assert!(!profile.about().is_empty(), "{name}");
        }
    }

    #[test]
    fn mistakes_have_their_line_column_and_near_miss() {
        let text = "item = \"p\"\nauther = \"b\"\ntime = [\"i\", { from = \"b[\", mach = \"x\" }]\njokes = \"frist\"\n\n[next]\nfrom = \"a\"\nmatch = \"(\"\n";
        let messages: Vec<String> = read("profiles/x.toml", text)
            .unwrap_err()
            .into_iter()
            .map(|p| format!("{}: {}", p.place, p.what))
            .collect();
        let message = messages.join("\n");
        for part in [
            "profiles/x.toml:2:1: unknown key \"auther\"\n  hint: did you mean \"author\"?",
            "profiles/x.toml:3:16: time: \"b[\" is not a CSS selector",
            "did you mean \"match\"?",
            "profiles/x.toml:4:9: jokes: unknown value \"frist\"",
            "did you mean \"first\"?",
            "profiles/x.toml:8:1: next: \"(\" is not a regular expression",
        ] {
            assert!(message.contains(part), "{part} is not in\n{message}");
        }
        let torn = read("profiles/x.toml", "item = \n").unwrap_err();
        assert!(torn[0].place.starts_with("profiles/x.toml:1:"), "{torn:?}");
    }
}
