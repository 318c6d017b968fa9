//! Appends to a log in segments.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::iter;
use std::path::Path;
use std::sync::mpsc::Receiver;

use super::LogError;
use super::chain::{Walk, split_chain};
use super::disk::{
    SegmentFile, describe_cut, last_line, open_locked, put_sealed, remove_if_there, sealed_path,
};
use super::frames::{filled_lines, is_whole};
use super::heads::{Head, prove_bytes};
use super::pack::{Packing, pack_frames};
use super::segments::{CONTEXT, Position, Segments, sealed_lines};
use crate::Digest;
use crate::digest::Digester;
use crate::fence;

/// Large frames: a segment is always read as a whole.
const PACKING: Packing = Packing { frame_bytes: 8 << 20, level: 3, is_read_by_line: false };

/// Held by the one process that may write; released when dropped.
pub struct Writer<'s> {
    segments: &'s Segments,
    _lock: File,
}

impl Segments {
    /// Waits for other writers, then cuts off a torn tail.
    pub fn open_writer(&self) -> Result<Writer<'_>, LogError> {
        fence::create_folder(&self.dir).map_err(LogError::io(&self.dir, "create"))?;
        let path = self.dir.join("lock");
        let lock = open_locked(&path, &mut OpenOptions::new()).map_err(LogError::io(&path, "open"))?;
        let writer = Writer { segments: self, _lock: lock };
        writer.recover_tail()?;
        Ok(writer)
    }
}

