//! The step before dedup that asks a model about borderline pairs of posts: are these one joke? Dedup reads what it said; no
//! post changes. A pair that the judge calls one joke counts as the same; one that it calls two stays listed, as does one that
//! was not judged. What people decide about pairs has the last word, in dedup.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::context::{JoinProgress, StageError, Unusable};
use super::draft::{LlmContext, ask_endpoints, load_prompts, may_answer_later, open_store};
use super::embed::Embeds;
use super::embed_posts::{NEAR, NearEmbeddings};
use super::job::read_all_rows;
use super::seconds::Seconds;
use crate::config::{Config, sections};
use riddlemill_files::fence;
use riddlemill_llm::parse::{self, Unreadable};
use riddlemill_llm::{Ask, Endpoint, Engine, Parsed, Prompts};
use riddlemill_record::{Evidence, Outcome, Post, Reason, is_published, record};
use riddlemill_tables::{StageReader, StageWriter, Workspace};
use riddlemill_text::join::Watch;
use riddlemill_text::offline::dedup::Found;

record! {
    /// A borderline pair that a judge was to be asked about.
    pub struct JudgedPair {
        /// The post that ranks first.
        a: String,
        /// The other.
        b: String,
        /// What the words of the two measure, 0 to 1.
        score: f64,
        /// `one` or `two`; null where nothing was said.
        verdict: Option<String>,
        /// The judge's reason; null where nothing was said.
        why: Option<String>,
        /// The key of the request.
        request: String,
        /// The reply that says it, or why there is none.
        basis: String,
    }
}

/// The table of pairs with what the judge said.
pub const JUDGED: &str = "judged";
/// The setting that names the judge.
pub const KEY: &str = "same_joke.endpoint";
/// The prompt, which `prompts/dedup/same_joke.jinja` of a workspace replaces.
pub const PROMPT: &str = riddlemill_llm::prompt::SAME_JOKE;
/// Between the two ids of what a request is about.
const AND: &str = " = ";

/// What a judge says of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairJudgement {
    /// Whether the two are one joke.
    pub one: bool,
    pub why: String,
}

/// Reads a judge's reply.
///
/// # Errors
/// [`Unreadable`] if it does not say whether the two are one joke, and why.
pub fn parse_judgement(reply: &str) -> Result<PairJudgement, Unreadable> {
    let said = parse::parse_object(reply, &["one", "why"])?;
    Ok(PairJudgement {
        one: parse::parse_flag(&said, "one")?,
        why: parse::text_field(&said, "why")?.trim().to_owned(),
    })
}

fn endpoint_name(config: &Config, recipe: Option<&str>) -> String {
    config.typed_settings::<sections::SameJoke>(recipe, "same_joke").endpoint
}

/// Whether the settings name a judge.
pub fn is_on(config: &Config, recipe: Option<&str>) -> bool {
    !endpoint_name(config, recipe).is_empty()
}

/// The judge that the settings name; `None` where they name none.
///
/// # Errors
/// [`StageError::Settings`] where the name is not set.
pub fn find_judge(config: &Config, recipe: &str) -> Result<Option<Endpoint>, StageError> {
    let name = endpoint_name(config, Some(recipe));
    if name.is_empty() {
        return Ok(None);
    }
    let found = config.endpoints.iter().find(|endpoint| endpoint.name == name).cloned();
    let Some(mut endpoint) = found else {
        return Err(Unusable::at_place(KEY, format!("there is no [llm.{name}]")).into());
    };
    // A pack's path is relative to pipeline.toml, not to the current folder.
    endpoint.pack = endpoint.pack.map(|pack| config.root.join(pack));
    Ok(Some(endpoint))
}

/// Whether a run may get judgements that are not stored.
///
/// # Errors
/// As of [`find_judge`].
pub fn may_ask_judge(config: &Config, recipe: &str) -> Result<bool, StageError> {
    Ok(find_judge(config, recipe)?.is_some_and(|endpoint| may_answer_later(&endpoint)))
}

/// Refuses settings that ask for judgements where a stage works in parts, without a workspace or on a cluster.
///
/// # Errors
/// [`StageError::Settings`] where they do.
pub fn refuse_in_parts(config: &Config, recipe: Option<&str>) -> Result<(), StageError> {
    if !is_on(config, recipe) {
        return Ok(());
    }
    let what = "pairs are judged in `run` alone";
    let hint = "leave it empty for `apply`, `assemble` and clusters: --set same_joke.endpoint=";
    Err(Unusable::at_place(KEY, what).with_hint(hint).into())
}

