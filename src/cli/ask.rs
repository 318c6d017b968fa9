//! Questions on the terminal.

use std::io::IsTerminal;

use super::spinner::stop_spinner;

/// Whether somebody can answer: not in a script or behind a pipe.
pub(super) fn can_ask() -> bool {
    std::io::stderr().is_terminal() && std::io::stdin().is_terminal()
}

/// Asks a question before any bar is drawn; `None` where nobody can answer.
pub(super) fn ask_first(question: &str) -> Option<bool> {
    stop_spinner();
    if can_ask() { ask_question(question) } else { None }
}

/// Asks a question on the terminal; anything but a yes is a no.
pub(super) fn ask_question(question: &str) -> Option<bool> {
    eprintln!("{question} [y/N]");
    let mut line = String::new();
    // If stdin cannot be read, nobody can be asked.
    std::io::stdin().read_line(&mut line).ok()?;
    Some(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
