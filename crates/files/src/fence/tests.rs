#![cfg(unix)]

use std::os::unix::fs::symlink;

use super::*;

/// A workspace with a file, and a file outside of it.
fn made() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("workspace");
    for folder in ["raw/votes", "raw/dumps", "staged/flub", "output/flub/candidate"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("raw/votes/000001.jsonl"), "own").unwrap();
    let outside = dir.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    (dir, root, outside)
}

fn refused(path: &Path) -> Refusal {
    let error = read(path).unwrap_err();
    let refused = refusal_of_error(&error).unwrap_or_else(|| panic!("{}: {error}", path.display())).clone();
    assert!(guard_path(path).is_err() && !is_file(path), "{}", path.display());
    assert!(open_with(path, OpenOptions::new().append(true)).is_err());
    refused
}

#[test]
fn what_lies_in_the_workspace_is_opened_also_through_links() {
    let (_dir, root, _) = made();
    let own = root.join("raw/votes/000001.jsonl");
    symlink("../../../raw/votes/000001.jsonl", root.join("output/flub/candidate/relative")).unwrap();
    symlink(&own, root.join("output/flub/candidate/absolute")).unwrap();
    symlink("candidate", root.join("output/flub/latest")).unwrap();
    let links =
        ["candidate/relative", "candidate/absolute", "latest/relative", "latest/../candidate/absolute"];
    for path in links.map(|name| root.join("output/flub").join(name)).iter().chain([&own]) {
        assert_eq!(read(path).unwrap(), b"own", "{}", path.display());
        assert!(guard_path(path).is_ok() && is_file(path), "{}", path.display());
    }
    let missing = read(root.join("raw/salt")).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    guard_path(root.join("raw/new/folder/file")).unwrap();
    guard_path(root.join("elsewhere/raw/new/file")).unwrap();
}

#[test]
fn no_link_name_or_chain_leads_out() {
    let (_dir, root, outside) = made();
    let secret = outside.join("secret.txt");
    symlink(&secret, root.join("output/flub/candidate/leak.txt")).unwrap();
    symlink("../../../../outside/secret.txt", root.join("output/flub/candidate/up.txt")).unwrap();
    symlink(&outside, root.join("output/flub/1.0.0")).unwrap();
    symlink("../output/flub/1.0.0", root.join("staged/chain")).unwrap();
    symlink(&outside, root.join("raw/replies")).unwrap();
    for name in [
        "output/flub/candidate/leak.txt",
        "output/flub/candidate/up.txt",
        "output/flub/1.0.0/secret.txt",
        "staged/chain/secret.txt",
        "raw/replies/secret.txt",
        "raw/../../outside/secret.txt",
    ] {
        assert!(matches!(refused(&root.join(name)), Refusal::Outside(_)), "{name}");
    }
    assert!(guard_entry(root.join("raw/replies/new.jsonl")).is_err());
    guard_entry(root.join("raw/replies")).unwrap();
    symlink(outside.join("nothing-yet"), root.join("raw/salt")).unwrap();
    assert!(open_with(root.join("raw/salt"), OpenOptions::new().write(true).create(true)).is_err());
    assert!(!outside.join("nothing-yet").exists());
    // A folder of a stranger that has the name of one of the three.
    fs::create_dir_all(root.join("raw/warc")).unwrap();
    symlink(&outside, root.join("raw/warc/raw")).unwrap();
    fs::create_dir_all(outside.join("raw")).unwrap();
    fs::write(outside.join("raw/x"), "x").unwrap();
    symlink(&outside, root.join("raw/deep")).unwrap();
    for name in ["raw/warc/raw/secret.txt", "raw/deep/raw/x"] {
        assert!(matches!(refused(&root.join(name)), Refusal::Outside(_)), "{name}");
    }
}

#[test]
fn a_linked_folder_waits_for_its_owner() {
    let (dir, root, _) = made();
    let disk = dir.path().join("disk");
    fs::rename(root.join("staged"), &disk).unwrap();
    fs::write(disk.join("flub/rows"), "rows").unwrap();
    symlink(&disk, root.join("staged")).unwrap();
    assert!(matches!(refused(&root.join("staged/flub/rows")), Refusal::Linked { .. }));
    assert!(guard_entry(root.join("staged/.old-flub")).is_err());
}

#[test]
fn pipes_sockets_and_devices_are_not_waited_for() {
    let (dir, root, outside) = made();
    let pipe = root.join("raw/votes/000002.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert_eq!(refused(&pipe), Refusal::Kind("a named pipe"));
    let dump = root.join("raw/dumps/pipe.jsonl");
    symlink(&pipe, &dump).unwrap();
    assert_eq!(refusal_of_error(&open_plain(&dump).unwrap_err()), Some(&Refusal::Kind("a named pipe")));
    assert_eq!(
        refusal_of_error(&open_plain(Path::new("/dev/zero")).unwrap_err()),
        Some(&Refusal::Kind("a device"))
    );
    let socket = root.join("raw/salt");
    let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(read(&socket).is_err());
    // A dump may lie elsewhere.
    symlink(outside.join("secret.txt"), root.join("raw/dumps/link.jsonl")).unwrap();
    assert!(open_plain(root.join("raw/dumps/link.jsonl")).is_ok());
    drop(dir);
}

/// A run that is rehearsed reads the workspace's own raw/ from a folder in its `.index`.
#[test]
fn a_rehearsal_reads_its_own_workspace_and_no_other_place() {
    let (_dir, root, outside) = made();
    let rehearsal = root.join(".index/rehearsal-1");
    fs::create_dir_all(&rehearsal).unwrap();
    symlink(root.join("raw"), rehearsal.join("raw")).unwrap();
    assert_eq!(read(rehearsal.join("raw/votes/000001.jsonl")).unwrap(), b"own");
    fs::remove_file(rehearsal.join("raw")).unwrap();
    symlink(&outside, rehearsal.join("raw")).unwrap();
    assert!(matches!(refused(&rehearsal.join("raw/secret.txt")), Refusal::Linked { .. }));
    // Another folder of the workspace is not what it means.
    fs::create_dir_all(root.join("elsewhere/raw")).unwrap();
    fs::write(root.join("elsewhere/raw/secret.txt"), "secret").unwrap();
    fs::remove_file(rehearsal.join("raw")).unwrap();
    symlink(root.join("elsewhere/raw"), rehearsal.join("raw")).unwrap();
    assert!(matches!(refused(&rehearsal.join("raw/secret.txt")), Refusal::Linked { .. }));
}
