//! The Croissant description of a release, with its responsible-AI part.

use riddlemill_benchmarks::splits::WHOLE;
use serde_json::{Value as Json, json};

use super::data::WrittenSplit;
use super::facts::Facts;
use super::layout::{ColumnKind, Layout};
use crate::text::{count_with_noun, format_decimals};

/// The Croissant description (1.0, with its RAI fields). `files` are path and SHA-256 of data files.
pub fn croissant_json(facts: &Facts, layouts: &[Layout], files: &[(String, String)]) -> Json {
    let distribution: Vec<Json> = files
        .iter()
        .map(|(path, sha256)| {
            json!({
                "@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path,
                "encodingFormat": encoding_format(path), "sha256": sha256,
            })
        })
        .collect();
    let described = |subject: &str| facts.curator.get(subject).cloned().flatten();
    let mut json = json!({
        "@context": croissant_context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.recipe,
        "description": format!("{}: {}. {}", facts.title, facts.about, layouts.first().map_or("", |l| l.about)),
        "url": facts.url,
        "version": facts.version,
        "isLiveDataset": false,
        "distribution": distribution,
        "recordSet": record_sets(facts, layouts),
        "rai:dataAnnotationProtocol": annotation_protocol(facts),
        "rai:machineAnnotationTools": annotating_models(facts),
        "rai:dataCollection": format!("Read from {}; every stage keeps a ledger of what it let through and why.", files_of(facts)),
        "rai:dataPreprocessingProtocol": facts.funnel.iter().map(|s| format!("{}: {} in, {} out", s.stage, s.records_in, s.records_out)).collect::<Vec<_>>(),
        "rai:personalSensitiveInformation": [format!("Names and ids of users are hashed at import. {}", facts.personal)],
        "rai:dataReleaseMaintenancePlan": "Version numbers depend on the rows: MAJOR if a row was changed, removed or moved, MINOR if rows were only added, PATCH if the same rows were packaged again. A version is never overwritten.",
    });
    // Nobody is named as an author whom the curator did not name.
    if !facts.authors.is_empty() {
        let person = |name: &String| json!({ "@type": "Person", "name": name });
        json["creator"] = facts.authors.iter().map(person).collect();
    }
    if let Some(cited) = cite_as(facts) {
        json["citeAs"] = json!(cited);
    }
    if !facts.paper.languages.is_empty() {
        json["inLanguage"] = json!(facts.paper.languages);
    }
    if let Some(date) = &facts.date {
        json["datePublished"] = json!(date);
    }
    if let Some(spdx) = &facts.licence.spdx {
        let texts: Vec<&str> = facts.licence.texts.iter().map(|(_, url)| url.as_str()).collect();
        json["license"] = match texts[..] {
            [] => json!(spdx),
            [one] => json!(one),
            _ => json!(texts),
        };
    }
    let biases = list_biases(facts);
    if !biases.is_empty() {
        json["rai:dataBiases"] = json!(biases);
    }
    let analysis = describe_agreement(facts);
    if !analysis.is_empty() {
        json["rai:dataAnnotationAnalysis"] = json!(analysis);
    }
    for (key, subject) in [("rai:dataUseCases", "uses"), ("rai:dataLimitations", "limits")] {
        if let Some(text) = described(subject) {
            json[key] = json!([text]);
        }
    }
    json
}

/// The paper, if there is one, else the set with its authors.
fn cite_as(facts: &Facts) -> Option<String> {
    let paper = facts.paper;
    if !paper.title.is_empty() {
        let cited = format!("{} ({}). {}. {}", paper.authors, paper.year, paper.title, paper.url);
        return Some(cited.trim_end().to_owned());
    }
    let year = facts.date.as_deref().and_then(|date| date.get(..4));
    let authors = (!facts.authors.is_empty()).then(|| facts.authors.join(", "))?;
    Some(format!(
        "{authors}{}. {}, {}",
        year.map(|y| format!(" ({y})")).unwrap_or_default(),
        facts.title,
        facts.version
    ))
}

/// Who annotated what: every stage with people's decisions.
fn annotation_protocol(facts: &Facts) -> Vec<String> {
    let decided = facts.work.decided.iter().map(|step| {
        format!(
            "{}: annotators vote without seeing one another's votes, and disputes are settled by another person; {} confirmed, {} rewritten, {} decided by synthetic votes, {} provisional, {} rejected, {} waiting.",
            step.stage, step.confirmed, step.rewritten, step.synthetic, step.provisional, step.rejected, step.held
        )
    });
    let decided: Vec<String> = decided.collect();
    match decided.is_empty() {
        true => vec!["No person has annotated these rows.".into()],
        false => decided,
    }
}

/// Which models drafted what, with the prompts.
fn annotating_models(facts: &Facts) -> Vec<String> {
    let asked = facts.work.asked.iter().map(|step| {
        let models: Vec<String> = step
            .models
            .iter()
            .map(|(model, n)| format!("{model} ({})", count_with_noun(*n, "reply")))
            .collect();
        let prompts: Vec<String> = step
            .prompts
            .iter()
            .map(|(name, hash)| format!("{name} {}", hash.get(..8).unwrap_or(hash)))
            .collect();
        let models = if models.is_empty() { "no model".into() } else { models.join(", ") };
        format!("{}: {models}; prompts {}", step.stage, prompts.join(", "))
    });
    let asked: Vec<String> = asked.collect();
    match asked.is_empty() {
        true => vec!["No model has annotated these rows.".into()],
        false => asked,
    }
}

