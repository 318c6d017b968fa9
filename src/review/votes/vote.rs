//! One vote.

use serde::{Deserialize, Serialize};

use crate::review::ballot::{Role, Round};
use crate::review::digest::{Digest, Digester};
use crate::review::value::Values;

/// What one annotator said about one item, for good. A changed mind is another vote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The hash of everything below that makes the vote what it is: not the time, the file, the
    /// seconds, the standing or `supersedes`. So the same vote has one id however often it comes in.
    pub id: Digest,
    /// The recipe.
    pub recipe: String,
    /// The review step.
    pub step: String,
    /// The item's id.
    pub item: String,
    /// The hash of what the annotator saw.
    pub content_hash: Digest,
    /// Who voted.
    pub annotator: String,
    /// The annotator's standing when the vote came in.
    pub role: Role,
    /// In which capacity.
    #[serde(default)]
    pub round: Round,
    /// The answers.
    pub values: Values,
    /// When it came in, RFC 3339, as the caller says.
    pub at: String,
    /// The file or page it came from.
    pub source: String,
    /// Written for a sample; counts as no person's.
    #[serde(default)]
    pub synthetic: bool,
    /// The sides of a preference in the order the annotator saw them, by their codes; empty where nothing is compared,
    /// and in votes from before it was recorded. What was said holds whatever the order, so it is no part of the id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// How long the annotator took, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The annotator's own vote that stood on the ballot when this one was cast, and so part of its
    /// identity: going back to an earlier answer is a new vote, importing an old file again is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Digest>,
    /// The vote of the same annotator that this one replaces; set when it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Digest>,
}

impl Vote {
    /// The id that the fields make. A stored vote with another id was tampered with.
    pub fn identity(&self) -> Digest {
        let mut digester = Digester::new("riddlemill vote v1");
        for part in [&self.recipe, &self.step, &self.item, &self.annotator] {
            digester.part(part.as_bytes());
        }
        digester.part(self.content_hash.to_string().as_bytes());
        digester.part(self.round.name().as_bytes());
        digester.part(&[u8::from(self.synthetic)]);
        digester.part(self.base.map(|base| base.to_string()).unwrap_or_default().as_bytes());
        self.values.digest(&mut digester);
        digester.finish()
    }

    /// The vote under its proper id.
    pub fn sealed(self) -> Vote {
        Vote { id: self.identity(), ..self }
    }

    /// One annotator has one current vote in each of these.
    pub(crate) fn seat(&self) -> Digest {
        let parts = [&self.recipe, &self.step, &self.item, &self.annotator].map(|part| part.as_bytes());
        Digest::of("riddlemill seat v1", parts.into_iter().chain([self.round.name().as_bytes()]))
    }

    /// Whether the other vote says the same about the same text.
    pub(crate) fn says_as(&self, other: &Vote) -> bool {
        self.values == other.values
            && self.content_hash == other.content_hash
            && self.synthetic == other.synthetic
    }
}

/// The votes that no other of `votes` supersedes, one for each annotator, round and item, in the order of
/// `(annotator, round, id)`. Where logs of two machines were put together and both hold a latest vote,
/// the later counts.
pub fn current<'v>(votes: &[&'v Vote]) -> Vec<&'v Vote> {
    fn seat(vote: &Vote) -> (&str, Round, [&str; 3]) {
        (&vote.annotator, vote.round, [&vote.recipe, &vote.step, &vote.item])
    }
    let mut superseded: Vec<Digest> = votes.iter().filter_map(|vote| vote.supersedes).collect();
    superseded.sort_unstable();
    let stands = |vote: &&Vote| superseded.binary_search(&vote.id).is_err();
    let mut heads: Vec<&Vote> = votes.iter().copied().filter(stands).collect();
    let later_first = |a: &Vote, b: &Vote| (&b.at, b.id).cmp(&(&a.at, a.id));
    heads.sort_by(|a, b| seat(a).cmp(&seat(b)).then_with(|| later_first(a, b)));
    heads.dedup_by(|later, head| seat(later) == seat(head));
    heads.sort_by(|a, b| (&a.annotator, a.round, a.id).cmp(&(&b.annotator, b.round, b.id)));
    heads
}
