//! Profiles of sites: the shipped ones, and those in a workspace's `profiles/`, which replace shipped ones of
//! the same name.

use std::fs;
use std::path::{Path, PathBuf};

use riddlemill_harvest::pages::Profile;
pub use riddlemill_harvest::pages::profile::{of_table, read_profile};
use riddlemill_schema::problem::Problem;

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
    pub fn profile_names(&self) -> Vec<String> {
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
    pub fn own_path(&self, name: &str) -> PathBuf {
        self.root.join(FOLDER).join(format!("{name}.toml"))
    }

    /// Whether the workspace has its own profile with this name.
    pub fn is_own(&self, name: &str) -> bool {
        is_plain_name(name) && self.own_path(name).is_file()
    }

    /// The text of a profile; `None` if there is none of this name.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read_text(&self, name: &str) -> Result<Option<String>, Problem> {
        if self.is_own(name) {
            let place = format!("{FOLDER}/{name}.toml");
            let bytes = fs::read(self.own_path(name))
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
    pub fn load_profile(&self, name: &str) -> Result<Option<Profile>, Vec<Problem>> {
        let Some(text) = self.read_text(name).map_err(|problem| vec![problem])? else { return Ok(None) };
        read_profile(&format!("{FOLDER}/{name}.toml"), &text).map(Some)
    }
}

/// Whether a name can be that of a file in the folder.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_come_with_the_program_are_whole() {
        for (name, text) in SHIPPED {
            let profile = read_profile(name, text).unwrap_or_else(|problems| panic!("{problems:?}"));
            assert!(!profile.about().is_empty(), "{name}");
        }
    }

    #[test]
    fn mistakes_have_their_line_column_and_near_miss() {
        let text = "item = \"p\"\nauther = \"b\"\ntime = [\"i\", { from = \"b[\", mach = \"x\" }]\njokes = \"frist\"\n\n[next]\nfrom = \"a\"\nmatch = \"(\"\n";
        let messages: Vec<String> = read_profile("profiles/x.toml", text)
            .unwrap_err()
            .into_iter()
            .map(|p| format!("{}: {}", p.place, p.what))
            .collect();
        let message = messages.join("\n");
        for part in [
            "profiles/x.toml:2:1: unknown key \"auther\"\n  hint: did you mean \"author\"?",
            "profiles/x.toml:3:16: time: \"b[\" is not a CSS selector",
            "did you mean \"match\"?",
            "profiles/x.toml:4:1: jokes: expected one of all, first, numbered; did you mean \"first\"?",
            "profiles/x.toml:8:1: next: \"(\" is not a regular expression",
        ] {
            assert!(message.contains(part), "{part} is not in\n{message}");
        }
        let torn = read_profile("profiles/x.toml", "item = \n").unwrap_err();
        assert!(torn[0].place.starts_with("profiles/x.toml:1:"), "{torn:?}");
    }
}
