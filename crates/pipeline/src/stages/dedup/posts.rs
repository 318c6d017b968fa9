//! What dedup has in memory of a stage's posts while it compares them: ids, texts and ranks in the keeper policy.
//! The posts themselves are read again when the stage is written, so a million of them need not be in memory.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use positioned_io::ReadAt;
use rayon::prelude::*;

use crate::stages::context::Unusable;
use crate::stages::{Seconds, StageError, Stop};
use riddlemill_files::par_map::par_map_ordered;
use riddlemill_record::{Language, Post};
use riddlemill_tables::{Error, StageReader};
use riddlemill_text::join::{DiskError, Working};
use riddlemill_text::offline::dedup::{Standing, standing_of_post, tagged_text};
use riddlemill_text::text::language::split_tag;
use riddlemill_text::text::sameness::is_over_length;

/// Posts by number, with what decisions need of them.
pub(in crate::stages) trait Posts: Sync {
    /// How many there are.
    fn count_posts(&self) -> usize;

    /// The id of one.
    fn id(&self, post: usize) -> &str;

    /// What it says.
    ///
    /// # Errors
    /// [`StageError`] if it is on a disk that cannot be read.
    fn text_of_post(&self, post: usize) -> Result<Cow<'_, str>, StageError>;
}

/// For each post, the place of its id in the order of all ids; equal ids have the same place.
pub(super) fn places_of_ids<P: Posts + ?Sized>(posts: &P) -> Vec<u32> {
    // Nearly all ids differ in their first bytes. Next to the number, these spare the sort a look at memory far away for each
    // comparison.
    let beginning = |post: u32| {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(posts.id(post as usize).bytes()).for_each(|(place, byte)| *place = byte);
        u128::from_be_bytes(bytes)
    };
    let mut by_id: Vec<(u128, u32)> =
        (0..posts.count_posts() as u32).into_par_iter().map(|post| (beginning(post), post)).collect();
    let id = |of: &(u128, u32)| posts.id(of.1 as usize);
    by_id.par_sort_unstable_by(|x, y| x.0.cmp(&y.0).then_with(|| id(x).cmp(id(y))));
    let mut places = vec![0; by_id.len()];
    for (equal, place) in by_id.chunk_by(|x, y| x.0 == y.0 && id(x) == id(y)).zip(0..) {
        equal.iter().for_each(|(_, post)| places[*post as usize] = place);
    }
    places
}

impl Posts for [Post] {
    fn count_posts(&self) -> usize {
        self.len()
    }

    fn id(&self, post: usize) -> &str {
        &self[post].id
    }

    fn text_of_post(&self, post: usize) -> Result<Cow<'_, str>, StageError> {
        Ok(self[post].text.as_str().into())
    }
}

/// The posts that a stage before let through.
pub(super) struct StagePosts {
    ids: Strings,
    texts: Texts,
    pub standings: Vec<Standing>,
    /// How many are too long for their wording to be compared.
    pub over_length: usize,
}

/// Strings, one behind the other.
#[derive(Default)]
struct Strings {
    all: String,
    ends: Vec<usize>,
}

impl Strings {
    fn push(&mut self, string: &str) {
        self.all.push_str(string);
        self.ends.push(self.all.len());
    }

    fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..self.ends[at]]
    }
}

enum Texts {
    Memory(Strings),
    Disk(DiskTexts),
}

/// Texts in a file.
struct DiskTexts {
    path: PathBuf,
    file: File,
    starts: Vec<u64>,
    /// Last, so that the file is removed after its readers are closed.
    _folder: Working,
}

/// A file of texts that is being written.
struct Writing {
    path: PathBuf,
    out: BufWriter<File>,
    starts: Vec<u64>,
    folder: Working,
}

impl Writing {
    fn create(under: &Path) -> Result<Self, StageError> {
        let folder = Working::new(under, ".texts-").map_err(disk_error)?;
        let path = folder.path().join("texts");
        let open = File::options().create_new(true).read(true).write(true).open(&path);
        let out = BufWriter::with_capacity(1 << 20, open.map_err(Error::io("create", &path))?);
        Ok(Self { path, out, starts: vec![0], folder })
    }

    fn push(&mut self, text: &str) -> Result<(), StageError> {
        self.out.write_all(text.as_bytes()).map_err(Error::io("write", &self.path))?;
        self.starts.push(self.starts.last().copied().unwrap_or_default() + text.len() as u64);
        Ok(())
    }

    fn finish(self) -> Result<DiskTexts, StageError> {
        let Self { path, out, starts, folder } = self;
        let file = out.into_inner().map_err(|e| Error::io("write", &path)(e.into_error()))?;
        Ok(DiskTexts { path, file, starts, _folder: folder })
    }
}

/// A post, its text with a tag of its language if it needs one, what it stands for, and whether it is over length.
type PartRead = (Post, Option<String>, Standing, bool);

