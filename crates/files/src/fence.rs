//! Opens the files of a workspace, and nothing else: no name below raw/, staged/ or output/ leads out of the
//! workspace, through a link, a name or a chain of both, and none of them is a pipe or a device.
//!
//! A workspace may be somebody else's. A link in it could make `serve` hand out a file of the machine, `fsck`
//! move one, and a named pipe in the place of a log would make every command wait for ever. Everything that
//! is read, hashed, moved or deleted below the three folders is opened or checked here. The folders
//! themselves may be links, to a larger disk, once the workspace's owner has said so on this machine ([`trust`](super::trust)). Dumps are opened with [`open_plain`]: the settings may name files that lie
//! elsewhere.
//!
//! On Linux the kernel keeps within the folder (`openat2` with `RESOLVE_BENEATH`); elsewhere the resolved
//! path is compared before the file is opened. Whoever can write to the workspace while a command runs is
//! trusted, as docs/security.md says.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::trust::{TRUST, Trust, Wish, shell_word};

/// The folders of a workspace that hold what may come from others.
pub const FOLDERS: [&str; 3] = ["raw", "staged", "output"];

/// Why a file is not opened, listed, moved or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is outside of the workspace; where it leads.
    Outside(PathBuf),
    /// One of the three folders is a link out of the workspace; where it leads.
    Linked { folder: PathBuf, target: PathBuf },
    /// It is no file; what it is.
    Kind(&'static str),
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Outside(target) => write!(
                f,
                "it leads out of the workspace, to {}; nothing there is read, moved or deleted\n  hint: put the \
                 file itself in its place, or remove the link",
                target.display()
            ),
            Refusal::Linked { folder, target } => write!(
                f,
                "{} is a link out of the workspace, to {}; nothing there is read, moved or deleted\n  hint: {}",
                folder.display(),
                target.display(),
                format_args!(
                    "if it is yours, `riddlemill trust add {word}` says so once, {TRUST}={word} for one call",
                    word = shell_word(&target.display().to_string())
                )
            ),
            Refusal::Kind(kind) => {
                write!(f, "it is {kind}, and no file\n  hint: remove it, or put a file in its place")
            }
        }
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        io::Error::other(refusal)
    }
}

/// Why an error is a refusal, if it is one.
pub fn refusal_of_error(error: &io::Error) -> Option<&Refusal> {
    error.get_ref()?.downcast_ref()
}

/// Opens a file of a workspace for reading.
///
/// # Errors
/// As `File::open`, and a [`Refusal`] where the path leads out of its workspace or to no file.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    let file = match Place::find_place(path) {
        Some(place) => place.open()?,
        None => open_without_waiting(path)?,
    };
    check_kind(&file.metadata()?)?;
    Ok(file)
}

/// The content of a file of a workspace.
///
/// # Errors
/// As [`open`], or if it cannot be read.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let mut bytes = Vec::with_capacity(file.metadata().map_or(0, |meta| meta.len() as usize));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file of a workspace.
///
/// # Errors
/// As [`read`], or if it is not UTF-8.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a file of a workspace with other options, to write it.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> io::Result<File> {
    let path = path.as_ref();
    guard_path(path)?;
    let file = options.open(path)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

/// Creates a file of a workspace, or empties it.
///
/// # Errors
/// As `File::create`, and a [`Refusal`] where it is outside or no file.
pub fn create(path: impl AsRef<Path>) -> io::Result<File> {
    open_with(path, OpenOptions::new().write(true).create(true).truncate(true))
}

/// Creates a folder of a workspace and those above it.
///
/// # Errors
/// As `fs::create_dir_all`, and a [`Refusal`] where it is outside.
pub fn create_folder(path: impl AsRef<Path>) -> io::Result<()> {
    guard_path(&path)?;
    match fs::create_dir_all(&path) {
        // The system says of a file in the place of the folder that it exists, and of one above it that it is no folder.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(io::ErrorKind::NotADirectory.into()),
        made => made,
    }
}

