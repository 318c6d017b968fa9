//! Exit codes.

use std::process::ExitCode;

use super::commands::runnable_commands;
use crate::config::{Problem, Problems};
use crate::pipeline::RunError;
use crate::release::ReleaseError;
use crate::stages::StageError;
use crate::store::{CommitError, Error};

/// The exit codes, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// An audit found a gap, or nothing matched.
    Gap = 1,
    /// The command line or the settings are invalid.
    Usage = 2,
    /// Finished, but some of the input could not be read, or an endpoint failed; see the ledger.
    Partial = 3,
    /// A file could not be read or written.
    Io = 4,
    /// Another process holds the recipe's lock.
    Locked = 5,
    /// Stopped by Ctrl-C; the same command continues.
    Interrupted = 130,
}

pub(super) const HELP: &str = "\
Exit codes:
  0    done, or waiting for people or for an endpoint that is not set up
  1    audit or fsck found a gap, or explain found no such post
  2    the command line or pipeline.toml cannot be used
  3    finished, but some of the input could not be read or an endpoint failed (status says what)
  4    a file could not be read or written
  5    another run is using the recipe
  130  stopped by Ctrl-C; the same command continues";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// An error message with the exit code.
#[derive(Debug)]
pub(super) struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    pub(super) fn usage(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Usage, message: message.into() }
    }

    /// Several in one: each message once, and the exit code of the first.
    pub(super) fn of_all(failures: Vec<Failure>) -> Failure {
        let exit = failures.first().map_or(Exit::Done, |failure| failure.exit);
        let mut messages: Vec<String> = failures.into_iter().map(|failure| failure.message).collect();
        messages.dedup();
        Failure { exit, message: messages.join(&ANOTHER.to_string()) }
    }

    pub(super) fn print_failure(&self, json: bool) {
        if json {
            eprintln!(
                "{}",
                serde_json::json!({ "error": runnable_commands(&self.message).replace(ANOTHER, "\n"), "exit": self.exit as i32 })
            );
            return;
        }
        match self.exit {
            // Ctrl-C is the user's own wish, not an error.
            Exit::Interrupted => eprintln!("{}", self.message),
            _ => eprintln!("error: {}", self.message.replace(ANOTHER, "\nerror: ")),
        }
    }
}

/// Between the problems of a list, so that each of them begins alike. A Unicode noncharacter, so that it occurs in
/// no text.
const ANOTHER: char = '\u{fdd1}';

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Failure {
        let lines: Vec<String> =
            problems.0.iter().map(|Problem { place, what }| format!("{place}: {what}")).collect();
        Failure { exit: Exit::Usage, message: lines.join(&ANOTHER.to_string()) }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let exit = match error {
            Error::Locked { .. } => Exit::Locked,
            Error::WrongKind { .. } => Exit::Usage,
            _ => Exit::Io,
        };
        Failure { exit, message: error.to_string() }
    }
}

impl From<StageError> for Failure {
    fn from(error: StageError) -> Failure {
        RunError::from(error).into()
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        if let RunError::Settings(problems) = error {
            return problems.into();
        }
        let exit = match &error {
            RunError::Settings(_)
            | RunError::NoStage { .. }
            | RunError::Missing { .. }
            | RunError::MissingInput { .. } => Exit::Usage,
            RunError::Stage(
                StageError::Settings(_)
                | StageError::Prompt(_)
                | StageError::Engine(_)
                | StageError::Pack(_)
                | StageError::NotAgreed(_),
            ) => Exit::Usage,
            RunError::Stage(StageError::Stopped) => Exit::Interrupted,
            RunError::Stage(StageError::Store(Error::Locked { .. })) => Exit::Locked,
            RunError::Stage(StageError::Replies(_) | StageError::Votes(_) | StageError::NoRoom(_)) => {
                Exit::Io
            }
            RunError::Stage(StageError::Store(_)) | RunError::Commit(CommitError::Store(_)) => Exit::Io,
            // An unbalanced ledger is a gap that `audit` would find, too.
            RunError::Commit(CommitError::Unbalanced { .. }) => Exit::Gap,
        };
        let message = match exit {
            Exit::Interrupted => "stopped; finished work is kept, and the same command continues".into(),
            _ => error.to_string(),
        };
        Failure { exit, message }
    }
}

impl From<ReleaseError> for Failure {
    fn from(error: ReleaseError) -> Failure {
        match error {
            ReleaseError::Store(e) => e.into(),
            ReleaseError::Run(e) => e.into(),
            ReleaseError::Findings { .. } | ReleaseError::Rows { .. } => {
                Failure { exit: Exit::Gap, message: error.to_string() }
            }
            other => Failure::usage(other.to_string()),
        }
    }
}
