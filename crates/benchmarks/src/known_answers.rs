//! Answers that expressions compare with: one that no ballot offers would make the comparison the same for every record.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use riddlemill_text::hint::unknown;

use crate::ballot::{AnswerKind, Ballot, Combine, Field, KEEP};
use crate::benchmark::Benchmark;
use crate::expression::Expression;
use crate::reader::Problem;
use crate::scope::group_name;

/// What an answer is called in an expression, with the codes that it may have.
type Codes = BTreeMap<String, Vec<&'static str>>;

/// A path beside a text that it is compared with, or that is looked for in it.
static COMPARED: LazyLock<Regex> = LazyLock::new(|| {
    let (path, text) = (r"[A-Za-z_]\w*(?:\.\w+)?", r#"(?:'[^']*'|"[^"]*")"#);
    let forms = [
        format!(r"(?:^|[^\w.|\s])\s*(?P<left>{path})\s*[!=]=\s*(?P<right_text>{text})"),
        format!(
            r"(?P<left_text>{text})\s*(?:[!=]=|in)\s*\(?\s*(?P<right>{path})\s*(?:$|[^\w.|(\[\s]|or\b|and\b)"
        ),
    ];
    Regex::new(&forms.join("|")).expect("a constant pattern")
});

/// The codes of a field whose answers are some of a list.
fn codes_of_field(field: &Field) -> Option<Vec<&'static str>> {
    let mut codes: Vec<&str> = match &field.kind {
        AnswerKind::Choice(options) | AnswerKind::Choices { options, .. } => {
            options.iter().map(|option| option.code).collect()
        }
        AnswerKind::Preference { sides, tie } => sides.iter().copied().chain([tie.code]).collect(),
        AnswerKind::Keep { reasons } => reasons.iter().map(|reason| reason.code).chain([KEEP]).collect(),
        _ => return None,
    };
    if let Combine::MajorityOr(code) = field.combine {
        codes.push(code);
    }
    Some(codes)
}

fn fields_of_ballot(ballot: &Ballot) -> impl Iterator<Item = &Field> {
    ballot.fields.iter().chain(ballot.review.iter().flat_map(|review| &review.fields))
}

/// The answers of a ballot under a prefix.
fn add_codes(codes: &mut Codes, prefix: &str, ballot: &Ballot) {
    for field in fields_of_ballot(ballot) {
        let Some(of_field) = codes_of_field(field) else { continue };
        codes.entry(format!("{prefix}{}", group_name(field.name))).or_default().extend(of_field);
    }
}

/// The comparisons of an expression with an answer that cannot be given.
fn find_impossible_answers(codes: &Codes, expression: &Expression) -> Vec<String> {
    // Words that join conditions are no part of a path.
    let source = expression.source().replace(" and ", " & ").replace(" or ", " & ").replace("not ", "! ");
    let source = source.replace(" if ", " & ").replace(" else ", " & ");
    COMPARED
        .captures_iter(&source)
        .filter_map(|found| {
            let path = found.name("left").or_else(|| found.name("right"))?.as_str();
            let text = found.name("right_text").or_else(|| found.name("left_text"))?.as_str();
            let text = text.trim_matches(['\'', '"']);
            let offered = codes.get(path).filter(|offered| !offered.contains(&text))?;
            Some(unknown(&format!("answer of {path}"), text, offered.iter().copied()))
        })
        .collect()
}

impl Benchmark {
    /// Answers in its expressions that no ballot offers, each with its place.
    pub fn impossible_answers(&self) -> Vec<Problem> {
        let mut decided = Codes::new();
        for ballot in &self.ballots.steps {
            add_codes(&mut decided, &format!("{}.", group_name(ballot.name)), ballot);
        }
        let mut problems = Vec::new();
        let mut check = |codes: &Codes, expression: &Expression| {
            let told = find_impossible_answers(codes, expression).into_iter();
            problems.extend(told.map(|what| Problem { place: expression.place().to_owned(), what }));
        };
        let report = &self.report;
        let figures = report
            .figures
            .iter()
            .flat_map(|figure| figure.record_expressions().into_iter().chain(figure.of_last()));
        let reported = report.parts.iter().map(|part| &part.of).chain(figures);
        self.record_expressions().chain(reported).for_each(|expression| check(&decided, expression));
        for ballot in &self.ballots.steps {
            let mut own = decided.clone();
            // Of what people answered the bare name is meant.
            add_codes(&mut own, "said.", ballot);
            if let Some(asked) = ballot.asked {
                asked.decision_expressions().chain(asked.answer_conditions()).for_each(|e| check(&own, e));
            }
            add_codes(&mut own, "", ballot);
            if let Some(drop) = ballot.drop {
                [&drop.when, &drop.because].into_iter().for_each(|e| check(&own, e));
            }
        }
        problems
    }
}
