//! What `report.toml` may say: small benchmarks, one a feature.

use crate::benchmark::{self, Benchmark};
use crate::figure::{FigureKind, Line, NumberMeasure};
use crate::reader::{Problems, leak_text};

const BENCHMARK: &str = r#"about = "texts"
records = "cunning texts"
steps = ["import", "review:type"]
[data]
about = "A text."
columns = [{ name = "id", type = "text", is = "id", about = "The id." }]
"#;

const BALLOTS: &str = r#"[[list.types]]
code = "pun"
label = "Pun"
means = "Two meanings."
[ballot.type]
title = "Which type?"
guideline = "Choose."
shows = [{ key = "text", label = "Text" }]
votes = 3
standing = "type"
fields = [{ name = "type", label = "Type", kind = "choice", options = "types", rule = "majority" }]
"#;

fn load_benchmark(report: &str) -> Result<Benchmark, Problems> {
    let files =
        vec![("benchmark.toml", BENCHMARK), ("ballots.toml", BALLOTS), ("report.toml", leak_text(report))];
    Ok(benchmark::load_benchmarks(&[("texts", files)], true)?.into_iter().next().unwrap())
}

#[test]
fn without_labels_the_columns_are_counted() {
    let files = vec![("benchmark.toml", BENCHMARK), ("ballots.toml", BALLOTS)];
    let read = benchmark::load_benchmarks(&[("texts", files)], true).unwrap();
    let names: Vec<&str> = read[0].report.figures.iter().map(|figure| figure.name).collect();
    assert_eq!(names, ["", "labels", "figures", "shortcuts", "reviews"]);
    // A benchmark that releases nothing has the same.
    let files = vec![("benchmark.toml", "about = \"texts\"\nsteps = [\"import\"]\n")];
    assert_eq!(benchmark::load_benchmarks(&[("texts", files)], true).unwrap()[0].report.figures.len(), 5);
}

#[test]
fn a_report_is_read_as_it_is_written() {
    let read = load_benchmark(
        r#"[[figure]]
kind = "numbers"
title = "{{ texts }} texts"
line = ""
numbers = [{ name = "texts", count = "true" }, { name = "length", label = "characters", lengths = "text | length" }]
[[figure]]
name = "types"
kind = "counts"
by = "cunning_type"
list = "types"
indent = 2
line = "{{ label | left(8) }} {{ count | right(4) }} of {{ texts }}"
"#,
    )
    .unwrap();
    let [numbers, types] = &read.report.figures[..] else { panic!("{:?}", read.report) };
    let FigureKind::Numbers(of) = &numbers.kind else { panic!("{numbers:?}") };
    assert!(matches!((&of[0].measure, &of[1].measure), (NumberMeasure::Count(_), NumberMeasure::Lengths(_))));
    assert_eq!((of[0].label, of[1].label), ("texts", "characters"));
    assert!(matches!((&numbers.line, &types.line), (Line::None, Line::Template(_))));
    let FigureKind::Counts(counts) = &types.kind else { panic!("{types:?}") };
    assert_eq!((counts.options.len(), types.indent, numbers.indent), (1, 2, 4));
}

#[test]
fn every_problem_of_a_report_is_reported_with_its_place() {
    let error = load_benchmark(
        r#"[part.kinds]
key = "kind"
of = "kindd"
values = ["pun"]
[[figure]]
name = "types"
kind = "cuonts"
by = "cunning_type"
[[figure]]
name = "types"
kind = "counts"
by = "cuning_type"
list = "tpyes"
part = "kind"
[[figure]]
name = "types"
kind = "bars"
of = "score"
from = 0
to = 4
wide = 0
[[figure]]
kind = "numbers"
title = "{{ texs }} texts"
numbers = [
  { name = "texts", count = "true", mean = "score" },
  { name = "changed", modified = "type" },
  { name = "lengths", lengths = "text | lenght" },
]
[[figure]]
name = "agreement"
kind = "agreement"
title = "{{ lenghts }} of them"
ballot = "typ"
field = "type"
[[figure]]
name = "agreements"
kind = "agreement"
ballot = "type"
fields = ["type", "kind"]
line = "{{ flees | interval }}"
[[figure]]
name = "shortcuts"
kind = "shortcuts"
question = "text"
step = "review:typ"
keys = { n = "items" }
[[figure]]
kind = "lines"
of = "typs"
"#,
    )
    .map(|_| "no problem".to_owned())
    .unwrap_or_else(|problems| problems.to_string());
    insta::assert_snapshot!(error);
    // Problems of records are reported once the files themselves can be read.
    let error = load_benchmark(
        "[[figure]]\nname = \"types\"\nkind = \"counts\"\nby = \"cuning_type\"\n\
         [[figure]]\nkind = \"numbers\"\nnumbers = [{ name = \"annual\", count = \"source_kid == 'annual'\" }]\n",
    )
    .unwrap_err()
    .to_string();
    assert_eq!(
        error,
        "texts/report.toml:4:6: by: unknown column \"cuning_type\"\n  hint: did you mean \"cunning_type\"?\n\
         texts/report.toml:7:39: count: unknown column \"source_kid\"\n  hint: did you mean \"source_kind\"?"
    );
}