/// Opens a file that may lie anywhere, such as a dump of the settings, for reading.
///
/// # Errors
/// As `File::open`, and a [`Refusal`] where it is a pipe or a device, whose end never comes.
pub fn open_plain(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    let file = open_without_waiting(path)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

/// Checks a file or folder of a workspace that is about to be listed or written, or is passed to a library by
/// its name. It need not exist.
///
/// # Errors
/// A [`Refusal`], or if a folder above it cannot be read.
pub fn guard_path(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    guard_entry(path)?;
    match fs::metadata(path) {
        Ok(meta) => check_kind(&meta)?,
        // A link to nothing could be written through.
        Err(_) if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) => {
            let target = fs::read_link(path).unwrap_or_default();
            return Err(Refusal::Outside(target).into());
        }
        Err(_) => return Ok(()),
    }
    Place::find_place(path).map_or(Ok(()), |place| place.check_inside(&path.canonicalize()?))
}

/// Checks the folder of a file or folder of a workspace that is about to be moved or removed: a link is moved
/// or removed itself, wherever it leads.
///
/// # Errors
/// A [`Refusal`], or if a folder above it cannot be read.
pub fn guard_entry(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    let Some(place) = Place::find_place(path) else { return Ok(()) };
    let above =
        path.ancestors().skip(1).map(|above| if above == Path::new("") { Path::new(".") } else { above });
    // The folders below the first that exists will be created.
    for folder in above {
        match folder.canonicalize() {
            Ok(folder) => return place.check_above(&folder),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Lists a folder of a workspace.
///
/// # Errors
/// As `fs::read_dir`, and a [`Refusal`] where the folder is outside.
pub fn list(folder: impl AsRef<Path>) -> io::Result<fs::ReadDir> {
    guard_path(&folder)?;
    fs::read_dir(folder)
}

/// Renames a file or folder of a workspace.
///
/// # Errors
/// As `fs::rename`, and a [`Refusal`] where one of the two is outside.
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    guard_entry(&from)?;
    guard_entry(&to)?;
    fs::rename(from, to)
}

/// Removes a file of a workspace, or a link itself.
///
/// # Errors
/// As `fs::remove_file`, and a [`Refusal`] where it is outside.
pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    guard_entry(&path)?;
    fs::remove_file(path)
}

/// Removes a folder of a workspace with all it holds. Links in it are removed, and nothing that they lead to.
///
/// # Errors
/// As `fs::remove_dir_all`, and a [`Refusal`] where it is outside.
pub fn remove_folder(path: impl AsRef<Path>) -> io::Result<()> {
    guard_entry(&path)?;
    match fs::symlink_metadata(&path)?.is_symlink() {
        true => fs::remove_file(path),
        false => fs::remove_dir_all(path),
    }
}

/// Whether a path is a file that [`open`] would open.
pub fn is_file(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    fs::metadata(path).is_ok_and(|meta| meta.is_file()) && guard_path(path).is_ok()
}

/// A path in one of the folders of a workspace.
struct Place<'p> {
    path: &'p Path,
    /// The workspace.
    root: PathBuf,
    /// Its folder: the outermost of such a name, because a stranger can name a folder below it `raw`, too.
    folder: &'p Path,
    /// The workspace by the innermost such folder: the outermost may lie above the workspace.
    inner: PathBuf,
}

