//! `ballots.toml`: the questions for people.

use std::sync::Arc;

use riddlemill_record::Reason;

use crate::ballot::{
    Adjudication, AnswerKind, Ballot, BallotSource, Choice, Combine, Compares, Drafts, ElementList, Field,
    FillCondition, Label, Passes, Qualification, Rejection, Role, SecondPass,
};
pub use crate::choice::Lists;
use crate::expression::{self, Expression, Language};
use crate::reader::{Keys, Problems, parse_file};
use crate::requirement;
use crate::scope::group_name;
use crate::setting::SettingValues;

/// The ballots of a benchmark.
#[derive(Clone, Debug, Default)]
pub struct Ballots {
    /// In the order of the file, which is that of the steps.
    pub steps: Vec<Ballot>,
    /// Shared options.
    pub lists: Lists,
    /// The workspace's values for the benchmark's own settings.
    pub(crate) given: Arc<SettingValues>,
}

impl Ballots {
    /// A ballot by its name.
    pub fn find_ballot(&self, name: &str) -> Option<&Ballot> {
        self.steps.iter().find(|ballot| ballot.name == name)
    }
}

/// Reads the ballots of a benchmark.
///
/// # Errors
/// Every problem of the file.
pub fn parse_ballots(benchmark: &'static str, file: &str, text: &str) -> Result<Ballots, Problems> {
    parse_file(file, text, |keys| {
        let lists = keys.read_table_lists("list", parse_choice);
        let every =
            keys.read_table("every", |keys| parse_common(keys, &Common::default())).unwrap_or_default();
        let given = Arc::default();
        let language = expression::build_language(lists.clone(), &given);
        let steps = keys.read_named_tables("ballot", |name, keys| {
            let step = Ballot {
                drop: keys.read_table("drop", |keys| parse_rejection(language, keys)).flatten(),
                asked: Some(parse_ballot_source(language, file, name, keys)),
                ..parse_ballot(benchmark, name, &every, &lists, keys)
            };
            for fault in step.find_faults() {
                keys.report_problem("title", fault);
            }
            step
        });
        for step in &steps {
            if let Some(ballot) = step.not_by
                && !steps.iter().any(|other| other.name == ballot)
            {
                let known = steps.iter().map(|step| step.name);
                let what = riddlemill_text::hint::unknown("ballot", ballot, known);
                keys.report_problem("ballot", format!("{}: not_by: {what}", step.name));
            }
        }
        for (name, (step, drop)) in steps.iter().filter_map(|step| Some((step.name, (step, step.drop?)))) {
            let fields = || step.fields.iter().map(|field| field.name);
            for problem in
                [&drop.when, &drop.because].into_iter().filter_map(|e| e.find_unknown_name("field", fields()))
            {
                keys.report_problem("ballot", format!("{name}: {problem}"));
            }
        }
        Ballots { steps, lists, given }
    })
}

const ROLES: [(&str, Role); 4] = [
    ("annotator", Role::Annotator),
    ("junior", Role::Junior),
    ("senior", Role::Senior),
    ("meta", Role::Meta),
];

/// `languages` of a ballot whose voters must read what the record is written in.
const OF_RECORD: &str = "of the record";

/// Defaults for every ballot of a file.
#[derive(Clone)]
struct Common {
    voters: Vec<Role>,
    votes: usize,
    drafts: Drafts,
    languages: Vec<&'static str>,
    of_its_language: bool,
    trial: Option<Qualification>,
}

impl Default for Common {
    /// Anybody votes, once, blind.
    fn default() -> Common {
        Common {
            voters: vec![Role::Annotator, Role::Junior, Role::Senior],
            votes: 1,
            drafts: Drafts::Hidden,
            languages: Vec::new(),
            of_its_language: false,
            trial: None,
        }
    }
}

fn parse_common(keys: &Keys<'_>, every: &Common) -> Common {
    let trial = |keys: &Keys<'_>| Qualification {
        formal: keys.read_share("formal").unwrap_or(0.0),
        senior: keys.read_share("senior").unwrap_or(0.0),
    };
    let (languages, of_its_language) = match keys.is_text("languages") {
        true => (Vec::new(), keys.one_of("languages", &[(OF_RECORD, true)]).unwrap_or(false)),
        false => match keys.read_texts("languages") {
            Some(languages) => (languages, false),
            None => (every.languages.clone(), every.of_its_language),
        },
    };
    Common {
        voters: keys.some_of("voters", &ROLES).unwrap_or_else(|| every.voters.clone()),
        votes: keys.read_count("votes").unwrap_or(every.votes),
        drafts: keys
            .one_of("drafts", &[("hidden", Drafts::Hidden), ("shown", Drafts::Shown)])
            .unwrap_or(every.drafts),
        languages,
        of_its_language,
        trial: keys.read_table("trial", trial).or(every.trial),
    }
}

