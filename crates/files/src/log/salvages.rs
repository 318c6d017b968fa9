//! Each kind of damage by itself: what it costs, what is told of it, and what nothing leads to.

use std::fs;

use super::chain::Walk;
use super::heads::HEADS;
use super::margins::{append, line, text};
use super::salvage::intact_lines;
use super::*;

#[test]
fn each_kind_of_damage_costs_its_own_lines() {
    let bare = |n: usize| line(n).trim_end().as_bytes().to_vec();
    let mut walk = Walk::start_walk("a");
    let chained: Vec<Vec<u8>> = (1..=5)
        .map(|n| {
            let mut to = Vec::new();
            walk.append_chained(&bare(n), &mut to);
            to
        })
        .collect();
    let found = |lines: &[&[u8]]| -> Vec<Option<String>> {
        let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
        intact_lines("a", &lines.concat()).into_iter().map(|line| line.map(text)).collect()
    };
    let of = |ns: &[usize]| -> Vec<Option<String>> {
        ns.iter().map(|n| (*n > 0).then(|| line(*n).trim_end().to_owned())).collect()
    };
    let all: Vec<&[u8]> = chained.iter().map(Vec::as_slice).collect();
    let with = |at: usize, other: &[u8]| {
        let mut lines = all.clone();
        lines[at] = other;
        found(&lines)
    };
    assert_eq!(found(&all), of(&[1, 2, 3, 4, 5]));
    // Its content: the next line states the chain that it had.
    let edited = String::from_utf8(chained[2].clone()).unwrap().replace("\"n\":3", "\"n\":9");
    assert_eq!(with(2, edited.as_bytes()), of(&[1, 2, 0, 4, 5]));
    // Its chain alone: the next line proves its content.
    let mut unchained = chained[2].clone();
    let at = unchained.len() - 5;
    unchained[at] = if unchained[at] == b'0' { b'1' } else { b'0' };
    assert_eq!(with(2, &unchained), of(&[1, 2, 3, 4, 5]));
    assert_eq!(with(4, &chained[4][1..]), of(&[1, 2, 3, 4, 0]), "the last is proved by none");
    // What somebody put there, and what was taken out, before a line that only its successor proves.
    assert_eq!(with(2, b"{\"n\":9}\n"), of(&[1, 2, 0, 0, 5]));
    assert_eq!(found(&[all[0], all[1], all[3], all[4]]), of(&[1, 2, 0, 5]));
    assert_eq!(with(2, b"no JSON\n"), of(&[1, 2, 0, 0, 5]));
    // Lines from before there were chains, which count as far as they are objects.
    let mut walk = Walk::start_walk("a");
    let mut last = Vec::new();
    for n in 1..=2 {
        walk.verify_line(&bare(n)).unwrap();
    }
    walk.append_chained(&bare(3), &mut last);
    let [one, two] = [1, 2].map(line);
    assert_eq!(found(&[one.as_bytes(), two.as_bytes(), &last]), of(&[1, 2, 3]));
    assert_eq!(found(&[one.as_bytes(), b"[1]\n"]), of(&[1, 0]));
    // What is no object is none, whatever chain it has.
    let mut walk = Walk::start_walk("a");
    let mut lines = Vec::new();
    for bare in [&bare(1)[..], b"x}", &bare(2)] {
        walk.append_chained(bare, &mut lines);
    }
    assert_eq!(found(&[&lines]), of(&[1, 0, 2]));
}

#[test]
fn a_salvage_tells_how_many_lines_it_keeps_and_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let log = Log::in_file(raw.join("releases/flub/registry.jsonl"));
    for n in 1..=5 {
        log.append_lines(line(n).as_bytes()).unwrap();
    }
    let text = fs::read_to_string(log.path()).unwrap().replace("\"n\":2,", "\"n\":8,");
    fs::write(log.path(), text.replace("\"n\":4,", "\"n\":9,")).unwrap();
    let salvaged = salvage_logs(&raw).unwrap();
    let [only] = &salvaged[..] else { panic!("{salvaged:?}") };
    assert_eq!((only.log.as_str(), only.kept, only.left_out), ("releases/flub/registry.jsonl", 3, 2));
    assert!(only.moved_to == raw.join("damaged/001") && only.moved_to.join(&only.log).exists());
    assert_eq!(log.read_lines().unwrap(), [1, 3, 5].map(line).concat().as_bytes());
    // Nothing is left: the log begins anew.
    fs::write(log.path(), "no JSON\n").unwrap();
    let salvaged = salvage_logs(&raw).unwrap();
    assert_eq!((salvaged[0].kept, salvaged[0].left_out), (0, 1));
    assert!(log.read_lines().unwrap().is_empty() && check_logs(&raw).unwrap().is_empty());
    log.append_lines(line(6).as_bytes()).unwrap();
    assert_eq!(log.read_lines().unwrap(), line(6).as_bytes());
}

