//! The data files of a release: JSON Lines and Parquet in the columns of the layout, and the published forms.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::item::error_of_trouble;
use super::layout::{Compat, Layout};
use super::parquet::{self, Types};
use super::row::{Row, Value};
use super::tabled;
use crate::store::{Error, durable};
use riddlemill_benchmarks::compat::CompatFormat;

/// Number of rows that one thread serialises at a time.
const CHUNK: usize = 1 << 12;

/// What was written for one layout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Written {
    pub config: String,
    /// How many rows.
    pub rows: u64,
    /// How many of them lack each nullable column.
    pub nulls: BTreeMap<String, u64>,
    /// How often each value of a label column occurs; for lists each item counts.
    pub labels: BTreeMap<String, BTreeMap<String, u64>>,
    /// Rows in each file of a published form.
    pub compat: BTreeMap<String, u64>,
    /// Whether its rows are in splits, and not in one file for all.
    pub divided: bool,
    /// The files of its rows: of each split, or one.
    pub splits: Vec<WrittenSplit>,
    /// Bytes of the JSON Lines.
    pub file_bytes: u64,
    /// Approximate size of the rows in Arrow, within some percent, because the reader chooses the chunks.
    pub arrow_bytes: u64,
    /// The first row, as indented JSON.
    pub example: Option<String>,
}

/// The figures of one file of rows, and of the same rows in Parquet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenSplit {
    /// The split's name; `test` of a set that is not divided.
    pub name: String,
    pub rows: u64,
    /// Bytes of the JSON Lines.
    pub file_bytes: u64,
    /// Approximate size of the rows in Arrow.
    pub arrow_bytes: u64,
}

/// Writes `data/<config>/<split>.jsonl` and `.parquet` of each part, and `compat/`, in one pass over the rows. `seen` is called
/// with each batch.
///
/// # Errors
/// [`Error`] if a row cannot be read or a file not written completely.
pub fn write_data<B: Iterator<Item = Result<Vec<Row>, Error>>>(
    folder: &Path,
    layout: &Layout,
    parts: Vec<(&str, B)>,
    mut seen: impl FnMut(&[Row]),
) -> Result<Written, Error> {
    let data = folder.join("data").join(layout.config);
    durable::create_folder(&data)?;
    let mut forms: Vec<PublishedFile> =
        layout.compat.iter().map(|c| PublishedFile::create(folder, *layout, c)).collect::<Result<_, _>>()?;
    let mut written = Written {
        config: layout.config.into(),
        divided: layout.declared_splits().is_some(),
        ..Written::default()
    };
    for (name, batches) in parts {
        let before = (written.rows, written.arrow_bytes);
        let mut jsonl = TextFile::create(data.join(format!("{name}.jsonl")))?;
        parquet::write_parquet(&data.join(format!("{name}.parquet")), layout.columns, Types::Plain, |put| {
            for rows in batches {
                let rows = rows?;
                let (text, columns) = rayon::join(
                    || {
                        jsonl.write_lines(&rows, |row, out| row.write_json(layout, out))?;
                        forms.iter_mut().try_for_each(|form| form.write_rows(&rows))
                    },
                    || put(&rows),
                );
                text?;
                columns?;
                written.count_rows(layout, &rows);
                seen(&rows);
            }
            Ok(())
        })?;
        let file_bytes = jsonl.finish()?;
        written.file_bytes += file_bytes;
        written.splits.push(WrittenSplit {
            name: name.to_owned(),
            rows: written.rows - before.0,
            file_bytes,
            arrow_bytes: written.arrow_bytes - before.1,
        });
    }
    for form in forms {
        written.compat.insert(form.compat.file.into(), form.count);
        form.finish()?;
    }
    Ok(written)
}

/// The path of a layout's Parquet file in its folder.
pub(super) fn parquet_of(layout: &Layout) -> String {
    format!("data/{}/test.parquet", layout.config)
}

/// Writes the Parquet file of a layout like earlier versions of the program.
///
/// # Errors
/// [`Error`] if a row cannot be read or the file not written completely.
pub(super) fn write_views(
    folder: &Path,
    layout: &Layout,
    mut batches: impl Iterator<Item = Result<Vec<Row>, Error>>,
) -> Result<(), Error> {
    parquet::write_parquet(&folder.join(parquet_of(layout)), layout.columns, Types::Views, |put| {
        batches.try_for_each(|rows| put(&rows?))
    })
}

impl Written {
    fn count_rows(&mut self, layout: &Layout, rows: &[Row]) {
        self.rows += rows.len() as u64;
        if let Some(first) = rows.first().filter(|_| self.example.is_none()) {
            let cells =
                layout.columns.iter().zip(&first.0).map(|(c, value)| (c.name.into(), value.to_json()));
            self.example = Some(format!("{:#}", serde_json::Value::Object(cells.collect())));
        }
        self.arrow_bytes += rows.iter().flat_map(|row| &row.0).map(Value::arrow_bytes).sum::<u64>();
        for (i, column) in layout.columns.iter().enumerate() {
            if column.nullable {
                let nulls = rows.iter().filter(|row| row.0[i] == Value::Null).count() as u64;
                *self.nulls.entry(column.name.into()).or_default() += nulls;
            }
            if layout.labels.contains(&column.name) {
                let counts = self.labels.entry(column.name.into()).or_default();
                rows.iter()
                    .flat_map(|row| labels_of_value(&row.0[i]))
                    .for_each(|label| *counts.entry(label).or_default() += 1);
            }
        }
    }
}