/// The settings that can change which pairs are judged, and how.
pub fn judging_settings(config: &Config, recipe: &str) -> BTreeMap<String, Value> {
    let mut decide = Embeds::Posts.comparison_settings(config, recipe);
    let endpoint = find_judge(config, recipe).ok().flatten();
    decide.extend(endpoint.map(|endpoint| ("model".to_owned(), endpoint.identity().into())));
    let draft: sections::Draft = config.typed_settings(Some(recipe), "draft");
    decide.insert("max_reasks".to_owned(), draft.max_reasks.into());
    decide
}

/// What the step depends on besides its input: its prompt, what else a request holds, and the stored replies to the
/// requests of the stage that is at `place`. Without one it is made anyway.
///
/// # Errors
/// [`StageError`] where prompts, pack, store or stage cannot be read.
pub fn collect_evidence(
    config: &Config,
    recipe: &str,
    place: &Path,
) -> Result<BTreeMap<String, String>, StageError> {
    evidence_of(config, recipe, &pairs_at(place)?)
}

/// The pairs of the stage at a place. One that cannot be opened is made anew, and has none.
fn pairs_at(place: &Path) -> Result<Vec<JudgedPair>, StageError> {
    let stage = StageReader::open(place).ok().flatten();
    let Some(stage) = stage.filter(|stage| stage.manifest().tables.contains_key(JUDGED)) else {
        return Ok(Vec::new());
    };
    Ok(stage.read_table(JUDGED)?)
}

/// How many pairs of the stage at a place lack a judgement that another run may get.
///
/// # Errors
/// [`StageError`] if the stage cannot be read.
pub fn count_missing(place: &Path) -> Result<u64, StageError> {
    let lasting = |pair: &JudgedPair| {
        let (code, _) = pair.basis.split_once(": ").unwrap_or_default();
        Reason::from_code(code).is_some_and(is_lasting)
    };
    let pairs = pairs_at(place)?;
    Ok(pairs.iter().filter(|pair| pair.verdict.is_none() && !lasting(pair)).count() as u64)
}

/// Whether another run would fail alike.
fn is_lasting(reason: Reason) -> bool {
    matches!(reason, Reason::RequestRefused | Reason::ReplyUnparseable)
}

/// [`collect_evidence`] for these pairs.
///
/// # Errors
/// As of [`collect_evidence`].
pub fn evidence_of(
    config: &Config,
    recipe: &str,
    judged: &[JudgedPair],
) -> Result<BTreeMap<String, String>, StageError> {
    let mut evidence = BTreeMap::new();
    let Some(endpoint) = find_judge(config, recipe)? else { return Ok(evidence) };
    let prompts = load_prompts(config)?;
    evidence.insert(format!("prompt {PROMPT}"), prompts.hash(PROMPT)?[..16].to_owned());
    // What else goes into every request: the model's parameters.
    let probe =
        Engine::request_of_ask(&endpoint, &question_of_pair(&prompts, ("", ""), ("", ""))?).key().to_string();
    evidence.insert("request".to_owned(), probe[..16].to_owned());
    let mut there = Vec::new();
    if let Some(pack) = endpoint.pack.as_deref().filter(|_| !may_answer_later(&endpoint)) {
        // An unreadable pack is reported when it is used.
        there.push(blake3::hash(&fence::read(pack).unwrap_or_default()).to_hex().to_string());
    } else if Workspace::new(&config.root).raw_folder().join("replies").exists() {
        let store = open_store(config)?;
        for pair in judged {
            let known = pair.request.parse::<riddlemill_llm::Key>().ok();
            if let Some(key) = known
                && store.contains(&key)?
            {
                there.push(pair.request.clone());
            }
        }
    }
    there.sort();
    let hash = blake3::hash(there.concat().as_bytes()).to_hex();
    evidence.insert("replies".to_owned(), format!("{} {}", there.len(), &hash[..16]));
    Ok(evidence)
}

/// Two posts, by number, that are borderline by their words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Borderline {
    pub a: usize,
    pub b: usize,
    pub score: f64,
}

