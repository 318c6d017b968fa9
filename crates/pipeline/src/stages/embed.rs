//! Embeddings of texts: if an endpoint for them is set, their similarity is additional evidence for duplicates among posts
//! and among puzzles (BrainTeaser 3.2). Embeddings are stored permanently, like every reply. Those of posts have a step of
//! their own before dedup, [`Embedding`](super::Embedding); an operation that compares riddles asks for theirs itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::config::{Config, sections};
use crate::stages::draft::{
    EndpointLoad, LlmContext, describe_progress, may_answer_later, open_store, require_consent, stop_message,
};
use crate::stages::{JoinProgress, StageError, Stop, Unusable};
use riddlemill_files::fence;
use riddlemill_llm::{Answer, Ask, Endpoint, Engine, Progress};
use riddlemill_record::{Post, Reason, State};
use riddlemill_tables::{Manifest, Workspace};
use riddlemill_text::join::Watch;
use riddlemill_text::vectors::similar_vectors;

/// More posts are not embedded: every two of them are compared.
const MOST_POSTS: u64 = 100_000;

/// What is embedded by a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embeds {
    /// The texts of posts, as `[embeddings]` says.
    Posts,
    /// What an operation compares of riddles, as `[puzzles]` says.
    Questions,
}

/// A text to embed, and whose it is.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// The record's id.
    pub id: String,
    /// What is embedded of it.
    pub text: String,
}

impl From<&Post> for Embedded {
    fn from(post: &Post) -> Self {
        Embedded { id: post.id.clone(), text: post.text.clone() }
    }
}

/// What a comparison found.
pub struct Compared {
    /// What came for each text, in their order.
    pub answers: Vec<Answer>,
    /// Every two of the texts whose embeddings are near, by number, with their cosine.
    pub near: Vec<(usize, usize, f64)>,
}

