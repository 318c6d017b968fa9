//! Reading a stage's input part by part.

use rayon::prelude::*;

use super::context::{Pulse, StageError, Stop};
use riddlemill_files::par_map::{SPLIT, par_map_ordered};
use riddlemill_record::{Outcome, Record};
use riddlemill_tables::{Batch, Part, StageReader, StageWriter};

/// A stage whose decision on a record depends on that record alone. Parts are read, decided and recorded on
/// all cores while those before them are written, so memory does not grow with the input.
///
/// # Errors
/// [`StageError`] where a part cannot be read or written, or the user stopped.
pub fn each<R: Record, T: Record>(
    columns: R::Columns,
    input: &StageReader,
    writer: &mut StageWriter<T>,
    stop: &Stop,
    pulse: &dyn Pulse,
    decide: &(impl Fn(R) -> Outcome<T> + Sync),
) -> Result<(), StageError> {
    let append = |mut batch: Batch<T>, row: R| {
        let id = row.id().to_string();
        batch.append(&id, &decide(row));
        batch
    };
    let made = writer.columns();
    // A part is split further where there are fewer parts than cores.
    let decided = |rows: Vec<R>| -> Vec<Batch<T>> {
        rows.into_par_iter().with_min_len(SPLIT).fold(|| Batch::with_room(made, SPLIT), append).collect()
    };
    let decide = |part: &Part| -> Result<_, StageError> {
        let batches = decided(input.part(columns, part)?);
        pulse.advance(part.rows);
        Ok(batches)
    };
    par_map_ordered(input.table("rows").parts.iter(), decide, |batches| {
        stop.check()?;
        batches.into_iter().for_each(|batch| writer.append_batch(batch));
        Ok(writer.flush()?)
    })
}

/// All rows of an input, for a stage that decides over the whole.
///
/// # Errors
/// As of [`each`].
pub fn all<R: Record>(
    columns: R::Columns,
    input: &StageReader,
    stop: &Stop,
    records: &mut Vec<R>,
) -> Result<(), StageError> {
    for part in input.parts_of(columns, "rows") {
        stop.check()?;
        records.append(&mut part?);
    }
    Ok(())
}
