//! How fast the audit pages answer over many staged rows, and how much memory the server takes.
//!
//!     cargo bench --bench serve                    1,000,000 rows, made by the pipeline
//!     cargo bench --bench serve -- N               … N rows
//!     cargo bench --bench serve -- N WORKSPACE     … kept there, and used again the next time
//!
//! The server starts with nothing in memory. Every kind of page is then requested once, so that every first
//! request counts, and after that pages of all kinds in random order, one after the other, no page twice.
//! `RIDDLEMILL` names another build of the command.

#[path = "support/http.rs"]
#[expect(dead_code, reason = "the bench of votes uses all of it")]
mod http;
#[path = "support/posts.rs"]
mod posts;
#[path = "support/process.rs"]
mod process;
#[path = "support/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use http::{Client, coded};
use posts::{Draw, THINGS, write};
use process::high_water;
use server::{Server, command, quantile};

const RECIPE: &str = "flub";
const STAGES: [&str; 5] = ["import", "clean", "anonymise", "filter", "dedup"];
/// Pages of each kind, not counting the first request.
const ROUNDS: u64 = 40;
/// Records on a page of the server.
const PAGE: u64 = 50;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds flags of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let n: u64 = args.first().map_or(Ok(1_000_000), |n| n.replace('_', "").parse())?;
    let temporary = std::env::temp_dir().join(format!("riddlemill-serve-{}", std::process::id()));
    let workspace = args.get(1).map_or_else(|| temporary.clone(), PathBuf::from);
    if !workspace.join("staged").exists() {
        make(n, &workspace)?;
    }
    let measured = measure(&workspace);
    if workspace == temporary {
        fs::remove_dir_all(&workspace)?;
    }
    measured
}

/// Posts, and the stages up to dedup over them.
fn make(n: u64, workspace: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(workspace.join("raw/dumps"))?;
    write(n, &workspace.join("raw/dumps/posts.jsonl"))?;
    fs::write(
        workspace.join("pipeline.toml"),
        "[[source]]\nname = \"posts\"\nkind = \"leymore-titles\"\npath = \"raw/dumps/posts.jsonl\"\n\
         [dedup]\nmetric = \"indel\"\n",
    )?;
    let run =
        command(workspace).args(["run", "--offline", "-q", "--recipe", RECIPE, "--to", "dedup"]).status()?;
    if run.success() { Ok(()) } else { Err(format!("the run ended with {run}").into()) }
}

/// A kind of page: its path by the number of the request.
struct Kind {
    name: &'static str,
    address: Box<dyn Fn(&mut Draw) -> String>,
}

/// The counts of a stage: records by `state/reason`, and the number of inputs.
struct StageCounts {
    stage: &'static str,
    rows: u64,
    reasons: Vec<String>,
}

fn stage_counts(workspace: &Path) -> Result<Vec<StageCounts>, Box<dyn Error>> {
    let mut stages = Vec::new();
    for (number, stage) in (1..).zip(STAGES) {
        let path = workspace.join(format!("staged/{RECIPE}/{number:02}_{stage}/manifest.json"));
        let manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        let counts = &manifest["counts"];
        let reasons: BTreeMap<String, u64> = serde_json::from_value(counts["reasons"].clone())?;
        let rows = counts["records_in"].as_u64().ok_or("no records_in")?;
        stages.push(StageCounts { stage, rows, reasons: reasons.into_keys().collect() });
    }
    Ok(stages)
}