impl Embeds {
    fn settings_key(self) -> &'static str {
        match self {
            Embeds::Posts => "embeddings.endpoint",
            Embeds::Questions => "puzzles.embeddings",
        }
    }

    /// The endpoint's name, or nothing, and the cosine from which two texts are near.
    fn endpoint_and_cosine(self, config: &Config, recipe: &str) -> (String, f64) {
        match self {
            Embeds::Posts => {
                let sections::Embeddings { endpoint, cosine } =
                    config.typed_settings(Some(recipe), "embeddings");
                (endpoint, cosine)
            }
            Embeds::Questions => {
                let settings: sections::Puzzles = config.typed_settings(Some(recipe), "puzzles");
                (settings.embeddings, settings.cosine)
            }
        }
    }

    /// The cosine from which two texts are near; `None` where no endpoint is named.
    pub fn near_cosine(self, config: &Config, recipe: &str) -> Option<f64> {
        let (endpoint, cosine) = self.endpoint_and_cosine(config, recipe);
        (!endpoint.is_empty()).then_some(cosine)
    }

    /// The settings of a comparison that can change its rows: not what it may take, which decides nothing.
    pub fn comparison_settings(self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let mut decide = config.stage_settings(Some(recipe), "dedup");
        decide.remove("memory_mib");
        if self == Embeds::Questions {
            decide
                .extend(self.near_cosine(config, recipe).map(|cosine| ("cosine".to_owned(), cosine.into())));
        }
        decide
    }

    /// The settings that can change which texts are near.
    pub fn near_settings(self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let endpoint = self.find_endpoint(config, recipe).ok().flatten();
        let model = endpoint.map(|endpoint| ("model".to_owned(), endpoint.identity().into()));
        let cosine = self.near_cosine(config, recipe).map(|cosine| ("cosine".to_owned(), cosine.into()));
        model.into_iter().chain(cosine).collect()
    }

    /// The endpoint that the settings name; `None` where they name none.
    ///
    /// # Errors
    /// [`StageError::Settings`] where the name is not set.
    pub fn find_endpoint(self, config: &Config, recipe: &str) -> Result<Option<Endpoint>, StageError> {
        let (name, _) = self.endpoint_and_cosine(config, recipe);
        if name.is_empty() {
            return Ok(None);
        }
        let found = config.endpoints.iter().find(|endpoint| endpoint.name == name).cloned();
        let Some(mut endpoint) = found else {
            return Err(self.unusable_setting(format!("there is no [llm.{name}]")));
        };
        // A pack's path is relative to pipeline.toml, not to the current folder.
        endpoint.pack = endpoint.pack.map(|pack| config.root.join(pack));
        Ok(Some(endpoint))
    }

    /// Whether a run may get embeddings that are not stored.
    ///
    /// # Errors
    /// As of [`Embeds::find_endpoint`].
    pub fn may_ask_endpoint(self, config: &Config, recipe: &str) -> Result<bool, StageError> {
        Ok(self.find_endpoint(config, recipe)?.is_some_and(|endpoint| may_answer_later(&endpoint)))
    }

    /// The pairs of texts with near embeddings, by number, with their cosine; none if no endpoint is set.
    ///
    /// # Errors
    /// [`StageError::Stopped`] after a Ctrl-C; else where endpoint or store cannot be used, or there are too many.
    pub fn find_near_pairs(
        self,
        texts: &[Embedded],
        asking: &LlmContext<'_>,
    ) -> Result<Vec<(usize, usize, f64)>, StageError> {
        if self.find_endpoint(asking.config, asking.recipe)?.is_none() {
            return Ok(Vec::new());
        }
        let count = texts.len() as u64;
        // What a model takes for an embedding says nothing of how long the comparison takes.
        asking.pulse.begin_part("embeddings", count);
        let answers = self.embed_texts(texts, asking)?;
        asking.pulse.begin_part("", count);
        self.compare_answers(&answers, asking, &Unwatched { stop: asking.stop })
    }

    /// As [`Embeds::find_near_pairs`], with what came for each text. The bar of the stage is that of the requests.
    ///
    /// # Errors
    /// As of [`Embeds::find_near_pairs`].
    pub fn compare_texts(self, texts: &[Embedded], asking: &LlmContext<'_>) -> Result<Compared, StageError> {
        let answers = self.embed_texts(texts, asking)?;
        let count = texts.len() as u64;
        asking.pulse.begin_part("comparison", count);
        let near =
            self.compare_answers(&answers, asking, &JoinProgress::new(asking.stop, asking.pulse, count))?;
        Ok(Compared { answers, near })
    }

    fn compare_answers(
        self,
        answers: &[Answer],
        asking: &LlmContext<'_>,
        watch: &dyn Watch,
    ) -> Result<Vec<(usize, usize, f64)>, StageError> {
        let (_, cosine) = self.endpoint_and_cosine(asking.config, asking.recipe);
        let vector = |answer: &Answer| answer.reply().and_then(|reply| reply.vector.clone());
        let vectors: Vec<Option<Vec<f32>>> = answers.iter().map(vector).collect();
        let near = similar_vectors(&vectors, cosine, watch);
        asking.stop.fail_if_stopped()?;
        Ok(near)
    }

    /// The reply for each text, in order; none if no endpoint is set.
    fn embed_texts(self, texts: &[Embedded], asking: &LlmContext<'_>) -> Result<Vec<Answer>, StageError> {
        let Some(endpoint) = self.find_endpoint(asking.config, asking.recipe)? else { return Ok(Vec::new()) };
        let (limits, cancel) = asking.engine_limits();
        let asks = self.requests_of_texts(texts);
        let store = Arc::new(open_store(asking.config)?);
        require_consent(&store, std::slice::from_ref(&endpoint), std::slice::from_ref(&asks), asking)?;
        let engine = Engine::new(store, endpoint, limits).map_err(|e| self.unusable_setting(e))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|e| self.unusable_setting(e))?;
        let so_far = AtomicUsize::new(0);
        let flight = EndpointLoad { longest: engine.longest_request(), ..EndpointLoad::default() };
        let on_event = |progress: &Progress| {
            flight.now.store(progress.in_flight, Ordering::Relaxed);
            let finished = progress.count_finished();
            // Events of parallel requests may arrive out of order, and the bar must not go back.
            let before = so_far.fetch_max(finished, Ordering::Relaxed);
            asking.pulse.report_done(finished.saturating_sub(before) as u64);
            asking.pulse.show_status(&describe_progress(progress));
        };
        let awaited = asking.stop.begin_paid_work();
        let answers = runtime.block_on(async {
            let work = engine.ask_all(asks, on_event);
            tokio::pin!(work);
            loop {
                tokio::select! {
                    answers = &mut work => break answers,
                    // Requests in flight are finished and their replies kept; no new ones are sent.
                    () = tokio::time::sleep(Duration::from_millis(100)) => {
                        if asking.stop.is_requested() && !cancel.is_cancelled() {
                            cancel.cancel();
                            asking.pulse.notify_user(&stop_message(std::slice::from_ref(&flight)));
                        }
                    }
                }
            }
        });
        drop(awaited);
        asking.stop.fail_if_stopped()?;
        Ok(answers)
    }

    /// The embeddings that are stored, as `<how many> <hash>`; nothing where no endpoint is set.
    ///
    /// # Errors
    /// [`StageError`] where endpoint or store cannot be read.
    pub fn collect_evidence(
        self,
        config: &Config,
        recipe: &str,
        texts: impl FnOnce() -> Result<Vec<Embedded>, StageError>,
    ) -> Result<BTreeMap<String, String>, StageError> {
        let Some(endpoint) = self.find_endpoint(config, recipe)? else { return Ok(BTreeMap::new()) };
        let mut there = Vec::new();
        if let Some(pack) = endpoint.pack.as_deref().filter(|_| !may_answer_later(&endpoint)) {
            // An unreadable pack is reported when it is used.
            there.push(blake3::hash(&fence::read(pack).unwrap_or_default()).to_hex().to_string());
        } else if Workspace::new(&config.root).raw_folder().join("replies").exists() {
            let store = open_store(config)?;
            for text in texts()? {
                let key = Engine::request_of_ask(&endpoint, &embedding_request(&text)).key();
                if store.contains(&key)? {
                    there.push(key.to_string());
                }
            }
        }
        // The order of the texts is no part of the evidence.
        there.sort();
        let hash = blake3::hash(there.concat().as_bytes()).to_hex();
        Ok(BTreeMap::from([("embeddings".to_owned(), format!("{} {}", there.len(), &hash[..16]))]))
    }

    /// Texts without an embedding that another run may get, of a stage that was made.
    pub fn count_missing(self, made: &Manifest) -> u64 {
        match self {
            Embeds::Posts => {
                let key = format!("{}/{}", State::Changed.code(), Reason::NotEmbedded.code());
                made.counts.reasons.get(&key).copied().unwrap_or(0)
            }
            Embeds::Questions => {
                let stored = made.evidence.get("embeddings").and_then(|e| e.split(' ').next()?.parse().ok());
                made.counts.records_in.saturating_sub(stored.unwrap_or(0))
            }
        }
    }

    /// What would be embedded.
    pub fn requests_of_texts(self, texts: &[Embedded]) -> Vec<Ask> {
        texts.iter().map(embedding_request).collect()
    }

    /// Refuses more texts than can be compared, each with each; before they are read.
    ///
    /// # Errors
    /// [`StageError::Settings`] where there are more.
    pub fn refuse_many(self, count: u64) -> Result<(), StageError> {
        if self == Embeds::Questions || count <= MOST_POSTS {
            return Ok(());
        }
        let what =
            format!("{count} posts are too many to embed: each is compared with each, {MOST_POSTS} at most");
        let hint = "leave it empty; dedup.metric alone finds near duplicates among millions";
        Err(Unusable::at_place(self.settings_key(), what).with_hint(hint).into())
    }

    fn unusable_setting(self, what: impl std::fmt::Display) -> StageError {
        Unusable::at_place(self.settings_key(), what).into()
    }
}

