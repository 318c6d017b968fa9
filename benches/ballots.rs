//! A million votes: read from CSV, stored and synced, loaded again, resolved, and their agreement with intervals.
//!
//!     cargo bench --bench ballots

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on says where")]

use std::time::Instant;

use riddlemill::options::DrawStream;
use riddlemill::review::agreement::{AgreementSettings, Bootstrap};
use riddlemill::review::{
    Annotator, Content, ImportSettings, Item, Role, Round, Value, Values, VoteLog, ballots, count_outcomes,
    import_votes, measure_agreement, resolve_all,
};
use rustc_hash::FxHashMap;

/// The program's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ITEMS: usize = 333_334;

fn main() {
    let step = ballots::find_step("flub", "type").unwrap();
    let person = |name: &str| Annotator {
        name: name.into(),
        role: Role::Junior,
        languages: Vec::new(),
        qualified: true,
        accounts: Vec::new(),
        trials: Vec::new(),
    };
    let people = ["j1", "j2", "j3"].map(person);
    let item = |at: usize| {
        let content = Content::from([("text".to_owned(), Value::Text(format!("text {at}")))]);
        Item::new(&step, format!("tieba:{at}"), content, Values::new())
    };
    let items: Vec<Item> = (0..ITEMS).map(item).collect();
    let kinds: Vec<&str> = step.fields[0].options().iter().map(|option| option.code).collect();
    let mut csv = String::from("item,type,also,annotator,round,recipe,step,vote,content_hash\n");
    for item in &items {
        let mut draw = DrawStream::new(1, "scale", &item.id);
        let truth = draw.draw_below(kinds.len());
        for person in &people {
            let kind = if draw.draw_unit() < 0.8 { truth } else { draw.draw_below(kinds.len()) };
            let hash = item.content_hash;
            csv += &format!("{},{},,{},vote,flub,type,,{hash}\n", item.id, kinds[kind], person.name);
        }
    }
    let by_id: FxHashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let find = |id: &str| by_id.get(id).copied();
    let dir = tempfile::tempdir().unwrap();
    let mut log = VoteLog::open(dir.path()).unwrap();

    let start = Instant::now();
    let mut lap = start;
    let mut actual = |what: &str| {
        println!("{what}: {:.2} s", lap.elapsed().as_secs_f64());
        lap = Instant::now();
    };
    let settings = ImportSettings {
        step: &step,
        round: Round::Vote,
        people: &people,
        assigned: &[],
        at: "2026",
        synthetic: false,
    };
    let import = import_votes("votes.csv", csv.as_bytes(), &by_id, &settings);
    assert_eq!((import.votes.len(), import.problems.len()), (3 * ITEMS, 0));
    actual("read 1,000,002 rows");
    assert_eq!(log.append_votes(import.votes).unwrap().added.len(), 3 * ITEMS);
    actual("stored and synced");
    drop(log);
    actual("dropped");
    let log = VoteLog::open(dir.path()).unwrap();
    actual("loaded and verified");
    let votes = log.by_item("flub", "type");
    let resolutions = resolve_all(&step, &items, &votes);
    actual("resolved");
    let status = count_outcomes(&items, &resolutions, &votes, &[]);
    actual("status");
    assert_eq!(status.waiting[&Round::Review].0, ITEMS);
    let bootstrap = Bootstrap { resamples: 200, seed: 1, level: 0.95 };
    let settings = AgreementSettings { bootstrap, synthetic: false };
    let figures = measure_agreement(&step, &votes, find, &settings);
    actual("agreement with 200 resamples");
    let fleiss = figures[0].fleiss.unwrap();
    println!("fleiss {:.4} [{:.4}, {:.4}]", fleiss.value, fleiss.low, fleiss.high);
    assert!(fleiss.low < fleiss.value && fleiss.value < fleiss.high);
    let total = start.elapsed().as_secs_f64();
    println!("all: {total:.2} s");
}