/// What a label column counts: the value, or each item of a list; `null` if there is none.
pub(super) fn labels_of_value(value: &Value) -> Vec<String> {
    match value {
        Value::Null => vec!["null".into()],
        Value::Texts(list) => list.clone(),
        other => vec![other.as_text()],
    }
}

/// The day at the start of a time, if it is written `YYYY-MM-DD`.
pub(super) fn parse_day(time: &str) -> Option<String> {
    let day = time.get(..10)?;
    let fits =
        day.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() });
    fits.then(|| day.to_string())
}

/// A text file being written.
struct TextFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl TextFile {
    fn create(path: PathBuf) -> Result<TextFile, Error> {
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        Ok(TextFile { path, out: BufWriter::with_capacity(1 << 20, file) })
    }

    /// Writes rows in order, serialised on all cores.
    fn write_lines(
        &mut self,
        rows: &[Row],
        line: impl Fn(&Row, &mut Vec<u8>) -> std::io::Result<()> + Sync,
    ) -> Result<(), Error> {
        let chunks: Vec<std::io::Result<Vec<u8>>> = rows
            .par_chunks(CHUNK)
            .map(|rows| {
                let mut text = Vec::with_capacity(rows.len() * 256);
                rows.iter().try_for_each(|row| line(row, &mut text)).map(|()| text)
            })
            .collect();
        for text in chunks {
            let written = text.and_then(|text| self.out.write_all(&text));
            written.map_err(Error::io("write", &self.path))?;
        }
        Ok(())
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        self.out.write_all(text).map_err(Error::io("write", &self.path))
    }

    /// Returns its size in bytes.
    fn finish(mut self) -> Result<u64, Error> {
        // First the buffer: a sync does not reach bytes that were not handed to the system.
        let flushed = self.out.flush().and_then(|()| self.out.get_ref().sync_data());
        let length = flushed.and_then(|()| Ok(self.out.get_ref().metadata()?.len()));
        length.map_err(Error::io("write", &self.path))
    }
}

/// A file of a published form being written.
struct PublishedFile {
    layout: Layout,
    compat: &'static Compat,
    path: PathBuf,
    /// The text being written; `None` of a Parquet file.
    text: Option<TextFile>,
    /// The rows of a Parquet file, whose types follow from all of them.
    rows: Vec<Vec<serde_json::Value>>,
    count: u64,
}

impl PublishedFile {
    fn create(folder: &Path, layout: Layout, compat: &'static Compat) -> Result<PublishedFile, Error> {
        let place = folder.join("compat");
        durable::create_folder(&place)?;
        let path = place.join(compat.file);
        let text = match compat.form {
            CompatFormat::Parquet => None,
            _ => Some(TextFile::create(path.clone())?),
        };
        let mut file = PublishedFile { layout, compat, path, text, rows: Vec::new(), count: 0 };
        if compat.form == CompatFormat::Json {
            file.write_text(b"[")?;
        }
        if let Some(header) = tabled::header_line(compat) {
            file.write_text(header.as_bytes())?;
        }
        Ok(file)
    }

    fn write_text(&mut self, text: &[u8]) -> Result<(), Error> {
        self.text.as_mut().map_or(Ok(()), |file| file.write(text))
    }

    fn write_rows(&mut self, rows: &[Row]) -> Result<(), Error> {
        let (layout, compat) = (self.layout, self.compat);
        if compat.form == CompatFormat::Parquet {
            let cells = |row: &Row| tabled::table_cells(&layout, compat, row).map_err(error_of_trouble);
            let published: Vec<_> = rows.par_iter().map(cells).collect::<Result<_, Error>>()?;
            self.rows.extend(published.into_iter().flatten());
            self.count = self.rows.len() as u64;
            return Ok(());
        }
        let text = |row: &Row| match tabled::cell_separator(compat.form) {
            Some(_) => tabled::table_line(&layout, compat, row).map_err(error_of_trouble),
            None => layout.published_line(compat, row).map_err(error_of_trouble),
        };
        let published: Vec<Option<String>> = rows.par_iter().map(text).collect::<Result<_, Error>>()?;
        for line in published.into_iter().flatten() {
            let before: &[u8] = match (compat.form, self.count) {
                (CompatFormat::Json, 0) => b"\n",
                (CompatFormat::Json, _) => b",\n",
                _ => b"",
            };
            self.write_text(before)?;
            self.write_text(line.as_bytes())?;
            if compat.form == CompatFormat::JsonLines {
                self.write_text(b"\n")?;
            }
            self.count += 1;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Error> {
        if self.compat.form == CompatFormat::Json {
            self.write_text(b"\n]\n")?;
        }
        match self.text {
            Some(text) => text.finish().map(drop),
            None => {
                let (columns, rows) = tabled::parquet_columns(&self.layout, self.compat, &self.rows);
                parquet::write_parquet(&self.path, &columns, Types::Plain, |put| match rows.is_empty() {
                    true => Ok(()),
                    false => put(&rows),
                })
            }
        }
    }
}
