//! `completions` and `man`: generated from the command line's definition, and the reference from that of
//! everything else.

use clap::CommandFactory;
use clap_complete::env::Shells;

use super::args::{Cli, Completions, ManualArgs};
use super::exit::{Exit, Failure};
use super::{output, reference};
use crate::store::{Error, durable};

/// The script asks the program for completions: names of recipes and stages, annotators and versions of the
/// workspace.
pub(super) fn print_completions(args: &Completions) -> Result<Exit, Failure> {
    let io = |message: String| Failure { exit: Exit::Io, message };
    let shells = Shells::builtins();
    let shell = args.shell.to_string();
    let completer =
        shells.completer(&shell).ok_or_else(|| io(format!("there are no completions for {shell}")))?;
    let mut script = Vec::new();
    completer
        .write_registration("COMPLETE", "riddlemill", "riddlemill", "riddlemill", &mut script)
        .map_err(|e| io(e.to_string()))?;
    // Not `print`, which would break long lines of the script.
    output::print_raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(super) fn write_man_pages(args: &ManualArgs) -> Result<Exit, Failure> {
    durable::create_folder(&args.folder)?;
    if args.reference {
        for (name, page) in reference::reference_pages() {
            let file = args.folder.join(name);
            if let Some(folder) = file.parent() {
                durable::create_folder(folder)?;
            }
            durable::replace_file(&file, page.as_bytes())?;
        }
        return Ok(Exit::Done);
    }
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(Error::io("write", &args.folder))?;
    Ok(Exit::Done)
}
