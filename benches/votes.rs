//! Many annotators at once, with a power cut in the middle: how long they wait, and whether every vote is
//! stored.
//!
//!     cargo bench --bench votes                    50 people, 40 votes each
//!     cargo bench --bench votes -- PEOPLE VOTES
//!
//! Everybody logs in with their own token and votes as fast as the pages load: nobody thinks. Half-way the
//! server is killed and started again; a client without a response sends the same vote again, as the page
//! does, and every fifth vote is sent twice. `RIDDLEMILL` names another build of the command.

#[path = "support/http.rs"]
mod http;
#[path = "support/posts.rs"]
mod posts;
#[path = "support/process.rs"]
mod process;
#[path = "support/server.rs"]
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::Client;
use server::{Server, command, quantile};

const PLACE: &str = "/review/chumor/screen/vote";

type Wrong = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds flags of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let number = |at: usize, usual: usize| args.get(at).map_or(Ok(usual), |n| n.parse());
    let (people, votes) = (number(0, 50)?, number(1, 40)?);
    let workspace = std::env::temp_dir().join(format!("riddlemill-votes-{}", std::process::id()));
    let measured = make(&workspace, people, votes).and_then(|tokens| measure(&workspace, &tokens, votes));
    fs::remove_dir_all(&workspace)?;
    measured
}

/// Jokes for everybody, the people, the items assigned to each, and their tokens.
fn make(workspace: &Path, people: usize, votes: usize) -> Result<Vec<String>, Box<dyn Error>> {
    fs::create_dir_all(workspace.join("raw/dumps"))?;
    posts::write((people * votes * 3) as u64, &workspace.join("raw/dumps/posts.jsonl"))?;
    let mut settings =
        "[[source]]\nname = \"posts\"\nkind = \"leymore-titles\"\npath = \"raw/dumps/posts.jsonl\"\n"
            .to_string();
    let names: Vec<String> = (0..people).map(|n| format!("voter-{n}")).collect();
    for name in &names {
        settings.push_str(&format!(
            "\n[[annotator]]\nname = \"{name}\"\nrole = \"annotator\"\nlanguages = [\"zh\"]\n"
        ));
    }
    fs::write(workspace.join("pipeline.toml"), settings)?;
    let call = |args: &[&str]| -> Result<String, Box<dyn Error>> {
        let result = command(workspace).args(args).output()?;
        match result.status.success() {
            true => Ok(String::from_utf8(result.stdout)?.trim().to_string()),
            false => Err(format!("{args:?}: {}", String::from_utf8_lossy(&result.stderr)).into()),
        }
    };
    call(&["run", "--offline", "-q", "--recipe", "chumor", "--to", "dedup"])?;
    call(&["review", "assign", "screen", "--recipe", "chumor"])?;
    names.iter().map(|name| call(&["access", "grant", name, "--rank", "annotator"])).collect()
}

/// What one person experienced.
#[derive(Default)]
struct Seen {
    /// Pages and votes that got a response, and how long that took.
    pages: Vec<Duration>,
    votes: Vec<Duration>,
    /// From the first key press to the message that it is saved, whatever happened in between.
    waits: Vec<Duration>,
    /// Items with the id of the vote reported as saved.
    saved: BTreeMap<String, String>,
}

fn measure(workspace: &Path, tokens: &[String], votes: usize) -> Result<(), Box<dyn Error>> {
    let mut server = Server::start(workspace, 0)?;
    let (address, done) = (server.address.clone(), AtomicUsize::new(0));
    let port: u16 = address.rsplit(':').next().ok_or("no port")?.parse()?;
    let half = tokens.len() * votes / 2;
    let start = Instant::now();
    let seen: Vec<Result<Seen, Wrong>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            tokens.iter().map(|token| scope.spawn(|| person(&address, token, votes, &done))).collect();
        while done.load(Ordering::Relaxed) < half && threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
        }
        server.kill();
        server = Server::start(workspace, port).map_err(|e| e.to_string())?;
        threads
            .into_iter()
            .map(|thread| Ok(thread.join().map_err(|_| "somebody panicked")?))
            .collect::<Result<Vec<_>, Wrong>>()
    })
    .map_err(|e| -> Box<dyn Error> { e })?;
    let all = start.elapsed();
    let seen: Result<Vec<Seen>, Wrong> = seen.into_iter().collect();
    let seen = seen.map_err(|e| -> Box<dyn Error> { e })?;
    let line = |name: &str, times: Vec<Duration>| {
        let [median, p99, most] = [0.5, 0.99, 1.0].map(|share| quantile(&times, share));
        println!("{name:<16} {:>6} {median:>10.1?} {p99:>10.1?} {most:>10.1?}", times.len());
    };
    println!("{} people, {votes} votes each, in {all:.1?}", tokens.len());
    println!("{:<16} {:>6} {:>10} {:>10} {:>10}", "", "", "median", "p99", "most");
    line("pages", seen.iter().flat_map(|seen| seen.pages.clone()).collect());
    line("votes", seen.iter().flat_map(|seen| seen.votes.clone()).collect());
    line(
        "pages and votes",
        seen.iter().flat_map(|seen| [seen.pages.clone(), seen.votes.clone()].concat()).collect(),
    );
    line("until saved", seen.iter().flat_map(|seen| seen.waits.clone()).collect());
    let peak = process::high_water(server.child.id()).map_or("-".into(), |mib| format!("{mib} MiB"));
    println!("memory, at most  {peak}");
    server.kill();
    count(workspace, &seen)
}

