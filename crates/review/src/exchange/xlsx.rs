//! Ballots as workbooks.

use calamine::Data;
use riddlemill_files::reading::workbook::{self, Book, BookError};
use rust_xlsxwriter::{
    Color, DataValidation, DataValidationErrorStyle, DocProperties, ExcelDateTime, Format, FormatAlign,
    Formula, Workbook, Worksheet, XlsxError,
};

use crate::answers::SEPARATOR;
use crate::ballot::{AnswerKind, Choice, Field, KEEP};
use crate::item::Item;
use crate::value::Value;

use super::cells::{in_workbook, restore_formula};
use super::entries::{Entries, Entry, Places, RowCells, column_letters, filled_columns};
use super::problem::VoteProblem;
use super::sheet::Sheet;
use super::unread::Unread;

const GUIDELINE: &str = "guideline";
const OPTIONS: &str = "options";

/// The sheet with the step's name contains the ballot, `guideline` the instructions, `options` the dropdowns'
/// entries.
pub(super) fn write_xlsx(sheet: &Sheet<'_>) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    // The same ballot gives the same bytes, whenever it is written.
    let date = ExcelDateTime::from_ymd(2000, 1, 1)?;
    workbook.set_properties(&DocProperties::new().set_creation_datetime(&date));
    let dropdowns: Vec<Vec<String>> = sheet
        .form
        .iter()
        .map(|field| {
            dropdown_entries(
                field,
                sheet.rows.iter().map(|(item, _)| *item).max_by_key(|item| most_characters(field, item)),
            )
        })
        .collect();
    write_ballot(workbook.add_worksheet().set_name(sheet.ballot.step.name)?, sheet, &dropdowns)?;
    write_guideline(workbook.add_worksheet().set_name(GUIDELINE)?, sheet)?;
    let options = workbook.add_worksheet().set_name(OPTIONS)?;
    for (column, (field, entries)) in sheet.form.iter().zip(&dropdowns).enumerate() {
        options.write_string(0, column as u16, field.name)?;
        for (row, entry) in entries.iter().enumerate() {
            options.write_string(row as u32 + 1, column as u16, entry)?;
        }
    }
    workbook.save_to_buffer()
}

fn most_characters(field: &Field, item: &crate::item::Item) -> usize {
    match field.kind {
        AnswerKind::Pick { from, .. } => item.candidates_in(from).len(),
        _ => 0,
    }
}

fn write_ballot(
    worksheet: &mut Worksheet,
    sheet: &Sheet<'_>,
    dropdowns: &[Vec<String>],
) -> Result<(), XlsxError> {
    let headers = sheet.headers();
    let top = || Format::new().set_align(FormatAlign::Top).set_text_wrap();
    let bold = Format::new().set_bold().set_background_color(Color::RGB(0x00DD_EBF7));
    let asked = Format::new().set_bold().set_background_color(Color::RGB(0x00FF_E699));
    let answer = top().set_background_color(Color::RGB(0x00FF_FBEA));
    let plain = top();
    let first = 1 + sheet.sees.len() + sheet.drafts.len();
    let is_answer = |column: usize| (first..first + sheet.form.len()).contains(&column);
    for (column, header) in headers.iter().enumerate() {
        let at = column as u16;
        worksheet.write_string_with_format(0, at, header, if is_answer(column) { &asked } else { &bold })?;
        let width = match column {
            0 => 18.0,
            _ if header.starts_with("see.") || header.starts_with("draft.") => 48.0,
            _ if is_answer(column) => 28.0,
            _ => 12.0,
        };
        worksheet.set_column_width(at, width)?;
    }
    for (row, (item, own)) in sheet.rows.iter().enumerate() {
        for (column, cell) in sheet.row_cells(item, *own).iter().enumerate() {
            let format = if is_answer(column) { &answer } else { &plain };
            worksheet.write_string_with_format(row as u32 + 1, column as u16, in_workbook(cell), format)?;
        }
    }
    worksheet.set_freeze_panes(1, 1)?;
    let last = sheet.rows.len().max(1) as u32;
    worksheet.autofilter(0, 0, last, headers.len() as u16 - 1)?;
    for (at, (field, entries)) in sheet.form.iter().zip(dropdowns).enumerate() {
        if entries.is_empty() {
            continue;
        }
        let column = column_letters(at);
        let range = format!("={OPTIONS}!${column}$2:${column}${}", entries.len() + 1);
        // If several options may be marked, the list offers one, and more are typed after `;`.
        let several = matches!(field.kind, AnswerKind::Choices { .. } | AnswerKind::Keep { .. });
        let style =
            if several { DataValidationErrorStyle::Information } else { DataValidationErrorStyle::Stop };
        let validation = DataValidation::new()
            .allow_list_formula(Formula::new(range))
            .set_error_style(style)
            .set_input_title(field.name)?
            // Excel allows 255 characters.
            .set_input_message(clip_text(&format!("{}\n{}", field.label.zh, field.label.en), 250))?;
        let at = (first + at) as u16;
        worksheet.add_data_validation(1, at, last, at, &validation)?;
    }
    Ok(())
}