#[test]
fn a_line_that_no_reader_knows_is_kept_where_its_chain_proves_it() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let segments = Segments::in_folder(raw.join("votes"));
    let newer = "{\"of_a_newer\":1}\n";
    segments.open_writer().unwrap().append_blocks(&[line(1), newer.to_owned(), line(2), line(3)]).unwrap();
    let path = raw.join("votes/000001.jsonl");
    // One that has another content, and one that nobody reads any more.
    let text = fs::read_to_string(&path).unwrap().replace("\"n\":2,", "\"n\":8,");
    fs::write(&path, text.replace("\"n\":3,", "\"m\":3,")).unwrap();
    let logs = Logs::new(&raw, bench::NAMES).with_reader(|log, line| log == "votes" && text_has_number(line));
    let salvaged = logs.salvage_logs().unwrap();
    assert_eq!((salvaged[0].kept, salvaged[0].left_out), (3, 1));
    let kept = [line(1), newer.to_owned(), line(8)].concat();
    assert_eq!(super::margins::text(segments.read_lines().unwrap()), kept);
}

fn text_has_number(line: &[u8]) -> bool {
    String::from_utf8_lossy(line).contains("\"n\":")
}

#[test]
fn heads_that_are_damaged_alone_cost_no_log() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let (log, segments) =
        (Log::in_file(raw.join("releases/flub/registry.jsonl")), Segments::in_folder(raw.join("votes")));
    let segments = segments.sealing_at(100);
    for n in 1..=4 {
        log.append_lines(line(n).as_bytes()).unwrap();
        append(&segments, n);
    }
    let mut heads = fs::read(raw.join(HEADS)).unwrap();
    heads[30] ^= 1;
    fs::write(raw.join(HEADS), heads).unwrap();
    let salvaged = salvage_logs(&raw).unwrap();
    assert_eq!(salvaged.iter().map(|one| one.log.as_str()).collect::<Vec<_>>(), [HEADS]);
    assert_eq!(fs::read_dir(raw.join("damaged/001")).unwrap().count(), 1);
    let all = (1..=4).map(line).collect::<String>();
    assert_eq!(
        (log.read_lines().unwrap(), text(segments.read_lines().unwrap())),
        (all.clone().into_bytes(), all)
    );
}

#[test]
fn what_is_damaged_is_named_and_a_lost_file_is_salvaged_as_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let (log, segments) =
        (Log::in_file(raw.join("releases/flub/registry.jsonl")), Segments::in_folder(raw.join("votes")));
    log.append_lines(line(1).as_bytes()).unwrap();
    append(&segments, 1);
    fs::remove_file(log.path()).unwrap();
    fs::write(raw.join("votes/000001.jsonl"), line(9)).unwrap();
    let found = check_logs(&raw).unwrap();
    let [(votes, of_votes), (registry, of_registry)] = &found[..] else { panic!("{found:?}") };
    assert!(votes == "votes" && of_votes.starts_with("votes/000001.jsonl: it was cut: "), "{of_votes}");
    assert_eq!(registry, "releases/flub/registry.jsonl");
    assert!(of_registry.starts_with("missing, and it had "), "{of_registry}");
    // Nowhere to move it to.
    fs::write(raw.join("damaged"), "").unwrap();
    assert!(salvage_logs(&raw).is_err());
    fs::remove_file(raw.join("damaged")).unwrap();
    salvage_logs(&raw).unwrap();
    assert!(check_logs(&raw).unwrap().is_empty() && log.read_lines().unwrap().is_empty());
    assert_eq!(text(segments.read_lines().unwrap()), line(9), "an object without a chain");
}