/// Agreement of the first-round voters.
fn describe_agreement(facts: &Facts) -> Vec<String> {
    let figure =
        |figure: Option<[f64; 3]>| figure.map_or("not defined".into(), |[x, ..]| format_decimals(x, 3));
    let fields =
        facts.work.decided.iter().flat_map(|step| step.voted.fields.iter().map(move |field| (step, field)));
    fields
        .map(|(step, field)| {
            format!(
                "{}, {}: {} items, agreeing pairs {}, Krippendorff's alpha {}, Fleiss' kappa {}, Cohen's kappa by pair {}{}{}",
                step.stage,
                field.field,
                field.items,
                figure(field.percent),
                figure(field.alpha),
                figure(field.fleiss),
                figure(field.cohen),
                field.undefined.as_ref().map_or_else(String::new, |why| format!(" (not defined: {why})")),
                if step.voted.sample { " (synthetic votes: these figures do not measure people)" } else { "" },
            )
        })
        .collect()
}

/// Known biases of figures on the set.
fn list_biases(facts: &Facts) -> Vec<String> {
    let of_paper = Some(facts.paper.biases).filter(|biases| !biases.is_empty());
    let mut biases: Vec<String> = of_paper.into_iter().map(str::to_owned).collect();
    for one in &facts.guessed {
        let found = one.findings.iter().map(|finding| format!("{}: {}", one.config, finding.what));
        biases.extend(found);
    }
    biases.extend(facts.curator.get("limits").cloned().flatten());
    biases
}

fn files_of(facts: &Facts) -> String {
    facts.raw.iter().map(|r| r.file.as_str()).collect::<Vec<_>>().join(", ")
}

fn encoding_format(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("parquet") => "application/x-parquet",
        Some("json") => "application/json",
        Some("csv") => "text/csv",
        Some("tsv") => "text/tab-separated-values",
        _ => "application/jsonlines",
    }
}

/// A record set for each file of rows; where a config is divided, also one of its splits.
fn record_sets(facts: &Facts, layouts: &[Layout]) -> Vec<Json> {
    let mut sets = Vec::new();
    for (layout, shape) in layouts.iter().zip(&facts.configs) {
        let splits = &shape.written.splits;
        if !shape.written.divided {
            sets.push(record_set(layout, WHOLE, layout.config));
            continue;
        }
        let name = |split: &str| format!("{}-{split}", layout.config);
        sets.extend(splits.iter().map(|split| record_set(layout, &split.name, &name(&split.name))));
        let (id, field) = (name("splits"), name("splits/name"));
        let named = |split: &WrittenSplit| {
            let mut row = serde_json::Map::new();
            row.insert(field.clone(), json!(split.name));
            row
        };
        sets.push(json!({
            "@type": "cr:RecordSet", "@id": id, "name": id, "dataType": "cr:Split",
            "description": format!("The splits of {}, each a record set of its own.", layout.config),
            "key": { "@id": field },
            "field": [{
                "@type": "cr:Field", "@id": field, "name": "name", "description": "The name of the split.",
                "dataType": "sc:Text",
            }],
            "data": splits.iter().map(named).collect::<Vec<_>>(),
        }));
    }
    sets
}

fn record_set(layout: &Layout, split: &str, name: &str) -> Json {
    let file = format!("data/{}/{split}.jsonl", layout.config);
    let fields: Vec<Json> = layout
        .columns
        .iter()
        .map(|column| {
            let (list, item) = column.kind.split_list_kind();
            let kind = match item {
                ColumnKind::Count => "sc:Integer",
                ColumnKind::Real => "sc:Float",
                ColumnKind::Flag => "sc:Boolean",
                _ => "sc:Text",
            };
            let mut field = json!({
                "@type": "cr:Field", "@id": format!("{name}/{}", column.name), "name": column.name,
                "description": column.about, "dataType": kind,
                "source": { "fileObject": { "@id": file }, "extract": { "column": column.name } },
            });
            if list {
                field["repeated"] = json!(true);
            }
            field
        })
        .collect();
    json!({
        "@type": "cr:RecordSet", "@id": name, "name": name, "description": layout.about,
        "key": { "@id": format!("{name}/{}", layout.columns[0].name) },
        "field": fields,
    })
}

/// The complete context prescribed by the format.
fn croissant_context() -> Json {
    json!({
        "@language": "en",
        "@vocab": "https://schema.org/",
        "citeAs": "cr:citeAs",
        "column": "cr:column",
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "data": { "@id": "cr:data", "@type": "@json" },
        "dataType": { "@id": "cr:dataType", "@type": "@vocab" },
        "dct": "http://purl.org/dc/terms/",
        "equivalentProperty": "cr:equivalentProperty",
        "examples": { "@id": "cr:examples", "@type": "@json" },
        "extract": "cr:extract",
        "field": "cr:field",
        "fileProperty": "cr:fileProperty",
        "fileObject": "cr:fileObject",
        "fileSet": "cr:fileSet",
        "format": "cr:format",
        "includes": "cr:includes",
        "isLiveDataset": "cr:isLiveDataset",
        "jsonPath": "cr:jsonPath",
        "key": "cr:key",
        "md5": "cr:md5",
        "parentField": "cr:parentField",
        "path": "cr:path",
        "recordSet": "cr:recordSet",
        "references": "cr:references",
        "regex": "cr:regex",
        "repeated": "cr:repeated",
        "replace": "cr:replace",
        "samplingRate": "cr:samplingRate",
        "sc": "https://schema.org/",
        "separator": "cr:separator",
        "source": "cr:source",
        "subField": "cr:subField",
        "transform": "cr:transform",
    })
}