fn clip_text(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

fn write_guideline(worksheet: &mut Worksheet, sheet: &Sheet<'_>) -> Result<(), XlsxError> {
    let wrap = Format::new().set_text_wrap().set_align(FormatAlign::Top);
    let bold = Format::new().set_bold();
    let step = sheet.ballot.step;
    let mut lines: Vec<[String; 3]> = vec![
        [step.name.to_owned(), step.title.zh.to_owned(), step.title.en.to_owned()],
        [String::new(), step.guideline.zh.to_owned(), step.guideline.en.to_owned()],
        ["paper".to_owned(), String::new(), step.paper.to_owned()],
    ];
    for key in &sheet.sees {
        lines.push([format!("see.{key}"), sheet.see_label(key), String::new()]);
    }
    for field in &sheet.form {
        lines.push([field.name.to_owned(), field.label.zh.to_owned(), field.label.en.to_owned()]);
        for option in field.options() {
            let line = |label: &str, definition: &str, example: Option<&str>| match example {
                Some(example) => format!("{label}: {definition}\n{example}"),
                None => format!("{label}: {definition}"),
            };
            let example = option.example;
            let zh = line(option.label.zh, option.definition.zh, example.map(|example| example.zh));
            let en = line(option.label.en, option.definition.en, example.map(|example| example.en));
            lines.push([format!("    {}", option.code), zh, en]);
        }
    }
    worksheet.set_column_width(0, 24)?.set_column_width(1, 70)?.set_column_width(2, 70)?;
    for (row, cells) in lines.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let format = if column == 0 { &bold } else { &wrap };
            worksheet.write_string_with_format(row as u32, column as u16, cell, format)?;
        }
    }
    Ok(())
}

/// Reads the sheet `name`, or the only one that is neither guideline nor options.
pub(super) fn read_xlsx(bytes: &[u8], name: &str) -> Result<(Entries, Vec<VoteProblem>), VoteProblem> {
    let mut workbook = workbook::open_workbook(bytes)?;
    let sheets = workbook.sheet_names();
    let mut others = sheets.iter().filter(|sheet| ![GUIDELINE, OPTIONS].contains(&sheet.as_str()));
    let sheet = match (sheets.iter().find(|sheet| *sheet == name), others.next(), others.next()) {
        (Some(sheet), _, _) | (None, Some(sheet), None) => sheet.clone(),
        _ => {
            let what = format!("no sheet `{name}` among {}", sheets.join(", "));
            return Err(VoteProblem::Unreadable { what, hint: None });
        }
    };
    Ok((read_entries(&mut workbook, sheet)?, Vec::new()))
}

