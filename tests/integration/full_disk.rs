//! A disk that fills up while replies arrive: each requested one is kept, nothing more is sent, and once
//! there is room the same command continues.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::generate::{GEN, LOOP, Server, served};
use crate::harness::{Workspace, root};
use crate::kills::{lines, waiting, with_meta};
use crate::reviewed::{Reviewed, item};

/// A separate disk mounted on a folder, of a given small size.
struct Disk {
    at: PathBuf,
}

impl Disk {
    /// `None` if mounting is not permitted.
    fn over(folder: &Path, bytes: u64) -> Option<Disk> {
        if !root() {
            return None;
        }
        let kept = tempfile::tempdir().unwrap();
        let copy = |from: &Path, to: &Path| {
            let from = format!("{}/.", from.display());
            assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
        };
        std::fs::create_dir_all(folder).unwrap();
        copy(folder, kept.path());
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).output();
        if !mounted.is_ok_and(|result| result.status.success()) {
            eprintln!("skipped: nothing may be mounted");
            return None;
        }
        let disk = Disk { at: folder.to_owned() };
        copy(kept.path(), folder);
        Some(disk)
    }

    /// Fills it until this many bytes are left.
    fn leave(&self, bytes: u64) {
        let free = fs4::available_space(&self.at).unwrap();
        let filler = vec![0u8; usize::try_from(free.saturating_sub(bytes)).unwrap()];
        std::fs::write(self.at.join("filler"), filler).unwrap();
    }

    fn make_room(&self) {
        std::fs::remove_file(self.at.join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

fn replies(ws: &Workspace) -> u64 {
    let result = ws.call(["replies", "stats", "--json"]).expect(0).out;
    serde_json::from_str::<Value>(&result).unwrap()["replies"].as_u64().unwrap()
}

/// Runs on the disk with this much room, then with all of it: every request sent gives a stored reply.
/// Returns how many requests the full disk allowed, and whether it was full at all.
fn with_room(ws: &Workspace, disk: &Disk, server: &Server, room: u64) -> (u32, bool) {
    let run: Vec<&str> = ["run", "--yes", "--recipe", GEN].into_iter().chain(LOOP).collect();
    disk.leave(room);
    let result = ws.call(&run);
    let (sent, was_full) = (server.count(), result.code != 0);
    if was_full {
        assert_eq!(result.code, 4, "{room}: {}", result.err);
        assert!(
            ["o space left", "o storage space", "is full"].iter().any(|full| result.err.contains(full)),
            "{room}: {}",
            result.err
        );
        assert!(result.err.contains("hint: make room"), "{room}: {}", result.err);
    }
    disk.make_room();
    assert_eq!(replies(ws), u64::from(sent), "{room}: every reply that came is kept: {}", result.err);
    ws.call(["replies", "verify"]).expect(0);
    ws.call(&run).expect(0);
    assert_eq!(replies(ws), u64::from(server.count()), "{room}: nothing is asked twice");
    ws.call(["fsck"]).expect(0);
    (sent, was_full)
}

#[test]
fn what_was_sent_before_the_disk_was_full_is_kept_and_nothing_is_sent_since() {
    let (mut stopped_midway, mut all) = (0, 0);
    for room in [100 << 10, 1_200 << 10, 1_500 << 10, 1_800 << 10, 2_600 << 10] {
        for is_whole in [false, true] {
            let server = Server::slow(None, Duration::from_millis(5));
            let ws = served(&server);
            let before = ["run", "--offline", "--recipe", GEN, "--to", "dedup"];
            ws.call(before.into_iter().chain(LOOP)).expect(0);
            // Either the replies alone are on the disk, or also the index and the staged files.
            let folder = if is_whole { ws.root().to_owned() } else { ws.path("raw/replies") };
            let Some(disk) = Disk::over(&folder, 64 << 20) else { return };
            let (sent, was_full) = with_room(&ws, &disk, &server, room);
            stopped_midway += u32::from(was_full && sent > 0);
            all = all.max(server.count());
            assert!(was_full || sent == server.count());
            assert!(room > 1 << 20 || sent == 0, "what has no room for its answer is not sent: {sent}");
        }
    }
    assert!(stopped_midway >= 3 && all > 250, "{stopped_midway} of {all}");
}

/// A limit on file sizes has the same effect as a full disk, and any user can set one.
#[test]
fn what_was_sent_before_a_limit_on_files_was_met_is_kept() {
    let mut stopped_midway = 0;
    for limit in [64, 1_000, 1_350, 1_400, 1_450, 1_500, 1_550] {
        let server = Server::slow(None, Duration::from_millis(5));
        let ws = served(&server);
        let before = ["run", "--offline", "--recipe", GEN, "--to", "dedup"];
        ws.call(before.into_iter().chain(LOOP)).expect(0);
        let flags: Vec<String> = LOOP.iter().map(|flag| format!("'{flag}'")).collect();
        let line =
            format!("trap '' XFSZ; ulimit -f {limit}; exec $0 run --yes --recipe {GEN} {}", flags.join(" "));
        let result = ws.shell(&line);
        let sent = server.count();
        // The index is a file as well.
        let words = ["ile too large", "disk I/O error"];
        assert!(result.code == 0 || words.iter().any(|word| result.err.contains(word)), "{}", result.err);
        assert_eq!(replies(&ws), u64::from(sent), "{limit}: {}", result.err);
        stopped_midway += u32::from(sent > 0 && result.code == 4);
    }
    assert!(stopped_midway >= 1, "{stopped_midway}");
}

/// Room of five sizes on the disk of raw/: what was there stays, and once there is room the same command ends as if
/// nothing had been. Returns how often it was stopped; `None` if nothing may be mounted.
fn on_full_disks(
    ws: &Workspace,
    args: &[&str],
    [ends, whole]: [&[i32]; 2],
    made: impl Fn(&Workspace) -> Value,
) -> Option<usize> {
    let undisturbed = ws.copy();
    let done = undisturbed.call(args);
    assert_eq!(done.code, 0, "{args:?}: {}", done.err);
    let want = made(&undisturbed);
    let mut stopped = 0;
    for room in [0, 4 << 10, 8 << 10, 16 << 10, 64 << 10] {
        let ws = ws.copy();
        let disk = Disk::over(&ws.path("raw"), 64 << 20)?;
        disk.leave(room);
        let result = ws.call(args);
        if result.code != 0 {
            stopped += 1;
            assert!(
                result.err.contains("space") || result.err.contains("is full"),
                "{args:?}: {}",
                result.err
            );
        }
        disk.make_room();
        let found = ws.call(["fsck"]);
        assert!(whole.contains(&found.code), "{args:?} with {room}: {} {}", found.out, found.err);
        let again = ws.call(args);
        assert!(ends.contains(&again.code), "{args:?} with {room}: {}", again.err);
        ws.call(["fsck"]).expect(0);
        assert_eq!(made(&ws), want, "{args:?} with {room}");
    }
    Some(stopped)
}

#[test]
fn votes_decisions_and_access_on_a_full_disk() {
    let ws = waiting();
    with_meta(&ws);
    let import = ["review", "import", "screen", "--recipe", GEN, "votes.jsonl"];
    let votes = |ws: &Workspace| lines(ws, "raw/votes/000001.jsonl", &["id", "item", "values"]);
    let Some(of_votes) = on_full_disks(&ws, &import, [&[0], &[0]], votes) else { return };
    let decide = ["decide", "drop", "tieba:2", "--by", "meta-1", "--why", "Seen before"];
    let decided = |ws: &Workspace| lines(ws, "raw/decisions/000001.jsonl", &["event", "record", "verdict"]);
    let Some(of_decisions) = on_full_disks(&ws, &decide, [&[0], &[0]], decided) else { return };
    let grant = ["access", "grant", "annotator-1", "--rank", "annotator"];
    let people = |ws: &Workspace| {
        let list: Value = serde_json::from_str(&ws.call(["access", "list", "--json"]).expect(0).out).unwrap();
        Value::from(list.as_array().unwrap().len())
    };
    let Some(of_access) = on_full_disks(&ws, &grant, [&[0], &[0]], people) else { return };
    assert!(of_votes > 0 && of_decisions > 0 && of_access > 0, "{of_votes} {of_decisions} {of_access}");
}

#[test]
fn a_registry_on_a_full_disk() {
    let plain = "3(Erroneous Assumption), 5(Absurd Imagination)";
    let mut people = Reviewed::new();
    people.add(&[item(
        "风筝断了线会不会想家？",
        "Does a kite miss home?",
        "Kites miss nothing.",
        None,
        plain,
    )]);
    let registry = format!("raw/releases/{GEN}/registry.jsonl");
    let released = |ws: &Workspace| {
        ws.call(["verify", &format!("output/{GEN}/1.0.0"), "--raw"]).expect(0);
        lines(ws, &registry, &["event", "version"])
    };
    // A version whose event is recorded and whose folder is not yet renamed is finished by the next call.
    let ends: [&[i32]; 2] = [&[0, 2], &[0, 1]];
    let stopped = on_full_disks(&people.ws, &["release", GEN, "--date", "2026-01-02"], ends, released);
    assert!(stopped.is_none_or(|stopped| stopped > 0));
}
