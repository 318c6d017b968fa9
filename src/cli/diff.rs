//! `diff`: the differences between two folders.

use super::args::{Diff, Global};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::FILE;
use crate::pipeline::Withheld;
use crate::release::Causes;
use crate::release::diff::diff_folders as differences;
use crate::release::read_rows::recipe_of_folder;
use crate::store::{Workspace, durable};

pub(super) fn diff_releases(args: &Diff, global: &Global) -> Result<Exit, Failure> {
    // Without a workspace there are no ledgers to read.
    let workspace = Workspace::new(&global.workspace);
    let (causes, withheld) = match global.workspace.join(FILE).exists() {
        true => (
            Causes::between_folders(&workspace, &args.before, &args.after)?,
            recipe_of_folder(&args.before)?.map(|recipe| Withheld::open(&workspace, recipe)).transpose()?,
        ),
        false => (None, None),
    };
    let found = differences(&args.before, &args.after, withheld.as_ref(), &|asked| {
        causes.as_ref()?.explain_difference(asked)
    })?;
    if let Some(path) = &args.html {
        let page = found.render_html().map_err(|e| Failure { exit: Exit::Io, message: e.to_string() })?;
        durable::replace_file(path, page.as_bytes())?;
    }
    match global.json {
        true => output::print_json(&found)?,
        false => output::print_text(&found.render_text())?,
    }
    Ok(if found.is_empty() { Exit::Done } else { Exit::Gap })
}
