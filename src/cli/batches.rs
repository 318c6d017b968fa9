//! `replies batches` and `replies cancel`: lists open batches, and cancels one.

use std::sync::Arc;

use serde_json::json;

use super::args::Global;
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::Config;
use crate::llm::{Cancelled, Engine, Limits, OpenBatch, Store, cancel_lost, open_batches};
use crate::stages::StageError;
use crate::store::Workspace;

/// Lists the open batches from the log, without contacting servers.
pub(super) fn list_batches(config: &Config, global: &Global) -> Result<Exit, Failure> {
    let open = read_open_batches(config)?;
    if global.json {
        output::print_json(&open)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for batch in &open {
        let sent =
            batch.id.as_ref().map_or("not sent yet, as far as known".into(), |id| format!("there {id}"));
        let requests = count(batch.requests as u64, "request");
        text.push_str(&format!(
            "{}  llm.{}  {requests} since {}, {sent}\n",
            batch.batch,
            batch.endpoint,
            batch.begin_date()
        ));
    }
    if open.is_empty() {
        text.push_str("no batch is open\n");
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// Cancels a batch at its server, or counts it as lost without contacting the server.
pub(super) fn cancel_batch(
    config: &Config,
    store: Store,
    name: &str,
    lost: bool,
    global: &Global,
) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| batch_refused(format!("cannot start the network runtime: {e}")))?;
    // Before the endpoint is looked up, which may be gone from the settings.
    if lost {
        let batch = runtime.block_on(cancel_lost(&store, name)).map_err(batch_refused)?;
        let requests = count(batch.requests as u64, "request");
        let message = format!(
            "{}: {requests} counted as spent, and asked again by the next run that needs them",
            batch.batch
        );
        return report_batch(&batch, "lost", &message, global);
    }
    let open = read_open_batches(config)?;
    // People copy either name: that in the log, or the server's own.
    let is = |batch: &&OpenBatch| batch.batch.starts_with(name) || batch.id.as_deref() == Some(name);
    let Some(batch) = open.iter().find(is) else {
        return Err(batch_refused(format!(
            "no open batch is named {name:?}\n  hint: `riddlemill replies batches` lists them"
        )));
    };
    let endpoint =
        config.endpoints.iter().find(|endpoint| endpoint.name == batch.endpoint).ok_or_else(|| {
            batch_refused(format!(
                "pipeline.toml has no [llm.{}] any more, whose batch it is\n  hint: put it back, or --lost \
             counts the batch as spent",
                batch.endpoint
            ))
        })?;
    let engine = Engine::new(
        Arc::new(store),
        endpoint.clone(),
        Limits { trust: config.trust.clone(), ..Limits::default() },
    );
    let engine = engine.map_err(|error| batch_refused(error.to_string()))?;
    let given_up = runtime.block_on(engine.cancel_batch(name)).map_err(batch_refused)?;
    let again = match endpoint.batch {
        true => format!(
            "the next run asks again for what it needs, in a new batch; `batch = false` under [llm.{}] asks one by one",
            endpoint.name
        ),
        false => "the next run asks again for what it needs, one by one".to_owned(),
    };
    let requests = count(batch.requests as u64, "request");
    let (how, description) = match given_up {
        Cancelled::NeverSent => {
            ("never_sent", format!("it had not been sent, and nothing was paid; {again}"))
        }
        Cancelled::Answered(state) => (
            "cancelled",
            format!(
                "cancelled at llm.{} ({state}): the next run fetches the replies that exist by then, which \
                 are paid for, and {again}",
                endpoint.name
            ),
        ),
        Cancelled::Over { answered } if answered == batch.requests => {
            ("over", format!("ended: all of its {requests} are answered and paid for"))
        }
        Cancelled::Over { answered } => {
            ("over", format!("ended, with {answered} of {requests} answered and paid for; {again}"))
        }
    };
    report_batch(batch, how, &format!("{}: {description}", batch.batch), global)
}

fn report_batch(batch: &OpenBatch, how: &str, description: &str, global: &Global) -> Result<Exit, Failure> {
    if global.json {
        output::print_json(
            &json!({ "batch": batch.batch, "endpoint": batch.endpoint, "requests": batch.requests, "is": how }),
        )?;
    } else if !global.quiet {
        eprintln!("{description}");
    }
    Ok(Exit::Done)
}

fn read_open_batches(config: &Config) -> Result<Vec<OpenBatch>, Failure> {
    let replies = Workspace::new(&config.root).raw_folder().join("replies");
    Ok(open_batches(&replies).map_err(crate::llm::store::StoreError::from).map_err(StageError::from)?)
}

fn batch_refused(why: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Gap, message: why.to_string() }
}
