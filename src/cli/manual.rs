//! `completions` and `man`: made from the command line's own definition.

use clap::CommandFactory;

use super::args::{Cli, Completions, Man};
use super::exit::{Exit, Failure};
use super::output;
use crate::store::{Error, durable};

pub(super) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "riddlemill", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(super) fn man(args: &Man) -> Result<Exit, Failure> {
    durable::create_folder(&args.folder)?;
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(Error::io("write", &args.folder))?;
    Ok(Exit::Done)
}
