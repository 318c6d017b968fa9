//! `config`: what holds, and where it came from.

use serde_json::json;

use super::args::Global;
use super::exit::{Exit, Failure};
use super::output;

pub(super) fn config(global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let settings = config.resolved();
    if global.json {
        let settings: Vec<_> = settings
            .iter()
            .map(|s| json!({ "key": s.key, "value": s.value, "origin": s.origin.to_string() }))
            .collect();
        output::json(&json!({ "settings": settings, "sources": config.sources }))?;
        return Ok(Exit::Done);
    }
    let lines: Vec<(String, String)> =
        settings.iter().map(|s| (format!("{} = {}", s.key, s.value), s.origin.to_string())).collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(60);
    let mut text = String::new();
    for (line, origin) in lines {
        text.push_str(&format!("{line:width$}  # {origin}\n"));
    }
    for source in &config.sources {
        let kind = serde_json::to_value(source.kind).unwrap_or_default();
        let kind = kind.as_str().unwrap_or_default();
        text.push_str(&format!(
            "source {} = {kind} {}  # {}:{}\n",
            source.name,
            source.path,
            crate::config::FILE,
            source.line
        ));
    }
    output::print(&text)?;
    Ok(Exit::Done)
}