/// The pairs to judge, in the order of their ids: borderline by their words, not near by their embeddings, and not both
/// published, because those are never merged by a rule.
pub fn find_borderline_pairs(
    posts: &[Post],
    near: &[NearEmbeddings],
    settings: &sections::Dedup,
    watch: &dyn Watch,
) -> Vec<Borderline> {
    let found = Found::among_posts(posts, settings, watch);
    let near: BTreeSet<(&str, &str)> =
        near.iter().flat_map(|pair| [(&*pair.a, &*pair.b), (&*pair.b, &*pair.a)]).collect();
    let ends = |a: usize, b: usize| if found.ranks[b] < found.ranks[a] { (b, a) } else { (a, b) };
    let mut pairs: Vec<Borderline> = found
        .similar_pairs
        .iter()
        .filter(|pair| !pair.same)
        .map(|pair| {
            let (a, b) = ends(found.heads[pair.a as usize], found.heads[pair.b as usize]);
            (Borderline { a, b, score: pair.score }, pair.veto)
        })
        .filter(|(pair, veto)| {
            let (a, b) = (posts[pair.a].id.as_str(), posts[pair.b].id.as_str());
            let by_embedding = veto.is_none() && near.contains(&(a, b));
            !(by_embedding || is_published(a) && is_published(b))
        })
        .map(|(pair, _)| pair)
        .collect();
    let ids = |pair: &Borderline| (posts[pair.a].id.as_str(), posts[pair.b].id.as_str());
    pairs.sort_by(|x, y| ids(x).cmp(&ids(y)));
    pairs
}

/// The question about two posts, given by id and text.
fn question_of_pair(prompts: &Prompts, a: (&str, &str), b: (&str, &str)) -> Result<Ask, StageError> {
    let rendered = prompts.render_prompt(PROMPT, json!({ "first": a.1, "second": b.1 }))?;
    let schema = json!({
        "type": "object",
        "properties": { "one": { "type": "boolean" }, "why": { "type": "string" } },
        "required": ["one", "why"],
        "additionalProperties": false,
    });
    let about = [a.0, b.0].join(AND);
    Ok(Ask { schema: Some(Arc::new(schema)), ..Ask::new(about, rendered, 0) })
}

/// The questions about pairs, in their order.
///
/// # Errors
/// [`StageError`] where the prompt cannot be filled in.
pub fn questions_of_pairs(
    config: &Config,
    posts: &[Post],
    pairs: &[Borderline],
) -> Result<Vec<Ask>, StageError> {
    let prompts = load_prompts(config)?;
    let side = |at: usize| (posts[at].id.as_str(), posts[at].text.as_str());
    pairs.iter().map(|pair| question_of_pair(&prompts, side(pair.a), side(pair.b))).collect()
}

/// The most pairs that one post is in, of those that are asked about; at least 1.
pub fn most_of_one(asks: &[Ask]) -> u64 {
    let mut count: FxHashMap<&str, u64> = FxHashMap::default();
    let both = asks.iter().filter_map(|ask| ask.record.split_once(AND));
    both.flat_map(|(a, b)| [a, b]).for_each(|id| *count.entry(id).or_default() += 1);
    count.into_values().max().unwrap_or(1)
}

/// The posts of some stages, each once, and the pairs that are near by embeddings.
///
/// # Errors
/// [`StageError`] where a stage cannot be read, or there are too many posts.
pub fn read_posts_and_pairs(
    inputs: &[&StageReader],
    seconds: &Seconds,
    asking: &super::Stop,
) -> Result<(Vec<Post>, Vec<NearEmbeddings>), StageError> {
    let count: u64 = inputs.iter().map(|input| input.table("rows").rows).sum();
    if count > MOST_POSTS {
        let what =
            format!("{count} posts are too many: each borderline pair is asked about, {MOST_POSTS} at most");
        let hint = "leave it empty; `show dedup --borderline` lists the pairs for people";
        return Err(Unusable::at_place(KEY, what).with_hint(hint).into());
    }
    let (mut posts, mut near): (Vec<Post>, Vec<NearEmbeddings>) = (Vec::new(), Vec::new());
    for (at, input) in inputs.iter().enumerate() {
        let mut of_input: Vec<Post> = Vec::new();
        read_all_rows((), input, asking, &mut of_input)?;
        posts.extend(of_input.into_iter().filter(|post| !seconds.has_earlier(at, &post.id)));
        if input.manifest().tables.contains_key(NEAR) {
            near.append(&mut input.read_table(NEAR)?);
        }
    }
    Ok((posts, near))
}