/// Reads every sheet that has cells, except guideline and options.
pub(super) fn read_all(bytes: &[u8]) -> Result<Vec<Entries>, VoteProblem> {
    let mut workbook = workbook::open_workbook(bytes)?;
    let mut tables = Vec::new();
    for name in workbook.sheet_names() {
        if [GUIDELINE, OPTIONS].contains(&name.as_str()) {
            continue;
        }
        match workbook.read_cells(&name) {
            Ok(_) => tables.push(read_entries(&mut workbook, name)?),
            Err(BookError::Empty(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(tables)
}

/// Reads the first sheet.
pub(super) fn read_first(bytes: &[u8]) -> Result<Entries, VoteProblem> {
    let mut workbook = workbook::open_workbook(bytes)?;
    let first = workbook.sheet_names().first().cloned();
    let none = || VoteProblem::Unreadable { what: "it has no sheet".to_owned(), hint: None };
    read_entries(&mut workbook, first.ok_or_else(none)?)
}

/// Whether bytes begin like a workbook.
pub(super) fn is_workbook(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\xd0\xcf\x11\xe0")
}

impl From<BookError> for VoteProblem {
    fn from(error: BookError) -> VoteProblem {
        let hint = match error {
            BookError::Damaged(_) => Some("was the file saved to its end, as xlsx?"),
            BookError::TooLarge(_) => Some(
                "is it the workbook that was exported? cells far below or to the right of the ballot count too",
            ),
            BookError::Empty(_) => None,
        };
        VoteProblem::Unreadable { what: error.to_string(), hint }
    }
}

fn read_entries(workbook: &mut Book<'_>, sheet: String) -> Result<Entries, VoteProblem> {
    let range = workbook.read_cells(&sheet)?;
    let merged = workbook.merged_areas(&sheet)?;
    let last = range.end().map_or(0, |(_, column)| column);
    let (top, left) = range.start().unwrap_or((0, 0));
    let mut rows = range.rows();
    let header = rows.next().ok_or_else(|| BookError::Empty(sheet.clone()))?;
    // Cells are addressed as on the sheet, so columns before the first used one count.
    let blank = (0..left).map(|_| String::new());
    let columns: Vec<String> =
        blank.chain(header.iter().map(|cell| cell.to_string().trim().to_owned())).collect();
    let rows = rows.enumerate().map(|(at, cells)| {
        let row = top + 1 + at as u32;
        let blank = (0..left).map(|_| None);
        let cells = blank.chain(cells.iter().map(cell_value)).collect();
        let covering = merged.iter().filter(|area| area.start.0 < row && row <= area.end.0);
        let merged = covering.flat_map(|area| {
            let origin = format!("{}{}", column_letters(area.start.1 as usize), area.start.0 + 1);
            (area.start.1..=area.end.1.min(last)).map(move |column| (column as usize, origin.clone()))
        });
        Entry { number: row as usize + 1, cells: RowCells::Values(cells), merged: merged.collect() }
    });
    let rows: Vec<Entry> = rows.collect();
    let unread = Unread::of_table(&columns, filled_columns(&rows));
    Ok(Entries { sheet: Some(sheet), columns, rows, places: Places::Cells, unread })
}

fn cell_value(cell: &Data) -> Option<Value> {
    match cell {
        Data::Empty => None,
        Data::Float(number) => Some(Value::Number(*number)),
        Data::Int(number) => Some(Value::Number(*number as f64)),
        Data::Bool(bool) => Some(Value::Text(if *bool { "yes" } else { "no" }.to_owned())),
        other => {
            let text = other.to_string();
            // A CSV that was opened and saved as a workbook has the apostrophes of the CSV.
            (!text.is_empty()).then(|| Value::Text(restore_formula(&text).to_owned()))
        }
    }
}

/// The entries of a field's dropdown: one per option, code first; empty if any text is allowed.
fn dropdown_entries(field: &Field, item: Option<&Item>) -> Vec<String> {
    let entry = |option: &Choice| {
        format!("{}{SEPARATOR}{}{SEPARATOR}{}", option.code, option.label.zh, option.label.en)
    };
    match &field.kind {
        AnswerKind::Choice(options) => options.iter().map(entry).collect(),
        AnswerKind::Choices { options, .. } => options.iter().map(entry).collect(),
        AnswerKind::Keep { reasons } => {
            let keep = format!("{KEEP}{SEPARATOR}保留{SEPARATOR}keep");
            std::iter::once(keep).chain(reasons.iter().map(entry)).collect()
        }
        AnswerKind::Preference { tie, .. } => {
            vec!["1".to_owned(), "2".to_owned(), entry(tie)]
        }
        AnswerKind::Score { min, max } => (*min..=*max).map(|score| score.to_string()).collect(),
        AnswerKind::Pick { k: 1, any: false, from, .. } => {
            let count = item.map_or(0, |item| item.candidates_in(from).len());
            (1..=count).map(|number| number.to_string()).collect()
        }
        AnswerKind::Pick { .. } | AnswerKind::Text | AnswerKind::Edited { .. } => Vec::new(),
    }
}
