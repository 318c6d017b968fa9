//! The step before dedup that asks a model for an embedding of every post, and finds the pairs that are near. Dedup reads
//! the pairs; no post changes.

use std::collections::BTreeMap;

use serde_json::Value;

use super::context::{About, NewRows, StageError, StageRows};
use super::embed::{Embedded, Embeds};
use super::job::{Job, StepContext, read_all_rows};
use super::stage::Stage;
use crate::config::Config;
use riddlemill_llm::Answer;
use riddlemill_record::{Evidence, Outcome, Post, Reason, record};
use riddlemill_tables::StageReader;

/// What a model embeds, for dedup: only where the settings name one.
#[derive(Debug)]
pub struct Embedding;

impl Stage for Embedding {
    fn describe_stage(&self) -> About {
        About {
            name: "embed",
            version: 1,
            section: "embeddings",
            rows: StageRows::Posts,
            detail: "asks embeddings.endpoint",
        }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        embed_posts(job)
    }

    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        Embeds::Posts.near_settings(config, recipe)
    }

    fn embedding_task(&self) -> Option<Embeds> {
        Some(Embeds::Posts)
    }

    fn texts_to_embed(&self, step: &StepContext<'_>) -> Result<Vec<Embedded>, StageError> {
        let mut texts = Vec::new();
        for input in &step.inputs {
            let Some(reader) = StageReader::open(&input.place)? else { continue };
            // Refused by the count alone, before too many texts are in memory.
            Embeds::Posts.refuse_many(texts.len() as u64 + reader.table("rows").rows)?;
            for part in reader.read_parts::<Post>("rows") {
                texts.extend(part?.iter().map(Embedded::from));
            }
        }
        Ok(texts)
    }
}

record! {
    /// Two posts whose embeddings are near.
    pub struct NearEmbeddings {
        /// The post that comes first.
        a: String,
        /// The other.
        b: String,
        /// The cosine of their embeddings, at least that of the settings.
        cosine: f64,
    }
}

/// The table of pairs that are near.
pub const NEAR: &str = "near";

/// Embeds the posts that entered, all of which are kept but for those that several inputs have, and finds the near pairs.
fn embed_posts(job: &Job<'_>) -> Result<NewRows, StageError> {
    let (inputs, asking, seconds) = (job.inputs, &job.asking, job.find_repeated_records()?);
    let mut writer = job.create_post_writer()?;
    Embeds::Posts.refuse_many(inputs.iter().map(|input| input.table("rows").rows).sum())?;
    let mut posts: Vec<Post> = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let mut of_input: Vec<Post> = Vec::new();
        read_all_rows((), input, asking.stop, &mut of_input)?;
        posts.extend(of_input.into_iter().filter(|post| !seconds.has_earlier(at, &post.id)));
    }
    seconds.set_all_aside(&mut writer);
    let texts: Vec<Embedded> = posts.iter().map(Embedded::from).collect();
    let compared = Embeds::Posts.compare_texts(&texts, asking)?;
    let mut table = writer.start_table::<NearEmbeddings>(NEAR)?;
    for (a, b, cosine) in compared.near {
        table.append(&NearEmbeddings { a: texts[a].id.clone(), b: texts[b].id.clone(), cosine });
    }
    writer.add_table(table)?;
    for (post, answer) in posts.into_iter().zip(&compared.answers) {
        let (reason, evidence) = describe_embedding(answer);
        let id = post.id.clone();
        let (before, after) = (String::new(), String::new());
        writer.append(&id, &Outcome::Changed { row: post, rule: reason.code(), evidence, before, after });
    }
    writer.flush()?;
    Ok(writer.into())
}

/// Whether a text was embedded, and by which reply or why not.
fn describe_embedding(answer: &Answer) -> (Reason, Evidence) {
    let missing = |reason: Reason, words: &Evidence| {
        let lasting = matches!(reason, Reason::RequestRefused | Reason::ReplyUnparseable);
        let rule = if lasting { Reason::Unembeddable } else { Reason::NotEmbedded };
        (rule, Evidence::explain_missing(reason, words))
    };
    match answer {
        Answer::Reply(reply) => {
            let basis = format!("{}:{}", reply.marks.basis_prefix(), reply.key);
            match &reply.vector {
                Some(_) => (Reason::Embedded, basis.into()),
                None => missing(
                    Reason::ReplyUnparseable,
                    &Evidence::from(format!("no embedding in it ({basis})")),
                ),
            }
        }
        Answer::Held(held) => missing(held.reason, &held.what),
        Answer::Failed(failed) => missing(
            failed.reason,
            &failed.error.with_text(format!("{} (reply:{})", failed.error, failed.key)),
        ),
    }
}
