//! docs/funnel.svg shows the sample's real numbers. `RIDDLEMILL_BLESS=1` redraws it.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::harness::Workspace;

/// Width of the widest bar.
const BAR: u64 = 420;
/// Left edge of the bars, to the right of the longest name of a stage at 13 px.
const LEFT: u64 = 172;
/// Height of a stage's row.
const ROW: u64 = 46;

/// The funnel of one recipe: one bar per stage, with the losses on its right.
fn draw(funnel: &Value) -> String {
    let stages = funnel["stages"].as_array().unwrap();
    let count = |stage: &Value, field: &str| stage["counts"][field].as_u64().unwrap();
    let widest = count(&stages[0], "records_in").max(1);
    let height = 62 + ROW * (stages.len() as u64 + 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"920\" height=\"{height}\" viewBox=\"0 0 920 {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n\
         <rect width=\"920\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"20\" y=\"30\" font-size=\"16\" font-weight=\"600\" fill=\"#222\">{}: the sample, from dump to candidate</text>\n",
        funnel["recipe"].as_str().unwrap()
    );
    let mut row = |y: u64, name: &str, n: u64, note: &str| {
        let width = (n * BAR / widest).max(2);
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#222\">{name}</text>\n\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{width}\" height=\"24\" rx=\"3\" fill=\"#4a7fb5\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"#222\" font-weight=\"600\">{n}</text>\n\
             <text x=\"{LEFT}\" y=\"{}\" fill=\"#777\" font-size=\"11\">{note}</text>\n",
            LEFT - 12,
            y + 17,
            LEFT + 8 + width,
            y + 17,
            y + 37
        );
    };
    row(48, "dumps", count(&stages[0], "records_in"), "lines and array items");
    for (i, stage) in stages.iter().enumerate() {
        let mut out: Vec<(u64, &str)> = Vec::new();
        for (reason, n) in stage["counts"]["reasons"].as_object().unwrap() {
            let (state, code) = reason.split_once('/').unwrap();
            if state != "changed" {
                out.push((n.as_u64().unwrap(), code));
            }
        }
        out.sort_by_key(|(n, code)| (std::cmp::Reverse(*n), *code));
        let changed = stage["counts"]["states"]["changed"].as_u64().unwrap_or(0);
        let mut notes: Vec<String> = out.iter().take(6).map(|(n, code)| format!("{code} {n}")).collect();
        if changed > 0 {
            notes.insert(0, format!("{changed} changed"));
        }
        let y = 48 + ROW * (i as u64 + 1);
        row(y, stage["stage"].as_str().unwrap(), count(stage, "records_out"), &notes.join(" · "));
    }
    svg + "</svg>\n"
}

#[test]
fn the_funnel_of_the_readme_is_true() {
    let ws = Workspace::sample();
    ws.run();
    let result = ws.call(["report", "--recipe", "ruozhibench-gen", "--json"]).expect(0);
    let funnels: Value = serde_json::from_str(&result.out).unwrap();
    let drawn = draw(&funnels[0]);
    // A letter of a sans serif at 13 px is hardly ever wider than 8 px.
    let longest = funnels[0]["stages"].as_array().unwrap().iter().map(|s| s["stage"].as_str().unwrap().len());
    assert!(longest.max().unwrap() as u64 * 8 <= LEFT - 12, "the longest name of a stage is clipped");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/funnel.svg");
    if std::env::var_os("RIDDLEMILL_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &drawn).unwrap();
    }
    let standing = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        standing == drawn,
        "docs/funnel.svg is out of date; RIDDLEMILL_BLESS=1 cargo test --release picture draws it anew"
    );
}