/// For a comparison whose progress its stage does not count.
struct Unwatched<'a> {
    stop: &'a Stop,
}

impl Watch for Unwatched<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_requested()
    }

    fn report_share(&self, _: f64) {}
}

/// Refuses settings that ask for embeddings where a stage works in parts, without a workspace or on a cluster.
///
/// # Errors
/// [`StageError::Settings`] where they do.
pub fn refuse_in_parts(config: &Config, recipe: Option<&str>) -> Result<(), StageError> {
    let settings: sections::Embeddings = config.typed_settings(recipe, "embeddings");
    if settings.endpoint.is_empty() {
        return Ok(());
    }
    let what = "embeddings are compared by `run` alone";
    let hint = "leave it empty for `apply`, `assemble` and clusters: --set embeddings.endpoint=";
    Err(Unusable::at_place(Embeds::Posts.settings_key(), what).with_hint(hint).into())
}

fn embedding_request(text: &Embedded) -> Ask {
    Ask::for_embedding(&text.id, &text.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_posts_than_can_be_compared_are_refused() {
        assert!(Embeds::Posts.refuse_many(MOST_POSTS).is_ok());
        let refused = Embeds::Posts.refuse_many(MOST_POSTS + 1).unwrap_err().to_string();
        assert!(refused.starts_with("embeddings.endpoint: 100001 posts are too many to embed"), "{refused}");
        assert!(Embeds::Questions.refuse_many(MOST_POSTS + 1).is_ok());
    }
}
