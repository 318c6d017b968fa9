//! How fast the program processes posts.
//!
//!     cargo bench --bench posts                    import to filter over 1,000,000 posts
//!     cargo bench --bench posts -- 10000000        … over ten million
//!     cargo bench --bench posts -- POSTS.jsonl     … over the lines of a file: `{"id": …, "text": …}`
//!     cargo bench --bench posts -- N OUT.jsonl     write N posts and stop

#[path = "support/posts.rs"]
mod posts;
#[path = "support/process.rs"]
mod process;

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use posts::write;
use process::high_water;

const STAGES: [&str; 4] = ["import", "clean", "anonymise", "filter"];

/// A run: the seconds of each stage and of all, and the peak memory in MiB.
struct Measured {
    laps: Vec<(String, f64)>,
    all: f64,
    peak: Option<u64>,
}

/// Runs the stages up to filter in one process.
fn run(workspace: &Path) -> Result<Measured, Box<dyn Error>> {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_riddlemill"))
        .args(["run", "--verbose", "--recipe", "flub", "--to", "filter", "-C"])
        .arg(workspace)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let talk = child.stderr.take().ok_or("no stderr")?;
    // One line per stage, when it is finished.
    let listening = std::thread::spawn(move || {
        let (mut laps, mut last) = (Vec::new(), 0.0);
        for line in BufReader::new(talk).lines().map_while(Result::ok) {
            let now = start.elapsed().as_secs_f64();
            let name = line.strip_prefix("  ").and_then(|rest| rest.split(' ').next());
            if let Some(name) = name.filter(|name| STAGES.contains(name)) {
                laps.push((name.to_string(), now - last));
                last = now;
            }
        }
        laps
    });
    let mut peak = None;
    let status = loop {
        peak = high_water(child.id()).or(peak);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        sleep(Duration::from_millis(2));
    };
    let all = start.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("the run ended with {status}").into());
    }
    let laps = listening.join().map_err(|_| "the listener panicked")?;
    if laps.len() != STAGES.len() {
        return Err(format!("the run told of {} stages, not of {STAGES:?}", laps.len()).into());
    }
    Ok(Measured { laps, all, peak })
}

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds flags of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let corpus = match args.first() {
        Some(file) if file.ends_with(".jsonl") => Corpus::File(Path::new(file).canonicalize()?),
        Some(n) => Corpus::Posts(n.replace('_', "").parse()?),
        None => Corpus::Posts(1_000_000),
    };
    if let (Corpus::Posts(n), Some(out)) = (&corpus, args.get(1)) {
        return write(*n, Path::new(out));
    }
    let workspace = std::env::temp_dir().join(format!("riddlemill-bench-{}", std::process::id()));
    fs::create_dir_all(workspace.join("raw/dumps"))?;
    let measured = measure(&corpus, &workspace);
    fs::remove_dir_all(&workspace)?;
    measured
}

/// The input.
enum Corpus {
    /// This many synthetic posts, as rows of list pages.
    Posts(u64),
    /// The lines of a file.
    File(PathBuf),
}

fn measure(corpus: &Corpus, workspace: &Path) -> Result<(), Box<dyn Error>> {
    let own = workspace.join("raw/dumps/posts.jsonl");
    let (dump, kind) = match corpus {
        Corpus::Posts(n) => {
            write(*n, &own)?;
            (&own, "kind = \"leymore-titles\"")
        }
        Corpus::File(file) => (file, "kind = \"table\"\nfields = { id = \"id\", content = \"text\" }"),
    };
    let n = BufReader::new(fs::File::open(dump)?).split(b'\n').count();
    let source = format!("[[source]]\nname = \"posts\"\npath = {dump:?}\n{kind}\n");
    fs::write(workspace.join("pipeline.toml"), source)?;
    println!("{n} posts, {} MiB", fs::metadata(dump)?.len() >> 20);
    let Measured { laps, all, peak } = run(workspace)?;
    for (name, seconds) in laps {
        println!("{name:<10} {seconds:>7.2} s {:>12.0} posts/s", n as f64 / seconds);
    }
    let peak = peak.map_or("-".into(), |mib| format!("{mib} MiB"));
    println!("{:<10} {all:>7.2} s {:>12.0} posts/s {peak:>10} at most", "together", n as f64 / all);
    Ok(())
}
