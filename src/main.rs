//! The `riddlemill` binary: arguments to one function per verb, errors to exit codes.

use std::process::ExitCode;

/// Millions of short strings are made and dropped on all cores at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    riddlemill::cli::main()
}
