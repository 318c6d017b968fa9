//! What `audit` finds if files are not what a run wrote. Every gap is reported.

use riddlemill::record::{Entry, State, Typed, row_digest};
use riddlemill::store::{Manifest, StageReader, Table, sha256_of_file, write_parquet};

use crate::harness::Workspace;

fn made() -> Workspace {
    let ws = Workspace::sample();
    ws.run();
    ws.audit_clean();
    ws
}

/// The audit fails and its output contains all of these.
#[track_caller]
fn finds(ws: &Workspace, words: &[&str]) {
    let result = ws.call(["audit"]).expect(1);
    for word in words {
        assert!(result.out.contains(word), "{word:?} is not in\n{}", result.out);
    }
    let json: serde_json::Value = serde_json::from_str(&ws.call(["audit", "--json"]).expect(1).out).unwrap();
    assert!(!json["gaps"].as_array().unwrap().is_empty());
}

#[test]
fn a_flipped_byte() {
    for part in ["02_clean/ledger", "03_anonymise/rows", "01_import/files", "05_dedup/rows"] {
        let ws = made();
        let path = format!("staged/flub/{part}/part-00000.parquet");
        let mut bytes = ws.bytes(&path);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        ws.write(&path, bytes);
        finds(&ws, &["flub ", "part-00000.parquet", "its bytes are not those its manifest names"]);
    }
}

#[test]
fn an_edited_manifest() {
    let edit = |from: &str, to: &str, words: &[&str]| {
        let ws = made();
        let path = "staged/chumor/04_filter/manifest.json";
        let text = ws.read(path);
        assert!(text.contains(from), "{text}");
        ws.write(path, text.replacen(from, to, 1));
        finds(&ws, &[&["chumor filter: "], words].concat());
    };
    edit("\"min_chars\": 4", "\"min_chars\": 5", &["its fingerprint is not that of its settings and inputs"]);
    edit("\"dropped\": ", "\"dropped\": 1", &["the manifest counts"]);
    edit("\"records_in\": ", "\"records_in\": 1", &["records in by the manifest"]);
    edit("\"hash\": \"", "\"hash\": \"0", &["hash is not that of its parts"]);
}

#[test]
fn a_deleted_part() {
    let ws = made();
    ws.remove("staged/ruozhibench-gen/02_clean/rows/part-00000.parquet");
    finds(&ws, &["ruozhibench-gen clean: cannot read", "rows/part-00000.parquet"]);
}

#[test]
fn a_stage_that_is_gone_and_a_file_that_came() {
    let ws = made();
    ws.write("staged/flub/02_clean/rows/part-00007.parquet", "x");
    ws.remove("staged/flub/03_anonymise");
    finds(
        &ws,
        &[
            "rows/part-00007.parquet is named by no manifest",
            "the stage is missing, but a later one is there",
        ],
    );
}

/// The strongest forgery: a ledger lacks one of its entries, and every hash and count in the manifest is
/// adjusted. Only the stage before still knows the record.
#[test]
fn a_record_lost_without_a_trace() {
    let ws = made();
    let place = ws.path("staged/flub/04_filter");
    let stage = StageReader::open(&place).unwrap().unwrap();
    let mut entries: Vec<Entry> = stage.read_table("ledger").unwrap();
    let lost = entries.iter().position(|e| e.outcome == State::Dropped.code()).unwrap();
    let lost = entries.remove(lost);
    rewrite(&ws, "04_filter", "ledger", &entries, |manifest| {
        let key = format!("{}/{}", lost.outcome, lost.reason.clone().unwrap());
        manifest.counts.records_in -= 1;
        *manifest.counts.states.get_mut(&lost.outcome).unwrap() -= 1;
        *manifest.counts.reasons.get_mut(&key).unwrap() -= 1;
        manifest.counts.reasons.retain(|_, n| *n > 0);
    });
    finds(&ws, &["flub filter: 195 records left anonymise", "entered, or different ones"]);
}

/// An import that loses a line, and the row made of it.
#[test]
fn a_line_of_a_dump_lost() {
    let ws = made();
    let place = ws.path("staged/flub/01_import");
    let stage = StageReader::open(&place).unwrap().unwrap();
    let mut entries: Vec<Entry> = stage.read_table("ledger").unwrap();
    let lost = entries.iter().position(|e| e.outcome == State::Dropped.code()).unwrap();
    let lost = entries.remove(lost);
    rewrite(&ws, "01_import", "ledger", &entries, |manifest| {
        let key = format!("{}/{}", lost.outcome, lost.reason.clone().unwrap());
        manifest.counts.records_in -= 1;
        *manifest.counts.states.get_mut(&lost.outcome).unwrap() -= 1;
        *manifest.counts.reasons.get_mut(&key).unwrap() -= 1;
        manifest.counts.reasons.retain(|_, n| *n > 0);
    });
    finds(&ws, &["flub import: the dumps hold"]);
}