fn parse_ballot(
    recipe: &'static str,
    name: &'static str,
    every: &Common,
    lists: &Lists,
    keys: &Keys<'_>,
) -> Ballot {
    let common = parse_common(keys, every);
    let fields = keys.read_tables("fields", |keys| parse_field(lists, keys)).unwrap_or_default();
    let asked_by = |keys: &Keys<'_>| -> Vec<_> {
        keys.key_names().into_iter().map(|field| (field, keys.require_text(field))).collect()
    };
    Ballot {
        recipe,
        name,
        title: keys.require_label("title"),
        guideline: keys.require_label("guideline"),
        examples: collect_examples(&fields, keys),
        languages: common.languages,
        of_its_language: common.of_its_language,
        paper: keys.read_text("paper").unwrap_or_default(),
        shows: parse_shown_labels(keys),
        review: keys.read_table("second", |keys| parse_second_pass(&fields, lists, keys)),
        fields,
        voters: common.voters,
        votes_needed: common.votes,
        drafts: common.drafts,
        adjudication: Adjudication {
            by: keys.one_of("settles", &ROLES).unwrap_or(Role::Meta),
            asked_by: keys.read_table("asked_by", asked_by).unwrap_or_default(),
        },
        draft_ahead: false,
        drop: None,
        asked: None,
        qualification: common.trial,
        on_demand: keys.read_flag("on_demand").unwrap_or(false),
        not_by: keys.read_text("not_by"),
    }
}

/// The ballot's examples, followed by those of its options, each with the option's name.
fn collect_examples(fields: &[Field], keys: &Keys<'_>) -> Vec<Label> {
    let mut examples = keys.read_tables("examples", |keys| keys.read_both_languages()).unwrap_or_default();
    for option in fields.iter().flat_map(Field::options) {
        let Some(example) = option.example else { continue };
        let line = |name: &str, example: &str, colon: &str| {
            crate::reader::leak_text(&format!("{name}{colon}{example}"))
        };
        let en = line(option.label.en, example.en, ": ");
        let zh = line(option.label.zh, example.zh, "：");
        if !examples.iter().any(|known| known.en == en) {
            examples.push(Label { en, zh });
        }
    }
    examples
}

/// The content of an item with labels; [`parse_ballot_source`] has the expressions.
fn parse_shown_labels(keys: &Keys<'_>) -> Vec<(&'static str, Label)> {
    let shown = |keys: &Keys<'_>| {
        // Asked for, so that the key is not reported as unknown; `asked` parses it.
        keys.read_text("is");
        let key = keys.require_text("key");
        keys.has_key("label").then(|| (key, keys.require_label("label")))
    };
    keys.read_tables("shows", shown).unwrap_or_default().into_iter().flatten().collect()
}

