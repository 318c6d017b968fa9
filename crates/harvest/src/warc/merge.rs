//! Merges the archives of another workspace.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use riddlemill_files::durable;
use riddlemill_files::fence;

/// How a file of the other folder was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergedFile {
    /// It did not exist here.
    New(PathBuf),
    /// It extends the one here.
    Longer(PathBuf),
    /// Both start equal and then differ: it is stored next to the one here, under this name.
    Beside(PathBuf),
}

impl MergedFile {
    /// Its path in the folder of archives.
    pub fn path(&self) -> &Path {
        let (MergedFile::New(path) | MergedFile::Longer(path) | MergedFile::Beside(path)) = self;
        path
    }
}

/// Copies the archives of `other` that the folder `here` lacks: files of a crawl are only appended to, so one
/// that extends the one here replaces it, and one that continues differently is stored next to it. Each
/// completely or not at all; `only_look` copies none.
///
/// # Errors
/// [`io::Error`] if a file cannot be read or written, with its path.
pub fn merge_archives(here: &Path, other: &Path, only_look: bool) -> io::Result<Vec<MergedFile>> {
    let mut taken = Vec::new();
    for name in list_files(other)? {
        let (from, to) = (other.join(&name), here.join(&name));
        let (place, kind): (PathBuf, fn(PathBuf) -> MergedFile) = match common_start(&from, &to) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && !to.exists() => (name, MergedFile::New),
            Err(e) => return Err(e),
            Ok(CommonStart::Shorter) => continue,
            Ok(CommonStart::Longer) => (name, MergedFile::Longer),
            Ok(CommonStart::Apart) => {
                let other_name =
                    name_with_hash(&name, &durable::sha256_of_file(&from).map_err(io::Error::other)?);
                if here.join(&other_name).exists() {
                    continue;
                }
                (other_name, MergedFile::Beside)
            }
        };
        if !only_look {
            copy_file(&from, &here.join(&place)).map_err(name_path(&from))?;
        }
        taken.push(kind(place));
    }
    Ok(taken)
}

fn name_path(path: &Path) -> impl Fn(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Regular files under a folder, by relative path, sorted.
fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut waiting, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(place) = waiting.pop() {
        let entries = match fence::list(&place) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(name_path(&place))?,
        };
        for entry in entries {
            let entry = entry.map_err(name_path(&place))?;
            let kind = entry.file_type().map_err(name_path(&place))?;
            match entry.path() {
                path if kind.is_dir() => waiting.push(path),
                path if kind.is_file() && path.to_string_lossy().contains(".warc") => {
                    found.extend(path.strip_prefix(folder).map(Path::to_owned));
                }
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

enum CommonStart {
    /// The other is equal, or a prefix of it.
    Shorter,
    Longer,
    Apart,
}

fn common_start(other: &Path, here: &Path) -> io::Result<CommonStart> {
    let mut mine = fence::open(here).map_err(name_path(here))?;
    let mut theirs = fence::open(other).map_err(name_path(other))?;
    let lengths = [&mine, &theirs].map(|file| file.metadata().map(|meta| meta.len()));
    let [mine_len, theirs_len] = lengths;
    let (mine_len, theirs_len) = (mine_len?, theirs_len?);
    let mut left = mine_len.min(theirs_len);
    let (mut a, mut b) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    while left > 0 {
        let wave = a.len().min(left as usize);
        mine.read_exact(&mut a[..wave]).map_err(name_path(here))?;
        theirs.read_exact(&mut b[..wave]).map_err(name_path(other))?;
        if a[..wave] != b[..wave] {
            return Ok(CommonStart::Apart);
        }
        left -= wave as u64;
    }
    Ok(if theirs_len > mine_len { CommonStart::Longer } else { CommonStart::Shorter })
}

/// `00002-1f00aa31.warc.gz` next to `00002.warc.gz`.
fn name_with_hash(name: &Path, hash: &str) -> PathBuf {
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    let (stem, rest) = file.split_once('.').unwrap_or((&file, ""));
    name.with_file_name(format!("{stem}-{}.{rest}", &hash[..8]))
}

/// Writes to a temporary file, syncs and renames.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().unwrap_or(to);
    fence::create_folder(folder)?;
    let partial = to.with_extension("tmp");
    let mut file = fence::create(&partial)?;
    let copied = io::copy(&mut fence::open(from)?, &mut file).and_then(|_| file.sync_all());
    if let Err(e) = copied.and_then(|()| fence::rename(&partial, to)) {
        // A partial copy is useless; the first error is what counts.
        let _ = fence::remove_file(&partial);
        return Err(e);
    }
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_crawled_elsewhere_is_taken_over_and_nothing_of_here_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| dir.path().join(name));
        let put = |root: &Path, name: &str, text: &str| {
            let path = root.join("ba").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (name, mine, theirs) in [
            ("00001.warc.gz", Some("same"), Some("same")),
            ("00002.warc.gz", Some("shared"), Some("shared and more")),
            ("00003.warc.gz", Some("shared and less"), Some("shared")),
            ("00004.warc.gz", Some("shared, mine"), Some("shared, theirs")),
            ("00005.warc.gz", None, Some("new")),
            ("notes.txt", None, Some("no archive")),
        ] {
            mine.into_iter().for_each(|text| put(&here, name, text));
            theirs.into_iter().for_each(|text| put(&there, name, text));
        }
        let looked = merge_archives(&here, &there, true).unwrap();
        assert!(!here.join("ba/00005.warc.gz").exists(), "a look copies nothing");
        let taken = merge_archives(&here, &there, false).unwrap();
        assert_eq!(looked, taken);
        let [longer, beside, new] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!(*longer, MergedFile::Longer("ba/00002.warc.gz".into()));
        assert_eq!(*new, MergedFile::New("ba/00005.warc.gz".into()));
        let read = |path: &Path| fs::read_to_string(here.join(path)).unwrap();
        assert_eq!(read(longer.path()), "shared and more");
        assert_eq!(read(beside.path()), "shared, theirs");
        assert!(beside.path().to_string_lossy().starts_with("ba/00004-"), "{beside:?}");
        assert_eq!(read(Path::new("ba/00004.warc.gz")), "shared, mine");
        assert_eq!(read(Path::new("ba/00003.warc.gz")), "shared and less");
        assert!(merge_archives(&here, &there, false).unwrap().is_empty(), "once");
        assert!(merge_archives(&here, &dir.path().join("nowhere"), false).unwrap().is_empty());
    }
}