/// One person, until they have cast this many votes.
fn person(address: &str, token: &str, votes: usize, done: &AtomicUsize) -> Result<Seen, Wrong> {
    let mut client = Client::new(address);
    let csrf = hidden(&client.get("/login")?.body, "csrf")?;
    let entered = client.post("/login", &[("csrf", &csrf), ("token", token)])?;
    if entered.status != 303 {
        return Err(format!("the login answered {}", entered.status).into());
    }
    let mut seen = Seen::default();
    while seen.saved.len() < votes {
        let (page, took) = patient(|| client.get(PLACE))?;
        seen.pages.push(took);
        let [item, hash, base, csrf] = ["item", "hash", "base", "csrf"].map(|name| hidden(&page.body, name));
        let (item, hash, base, csrf) = (item?, hash?, base?, csrf?);
        let fields = [
            ("csrf", csrf.as_str()),
            ("item", &item),
            ("hash", &hash),
            ("base", &base),
            ("seconds", "1.5"),
            ("f.screen", "keep"),
        ];
        let pressed = Instant::now();
        let (answer, took) = patient(|| client.post(PLACE, &fields))?;
        seen.votes.push(took);
        seen.waits.push(pressed.elapsed());
        let id = saved(&answer.body)?;
        if seen.saved.len() % 5 == 0 {
            let (again, took) = patient(|| client.post(PLACE, &fields))?;
            seen.votes.push(took);
            if saved(&again.body)? != id {
                return Err(format!("{item}: sent twice, stored twice").into());
            }
        }
        if seen.saved.insert(item.clone(), id).is_some() {
            return Err(format!("{item} was asked twice").into());
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(seen)
}

/// Retries until there is a response, and times the request that got one.
fn patient(mut ask: impl FnMut() -> io::Result<http::Answer>) -> Result<(http::Answer, Duration), Wrong> {
    for _ in 0..1000 {
        let start = Instant::now();
        match ask() {
            Ok(answer) if answer.status == 200 => return Ok((answer, start.elapsed())),
            Ok(answer) => return Err(format!("answered {}: {}", answer.status, answer.body).into()),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    Err("no answer".into())
}

fn saved(body: &str) -> Result<String, Wrong> {
    let actual: serde_json::Value = serde_json::from_str(body)?;
    match (actual["status"].as_str(), actual["vote"].as_str()) {
        (Some("saved"), Some(vote)) => Ok(vote.to_string()),
        _ => Err(format!("not saved: {body}").into()),
    }
}

/// The value of a hidden field.
fn hidden(html: &str, name: &str) -> Result<String, Wrong> {
    let (_, rest) =
        html.split_once(&format!("name=\"{name}\" value=\"")).ok_or(format!("no {name}: {html}"))?;
    Ok(rest.split('"').next().unwrap_or_default().to_string())
}

/// Every vote reported as saved is on disk, and each seat voted once.
fn count(workspace: &Path, seen: &[Seen]) -> Result<(), Box<dyn Error>> {
    let (mut ids, mut seats) = (BTreeSet::new(), BTreeSet::new());
    for line in fs::read_to_string(workspace.join("raw/votes/000001.jsonl"))?.lines() {
        let vote: serde_json::Value = serde_json::from_str(line)?;
        let text = |key: &str| vote[key].as_str().unwrap_or_default().to_string();
        if !ids.insert(text("id")) || !seats.insert((text("annotator"), text("item"))) {
            return Err(format!("a vote is stored twice: {line}").into());
        }
    }
    let lost = seen.iter().flat_map(|seen| seen.saved.values()).filter(|id| !ids.contains(*id)).count();
    println!("votes stored     {:>6}, {lost} lost, none twice", ids.len());
    let wanted: usize = seen.iter().map(|seen| seen.saved.len()).sum();
    if lost == 0 && ids.len() == wanted { Ok(()) } else { Err(format!("{wanted} votes were saved").into()) }
}
