//! Turns a record at the end of a recipe into an item of its set, as declared in the benchmark's folder
//! (`[data]`). A record that lacks a required value is not an item yet.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value as TemplateValue;
use minijinja::value::Serde;
use riddlemill_benchmarks::data::{Column as Declared, Data, ItemNumber, PUBLISHED, Series};
use riddlemill_benchmarks::scope::{Scope, group_name};
use riddlemill_benchmarks::{Expression, ExpressionError};

use super::layout::{Layout, to_column_value};
use super::row::{Row, Value, nfc};
use crate::record::{Cell, Cells, Column, Record, Standing};
use crate::stages::subject::take_language;
use crate::store::Error;

/// The names of non-blocking reviews: an undecided one makes no row provisional.
pub(super) type Optional = BTreeSet<&'static str>;

/// The inputs of a row other than its record.
pub(super) struct RowContext<'a> {
    pub number: Option<u64>,
    /// The non-blocking reviews.
    pub optional: &'a Optional,
    /// The source's kind, if the benchmark's columns use it.
    pub source_kind: Option<String>,
    /// The original text of its row in a published file, if that differs.
    pub published: Option<String>,
}

/// Why a record at a recipe's end is no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoRow {
    /// `when` of `[data]` does not take it.
    Unwanted {
        /// The values that it saw.
        seen: String,
    },
    /// It lacks a value that every row has.
    Lacking {
        /// The name of the column that is empty.
        column: &'static str,
    },
    /// It does not meet a requirement.
    Unmet {
        /// The folder's sentence.
        says: String,
    },
}

/// A record as variables of expressions.
pub(super) struct Seen(BTreeMap<String, TemplateValue>);

impl Seen {
    pub fn new<R: Record>(record: &R, data: &Data) -> Result<Seen, ExpressionError> {
        let mut reader = Reader { columns: R::described(record.columns()), seen: BTreeMap::new() };
        record.append_to(&mut reader);
        let mut seen = reader.seen;
        if let Some(groups) = seen.remove("groups") {
            add_declared_groups(&mut seen, &groups);
        }
        for (name, field) in data.fields.iter() {
            let value = field.compute_value(&TemplateValue::from(seen.clone()))?;
            seen.insert((*name).to_owned(), value);
        }
        Ok(Seen(seen))
    }