impl StagePosts {
    /// Reads posts; their texts wait in a new folder under `on_disk`, where that is given.
    /// `stated` is the language of posts that have none; `seconds` are left out.
    pub fn read_posts(
        (inputs, seconds): (&[StageReader], &Seconds),
        on_disk: Option<&Path>,
        stated: Option<Language>,
        stop: &Stop,
    ) -> Result<Self, StageError> {
        let (mut ids, mut texts, mut standings) = (Strings::default(), Strings::default(), Vec::new());
        let mut over_length = 0;
        let mut waiting = on_disk.map(Writing::create).transpose()?;
        for (at, input) in inputs.iter().enumerate() {
            let part = |part| -> Result<Vec<PartRead>, StageError> {
                stop.fail_if_stopped()?;
                let posts: Vec<Post> = input.read_part((), part)?;
                Ok(posts
                    .into_par_iter()
                    .filter(|post| !seconds.has_earlier(at, &post.id))
                    .map(|post| {
                        let standing = standing_of_post(&post);
                        // A Chinese text is itself.
                        let tagged = match tagged_text(&post, stated) {
                            Cow::Borrowed(_) => None,
                            Cow::Owned(tagged) => Some(tagged),
                        };
                        let is_long = is_over_length(tagged.as_deref().unwrap_or(&post.text));
                        (post, tagged, standing, is_long)
                    })
                    .collect())
            };
            par_map_ordered(input.table("rows").parts.iter(), part, |posts| {
                for (Post { id, text, .. }, tagged, standing, is_long) in posts {
                    let text = tagged.unwrap_or(text);
                    ids.push(&id);
                    standings.push(standing);
                    over_length += usize::from(is_long);
                    match &mut waiting {
                        Some(waiting) => waiting.push(&text)?,
                        None => texts.push(&text),
                    }
                }
                Ok::<_, StageError>(())
            })?;
        }
        let texts = match waiting {
            Some(waiting) => Texts::Disk(waiting.finish()?),
            None => Texts::Memory(texts),
        };
        Ok(Self { ids, texts, standings, over_length })
    }

    /// Reads texts that wait on disk into memory, if this many bytes are enough for them: pairs need texts from anywhere.
    pub fn hold_texts(&mut self, memory: u64) -> Result<(), StageError> {
        let Texts::Disk(DiskTexts { path, file, starts, .. }) = &mut self.texts else { return Ok(()) };
        let length = starts.last().copied().unwrap_or_default();
        if length > memory {
            return Ok(());
        }
        let mut bytes = vec![0; length as usize];
        file.read_exact_at(0, &mut bytes).map_err(Error::io("read", path))?;
        let damaged = |_| Error::io("read", path)(std::io::ErrorKind::InvalidData.into());
        let all = String::from_utf8(bytes).map_err(damaged)?;
        let ends = starts.drain(1..).map(|end| end as usize).collect();
        self.texts = Texts::Memory(Strings { all, ends });
        Ok(())
    }

    /// What a post says, with its language.
    ///
    /// # Errors
    /// [`StageError`] if it is on a disk that cannot be read.
    pub fn text_with_language(&self, post: usize) -> Result<Cow<'_, str>, StageError> {
        match &self.texts {
            Texts::Memory(texts) => Ok(texts.get(post).into()),
            Texts::Disk(_) => {
                Ok(String::from_utf8_lossy(&self.read_text_bytes(post, post + 1)?).into_owned().into())
            }
        }
    }

    /// All texts with their languages, where they are in memory.
    pub fn in_memory(&self) -> Option<Vec<&str>> {
        match &self.texts {
            Texts::Memory(texts) => Some((0..self.count_posts()).map(|post| texts.get(post)).collect()),
            Texts::Disk(_) => None,
        }
    }

    /// The texts in order, with their languages; none after an error, which is in `failed`.
    pub fn iter_tagged_texts<'a>(
        &'a self,
        failed: &'a mut Option<StageError>,
    ) -> impl Iterator<Item = String> + 'a {
        (0..self.count_posts())
            .step_by(BATCH)
            .map_while(|first| {
                let texts = self.read_texts(first, (first + BATCH).min(self.count_posts()));
                texts.map_err(|error| *failed = Some(error)).ok()
            })
            .flatten()
    }

    fn read_texts(&self, first: usize, end: usize) -> Result<Vec<String>, StageError> {
        let DiskTexts { starts, .. } = match &self.texts {
            Texts::Memory(texts) => return Ok((first..end).map(|post| texts.get(post).to_owned()).collect()),
            Texts::Disk(disk) => disk,
        };
        let all = self.read_text_bytes(first, end)?;
        let text = |post: usize| {
            let own = (starts[post] - starts[first]) as usize..(starts[post + 1] - starts[first]) as usize;
            // Only whole strings were written, so no byte is replaced here.
            String::from_utf8_lossy(&all[own]).into_owned()
        };
        Ok((first..end).map(text).collect())
    }

    /// The bytes of these texts in the file.
    fn read_text_bytes(&self, first: usize, end: usize) -> Result<Vec<u8>, StageError> {
        let Texts::Disk(DiskTexts { path, file, starts, .. }) = &self.texts else { return Ok(Vec::new()) };
        let mut bytes = vec![0; (starts[end] - starts[first]) as usize];
        file.read_exact_at(starts[first], &mut bytes).map_err(Error::io("read", path))?;
        Ok(bytes)
    }
}

/// Texts that are read at once.
const BATCH: usize = 1 << 13;

impl Posts for StagePosts {
    fn count_posts(&self) -> usize {
        self.standings.len()
    }

    fn id(&self, post: usize) -> &str {
        self.ids.get(post)
    }

    fn text_of_post(&self, post: usize) -> Result<Cow<'_, str>, StageError> {
        Ok(match self.text_with_language(post)? {
            Cow::Borrowed(text) => split_tag(text).1.into(),
            Cow::Owned(text) => split_tag(&text).1.to_owned().into(),
        })
    }
}

/// The error of a join on disk as that of a stage.
pub(super) fn disk_error(error: DiskError) -> StageError {
    match error {
        DiskError::Stopped => StageError::Stopped,
        DiskError::Io { what, path, source } => Error::io(what, &path)(source).into(),
        DiskError::TooMany => Unusable::of_request(error).into(),
    }
}
