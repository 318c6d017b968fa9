//! Tests of `access`.

use super::*;
use crate::sessions::Sessions;
use riddlemill_files::log::Logs;

#[test]
fn a_token_opens_until_it_is_replaced_or_revoked_and_is_stored_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let access = Access::in_workspace(&Workspace::new(dir.path()));
    assert!(access.list_grants().unwrap().is_empty());
    let first = access.make_grant("annotator-1", Rank::Annotator, "2026-01-01T00:00:00Z").unwrap();
    let other = access.make_grant("curator", Rank::Curator, "2026-01-01T00:00:00Z").unwrap();
    let stored = fs::read_to_string(dir.path().join("raw/access.jsonl")).unwrap();
    assert!(!stored.contains(&first) && !stored.contains(&other));
    assert_eq!(access.of_token(&first).unwrap().unwrap().name, "annotator-1");
    assert_eq!(access.of_token(&other).unwrap().unwrap().rank, Rank::Curator);
    assert_eq!(access.of_token(&format!(" {first}\n")).unwrap().unwrap().rank, Rank::Annotator);
    assert_eq!(access.of_token(&first[..63]).unwrap(), None);
    assert_eq!(access.of_token("").unwrap(), None);

    let second = access.make_grant("annotator-1", Rank::Annotator, "2026-01-02T00:00:00Z").unwrap();
    assert_eq!(access.of_token(&first).unwrap(), None);
    assert!(access.of_token(&second).unwrap().is_some());
    assert!(access.revoke_access("annotator-1", "2026-01-03T00:00:00Z").unwrap());
    assert_eq!(access.of_token(&second).unwrap(), None);
    assert!(!access.revoke_access("annotator-1", "2026-01-03T00:00:00Z").unwrap());
}

#[test]
fn an_invitation_is_followed_once_and_leaves_no_token() {
    let dir = tempfile::tempdir().unwrap();
    let access = Access::in_workspace(&Workspace::new(dir.path()));
    let at = "2026-01-01T00:00:00Z";
    let first = access.make_invite("a", Rank::Annotator, at).unwrap();
    let second = access.make_invite("a", Rank::Annotator, at).unwrap();
    assert!(!access.needs_token().unwrap(), "nobody is locked out before somebody came in");
    assert!(access.find_invite(&first).unwrap().is_none(), "a new link takes the place of the old one");
    assert_eq!(access.find_invite(&second).unwrap().unwrap().name, "a");
    assert_eq!(access.of_token(&second).unwrap(), None, "an invitation is no token");
    let grant = access.follow_invite(&second, at).unwrap().unwrap();
    assert_eq!((grant.name.as_str(), grant.rank), ("a", Rank::Annotator));
    assert!(access.needs_token().unwrap() && access.follow_invite(&second, at).unwrap().is_none());
    let other = access.make_invite("b", Rank::Reader, at).unwrap();
    assert!(access.revoke_access("b", at).unwrap() && access.follow_invite(&other, at).unwrap().is_none());
    let stored = fs::read_to_string(dir.path().join("raw/access.jsonl")).unwrap();
    assert!(![first, second, other].iter().any(|token| stored.contains(token)));
    // A link from last week.
    let old = hex::encode(hash("old"));
    let event =
        AccessEvent::Invite { name: "c".into(), rank: Rank::Reader, sha256: old, at: at.into(), until: 1 };
    access.append_event(&event).unwrap();
    assert!(access.follow_invite("old", at).unwrap().is_none() && access.list_invites().unwrap().is_empty());
}

#[test]
fn a_damaged_file_lets_nobody_in() {
    let dir = tempfile::tempdir().unwrap();
    let access = Access::in_workspace(&Workspace::new(dir.path()));
    let token = access.make_grant("curator", Rank::Curator, "2026-01-01T00:00:00Z").unwrap();
    let path = dir.path().join("raw/access.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    for damaged in [format!("{text}nonsense\n"), text[1..].to_string(), text[..9].to_string()] {
        fs::write(&path, &damaged).unwrap();
        let granted = access.make_grant("other", Rank::Reader, "2026-01-01T00:00:00Z");
        assert!(granted.is_err() && fs::read_to_string(&path).unwrap() == damaged, "{damaged}");
    }
    // A grant that was not completely written gave out no token; a missing newline is harmless.
    for harmless in [format!("{text}{{\"event\":\"gr"), text.trim_end().to_string()] {
        fs::write(&path, &harmless).unwrap();
        assert!(access.of_token(&token).unwrap().is_some(), "{harmless}");
    }
    fs::write(&path, format!("{text}nonsense\n")).unwrap();
    assert!(access.of_token(&token).is_err());
}

#[test]
fn once_granted_access_stays_closed_until_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let access = Access::in_workspace(&Workspace::new(dir.path()));
    let at = "2026-01-01T00:00:00Z";
    assert!(!access.needs_token().unwrap());
    let token = access.make_grant("a", Rank::Curator, at).unwrap();
    assert!(access.revoke_access("a", at).unwrap() && access.needs_token().unwrap());
    access.open_without_token(at).unwrap();
    assert!(!access.needs_token().unwrap() && access.of_token(&token).unwrap().is_none());
    access.make_grant("b", Rank::Reader, at).unwrap();
    access.open_without_token(at).unwrap();
    assert!(access.list_grants().unwrap().is_empty() && !access.needs_token().unwrap());
}

#[test]
fn a_deleted_file_opens_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(dir.path());
    let (access, at) = (Access::in_workspace(&workspace), "2026-01-01T00:00:00Z");
    access.make_grant("a", Rank::Curator, at).unwrap();
    Sessions::in_workspace(&workspace).open_session(&access.list_grants().unwrap()[0]).unwrap();
    fs::remove_file(dir.path().join("raw/access.jsonl")).unwrap();
    for access in [&access, &Access::in_workspace(&workspace)] {
        let error = access.needs_token().unwrap_err().to_string();
        assert!(error.contains("missing") && access.of_token("x").is_err(), "{error}");
    }
    assert!(access.open_without_token(at).is_err(), "not before somebody has looked");
    let (raw, names) = (workspace.raw_folder(), crate::registered_logs());
    Logs::new(&raw, &names).salvage_logs().unwrap();
    assert!(access.needs_token().unwrap_err().to_string().contains("access open"));
    access.open_without_token(at).unwrap();
    assert!(!access.needs_token().unwrap());
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_hashes() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let access = Access::in_workspace(&Workspace::new(dir.path()));
    access.make_grant("curator", Rank::Curator, "2026-01-01T00:00:00Z").unwrap();
    let mode = fs::metadata(dir.path().join("raw/access.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
