//! The outcome of what was parsed: a post with its identity, without names in clear, or why there is none.

use super::files::Dump;
use super::same_id::{self, Fingerprint};
use super::{Parsed, Place, RawPost, ReadItem, Secrets, native_id, texts};
use crate::config::SourceKind;
use crate::stages::withdrawal::{Tombstone, Withdrawals};
use riddlemill_record::{Cause, Evidence, Outcome, Post, Reason, is_published, make_pseudonym, text_id};
use riddlemill_text::hint::split_hint;

/// Puts the entries of an item: one, or that of a page and one for each post on it that is set aside.
pub(super) fn put_outcomes(
    dump: &Dump,
    place: Place,
    secrets: &Secrets<'_>,
    withdrawn: &Withdrawals,
    mut put: impl FnMut(ReadItem),
) {
    let Place { position, name, parsed } = place;
    let locator = name.map_or_else(|| dump.locator_of_item(position), |name| dump.locator_of_item(name));
    let (posts, unknown_encoding) = match texts::refuse_misread(dump.kind, parsed) {
        Parsed::Page { posts, unknown_encoding } => (posts, unknown_encoding),
        Parsed::Post(draft) => {
            let (damaged, noted) = (draft.damaged_id.clone(), draft.noted.clone());
            let (post, fingerprint) = post_of_draft(dump, position, *draft, secrets, withdrawn);
            return put(match withdrawn.of_post(&post.id, &post.text) {
                Some(tombstone) => ReadItem {
                    locator,
                    outcome: withdrawn_outcome(tombstone),
                    fingerprints: Vec::new(),
                    unknown_encoding: None,
                },
                None => ReadItem {
                    locator,
                    outcome: imported_outcome(post, damaged, noted),
                    fingerprints: vec![fingerprint],
                    unknown_encoding: None,
                },
            });
        }
        other => {
            return put(ReadItem {
                locator,
                outcome: set_aside(dump, other),
                fingerprints: Vec::new(),
                unknown_encoding: None,
            });
        }
    };
    let (mut rows, mut fingerprints, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for (i, parsed) in posts.into_iter().enumerate() {
        if let Parsed::Post(draft) = parsed {
            let (post, fingerprint) = post_of_draft(dump, position, *draft, secrets, withdrawn);
            if let Some(tombstone) = withdrawn.of_post(&post.id, &post.text) {
                let locator = format!("{locator}#{}", i + 1);
                more.push(ReadItem {
                    locator,
                    outcome: withdrawn_outcome(tombstone),
                    fingerprints: Vec::new(),
                    unknown_encoding: None,
                });
                continue;
            }
            rows.push((post, same_id::PAGE));
            fingerprints.push(fingerprint);
        } else {
            let locator = format!("{locator}#{}", i + 1);
            more.push(ReadItem {
                locator,
                outcome: set_aside(dump, parsed),
                fingerprints: Vec::new(),
                unknown_encoding: None,
            });
        }
    }
    put(ReadItem { locator, outcome: Outcome::Expanded(rows), fingerprints, unknown_encoding });
    more.into_iter().for_each(put);
}

/// A post is kept as it is; what was read as absent, or names no post in place of an id, is said. No text was replaced.
fn imported_outcome(row: Post, damaged_id: Option<String>, noted: String) -> Outcome<Post> {
    let rule = match damaged_id {
        Some(_) => Reason::DamagedId.code(),
        None if noted.is_empty() => return Outcome::Kept(row),
        None => Reason::Mended.code(),
    };
    let damage = damaged_id.map(|written| native_id::describe_damage(&written));
    let said: Vec<String> = damage.into_iter().chain((!noted.is_empty()).then_some(noted)).collect();
    let text = row.text.clone();
    Outcome::Changed { rule, evidence: said.join("; ").into(), before: String::new(), after: text, row }
}

/// What remains of a withdrawn post: the day, but no text.
fn withdrawn_outcome(tombstone: &Tombstone) -> Outcome<Post> {
    let day = tombstone.at.get(..10).unwrap_or_default();
    Outcome::Dropped { reason: Reason::Withdrawn, evidence: format!("withdrawn on {day}") }
}

/// What could not be read is a failure; what a rule of the source leaves out is not.
fn set_aside(dump: &Dump, parsed: Parsed) -> Outcome<Post> {
    use Reason::{ColumnMissing, Encoding, ForeignFile, Oversize, PageUnparsed, Truncated, Unreadable};
    let failed = |reason, evidence| {
        let evidence = unread_evidence(dump, reason, evidence);
        Outcome::Failed { reason, evidence }
    };
    match parsed {
        Parsed::Out(
            reason @ (ColumnMissing | Encoding | ForeignFile | Oversize | PageUnparsed | Truncated
            | Unreadable),
            evidence,
        ) => failed(reason, evidence),
        Parsed::Out(reason, evidence) => Outcome::Dropped { reason, evidence },
        Parsed::Bad(evidence) => failed(Unreadable, evidence),
        Parsed::Part(into) => {
            let evidence = "a question of the same group".to_owned();
            Outcome::Merged { into, reason: Reason::GroupMember, score: 1.0, evidence }
        }
        Parsed::Post(_) | Parsed::Page { .. } => failed(Unreadable, "a page inside a page".into()),
    }
}

/// The evidence of what was not read, with its fields.
pub(super) fn unread_evidence(dump: &Dump, reason: Reason, evidence: String) -> Evidence {
    let whole = matches!(reason, Reason::ForeignFile | Reason::ColumnMissing | Reason::NothingRead);
    let (what, hint) = split_hint(&evidence);
    let cause = Cause::Unread {
        source: dump.source.clone(),
        file: format!("{}/{}", dump.source, dump.file),
        whole,
        said: what.trim().to_owned(),
        hint: hint.map(str::to_owned),
    };
    Evidence::with_cause(evidence, cause)
}

fn post_of_draft(
    dump: &Dump,
    position: u64,
    draft: RawPost,
    secrets: &Secrets<'_>,
    withdrawn: &Withdrawals,
) -> (Post, Fingerprint) {
    let text = Post::join_title_and_content(draft.title.as_deref(), draft.content.as_deref());
    // Records of published sets are known by their ids: no other source may give such a one.
    let own = |id: &String| dump.kind == SourceKind::Published || !is_published(id);
    let id = draft.id.filter(own).unwrap_or_else(|| text_id(&text));
    let fingerprint = Fingerprint::new(&id, &text);
    let mut mentions = draft.mentions;
    for name in secrets.names.find_names(&text) {
        if mentions.iter().all(|known| known != name) {
            mentions.push(name.to_owned());
        }
    }
    let (language, certainty) = dump.language_of(&text);
    let post = Post {
        id,
        kind: draft.kind,
        text,
        title: draft.title,
        content: draft.content,
        author: draft.author.map(|name| make_pseudonym(secrets.salt, &name)),
        mentions,
        links: draft.links,
        time: draft.time,
        score: draft.score,
        number: None,
        // A note is a post of its own, which may be withdrawn without the one that it is shown with.
        note: draft.note.filter(|note| withdrawn.of_text(note).is_none()),
        images: draft.images,
        source: dump.source.clone(),
        file: dump.file.clone(),
        position,
        licence: dump.licence.clone(),
        language: Some(language),
        language_certainty: Some(certainty),
    };
    (post, fingerprint)
}
