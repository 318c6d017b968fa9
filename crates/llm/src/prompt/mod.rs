//! Prompts: minijinja files, embedded in the program, which a workspace can override.
//!
//! A file opens with a comment that is never sent; it names the figure of the paper whose instructions the
//! prompt rephrases, and has `output: json` if the reply has to be JSON. A line `=== system ===` or `=== user
//! ===` opens a message; without one, all of it is the user's message.
//!
//! Invariant: texts of posts reach a prompt only through [`inside`], which keeps them within their
//! delimiters.

mod catalog;
mod inside;
mod template;

pub use catalog::{PAPER, PromptError, PromptInfo, Prompts, SAME_JOKE};
pub use inside::inside;
pub use template::{Examined, Output, Rendered, TemplateError, examine};
