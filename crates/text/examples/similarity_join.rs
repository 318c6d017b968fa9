//! The cost of the default similarity's join, predicate by predicate.
//!
//! `cargo run --release -p riddlemill-text --example similarity_join -- POSTS.jsonl [COUNT [WHAT]]`, where
//! POSTS has one `{"text": …}` per line. Prints for each join its keys, lookups, postings visited, pairs
//! compared, pairs found, comparisons per pair found, and CPU seconds; then the same for all joins together,
//! with the pairs that are at least borderline; finally the cost of the process. WHAT is a single join
//! (`near`, `sound`, `reworded`), `whole`, `pairs`, which lists every pair, for reading, or `disk`, which joins and decides
//! on disk, in the folder of temporary files, within 256 MiB, or as many as a fourth argument says.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};

use riddlemill_text::join::{Effort, Spill, Unwatched, default_joins, find_alike_pairs, self_join};
use riddlemill_text::offline::dedup::{gone_on_disk, heads_of_groups, similar_pairs_on_disk};
use riddlemill_text::offline::settings::Dedup;
use riddlemill_text::text::sameness::{Comparison, Predicate, Verdict, view};
use serde_json::Value;

/// The program's allocator, so that the cost here is the cost in `run`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// CPU seconds of this process, all threads, if the system reports them.
fn cpu() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return f64::NAN };
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |at: usize| after.split_whitespace().nth(at).and_then(|t| t.parse::<f64>().ok());
    (ticks(11).unwrap_or_default() + ticks(12).unwrap_or_default()) / 100.0
}

/// Peak memory of this process in MiB, if the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn print_effort(what: &str, effort: Effort, found: usize, before: f64) {
    let Effort { keys, probes, met, compared } = effort;
    println!(
        "{what}: {keys} keys, {probes} lookups, {met} met, {compared} compared, {found} found, {:.1} compared for each, \
         {:.1} CPU s",
        compared as f64 / found.max(1) as f64,
        cpu() - before
    );
}

/// Joins the posts on disk and decides which are kept; none of the texts and pairs is held.
fn on_disk(path: &str, count: usize, mib: usize) -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir();
    let lines = BufReader::new(std::fs::File::open(path)?).lines().take(count);
    let mut failed = None;
    let texts = lines.map_while(|line| {
        let row = line.map_err(|error| failed = Some(error)).ok()?;
        let row: Value = serde_json::from_str(&row).unwrap_or_default();
        Some(row["text"].as_str().unwrap_or_default().to_owned())
    });
    let spill = Spill { folder: &folder, memory: mib << 20, texts: count };
    let (groups, pairs) = similar_pairs_on_disk(texts, &Dedup::default(), spill, &Unwatched)?;
    failed.map_or(Ok(()), Err)?;
    println!("{} groups, {} pairs, {:.1} CPU s", groups.len(), pairs.len(), cpu());
    let rows = groups.iter().flatten().max().map_or(0, |last| last + 1);
    let ranks: Vec<u32> = (0..rows).collect();
    let gone = gone_on_disk(&groups, &heads_of_groups(&groups, &ranks), &ranks, &pairs, &Unwatched)?;
    let merged = gone.iter().flatten().count();
    println!("{merged} merged; together {:.1} CPU s, {} MiB at most", cpu(), peak().unwrap_or_default());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("usage: similarity_join POSTS.jsonl [COUNT]")?;
    let count = arguments.get(1).map_or(Ok(usize::MAX), |count| count.parse())?;
    let each = arguments.get(2).map(String::as_str);
    if each == Some("disk") {
        return on_disk(path, count, arguments.get(3).map_or(Ok(256), |mib| mib.parse())?);
    }
    let mut posts = Vec::new();
    for line in BufReader::new(std::fs::File::open(path)?).lines().take(count) {
        let row: Value = serde_json::from_str(&line?)?;
        posts.push(row["text"].as_str().unwrap_or_default().to_owned());
    }
    println!("{} posts, read in {:.1} CPU s", posts.len(), cpu());
    if each == Some("pairs") {
        let texts: Vec<&str> = posts.iter().map(String::as_str).collect();
        let found = find_alike_pairs(&texts);
        let text = |group: u32| texts[found.groups[group as usize][0] as usize].replace('\n', "⏎");
        for pair in &found.pairs {
            let Comparison { verdict, predicate, veto, score, .. } = pair.comparison;
            let predicate = predicate.map_or("none", Predicate::name);
            let veto = veto.map_or("", |veto| veto.name());
            println!("{verdict:?} {predicate} {veto} {score:.3} | {} | {}", text(pair.a), text(pair.b));
        }
        return Ok(());
    }
    if each != Some("whole") {
        let folded: Vec<String> = posts.iter().map(|post| view::fold(post)).collect();
        println!("folded, {:.1} CPU s", cpu());
        for join in default_joins() {
            if each.is_some_and(|name| name != join.predicate.name()) {
                continue;
            }
            let before = cpu();
            let long = |text: &&String| text.chars().count() >= join.least_chars;
            let views: Vec<Cow<'_, str>> = folded.iter().filter(long).map(|text| (join.view)(text)).collect();
            let views: Vec<&str> = views.iter().map(AsRef::as_ref).collect();
            let joined = self_join(&views, &join.query);
            print_effort(join.predicate.name(), joined.effort, joined.pairs.len(), before);
        }
    }
    if each.is_none_or(|name| name == "whole") {
        let before = cpu();
        let texts: Vec<&str> = posts.iter().map(String::as_str).collect();
        let found = find_alike_pairs(&texts);
        let same = found.pairs.iter().filter(|pair| pair.comparison.verdict == Verdict::Same).count();
        print_effort("all", found.effort, found.pairs.len(), before);
        let mut digest: u64 = 0;
        for pair in &found.pairs {
            let word = u64::from(pair.a) << 32 | u64::from(pair.b);
            digest = digest.wrapping_add(
                word.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ pair.comparison.score.to_bits(),
            );
        }
        println!("{same} of them the same, {} borderline, digest {digest:x}", found.pairs.len() - same);
    }
    println!("together {:.1} CPU s, {} MiB at most", cpu(), peak().unwrap_or_default());
    Ok(())
}
