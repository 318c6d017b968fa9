//! The licences that folders state: what forbids releasing rows under the licence of the whole, and what changed since the
//! release before.

use std::collections::BTreeMap;
use std::path::Path;

use super::error::ReleaseError;
use super::licence::why_forbidden;
use super::manifest::licences_by_source;
use super::manifest::{CandidateManifest, Raw};
use crate::recipe::Recipe;
use riddlemill_files::fence;

/// The reasons why the sources of a set forbid releasing it under a licence, each once.
pub(super) fn licence_conflicts(raw: &[Raw], set_licence: &str) -> Vec<String> {
    let mut why = Vec::new();
    for file in raw {
        let Some(reason) = file.licence.as_deref().and_then(|licence| why_forbidden(licence, set_licence))
        else {
            continue;
        };
        let source = file.file.split('/').next().unwrap_or_default();
        let reason = format!("{source}: {reason}");
        if !why.contains(&reason) {
            why.push(reason);
        }
    }
    why
}

/// Licences for a whole, the freest first.
const COMMON: [&str; 4] = ["CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0"];

/// A licence under which a set may be released: a common one that all of its sources allow, or what one of them states.
pub(super) fn find_allowed_licence(raw: &[Raw]) -> Option<String> {
    let stated = raw.iter().filter_map(|file| file.licence.as_deref());
    COMMON
        .into_iter()
        .chain(stated)
        .find(|licence| licence_conflicts(raw, licence).is_empty())
        .map(str::to_owned)
}

/// Whether the sources of a set forbid releasing it under a licence.
pub(super) fn licence_refusal(
    recipe: &Recipe,
    raw: &[Raw],
    set_licence: Option<&str>,
) -> Option<ReleaseError> {
    let why = licence_conflicts(raw, set_licence?);
    let licence = set_licence?.to_owned();
    let mut stated = raw.iter().filter_map(|file| file.licence.as_deref());
    let allowed = stated.find(|stated| licence_conflicts(raw, stated).is_empty()).map(str::to_owned);
    (!why.is_empty()).then(|| ReleaseError::Forbidden { recipe: recipe.name.into(), licence, why, allowed })
}

/// The licence of the whole that a folder states, whichever version of the program wrote it.
pub(super) fn stated_licence(folder: &Path) -> Option<String> {
    let text = fence::read_to_string(folder.join("LICENSE")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("SPDX-License-Identifier: ")).map(str::to_owned)
}

/// What differs between the licences of two folders, as text: that of the whole, and those of sources that both have. `None`
/// if nothing does, or one of them is missing.
pub(super) fn licence_changes(before: &Path, after: &Path) -> Option<String> {
    let read = |folder: &Path| CandidateManifest::read_manifest(folder).ok().flatten();
    let (old, new) = (read(before)?, read(after)?);
    let mut differs = Vec::new();
    let worded = |licence: Option<String>| licence.unwrap_or_else(|| "not stated".to_owned());
    let (then, now) = (worded(stated_licence(before)), worded(stated_licence(after)));
    if then != now {
        differs.push(format!("{now} for the set, before {then}"));
    }
    let then: BTreeMap<String, String> = licences_by_source(&old.raw).into_iter().collect();
    for (source, now) in licences_by_source(&new.raw) {
        if let Some(then) = then.get(&source).filter(|then| **then != now) {
            differs.push(format!("{now} for {source}, before {then}"));
        }
    }
    (!differs.is_empty()).then(|| differs.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_licence_that_is_proposed_is_one_that_every_source_allows() {
        let proposed = |licences: &[Option<&str>]| {
            let file = |licence: &Option<&str>| Raw {
                file: "a/a.jsonl".into(),
                kind: "table".into(),
                sha256: String::new(),
                items: 1,
                licence: licence.map(str::to_owned),
                sample: false,
            };
            find_allowed_licence(&licences.iter().map(file).collect::<Vec<_>>())
        };
        for (licences, wanted) in [
            (&[None][..], Some("CC-BY-4.0")),
            (&[Some("CC0-1.0"), Some("MIT")], Some("CC-BY-4.0")),
            (&[Some("CC-BY-4.0"), Some("CC-BY-NC-4.0")], Some("CC-BY-NC-4.0")),
            (&[Some("CC-BY-SA-4.0"), Some("CC-BY-4.0")], Some("CC-BY-SA-4.0")),
            (&[Some("CC-BY-NC-4.0"), Some("CC-BY-NC-SA-4.0")], Some("CC-BY-NC-SA-4.0")),
            (&[Some("GPL-3.0-only"), Some("MIT")], Some("GPL-3.0-only")),
            (&[Some("CC-BY-SA-4.0"), Some("CC-BY-NC-4.0")], None),
            (&[Some("CC-BY-ND-4.0"), Some("MIT")], None),
        ] {
            assert_eq!(proposed(licences).as_deref(), wanted, "{licences:?}");
        }
    }
}
