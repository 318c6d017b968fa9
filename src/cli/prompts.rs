//! `prompts`: the prompts for models, and a workspace's changes to them.

use super::args::{Global, PromptsVerb};
use super::exit::{Exit, Failure};
use super::output;
use crate::stages::draft;

pub(super) fn prompts(verb: &PromptsVerb, global: &Global) -> Result<Exit, Failure> {
    // Without a workspace, the built-in prompts.
    let config = output::load_or_default(global)?;
    let prompts = draft::prompts(&config)?;
    let usage = |e: crate::llm::prompt::PromptError| Failure::usage(e.to_string());
    match verb {
        PromptsVerb::List => list(&prompts.list(), global)?,
        PromptsVerb::Show { name } => output::print(prompts.show(name).map_err(usage)?)?,
        PromptsVerb::Diff { name } => {
            let names = match name {
                Some(name) => vec![name.clone()],
                None => prompts.list().into_iter().map(|p| p.name).collect(),
            };
            for name in names {
                output::print(&prompts.diff(&name).map_err(usage)?)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn list(prompts: &[crate::llm::prompt::PromptInfo], global: &Global) -> Result<(), Failure> {
    if global.json {
        return output::json(&prompts);
    }
    let width = prompts.iter().map(|p| p.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for prompt in prompts {
        let own =
            prompt.overridden_by.as_ref().map(|path| format!("  <- {}", path.display())).unwrap_or_default();
        text.push_str(&format!("{:width$}  {}  {}{own}\n", prompt.name, &prompt.hash[..8], prompt.about));
    }
    output::print(&text)
}