/// A ballot's inputs from a record, and where its answers are stored. Leaked, because ballots live as long as
/// the program.
fn parse_ballot_source(
    language: Language,
    file: &str,
    name: &'static str,
    keys: &Keys<'_>,
) -> &'static BallotSource {
    let read = |keys: &Keys<'_>, key: &str, source: &'static str| {
        let place =
            keys.place_of_key(key).or_else(|| keys.place_of_key("key")).unwrap_or_else(|| file.to_owned());
        Expression::parse(language, place, source).map_err(|what| keys.report_problem(key, what)).ok()
    };
    let shown = |keys: &Keys<'_>| {
        let key = keys.require_text("key");
        // Asked for, so that the key is not reported as unknown; `shows` keeps it.
        keys.has_key("label").then(|| keys.require_label("label"));
        Some((key, read(keys, "is", keys.read_text("is").unwrap_or(key))?))
    };
    let drafted = |keys: &Keys<'_>| -> Vec<_> {
        let each = |name: &'static str| Some((name, read(keys, name, keys.read_text(name)?)?));
        keys.key_names().into_iter().filter_map(each).collect()
    };
    let one = |keys: &Keys<'_>, key: &str| keys.read_text(key).and_then(|source| read(keys, key, source));
    let needed = |keys: &Keys<'_>, key: &str| match keys.require_text(key) {
        "" => None,
        source => read(keys, key, source),
    };
    let over = keys.read_text("over").and_then(|source| {
        Some(ElementList {
            list: read(keys, "over", source)?,
            role: keys.read_text("role").unwrap_or(name),
            called: needed(keys, "called")?,
        })
    });
    let compares = |keys: &Keys<'_>| {
        let key = keys.require_text("key");
        let sides = keys.key_names().into_iter().filter(|name| *name != "key");
        let sides: Vec<_> =
            sides.filter_map(|side| Some((side, read(keys, side, keys.read_text(side)?)?))).collect();
        let sides = <[_; 2]>::try_from(sides).ok();
        if sides.is_none() {
            keys.report_problem("key", "exactly two sides are compared, each a code and an expression");
        }
        Some(Compares { key, sides: sides? })
    };
    let passes = |keys: &Keys<'_>| {
        let code = keys.require_text("lacks");
        let lacks = Reason::from_code(code);
        if lacks.is_none() {
            let known = Reason::ALL.iter().map(|reason| reason.code());
            keys.report_problem("lacks", riddlemill_text::hint::unknown("reason", code, known));
        }
        Some(Passes { when: needed(keys, "when")?, lacks: lacks? })
    };
    let finds = |source| {
        let place = keys.place_of_key("finds").unwrap_or_else(|| file.to_owned());
        Expression::parse(language, place, source).map_err(|what| keys.report_problem("finds", what)).ok()
    };
    let compares = keys.read_table("compares", compares).flatten();
    // Compared texts have keys of their own; here are only their labels.
    let compared = |key: &str| {
        compares.as_ref().is_some_and(|c| [1, 2].iter().any(|number| key == format!("{}_{number}", c.key)))
    };
    let shows = keys.read_tables("shows", shown).unwrap_or_default().into_iter().flatten();
    Box::leak(Box::new(BallotSource {
        shows: shows.filter(|(key, _)| !compared(key)).collect(),
        when: one(keys, "when"),
        over,
        compares,
        draft: keys.read_table("draft", drafted).unwrap_or_default(),
        ranked: keys.read_table("ranked", drafted).unwrap_or_default(),
        apart: one(keys, "apart"),
        passes: keys.read_table("passes", passes).flatten(),
        keeps: keys.read_table("keeps", drafted).unwrap_or_default(),
        standing: keys.read_text("standing").unwrap_or_else(|| crate::reader::leak_text(&group_name(name))),
        finds: keys.read_texts("finds").unwrap_or_default().into_iter().filter_map(finds).collect(),
        before: one(keys, "before"),
        after: one(keys, "after"),
        requires: requirement::parse_requirements(language, file, keys),
        group: crate::reader::leak_text(&group_name(name)),
    }))
}

/// Which answers drop a record. Leaked, because ballots live as long as the program.
fn parse_rejection(language: Language, keys: &Keys<'_>) -> Option<&'static Rejection> {
    let read = |key: &str| {
        let place = keys.place_of_key(key)?;
        Expression::parse(language, place, keys.require_text(key))
            .map_err(|what| keys.report_problem(key, what))
            .ok()
    };
    let (when, because) = (read("when"), read("because"));
    for key in ["when", "because"].into_iter().filter(|key| !keys.has_key(key)) {
        keys.require_text(key);
    }
    Some(Box::leak(Box::new(Rejection { when: when?, because: because? })))
}

/// A review: fields of the voters that are asked again, and further ones.
fn parse_second_pass(first: &[Field], lists: &Lists, keys: &Keys<'_>) -> SecondPass {
    let mut fields = Vec::new();
    for name in keys.read_texts("again").unwrap_or_default() {
        match first.iter().find(|field| field.name == name) {
            Some(field) => fields.push(field.clone()),
            None => {
                let known = first.iter().map(|field| field.name);
                keys.report_problem("again", riddlemill_text::hint::unknown("field", name, known));
            }
        }
    }
    fields.extend(keys.read_tables("fields", |keys| parse_field(lists, keys)).unwrap_or_default());
    SecondPass { by: keys.one_of("by", &ROLES).unwrap_or(Role::Senior), fields }
}

fn parse_field(lists: &Lists, keys: &Keys<'_>) -> Field {
    let when = |keys: &Keys<'_>| FillCondition {
        field: keys.require_text("field"),
        write: keys.read_texts("write").unwrap_or_default().leak(),
        draft: keys.read_texts("draft").unwrap_or_default().leak(),
    };
    let kind = parse_kind(lists, keys);
    let tolerance = keys.read_count("tolerance");
    if tolerance.is_some() && !matches!(kind, AnswerKind::Score { .. }) {
        keys.report_problem(
            "tolerance",
            "only a score has one: how far it may be from the known score in a trial",
        );
    }
    Field {
        name: keys.require_text("name"),
        label: keys.require_label("label"),
        kind,
        required: !keys.read_flag("optional").unwrap_or(false),
        when: keys.read_table("when", when),
        combine: parse_combination(keys),
        distinct: keys.read_flag("distinct").unwrap_or(false),
        edits: keys.read_text("edits"),
        tolerance,
    }
}

