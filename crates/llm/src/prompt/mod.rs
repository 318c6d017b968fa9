//! Prompts: minijinja files, embedded in the program, overridable by a workspace.
//!
//! A file opens with a comment that is never sent; it names the figure of the paper whose instructions the prompt
//! gives in our own words, and says `output: json` where the reply shall be JSON. A line `=== system ===` or
//! `=== user ===` opens a message; without one, all of it is the user's message.
//!
//! Invariant: no text of a post reaches a prompt but through [`inside`], which keeps it within its delimiters.

mod catalog;
mod inside;
mod template;

pub use catalog::{PAPER, PromptError, PromptInfo, Prompts};
pub use inside::inside;
pub use template::{Examined, Output, Rendered, TemplateError, examine};
