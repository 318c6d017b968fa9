//! Commands that messages propose, as they run where the user is: with the workspace and the recipes that this call was
//! given.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use crate::report::{CauseRow, Next};
use riddlemill_files::{shell_path, shell_word};

const PROGRAM: &str = "riddlemill";

/// What this call was given that a proposed command needs, too.
#[derive(Default)]
struct Call {
    /// ` -C DIR`, or nothing.
    at: String,
    /// ` --recipe NAME` for each recipe.
    recipes: String,
}

static CALL: OnceLock<(Call, Vec<String>)> = OnceLock::new();

/// Verbs that select recipes as this call did.
const OF_RECIPES: [&str; 5] = ["run", "status", "audit", "report", "estimate"];

/// Keeps what this call was given; `verbs` are those of the program.
pub(super) fn remember_call(workspace: &Path, recipes: &[String], verbs: Vec<String>) {
    let recipes = recipes.iter().map(|name| format!(" --recipe {}", shell_word(name))).collect();
    let _ = CALL.set((Call { at: workspace_option(workspace), recipes }, verbs));
}

/// The option that selects a workspace, as a shell takes it; nothing for the folder that one is in.
pub(super) fn workspace_option(root: &Path) -> String {
    match root.as_os_str().is_empty() || root.as_os_str() == "." {
        true => String::new(),
        false => format!(" -C {}", shell_path(root)),
    }
}

/// The commands of a message, with what this call was given.
pub(super) fn runnable_commands(text: &str) -> Cow<'_, str> {
    let Some((call, verbs)) = CALL.get() else { return Cow::Borrowed(text) };
    complete_commands(text, call, verbs, |_| true)
}

/// The next command with what this call was given.
pub(super) fn complete_command(next: &mut Next) {
    next.command = runnable_commands(&next.command).into_owned();
    if let Some(first) = &mut next.first {
        *first = runnable_commands(first).into_owned();
    }
}

/// The commands that causes propose, with what this call was given.
pub(super) fn complete_causes<'c>(causes: impl IntoIterator<Item = &'c mut CauseRow>) {
    causes.into_iter().for_each(|cause| cause.complete_commands(|text| runnable_commands(text).into_owned()));
}

/// [`runnable_commands`] of what may quote posts, too: only commands between backticks are ours.
pub(super) fn runnable_quoted(text: &str) -> Cow<'_, str> {
    let Some((call, verbs)) = CALL.get() else { return Cow::Borrowed(text) };
    complete_commands(text, call, verbs, |before| before.ends_with('`'))
}

fn complete_commands<'t>(
    text: &'t str,
    call: &Call,
    verbs: &[String],
    is_ours: impl Fn(&str) -> bool,
) -> Cow<'t, str> {
    if call.at.is_empty() && call.recipes.is_empty() || !text.contains(PROGRAM) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len() + 32), text);
    while let Some(at) = rest.find(PROGRAM) {
        let (before, after) = (&rest[..at], &rest[at + PROGRAM.len()..]);
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || "_-/.".contains(c));
        out.push_str(&rest[..at + PROGRAM.len()]);
        rest = after;
        let Some(verb) = after.strip_prefix(' ').map(verb_of) else { continue };
        if !is_word || !is_ours(before) || !verbs.iter().any(|known| known == verb) {
            continue;
        }
        let command = &after[..after.find(['`', ';', '\n', '(']).unwrap_or(after.len())];
        // A command for another workspace names it itself, and `init` may name this one.
        let names_folder = command.strip_prefix(" init").is_some_and(|rest| {
            rest.starts_with(" DIR") || call.at.strip_prefix(" -C").is_some_and(|at| rest.starts_with(at))
        });
        if !names_folder {
            out.push_str(&call.at);
        }
        out.push_str(&after[..1 + verb.len()]);
        rest = &after[1 + verb.len()..];
        if OF_RECIPES.contains(&verb) && !command.contains("--recipe") {
            out.push_str(&call.recipes);
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn verb_of(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, at: &str, recipes: &str) -> String {
        let call = Call { at: at.to_owned(), recipes: recipes.to_owned() };
        let verbs: Vec<String> = ["run", "audit", "init", "show"].map(str::to_owned).into();
        complete_commands(text, &call, &verbs, |_| true).into_owned()
    }

    #[test]
    fn proposed_commands_keep_workspace_and_recipes() {
        let next = "next: riddlemill run; then riddlemill audit  (1 stage to make)";
        assert_eq!(told(next, "", ""), next);
        assert_eq!(
            told(next, " -C 'my mill'", " --recipe flub"),
            "next: riddlemill -C 'my mill' run --recipe flub; then riddlemill -C 'my mill' audit --recipe flub  (1 stage to make)"
        );
        assert_eq!(
            told(
                "`riddlemill run --recipe chumor --retry-failed`, `riddlemill show import`",
                " -C w",
                " --recipe flub"
            ),
            "`riddlemill -C w run --recipe chumor --retry-failed`, `riddlemill -C w show import`"
        );
        for other in [
            "riddlemill -C x run",
            "riddlemill reads it",
            "`riddlemill init DIR` creates one",
            "my-riddlemill run",
        ] {
            assert_eq!(told(other, " -C w", ""), other);
        }
    }

    #[test]
    #[cfg(unix)]
    fn words_are_quoted_for_a_shell() {
        let words = ["raw/dumps/云.csv", "my mill", "it's", "", "a$b"].map(shell_word);
        assert_eq!(words, ["raw/dumps/云.csv", "'my mill'", r"'it'\''s'", "''", "'a$b'"]);
        assert_eq!(["", ".", "a b"].map(|root| workspace_option(Path::new(root))), ["", "", " -C 'a b'"]);
    }
}