impl Writer<'_> {
    /// Appends blocks of complete lines, each a JSON object, and waits until they are on disk. Returns the
    /// position of a reader who has read these lines too.
    pub fn append_blocks(&self, blocks: &[impl AsRef<[u8]>]) -> Result<Position, LogError> {
        let segments = self.segments;
        let listed = segments.list_segments()?;
        let number = match listed.last() {
            None => 1,
            Some(segment) => segment.number + u32::from(segment.is_sealed),
        };
        let path = segments.segment_path(number);
        let is_new = !path.exists();
        if segments.home.last_head(&segments.segment_name(number))?.is_none_or(|head| head.gone) {
            self.write_first_heads(&listed, number)?;
        }
        let file = fence::open_with(&path, OpenOptions::new().read(true).create(true).append(true));
        let mut file = file.map_err(LogError::io(&path, "open"))?;
        let mut walk = self.walk_to_end(&path, &mut file, number)?;
        let mut bytes = file.metadata().map_err(LogError::io(&path, "stat"))?.len();
        for block in blocks {
            let block = block.as_ref();
            // The extra eighth is for the chains, so that the lines are not copied while they grow.
            let mut chained = Vec::with_capacity(block.len() + block.len() / 8);
            filled_lines(block).for_each(|line| walk.append_chained(line, &mut chained));
            file.write_all(&chained).map_err(LogError::io(&path, "append to"))?;
            bytes += chained.len() as u64;
        }
        let head = Head::new(segments.segment_name(number), bytes, walk.chain);
        segments.home.vouch_for_file(&file, &path, is_new, head.clone())?;
        if bytes > segments.seal_bytes {
            let hash = self.seal_segment(number)?;
            // Only once the sealed file exists: readers refuse a segment whose head has a hash that its name
            // lacks.
            segments.home.append_heads(&[Head { sealed: Some(hash), ..head }])?;
            return Ok(Position { segment: number + 1, bytes: 0, walk: None });
        }
        Ok(Position { segment: number, bytes, walk: Some(walk) })
    }

    /// The chain at the end of an open segment: from its last line, or, if no line has one, over all its
    /// lines.
    fn walk_to_end(&self, path: &Path, file: &mut File, number: u32) -> Result<Walk, LogError> {
        let mut walk = self.segments.start_walk(number);
        let (_, last) = last_line(file).map_err(LogError::io(path, "read"))?;
        match last.as_deref().map(|last| split_chain(last).1) {
            None => Ok(walk),
            // The chain of the last line depends on all lines before, so these are not read again.
            Some(Some(chain)) => {
                walk.chain = chain;
                Ok(walk)
            }
            Some(None) => {
                let bytes = fence::read(path).map_err(LogError::io(path, "read"))?;
                Ok(prove_bytes(path, &bytes, 0, walk, None)?.walk)
            }
        }
    }

    /// Records what exists before the first line with a chain, so that a log with chains but without heads
    /// has lost them.
    fn write_first_heads(&self, listed: &[SegmentFile], number: u32) -> Result<(), LogError> {
        let segments = self.segments;
        let known = segments.read_heads()?;
        let mut heads = Vec::new();
        for SegmentFile { number, path, hash, .. } in listed {
            let name = segments.segment_name(*number);
            if known.contains_key(&name) {
                continue;
            }
            heads.push(match hash {
                None => {
                    let bytes = fence::read(path).map_err(LogError::io(path, "read"))?;
                    let proved = prove_bytes(path, &bytes, 0, segments.start_walk(*number), None)?;
                    Head::new(name, proved.end, proved.walk.chain)
                }
                // A sealed segment is verified by its hash, so the head needs no length.
                Some(hash) => Head { sealed: Some(hash.to_string()), ..Head::of_empty_file(name) },
            });
        }
        if listed.iter().all(|segment| segment.number != number) {
            heads.push(Head::of_empty_file(segments.segment_name(number)));
        }
        segments.home.append_synced(&heads)
    }

    /// Compresses the open segment `number` under its hash.
    fn seal_segment(&self, number: u32) -> Result<String, LogError> {
        let open = self.segments.segment_path(number);
        // Readers ignore this ending, so a seal that is stopped leaves nothing that looks like a segment.
        let partial = open.with_extension("jsonl.zst.tmp");
        let hash = put_sealed(
            &partial,
            |file| pack_segment(&open, file),
            |hash| Ok(sealed_path(&self.segments.dir, number, Some(*hash))),
        );
        let hash = hash.map_err(LogError::io(&open, "seal"))?;
        // The sealed copy is on disk.
        remove_if_there(&open).map_err(LogError::io(&open, "remove"))?;
        Ok(hash.to_string())
    }

    /// Cuts off an incomplete last line, and finishes an interrupted seal.
    fn recover_tail(&self) -> Result<(), LogError> {
        let segments = self.segments;
        for SegmentFile { number, path, hash, .. } in segments.list_segments()? {
            let open = segments.segment_path(number);
            match hash {
                // The sealed file was complete before its rename, so its open copy is not needed.
                Some(hash) if open.exists() => {
                    // The open copy may be the only intact one, so the sealed one is verified first.
                    sealed_lines(&path, hash)?;
                    remove_if_there(&open).map_err(LogError::io(&open, "remove"))?;
                }
                Some(_) => {}
                None => self.mend_tail(&path, number)?,
            }
        }
        Ok(())
    }

    /// Cuts off the line that a stopped writer left incomplete, and ends one that lacks only its newline.
    fn mend_tail(&self, path: &Path, number: u32) -> Result<(), LogError> {
        let mut file = fence::open_with(path, OpenOptions::new().read(true).write(true))
            .map_err(LogError::io(path, "open"))?;
        let length = file.metadata().map_err(LogError::io(path, "stat"))?.len();
        let (end, _) = last_line(&mut file).map_err(LogError::io(path, "read"))?;
        let head =
            self.segments.home.last_head(&self.segments.segment_name(number))?.filter(|head| !head.gone);
        let mut tail = Vec::new();
        let read = file.seek(SeekFrom::Start(end)).and_then(|_| file.read_to_end(&mut tail));
        read.map_err(LogError::io(path, "read"))?;
        let is_whole = is_whole(&tail);
        // A head includes the newline that is still missing.
        let whole = if is_whole { length + 1 } else { end };
        // No head covers a line that a writer left torn, so something else has cut the file.
        if let Some(head) = head.filter(|head| head.bytes > whole) {
            return Err(LogError::damaged_file(path, describe_cut(length, head.bytes)));
        }
        if end == length {
            return Ok(());
        }
        let mended = if is_whole { file.write_all(b"\n") } else { file.set_len(end) };
        mended.and_then(|()| file.sync_all()).map_err(LogError::io(path, "repair the end of"))
    }
}

/// Compresses the lines of an open segment into `file`, and returns their hash.
fn pack_segment(open: &Path, file: &mut File) -> io::Result<Digest> {
    let mut from = fence::open(open)?;
    let mut hash = Digester::new(CONTEXT);
    // The hash of a sealed segment is that of the length and then the lines, and pieces have to give the same.
    hash.begin_part(from.metadata()?.len());
    pack_frames(&mut from, file, PACKING, |lines| hash.hash_piece(lines))?;
    Ok(hash.finish())
}

/// Waits for a job, and returns it with those that arrived during the last write, at most `most`: they share the
/// next. `None` once all senders are gone.
pub fn receive_batch<J>(jobs: &Receiver<J>, most: usize) -> Option<Vec<J>> {
    let first = jobs.recv().ok()?;
    Some(iter::once(first).chain(jobs.try_iter().take(most.saturating_sub(1))).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn jobs_that_arrived_meanwhile_share_a_write_up_to_a_bound() {
        let (sender, jobs) = channel();
        (0..5).for_each(|n| sender.send(n).unwrap());
        assert_eq!(receive_batch(&jobs, 3), Some(vec![0, 1, 2]));
        drop(sender);
        assert_eq!(receive_batch(&jobs, 3), Some(vec![3, 4]));
        assert_eq!(receive_batch(&jobs, 3), None);
    }
}