/// The hash in its name is what is damaged: every line is there, also those that two frames share.
#[test]
fn whole_frames_are_salvaged_whole() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let lines: String = (1..=300).map(line).collect();
    let frames: Vec<Vec<u8>> =
        lines.as_bytes().chunks(1_005).map(|part| zstd::encode_all(part, 1).unwrap()).collect();
    fs::create_dir_all(raw.join("votes")).unwrap();
    fs::write(raw.join(format!("votes/000001.{}.jsonl.zst", "0".repeat(64))), frames.concat()).unwrap();
    let salvaged = salvage_logs(&raw).unwrap();
    assert_eq!((salvaged[0].kept, salvaged[0].left_out), (300, 0));
    assert_eq!(text(Segments::in_folder(raw.join("votes")).read_lines().unwrap()), lines);
}

#[cfg(unix)]
#[test]
fn links_out_of_the_workspace_are_told_and_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let (raw, outside) = (dir.path().join("ws/raw"), dir.path().join("outside"));
    let (log, segments) =
        (Log::in_file(raw.join("releases/flub/registry.jsonl")), Segments::in_folder(raw.join("votes")));
    let other = Segments::in_folder(raw.join("decisions"));
    log.append_lines(line(1).as_bytes()).unwrap();
    append(&segments, 1);
    append(&other, 1);
    fs::create_dir_all(&outside).unwrap();
    let victim = outside.join("victim.jsonl");
    fs::write(&victim, line(7)).unwrap();
    // A file that is a link, and a folder that is one.
    for path in [log.path().to_owned(), raw.join("votes/000001.jsonl")] {
        fs::remove_file(&path).unwrap();
        symlink(&victim, &path).unwrap();
    }
    fs::rename(raw.join("decisions"), outside.join("decisions")).unwrap();
    symlink(outside.join("decisions"), raw.join("decisions")).unwrap();
    let found = check_logs(&raw).unwrap();
    assert!(
        found.len() == 3 && found.iter().all(|(_, what)| what.contains("out of the workspace")),
        "{found:?}"
    );
    let salvaged = salvage_logs(&raw).unwrap();
    let logs: Vec<(&str, usize)> = salvaged.iter().map(|one| (one.log.as_str(), one.kept)).collect();
    assert_eq!(logs, [("votes", 0), ("releases/flub/registry.jsonl", 0)]);
    assert_eq!(fs::read(&victim).unwrap(), line(7).as_bytes());
    assert!(outside.join("decisions/000001.jsonl").exists());
    let found = check_logs(&raw).unwrap();
    assert_eq!(found.iter().map(|(log, _)| log.as_str()).collect::<Vec<_>>(), ["decisions"]);
}

/// What nobody wrote is no damage, and none of its lines are the log's.
#[test]
fn a_file_that_nobody_wrote_is_moved_aside_without_its_lines() {
    for name in ["7.jsonl", "000007.jsonl", "copy of 000001.jsonl"] {
        let dir = tempfile::tempdir().unwrap();
        let raw = dir.path().join("raw");
        let segments = Segments::in_folder(raw.join("decisions"));
        append(&segments, 1);
        append(&segments, 2);
        let stranger = raw.join("decisions").join(name);
        fs::write(&stranger, line(9)).unwrap();
        let error = segments.read_lines().unwrap_err().to_string();
        assert!(matches!(segments.read_lines(), Err(LogError::Damaged { is_foreign: true, .. })), "{error}");
        assert!(error.contains("did not write it") && error.contains("hint: move it elsewhere"), "{error}");
        assert!(!error.contains("backup"), "{error}");
        let salvaged = salvage_logs(&raw).unwrap();
        let [only] = &salvaged[..] else { panic!("{salvaged:?}") };
        assert_eq!((only.kept, only.left_out), (2, 1), "{name}");
        assert_eq!(text(segments.read_lines().unwrap()), line(1) + &line(2));
        let aside = only.moved_to.join("decisions").join(name);
        assert!(!stranger.exists() && fs::read_to_string(aside).unwrap() == line(9));
        // What the hint says mends it, too.
        fs::write(&stranger, line(9)).unwrap();
        fs::rename(&stranger, dir.path().join("elsewhere")).unwrap();
        assert_eq!(text(segments.read_lines().unwrap()), line(1) + &line(2));
        // If one of its own segments is missing, this may be it under another name.
        fs::rename(raw.join("decisions/000001.jsonl"), &stranger).unwrap();
        assert!(matches!(segments.read_lines(), Err(LogError::Damaged { is_foreign: false, .. })), "{name}");
        assert_eq!(salvage_logs(&raw).unwrap()[0].kept, 2, "{name}");
        assert_eq!(text(segments.read_lines().unwrap()), line(1) + &line(2));
    }
}
