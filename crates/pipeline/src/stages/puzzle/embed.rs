//! Embeddings of questions: where an endpoint for them is set, their likeness is a second piece of evidence for
//! duplicates (section 3.2). What an endpoint answered is stored for good, like every reply.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Config, sections};
use crate::stages::draft::{LlmContext, agreed, open_store, sends};
use crate::stages::{StageError, Unusable};
use riddlemill_llm::{Ask, CancellationToken, Endpoint, Engine, Limits, Usd};
use riddlemill_tables::Workspace;
use riddlemill_text::record::Puzzle;

/// The endpoint that the settings name; `None` where they name none.
///
/// # Errors
/// [`StageError::Settings`] where the name is not set.
pub fn endpoint(config: &Config, recipe: &str) -> Result<Option<Endpoint>, StageError> {
    let settings: sections::Puzzles = config.typed(Some(recipe), "puzzles");
    if settings.embeddings.is_empty() {
        return Ok(None);
    }
    let found = config.endpoints.iter().find(|endpoint| endpoint.name == settings.embeddings).cloned();
    let Some(mut endpoint) = found else {
        let what = format!("there is no [llm.{}]", settings.embeddings);
        return Err(Unusable::at("puzzles.embeddings", what).into());
    };
    endpoint.pack = endpoint.pack.map(|pack| config.root.join(pack));
    Ok(Some(endpoint))
}

/// Whether a run may get embeddings that are not stored.
///
/// # Errors
/// As of [`endpoint`].
pub fn asks(config: &Config, recipe: &str) -> Result<bool, StageError> {
    Ok(endpoint(config, recipe)?.is_some_and(|endpoint| sends(&endpoint)))
}

/// A vector a puzzle, in their order; `None` where none is stored and none can be had, or where no endpoint is set.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C; else where endpoint or store cannot be used.
pub fn vectors(puzzles: &[Puzzle], asking: &LlmContext<'_>) -> Result<Vec<Option<Vec<f32>>>, StageError> {
    let Some(endpoint) = endpoint(asking.config, asking.recipe)? else {
        return Ok(puzzles.iter().map(|_| None).collect());
    };
    let settings: sections::Draft = asking.config.typed(Some(asking.recipe), "draft");
    let cap = (settings.max_usd > 0.0).then(|| Usd::from_dollars(settings.max_usd));
    let cancel = CancellationToken::new();
    let limits = Limits {
        offline: asking.offline,
        retry_failed: asking.retry_failed,
        cancel: cancel.clone(),
        run: asking.run.clone(),
        recipe: Some((asking.recipe.to_string(), cap)),
    };
    let store = Arc::new(open_store(asking.config)?);
    let asks = requests(puzzles);
    agreed(&store, std::slice::from_ref(&endpoint), std::slice::from_ref(&asks), asking)?;
    let engine = Engine::new(store, endpoint, limits).map_err(settings_error)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(settings_error)?;
    let answers = runtime.block_on(async {
        let work = engine.ask_all(asks, |_| {});
        tokio::pin!(work);
        loop {
            tokio::select! {
                answers = &mut work => break answers,
                // What is in flight is finished and kept; nothing new goes out.
                () = tokio::time::sleep(Duration::from_millis(100)) => {
                    if asking.stop.asked() {
                        cancel.cancel();
                    }
                }
            }
        }
    });
    asking.stop.check()?;
    Ok(answers.iter().map(|answer| answer.reply().and_then(|reply| reply.vector.clone())).collect())
}

/// The embeddings that are stored, as `<how many> <hash>`; `None` where no endpoint is set.
///
/// # Errors
/// [`StageError`] where endpoint or store cannot be read.
pub fn evidence(
    config: &Config,
    recipe: &str,
    puzzles: impl FnOnce() -> Result<Vec<Puzzle>, StageError>,
) -> Result<Option<String>, StageError> {
    let Some(endpoint) = endpoint(config, recipe)? else { return Ok(None) };
    let mut there = Vec::new();
    if let Some(pack) = endpoint.pack.as_deref().filter(|_| !sends(&endpoint)) {
        // A pack that cannot be read is told when it is used.
        there.push(blake3::hash(&std::fs::read(pack).unwrap_or_default()).to_hex().to_string());
    } else if Workspace::new(&config.root).raw().join("replies").exists() {
        let store = open_store(config)?;
        for puzzle in puzzles()? {
            let key = Engine::request(&endpoint, &request(&puzzle)).key();
            if store.contains(&key)? {
                there.push(key.to_string());
            }
        }
    }
    there.sort();
    Ok(Some(format!("{} {}", there.len(), &blake3::hash(there.concat().as_bytes()).to_hex()[..16])))
}

/// What would be embedded.
pub fn requests(puzzles: &[Puzzle]) -> Vec<Ask> {
    puzzles.iter().map(request).collect()
}

fn request(puzzle: &Puzzle) -> Ask {
    Ask::embedding(&puzzle.id, &puzzle.question)
}

fn settings_error(error: impl std::fmt::Display) -> StageError {
    Unusable::at("puzzles.embeddings", error).into()
}