/// Rewrites a table of one part and adjusts its manifest.
fn rewrite<R: Typed + Clone>(
    ws: &Workspace,
    stage: &str,
    table: &str,
    rows: &[R],
    books: impl FnOnce(&mut Manifest),
) {
    let place = ws.path(&format!("staged/flub/{stage}"));
    let mut manifest = Manifest::read_from_stage(&place).unwrap().unwrap();
    let described = manifest.tables.get_mut(table).unwrap();
    let file = place.join(&described.parts[0].file);
    write_parquet(&file, std::iter::once(Ok(rows.to_vec()))).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let part = &mut described.parts[0];
    part.rows = rows.len() as u64;
    part.bytes = bytes.len() as u64;
    part.blake3 = blake3::hash(&bytes).to_hex().to_string();
    part.hash = row_digest((), rows).to_hex().to_string();
    described.rows = part.rows;
    described.hash = Table::hash_of(&described.parts);
    books(&mut manifest);
    std::fs::write(place.join("manifest.json"), manifest.to_bytes()).unwrap();
}

#[test]
fn a_swapped_candidate() {
    let ws = made();
    let file = "output/flub/candidate/data/flub/test.jsonl";
    ws.write(file, ws.bytes("output/ruozhibench-gen/candidate/data/ruozhibench-gen/test.jsonl"));
    finds(&ws, &["flub candidate: data/flub/test.jsonl: its bytes are not those SHA256SUMS names"]);
}

/// A candidate whose checksums were adjusted as well.
#[test]
fn a_swapped_candidate_with_its_sums() {
    let ws = made();
    let folder = "output/flub/candidate";
    let file = "data/flub/test.jsonl";
    let text = ws.read(&format!("{folder}/{file}"));
    let old = sha256_of_file(&ws.path(&format!("{folder}/{file}"))).unwrap();
    ws.write(&format!("{folder}/{file}"), text.replacen('，', ",", 1));
    let new = sha256_of_file(&ws.path(&format!("{folder}/{file}"))).unwrap();
    let sums = ws.read(&format!("{folder}/SHA256SUMS"));
    ws.write(&format!("{folder}/SHA256SUMS"), sums.replace(&old, &new));
    finds(&ws, &["flub candidate: data/flub/test.jsonl: its SHA-256 is not the one MANIFEST.json names"]);

    // Removing a line of the sums hides nothing either.
    let kept: String = sums.lines().filter(|l| !l.ends_with(file)).map(|l| format!("{l}\n")).collect();
    ws.write(&format!("{folder}/SHA256SUMS"), kept);
    finds(&ws, &["flub candidate: data/flub/test.jsonl: its SHA-256 is not the one MANIFEST.json names"]);
}

/// A candidate whose manifest was adjusted, too: only the last stage shows the difference.
#[test]
fn a_forged_candidate() {
    let ws = made();
    let folder = "output/chumor/candidate";
    let (file, manifest, sums) = ("data/chumor/test.jsonl", "MANIFEST.json", "SHA256SUMS");
    let path = |name: &str| format!("{folder}/{name}");
    let fit = |name: &str, text: String| {
        let old = sha256_of_file(&ws.path(&path(name))).unwrap();
        ws.write(&path(name), text);
        let new = sha256_of_file(&ws.path(&path(name))).unwrap();
        for other in [manifest, sums] {
            ws.write(&path(other), ws.read(&path(other)).replace(&old, &new));
        }
    };
    let before = ws.read(&path(manifest));
    let old_manifest = sha256_of_file(&ws.path(&path(manifest))).unwrap();
    fit(file, ws.read(&path(file)).replacen('，', ",", 1));
    assert_ne!(before, ws.read(&path(manifest)));
    let new_manifest = sha256_of_file(&ws.path(&path(manifest))).unwrap();
    ws.write(&path(sums), ws.read(&path(sums)).replace(&old_manifest, &new_manifest));
    let result = ws.call(["audit"]).expect(1);
    assert_eq!(result.out.lines().count(), 2, "{}", result.out);
    finds(&ws, &["chumor candidate: data/chumor/test.jsonl: its lines are not the rows of review:errors"]);
}

#[test]
fn a_candidate_of_other_stages() {
    let ws = made();
    let kept = ws.derived();
    ws.call(["run", "--recipe", "flub", "--set", "options.seed=2"]).expect(0);
    for (path, bytes) in
        kept.iter().filter(|(path, _)| path.starts_with("output/flub/") && !path.ends_with('/'))
    {
        ws.write(path, bytes);
    }
    finds(&ws, &["flub candidate: it was built from other rows than the last stage holds now"]);
}

/// A file of a release that was edited together with its checksum is seen, and doing what is advised mends it.
pub fn edits_of_a_release_are_seen(ws: &Workspace, recipe: &str) {
    let folder = format!("output/{recipe}/1.0.0");
    let place = format!("{folder}/LICENSE");
    let old = sha256_of_file(&ws.path(&place)).unwrap();
    ws.write(&place, ws.read(&place) + "edited\n");
    let new = sha256_of_file(&ws.path(&place)).unwrap();
    ws.write(&format!("{folder}/SHA256SUMS"), ws.read(&format!("{folder}/SHA256SUMS")).replace(&old, &new));
    ws.call(["verify", &folder]).expect(0);
    let told = ws.call(["verify", &folder, "--raw"]).expect(1).out;
    assert!(told.contains("1.0.0 when it was released"), "{told}");
    std::fs::rename(ws.path(&folder), ws.path("edited")).unwrap();
    ws.call(["run", "--recipe", recipe]).expect(0);
    ws.call(["verify", &folder, "--raw"]).expect(0);
}
