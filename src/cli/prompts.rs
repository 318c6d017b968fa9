//! `prompts`: the prompts for models, and a workspace's changes to them.

use super::args::{Global, PromptsVerb};
use super::exit::{Exit, Failure};
use super::output;
use crate::stages::draft;

pub(super) fn run_prompts_verb(verb: &PromptsVerb, global: &Global) -> Result<Exit, Failure> {
    // Without a workspace, the built-in prompts.
    let config = output::load_or_default(global)?;
    let prompts = draft::load_prompts(&config)?;
    let usage = |e: crate::llm::prompt::PromptError| Failure::usage(e.to_string());
    match verb {
        PromptsVerb::List => list_prompts(&prompts.list_prompts(), global)?,
        PromptsVerb::Show { name } => {
            let text = prompts.prompt_source(name).map_err(usage)?;
            match global.json {
                true => output::print_json(&serde_json::json!({ "name": name, "text": text }))?,
                false => output::print_text(text)?,
            }
        }
        PromptsVerb::Diff { name } => {
            let names = match name {
                Some(name) => vec![name.clone()],
                None => prompts.list_prompts().into_iter().map(|p| p.name).collect(),
            };
            for name in names {
                output::print_text(&prompts.diff_prompt(&name).map_err(usage)?)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn list_prompts(prompts: &[crate::llm::prompt::PromptInfo], global: &Global) -> Result<(), Failure> {
    if global.json {
        return output::print_json(&prompts);
    }
    let width = prompts.iter().map(|p| p.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for prompt in prompts {
        let own =
            prompt.overridden_by.as_ref().map(|path| format!("  <- {}", path.display())).unwrap_or_default();
        text.push_str(&format!("{:width$}  {}  {}{own}\n", prompt.name, &prompt.hash[..8], prompt.about));
    }
    output::print_text(&text)
}