/// More posts are not judged: their borderline pairs are too many to pay for unseen.
const MOST_POSTS: u64 = 100_000;

/// Asks about the borderline pairs of the posts that entered, all of which are kept but for `seconds`. Returns the pairs with
/// what was said.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C, when what was in flight is stored; else where there are too many posts, nobody
/// agreed to pay, or endpoint, store or stage cannot be used.
pub fn judge_pairs(
    inputs: &[StageReader],
    seconds: &Seconds,
    writer: &mut StageWriter<Post>,
    asking: &LlmContext<'_>,
) -> Result<Vec<JudgedPair>, StageError> {
    let (posts, near) = read_posts_and_pairs(&inputs.iter().collect::<Vec<_>>(), seconds, asking.stop)?;
    let settings: sections::Dedup = asking.config.typed_settings(Some(asking.recipe), "dedup");
    let waiting = JoinProgress::new(asking.stop, asking.pulse, posts.len() as u64);
    let pairs = find_borderline_pairs(&posts, &near, &settings, &waiting);
    asking.stop.fail_if_stopped()?;
    let judged = ask_judge(&posts, &pairs, asking)?;
    if !near.is_empty() {
        // Dedup reads the pairs of the step before, too.
        let mut table = writer.start_table::<NearEmbeddings>(NEAR)?;
        near.iter().for_each(|pair| table.append(pair));
        writer.add_table(table)?;
    }
    let mut table = writer.start_table::<JudgedPair>(JUDGED)?;
    judged.iter().for_each(|(pair, _)| table.append(pair));
    writer.add_table(table)?;
    seconds.set_all_aside(writer);
    let mut of_post: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, (pair, _)) in judged.iter().enumerate() {
        of_post.entry(pair.a.clone()).or_default().push(at);
        of_post.entry(pair.b.clone()).or_default().push(at);
    }
    for post in posts {
        let id = post.id.clone();
        let outcome = match of_post.get(&id) {
            None => Outcome::Kept(post),
            Some(of_post) => {
                let said: Vec<&(JudgedPair, PairFinding)> = of_post.iter().map(|at| &judged[*at]).collect();
                let (reason, evidence) = describe_pairs(&id, &said);
                let (before, after) = (String::new(), String::new());
                Outcome::Changed { row: post, rule: reason.code(), evidence, before, after }
            }
        };
        writer.append(&id, &outcome);
    }
    writer.flush()?;
    Ok(judged.into_iter().map(|(pair, _)| pair).collect())
}

/// What became of a post's pairs: what is missing before what is there, because that is what somebody can do about.
fn describe_pairs(id: &str, said: &[&(JudgedPair, PairFinding)]) -> (Reason, Evidence) {
    for reason in [Reason::NotJudged, Reason::Unjudgeable] {
        if let Some((_, (_, evidence))) = said.iter().find(|(_, of)| of.0 == reason) {
            return (reason, evidence.clone());
        }
    }
    let one = |(pair, _): &&(JudgedPair, PairFinding)| {
        let other = if pair.a == id { &pair.b } else { &pair.a };
        let verdict = pair.verdict.as_deref().unwrap_or_default();
        format!("{verdict} with {other}: {} ({})", pair.why.as_deref().unwrap_or_default(), pair.basis)
    };
    (Reason::PairJudged, said.iter().map(one).collect::<Vec<_>>().join("; ").into())
}