    /// A text of the record.
    pub fn text_of_column(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    fn compute_text(&self, expression: &Expression) -> Result<String, ExpressionError> {
        let value = expression.compute_value(&TemplateValue::from(self.0.clone()))?;
        Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// The series of a record's number, and its key there.
    pub fn series_and_key(&self, series: &Series) -> Result<(String, String), ExpressionError> {
        Ok((self.compute_text(&series.series)?, self.compute_text(&series.key)?))
    }

    /// The text by which a number is found in a published file.
    pub fn key_text(&self, series: &Series) -> Result<String, ExpressionError> {
        self.compute_text(&series.text)
    }

    /// The row; `None` if the record is not an item yet.
    pub fn row_if_item(
        self,
        data: &Data,
        layout: &Layout,
        context: RowContext<'_>,
    ) -> Result<Option<Row>, ExpressionError> {
        Ok(self.make_row(data, layout, context)?.ok())
    }

    /// The row, or why the record is none.
    pub fn make_row(
        mut self,
        data: &Data,
        layout: &Layout,
        context: RowContext<'_>,
    ) -> Result<Result<Row, NoRow>, ExpressionError> {
        if let Some(standing) = self.compute_standing(data, context.optional)? {
            self.0.insert("standing".to_owned(), TemplateValue::from(standing.code()));
        }
        self.0.insert("number".to_owned(), TemplateValue::from(context.number));
        self.0.insert(PUBLISHED.to_owned(), TemplateValue::from(context.published));
        if let Some(kind) = context.source_kind {
            self.0.insert("source_kind".to_owned(), TemplateValue::from(kind));
        }
        let published =
            self.0.get("standing").is_some_and(|at| at.as_str() == Some(Standing::Published.code()));
        let over = TemplateValue::from(self.0);
        // A published row is an item whatever it lacks.
        if let Some(when) = &data.when
            && !published
            && !when.is_true(&over)?
        {
            return Ok(Err(NoRow::Unwanted { seen: Scope::new(over, &[]).describe_evidence(when) }));
        }
        let mut values = Vec::with_capacity(layout.columns.len());
        let is_in_layout = |column: &&Declared| layout.place_of_column(column.name).is_some();
        for (column, shown) in
            data.columns.iter().chain(&data.sometimes).filter(is_in_layout).zip(layout.columns)
        {
            let value = column.is.compute_value(&over)?;
            let Some(value) = to_column_value(column.kind, &value) else {
                let what = format!("{} is not {}, but {value}", column.name, column.kind.name());
                return Err(column.is.make_trouble(what));
            };
            if value == Value::Null && !shown.nullable {
                return Ok(Err(NoRow::Lacking { column: column.name }));
            }
            values.push(value);
        }
        let row = Row(values);
        Ok(match layout.unmet_requirement(&row).filter(|_| !published) {
            Some(says) => Err(NoRow::Unmet { says }),
            None => Ok(row),
        })
    }

    /// The row's standing, from the decisions on it; `None` if the record states it.
    fn compute_standing(
        &self,
        data: &Data,
        optional: &Optional,
    ) -> Result<Option<Standing>, ExpressionError> {
        if data.rests_on.is_empty() {
            return Ok(None);
        }
        let over = TemplateValue::from(self.0.clone());
        let mut statuses = Vec::new();
        for rests in &data.rests_on {
            if let Some(when) = &rests.when
                && !when.is_true(&over)?
            {
                continue;
            }
            let group = group_name(rests.ballot);
            let status = self.0.get(&format!("{group}_status")).cloned();
            let of_group = || self.0.get(&group)?.get_attr("standing").ok();
            let status = status.or_else(of_group).and_then(|status| status.as_str().map(str::to_owned));
            // An optional review without a decision does not affect the row.
            if status.is_none() && (rests.decided || optional.contains(rests.ballot)) {
                continue;
            }
            statuses.push(status);
        }
        Ok(Some(Standing::least_sure(statuses.iter().map(Option::as_deref))))
    }
}

/// The series of a benchmark's numbers: its own, or that of the benchmark whose numbers it uses.
pub(super) fn series_of_numbers(data: &'static Data) -> Option<&'static Series> {
    match data.number.as_ref()? {
        ItemNumber::Own(series) => Some(series),
        ItemNumber::Of(other) => {
            match riddlemill_benchmarks::find_benchmark(other)?.data.as_ref()?.number.as_ref()? {
                ItemNumber::Own(series) => Some(series),
                ItemNumber::Of(_) => None,
            }
        }
    }
}

/// An expression of a built-in folder that cannot be computed is reported as an unreadable file.
pub(crate) fn error_of_trouble(trouble: ExpressionError) -> Error {
    Error::Damaged {
        path: trouble.place.into(),
        what: trouble.what,
        hint: "the record it is about is not as the benchmark's folder expects it".into(),
    }
}

/// A record's variables as its benchmark declares them: its groups by name, the imported fields under `post`.
fn add_declared_groups(variables: &mut BTreeMap<String, TemplateValue>, groups: &TemplateValue) {
    let mut groups: serde_json::Map<String, serde_json::Value> =
        groups.as_str().and_then(|groups| serde_json::from_str(groups).ok()).unwrap_or_default();
    // Before the groups are added, which may have the names of imported fields.
    let mut post = variables.clone();
    let texts = ["text", "title", "content"].map(|name| variables.get(name).and_then(TemplateValue::as_str));
    let language = take_language(&mut groups, texts);
    post.insert("language".to_owned(), TemplateValue::from(language));
    variables.insert("post".to_owned(), TemplateValue::from(post));
    variables.extend(groups.into_iter().map(|(name, fields)| (name, TemplateValue::from(Serde(fields)))));
}

struct Reader {
    columns: &'static [Column],
    seen: BTreeMap<String, TemplateValue>,
}

impl Cells for Reader {
    fn append(&mut self, cell: Cell<'_>) {
        // Each cell adds one variable, so their number is the place of the next column.
        let Some(column) = self.columns.get(self.seen.len()) else { return };
        let value = match cell {
            Cell::Null => TemplateValue::from(()),
            Cell::Text(text) => TemplateValue::from(nfc(text.to_owned())),
            Cell::Count(n) => TemplateValue::from(n),
            Cell::Real(x) => TemplateValue::from(x),
            Cell::Flag(flag) => TemplateValue::from(flag),
            Cell::Texts(list) => list.iter().cloned().map(nfc).map(TemplateValue::from).collect(),
        };
        self.seen.insert(column.name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;
    use crate::record::{OwnedCell, Row as Record};

    fn standing(config: &str, record: &Record, optional: &[&'static str]) -> Option<String> {
        let layout = layout::find_layout(config).unwrap();
        let data = riddlemill_benchmarks::find_benchmark(config).unwrap().data.as_ref().unwrap();
        let optional = optional.iter().copied().collect();
        let context = RowContext {
            number: Some(7),
            optional: &optional,
            source_kind: Some("annual".to_owned()),
            published: None,
        };
        let row = Seen::new(record, data).unwrap().row_if_item(data, layout, context).unwrap()?;
        Some(row.text_of_column(layout.place_of_column("standing").unwrap()).to_owned())
    }

    /// A record of a benchmark's own kind with these texts.
    fn record(config: &str, texts: &[(&str, &str)]) -> Record {
        let kind = riddlemill_benchmarks::find_benchmark(config).unwrap().records.unwrap();
        let mut record = Record::new(kind.columns, "tieba:1");
        texts.iter().for_each(|(column, text)| record.set_text(column, *text));
        record
    }

    fn question() -> Record {
        let texts = [
            ("text", "雨伞怕晒太阳吗？"),
            ("question_en", "Is an umbrella afraid of the sun?"),
            ("irrationality", "It has no fears."),
            ("screen_status", "confirmed"),
            ("translation_status", "confirmed"),
            ("irrationality_status", "confirmed"),
            ("category_status", "confirmed"),
        ];
        let mut question = record("ruozhibench-gen", &texts);
        question.set_list("categories", vec!["5".into(), "3".into()]);
        question
    }

    /// The question with another value in a column.
    fn changed(column: &str, value: OwnedCell) -> Record {
        let mut question = question();
        question.set(column, value);
        question
    }

    #[test]
    fn a_row_is_as_sure_as_the_least_sure_decision_that_it_rests_on() {
        let of =
            |question: &Record, optional: &[&'static str]| standing("ruozhibench-gen", question, optional);
        let text = |text: &str| OwnedCell::Text(text.to_owned());
        assert_eq!(of(&question(), &[]).as_deref(), Some("confirmed"));
        // Pairs need no decision, but one that was made counts.
        let paired = changed("pair_status", text("provisional"));
        assert_eq!(of(&paired, &[]).as_deref(), Some("provisional"));
        let sampled = changed("screen_status", text("synthetic"));
        assert_eq!(of(&sampled, &[]).as_deref(), Some("synthetic"));
        let undecided = changed("category_status", OwnedCell::Null);
        assert_eq!(of(&undecided, &[]).as_deref(), Some("provisional"));
        assert_eq!(of(&undecided, &["category"]).as_deref(), Some("confirmed"));
        // Without a required value there is no row.
        assert_eq!(of(&changed("question_en", OwnedCell::Null), &[]), None);
        assert_eq!(of(&changed("categories", OwnedCell::Texts(Vec::new())), &[]), None);
    }

    #[test]
    fn where_no_model_explains_a_joke_nobody_has_to_prefer_one() {
        let decided = [("screen_status", "confirmed"), ("explanation_status", "confirmed")];
        let mut joke = record("chumor", &decided);
        assert_eq!(standing("chumor", &joke, &[]).as_deref(), Some("confirmed"));
        joke.set_list("opponents", vec!["m-large".into()]);
        assert_eq!(standing("chumor", &joke, &[]).as_deref(), Some("provisional"));
        assert_eq!(standing("chumor", &joke, &["preference"]).as_deref(), Some("confirmed"));
    }
}