/// The form of a field, by its keyword.
#[derive(Clone, Copy)]
enum FieldKeyword {
    Choice,
    Choices,
    Text,
    Pick,
    Edited,
    Score,
    Preference,
    Keep,
}

fn parse_kind(lists: &Lists, keys: &Keys<'_>) -> AnswerKind {
    let forms = [
        ("choice", FieldKeyword::Choice),
        ("choices", FieldKeyword::Choices),
        ("text", FieldKeyword::Text),
        ("pick", FieldKeyword::Pick),
        ("edited", FieldKeyword::Edited),
        ("score", FieldKeyword::Score),
        ("preference", FieldKeyword::Preference),
        ("keep", FieldKeyword::Keep),
    ];
    if !keys.has_key("kind") {
        keys.require_text("kind");
        return AnswerKind::Text;
    }
    match keys.one_of("kind", &forms) {
        None | Some(FieldKeyword::Text) => AnswerKind::Text,
        Some(FieldKeyword::Choice) => AnswerKind::Choice(parse_options(lists, keys)),
        Some(FieldKeyword::Choices) => {
            let options = parse_options(lists, keys);
            let max = keys.read_count("max").unwrap_or(options.len());
            AnswerKind::Choices { min: keys.read_count("min").unwrap_or(0), max, options }
        }
        Some(FieldKeyword::Pick) => AnswerKind::Pick {
            k: keys.read_count("k").unwrap_or(1),
            any: keys.read_flag("any").unwrap_or(false),
            from: keys.require_text("from"),
            right_answer: keys.read_text("beside"),
        },
        Some(FieldKeyword::Edited) => AnswerKind::Edited { pick: keys.require_text("pick") },
        Some(FieldKeyword::Score) => AnswerKind::Score {
            min: keys.read_integer("min").unwrap_or(1),
            max: keys.read_integer("max").unwrap_or(5),
        },
        Some(FieldKeyword::Preference) => {
            let sides = keys.read_texts("sides").and_then(|sides| <[&str; 2]>::try_from(sides).ok());
            if sides.is_none() {
                keys.report_problem("sides", "`sides` must name two codes, which votes use");
            }
            let blank = || Choice {
                code: "",
                label: crate::ballot::make_label("", ""),
                definition: crate::ballot::make_label("", ""),
                example: None,
            };
            let tie = keys.read_table("tie", parse_choice);
            if tie.is_none() {
                keys.report_problem("tie", "`tie` is missing: the code for \"neither is better\"");
            }
            AnswerKind::Preference { sides: sides.unwrap_or_default(), tie: tie.unwrap_or_else(blank) }
        }
        Some(FieldKeyword::Keep) => AnswerKind::Keep { reasons: parse_options(lists, keys) },
    }
}

/// Options given directly, or those of a list.
fn parse_options(lists: &Lists, keys: &Keys<'_>) -> Vec<Choice> {
    if !keys.is_text("options") {
        let options = keys.read_tables("options", parse_choice).unwrap_or_default();
        if options.is_empty() {
            keys.report_problem("options", "`options` is missing, or empty");
        }
        return options;
    }
    let name = keys.require_text("options");
    lists.get(name).cloned().unwrap_or_else(|| {
        keys.report_problem("options", riddlemill_text::hint::unknown("list", name, lists.keys().copied()));
        Vec::new()
    })
}

fn parse_choice(keys: &Keys<'_>) -> Choice {
    Choice {
        code: keys.require_text("code"),
        label: keys.require_label("label"),
        definition: keys.require_label("means"),
        example: keys.has_key("example").then(|| keys.require_label("example")),
    }
}

/// How several answers are combined; `else` is for a choice without a majority.
fn parse_combination(keys: &Keys<'_>) -> Combine {
    let rules = [
        ("majority", Combine::Majority),
        ("unanimous", Combine::Unanimity),
        ("union", Combine::Union),
        ("mean", Combine::Mean),
        ("collect", Combine::Collect),
    ];
    let rule = keys.one_of("rule", &rules).unwrap_or(Combine::Majority);
    match (rule, keys.read_text("else")) {
        (Combine::Majority, Some(code)) => Combine::MajorityOr(code),
        (rule, Some(_)) => {
            keys.report_problem("else", "`else` can only be used with `rule = \"majority\"`");
            rule
        }
        (rule, None) => rule,
    }
}