impl Place<'_> {
    fn find_place(path: &Path) -> Option<Place<'_>> {
        let named = |above: &&Path| {
            above.file_name().is_some_and(|name| FOLDERS.iter().any(|folder| OsStr::new(folder) == name))
        };
        let root = |folder: &Path| match folder.parent() {
            Some(root) if root != Path::new("") => root.to_owned(),
            _ => PathBuf::from("."),
        };
        let inner = path.ancestors().find(named)?;
        let folder = path.ancestors().filter(named).last()?;
        Some(Place { path, root: root(folder), folder, inner: root(inner) })
    }

    /// The folder that the path must not leave, and the path below it.
    fn anchor_folder(&self) -> io::Result<(&Path, &Path)> {
        let is_link = fs::symlink_metadata(self.folder).is_ok_and(|meta| meta.is_symlink());
        let below = |folder: &Path| self.path.strip_prefix(folder).unwrap_or(self.path);
        if !is_link {
            let root = if self.root == Path::new(".") && self.path.is_relative() {
                Path::new("")
            } else {
                &self.root
            };
            return Ok((&self.root, below(root)));
        }
        let target = self.folder.canonicalize()?;
        if target.starts_with(self.root.canonicalize()?) {
            let root = if self.root == Path::new(".") && self.path.is_relative() {
                Path::new("")
            } else {
                &self.root
            };
            return Ok((&self.root, below(root)));
        }
        match folder_may_lead(&self.root, self.folder, &target) {
            true => Ok((self.folder, below(self.folder))),
            false => Err(Refusal::Linked { folder: self.folder.to_owned(), target }.into()),
        }
    }

    /// Whether a resolved path is in the workspace.
    fn check_inside(&self, resolved: &Path) -> io::Result<()> {
        let (anchor, _) = self.anchor_folder()?;
        if !resolved.starts_with(anchor.canonicalize()?) {
            return Err(Refusal::Outside(resolved.to_owned()).into());
        }
        self.check_inner(resolved)
    }

    /// The same for a folder above the path, which may be the workspace itself. Where the workspace does not
    /// exist yet, nothing leads out of it.
    fn check_above(&self, resolved: &Path) -> io::Result<()> {
        match self.root.canonicalize() {
            Ok(root) if root == resolved => Ok(()),
            Ok(_) => self.check_inside(resolved),
            Err(_) => Ok(()),
        }
    }

    fn check_inner(&self, resolved: &Path) -> io::Result<()> {
        if self.inner == self.root {
            return Ok(());
        }
        // A folder of the innermost name inside the outermost: both have to be kept.
        let inner = self.inner.canonicalize()?;
        match resolved.starts_with(&inner) || inner.starts_with(resolved) {
            true => Ok(()),
            false => Err(Refusal::Outside(resolved.to_owned()).into()),
        }
    }

    #[cfg(target_os = "linux")]
    fn open(&self) -> io::Result<File> {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::Errno;
        let (anchor, below) = self.anchor_folder()?;
        if self.inner != self.root {
            return self.open_resolved();
        }
        // Waiting for the writer of a pipe would be for ever; files are read as without this flag.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let anchor = rustix::fs::openat(CWD, anchor, folder, Mode::empty())?;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..8 {
            return match openat2(&anchor, below, flags, Mode::empty(), within) {
                Ok(file) => Ok(file.into()),
                // Something above was renamed meanwhile.
                Err(Errno::AGAIN) => continue,
                // Links with absolute targets, or out of the folder; and systems without the call.
                Err(Errno::XDEV | Errno::NOSYS | Errno::PERM) => self.open_resolved(),
                Err(other) => Err(other.into()),
            };
        }
        self.open_resolved()
    }

    #[cfg(not(target_os = "linux"))]
    fn open(&self) -> io::Result<File> {
        self.open_resolved()
    }

    fn open_resolved(&self) -> io::Result<File> {
        let resolved = self.path.canonicalize()?;
        self.check_inside(&resolved)?;
        open_without_waiting(&resolved)
    }
}

/// Opens a file for reading; a pipe that nobody writes to is opened too, to be refused.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    }
    options.open(path)
}

#[cfg(unix)]
fn check_kind(meta: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let kind = meta.file_type();
    let refused = match () {
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => return Ok(()),
    };
    Err(Refusal::Kind(refused).into())
}

#[cfg(not(unix))]
fn check_kind(_: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Whether the owner of a workspace agreed on this machine that one of its folders is a link.
fn folder_may_lead(root: &Path, folder: &Path, target: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    is_rehearsal(root, folder, target)
        || Trust::for_workspace(root, []).is_agreed(&Wish::Folder { name, target: target.to_owned() })
}

/// The rehearsals of this process that stand outside of their workspaces, by their folders.
static REHEARSALS: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

/// Lets a rehearsal that this process makes outside of a workspace, which cannot be written, read what is in that one.
///
/// # Errors
/// The system's error about one of the two folders.
pub fn rehearse_elsewhere(rehearsal: &Path, workspace: &Path) -> io::Result<()> {
    let mut known = REHEARSALS.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert(rehearsal.canonicalize()?, workspace.canonicalize()?);
    Ok(())
}

/// Whether this is the link of a rehearsal, which stands in a workspace's `.index`, to the folder of the same name of that
/// workspace: who may read that may read it from there.
fn is_rehearsal(root: &Path, folder: &Path, target: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    let elsewhere = REHEARSALS.lock().unwrap_or_else(PoisonError::into_inner).get(&root).cloned();
    let index = root.parent().filter(|index| index.file_name() == Some(".index".as_ref()));
    let workspace = elsewhere.as_deref().or(index.and_then(Path::parent));
    let (Some(workspace), Some(name)) = (workspace, folder.file_name()) else {
        return false;
    };
    let own = workspace.join(name);
    own.canonicalize().is_ok_and(|meant| meant == target)
        && (target.starts_with(workspace) || folder_may_lead(workspace, &own, target))
}

#[cfg(test)]
mod tests;
