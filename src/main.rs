//! The `riddlemill` binary: arguments to one function a verb, errors to exit codes.

use std::process::ExitCode;

fn main() -> ExitCode {
    riddlemill::cli::main()
}