fn kinds(stages: &'static [StageCounts]) -> Vec<Kind> {
    let stage = |draw: &mut Draw| &stages[draw.below(stages.len() as u64) as usize];
    let word = |draw: &mut Draw| {
        let (one, other) = (draw.pick(THINGS), draw.pick(THINGS));
        match draw.below(6) {
            0 => one.to_string(),
            1 => format!("{one}终于"),
            2 => format!("把{one}搬到"),
            // In the other script.
            3 => format!("{one}如果會"),
            4 => format!("{}号", draw.below(9973)),
            _ => format!("{one}{other}"),
        }
    };
    let english = |draw: &mut Draw| match draw.below(3) {
        0 => format!("{}", 7_000_000_000 + draw.below(1_000_000)),
        1 => format!("RT {}", draw.below(1000)),
        _ => format!("umbrella {}", draw.below(1000)),
    };
    let of = |stage: &StageCounts| format!("/{RECIPE}/stage/{}", stage.stage);
    let kind = |name, address: Box<dyn Fn(&mut Draw) -> String>| Kind { name, address };
    vec![
        kind("stage", Box::new(move |draw| format!("{}?page={}", of(stage(draw)), draw.below(4) + 1))),
        kind(
            "deep page",
            Box::new(move |draw| {
                let stage = stage(draw);
                format!("{}?page={}", of(stage), draw.below(stage.rows / PAGE) + 1)
            }),
        ),
        kind(
            "outcome or reason",
            Box::new(move |draw| {
                let with: Vec<&StageCounts> =
                    stages.iter().filter(|stage| !stage.reasons.is_empty()).collect();
                let stage = with[draw.below(with.len() as u64) as usize];
                let reason = &stage.reasons[draw.below(stage.reasons.len() as u64) as usize];
                let (outcome, code) = reason.split_once('/').unwrap_or((reason, ""));
                let page = draw.below(100) + 1;
                format!("{}?outcome={outcome}&reason={code}&page={page}", of(stage))
            }),
        ),
        kind(
            "search, Chinese",
            Box::new(move |draw| format!("{}?q={}", of(stage(draw)), coded(&word(draw)))),
        ),
        kind(
            "search, English",
            Box::new(move |draw| format!("{}?q={}", of(stage(draw)), coded(&english(draw)))),
        ),
        kind(
            "order",
            Box::new(move |draw| {
                let order = draw.pick(&["longest", "shortest", "score"]);
                format!("{}?sort={order}&page={}", of(stage(draw)), draw.below(200) + 1)
            }),
        ),
        kind(
            "length",
            Box::new(move |draw| {
                let min = draw.below(40);
                format!("{}?min={min}&max={}", of(stage(draw)), min + draw.below(20) + 1)
            }),
        ),
        kind("histogram", Box::new(move |draw| format!("/{RECIPE}/figures/{}", stage(draw).stage))),
        kind(
            "record",
            Box::new(move |draw| {
                format!("/{RECIPE}/record/tieba:{}", 7_000_000_000 + draw.below(stages[0].rows))
            }),
        ),
        kind("clusters", Box::new(move |draw| format!("/{RECIPE}/duplicates?page={}", draw.below(500) + 1))),
        kind(
            "pairs",
            Box::new(move |draw| {
                let verdict = draw.pick(&["borderline", "same", "all"]);
                let score = 0.5 + draw.below(50) as f64 / 100.0;
                format!("/{RECIPE}/duplicates?show=pairs&verdict={verdict}&score={score:.2}")
            }),
        ),
        kind("find", Box::new(move |draw| format!("/find?q={}", coded(&word(draw))))),
    ]
}

fn measure(workspace: &Path) -> Result<(), Box<dyn Error>> {
    let stages: &'static [StageCounts] = stage_counts(workspace)?.leak();
    for stage in stages {
        println!("{:<10} {:>9} records, {} reasons", stage.stage, stage.rows, stage.reasons.len());
    }
    let kinds = kinds(stages);
    let server = Server::start(workspace, 0)?;
    let mut client = Client::new(&server.address);
    let mut draw = Draw(7);
    let mut times: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let mut ask = |name: &'static str, address: String| -> Result<Duration, Box<dyn Error>> {
        let start = Instant::now();
        let answer = client.get(&address)?;
        let took = start.elapsed();
        if answer.status != 200 {
            return Err(format!("{address} answered {}", answer.status).into());
        }
        times.entry(name).or_default().push(took);
        if std::env::var_os("SLOW").is_some() && took > Duration::from_millis(200) {
            eprintln!("{took:>10.1?} {address}");
        }
        Ok(took)
    };
    println!("\nfirst looks");
    for stage in STAGES {
        let took = ask("first look", format!("/{RECIPE}/stage/{stage}"))?;
        println!("{stage:<20} {took:>10.1?}");
    }
    for kind in &kinds {
        let took = ask("first look", (kind.address)(&mut draw))?;
        println!("{:<20} {took:>10.1?}", kind.name);
    }
    let mut turns: Vec<&Kind> = kinds.iter().flat_map(|kind| (0..ROUNDS).map(move |_| kind)).collect();
    for at in (1..turns.len()).rev() {
        turns.swap(at, draw.below(at as u64 + 1) as usize);
    }
    for kind in turns {
        ask(kind.name, (kind.address)(&mut draw))?;
    }
    println!("\n{:<20} {:>6} {:>10} {:>10} {:>10}", "", "pages", "median", "p99", "most");
    let line = |name: &str, times: &[Duration]| {
        let [median, p99, most] = [0.5, 0.99, 1.0].map(|share| quantile(times, share));
        println!("{name:<20} {:>6} {median:>10.1?} {p99:>10.1?} {most:>10.1?}", times.len());
    };
    for (name, times) in &times {
        line(name, times);
    }
    line("together", &times.values().flatten().copied().collect::<Vec<_>>());
    let peak = high_water(server.child.id()).map_or("-".into(), |mib| format!("{mib} MiB"));
    println!("memory, at most      {peak}");
    Ok(())
}