/// The pairs with what the judge said of each, or why nothing.
fn ask_judge(
    posts: &[Post],
    pairs: &[Borderline],
    asking: &LlmContext<'_>,
) -> Result<Vec<(JudgedPair, PairFinding)>, StageError> {
    let Some(endpoint) = find_judge(asking.config, asking.recipe)? else { return Ok(Vec::new()) };
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let asks = questions_of_pairs(asking.config, posts, pairs)?;
    let requests: Vec<String> =
        asks.iter().map(|ask| Engine::request_of_ask(&endpoint, ask).key().to_string()).collect();
    let draft: sections::Draft = asking.config.typed_settings(Some(asking.recipe), "draft");
    let count = asks.len() as u64;
    asking.pulse.begin_part("pairs", count);
    let read = |_: &Ask, reply: &str| parse_judgement(reply);
    let answers = ask_endpoints(vec![endpoint], vec![asks], read, draft.max_reasks, asking)?;
    asking.stop.fail_if_stopped()?;
    asking.pulse.begin_part("", posts.len() as u64);
    let judged =
        pairs.iter().zip(requests).zip(answers.into_iter().flatten()).map(|((pair, request), answer)| {
            let (verdict, why, told) = describe_judgement(answer);
            let basis = told.1.to_string();
            let (a, b) = (posts[pair.a].id.clone(), posts[pair.b].id.clone());
            (JudgedPair { a, b, score: pair.score, verdict, why, request, basis }, told)
        });
    Ok(judged.collect())
}

/// What a pair is in the ledger, and its basis.
type PairFinding = (Reason, Evidence);

/// Verdict, reason of the judge, and what that is in the ledger.
fn describe_judgement(answer: Parsed<PairJudgement>) -> (Option<String>, Option<String>, PairFinding) {
    let missing = |reason: Reason, words: &Evidence| {
        let rule = if is_lasting(reason) { Reason::Unjudgeable } else { Reason::NotJudged };
        (None, None, (rule, Evidence::explain_missing(reason, words)))
    };
    match answer {
        Parsed::Value { value, reply, .. } => {
            let verdict = if value.one { ONE } else { TWO };
            let basis = format!("{}:{}", reply.marks.basis_prefix(), reply.key);
            (Some(verdict.to_owned()), Some(value.why), (Reason::PairJudged, basis.into()))
        }
        Parsed::Held(held) => missing(held.reason, &held.what),
        Parsed::Failed(failed) => missing(
            failed.reason,
            &failed.error.with_text(format!("{} (reply:{})", failed.error, failed.key)),
        ),
    }
}

/// The verdict on two posts that are one joke.
pub const ONE: &str = "one";
/// That on two jokes.
pub const TWO: &str = "two";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn post(id: &str, text: &str) -> Post {
        Post { id: id.into(), text: text.into(), ..Post::default() }
    }

    #[test]
    fn a_reply_says_one_or_two_and_why() {
        let one = parse_judgement("Sure: {\"one\": true, \"why\": \" the same idea \"}").unwrap();
        assert_eq!(one, PairJudgement { one: true, why: "the same idea".into() });
        assert!(!parse_judgement("{\"one\": false, \"why\": \"other roles\"}").unwrap().one);
        assert!(
            parse_judgement("one").is_err()
                && parse_judgement("{\"one\": \"perhaps\", \"why\": \"x\"}").is_err()
        );
    }

    #[test]
    fn the_busiest_post_is_counted() {
        let ask = |about: &str| Ask { record: about.into(), ..Ask::for_embedding("", "") };
        assert_eq!(most_of_one(&[ask("a = b"), ask("a = c"), ask("d = e")]), 2);
        assert_eq!(most_of_one(&[]), 1);
    }

    proptest! {
        /// Which pairs are asked about depends on the posts, and not on their order; no pair is asked about twice.
        #[test]
        fn pairs_do_not_hang_on_the_order_of_posts(from in 0usize..6) {
            let texts = [
                "医生的手会不会给自己看病？", "病会不会给医生的手看自己？", "为什么天气越冷企鹅越会感冒",
                "为什么天气越冷企鹅越不会感冒", "影子会不会嫌我胖？", "门槛算不算门的一部分？",
            ];
            let mut posts: Vec<Post> =
                texts.iter().enumerate().map(|(at, text)| post(&format!("x:{at}"), text)).collect();
            let ids = |posts: &[Post]| -> Vec<(String, String)> {
                let watch = riddlemill_text::join::Unwatched;
                find_borderline_pairs(posts, &[], &sections::Dedup::default(), &watch)
                    .iter()
                    .map(|pair| (posts[pair.a].id.clone(), posts[pair.b].id.clone()))
                    .collect()
            };
            let first = ids(&posts);
            posts.rotate_left(from);
            prop_assert_eq!(&ids(&posts), &first);
            let mut distinct = first.clone();
            distinct.dedup();
            prop_assert_eq!(distinct, first);
        }
    }
}
