//! `prices`: what models cost, from litellm's public list.

use std::path::Path;

use serde_json::json;

use super::args::{Global, PricesVerb};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::llm::prices::{PRICES, PriceSource, Prices};
use crate::store::{Error, sha256_of_file};

pub(super) fn run_prices_verb(verb: &PricesVerb, global: &Global) -> Result<Exit, Failure> {
    match verb {
        PricesVerb::Import { file } => import_prices(file, global),
        PricesVerb::List { name } => list_prices(name.as_deref(), global),
    }
}

fn import_prices(file: &Path, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let text = std::fs::read_to_string(file).map_err(Error::io("read", file))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = PriceSource { file: name, sha256: sha256_of_file(file)? };
    let (prices, left_out) = Prices::of_litellm(&text, source).map_err(|error| {
        Failure::usage(format!(
            "{}: {error}\n  hint: litellm publishes it as model_prices_and_context_window.json",
            file.display()
        ))
    })?;
    prices.write_prices(&config.root)?;
    if global.json {
        output::print_json(&json!({ "models": prices.models.len(), "left_out": left_out }))?;
    } else if !global.quiet {
        let more = match left_out {
            0 => String::new(),
            n => format!("; {} without prices of tokens left out", count(n as u64, "entry")),
        };
        eprintln!("{PRICES}: prices of {}{more}", count(prices.models.len() as u64, "model"));
        for endpoint in &config.endpoints {
            if let Some((name, _)) = prices.price_of_endpoint(endpoint).filter(|_| !endpoint.free) {
                eprintln!(
                    "  llm.{} has the price of {name}, unless pipeline.toml states its own",
                    endpoint.name
                );
            }
        }
    }
    Ok(Exit::Done)
}

fn list_prices(name: Option<&str>, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let prices = Prices::read_prices(&config.root)?;
    if prices.models.is_empty() {
        return Err(Failure {
            exit: Exit::Gap,
            message: format!(
                "there is no {PRICES}\n  hint: `riddlemill prices import FILE` makes it of litellm's list"
            ),
        });
    }
    let shown = prices.models.iter().filter(|(model, _)| name.is_none_or(|name| model.contains(name)));
    let used = |model: &str| -> Vec<&str> {
        let by = config
            .endpoints
            .iter()
            .filter(|e| prices.price_of_endpoint(e).is_some_and(|(name, _)| name == model));
        by.map(|endpoint| endpoint.name.as_str()).collect()
    };
    if global.json {
        let rows: Vec<_> = shown
            .map(|(model, price)| json!({ "model": model, "price": price, "endpoints": used(model) }))
            .collect();
        output::print_json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for (model, price) in shown {
        let cached = price.usd_per_million_cached.map_or(String::new(), |usd| format!(", ${usd} cached"));
        let by = used(model);
        let by = if by.is_empty() { String::new() } else { format!("  (llm.{})", by.join(", llm.")) };
        text.push_str(&format!(
            "{model:<44} ${} in, ${} out{cached} per million tokens{by}\n",
            price.usd_per_million_in, price.usd_per_million_out
        ));
    }
    if text.is_empty() {
        let what = format!("no model in {PRICES} is called like {:?}", name.unwrap_or_default());
        return Err(Failure { exit: Exit::Gap, message: what });
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}
