//! Caches what was read from a file until the file changes.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A file that changed less than this before it was read may change again within the same tick of its clock,
/// so its contents are not cached.
const SETTLED: Duration = Duration::from_secs(1);

/// A file's length and time; `None` if it does not exist.
type FileState = Option<(u64, SystemTime)>;

/// Cached values by name, with the state they were made from. A slot is locked while its value is made, so
/// that concurrent requests make it once.
pub(super) struct CachedValues<K, S, T> {
    slots: Mutex<HashMap<K, Arc<Slot<S, T>>>>,
}

type Slot<S, T> = Mutex<Option<(S, Arc<T>)>>;

impl<K, S, T> Default for CachedValues<K, S, T> {
    fn default() -> CachedValues<K, S, T> {
        CachedValues { slots: Mutex::default() }
    }
}

impl<K: Eq + Hash, S: PartialEq, T> CachedValues<K, S, T> {
    /// The cached value of a name, or a new one if the state differs.
    ///
    /// # Errors
    /// Those of `make`; a failure is not cached.
    pub(super) fn get<E>(&self, name: K, from: S, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        // The lock of the map ends here, so that making one value does not hold up the others.
        let slot = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.entry(name).or_default().clone()
        };
        // A panic in `make` leaves the previous value, which is still right for its state.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = slot.as_ref().filter(|(known, _)| *known == from) {
            return Ok(made.clone());
        }
        let made = Arc::new(make()?);
        *slot = Some((from, made.clone()));
        Ok(made)
    }
}

/// A cache of file contents.
pub(super) struct FileCache<T>(CachedValues<PathBuf, FileState, T>);

impl<T> Default for FileCache<T> {
    fn default() -> FileCache<T> {
        FileCache(CachedValues::default())
    }
}

impl<T> FileCache<T> {
    /// The result of `read` for the file, called again only if its length or time changed. The state is taken
    /// before reading, so that concurrent appends are noticed at the next call.
    ///
    /// # Errors
    /// Those of `read`; a failure is not cached.
    pub(super) fn get<E>(&self, path: &Path, read: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let state = file_state(path);
        if !is_settled(state, SystemTime::now()) {
            return read().map(Arc::new);
        }
        self.0.get(path.to_path_buf(), state, read)
    }
}

fn file_state(path: &Path) -> FileState {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

/// A missing file is settled: its creation is noticed at the next call.
fn is_settled(state: FileState, now: SystemTime) -> bool {
    state.is_none_or(|(_, changed)| now.duration_since(changed).is_ok_and(|age| age > SETTLED))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_file_is_read_anew_when_it_changed_and_only_then() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tasks");
        let kept = FileCache::default();
        let look = |fresh: &mut bool| {
            let read = || {
                *fresh = true;
                fs::read_to_string(&path).or_else(|_| Ok::<_, ()>(String::new()))
            };
            kept.get(&path, read).unwrap().as_str().to_string()
        };
        let seen = |text: &str| {
            let (mut first, mut second) = (false, false);
            assert_eq!((look(&mut first), look(&mut second)), (text.to_string(), text.to_string()));
            (first, second)
        };
        assert_eq!(seen(""), (true, false), "an absent file is asked for once");
        fs::write(&path, "one").unwrap();
        assert_eq!(seen("one"), (true, true), "a file that just changed may change again");
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        let touch = |time| fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        touch(long_ago);
        assert_eq!(seen("one"), (true, false));
        fs::write(&path, "two").unwrap();
        touch(long_ago - Duration::from_secs(1));
        assert_eq!(seen("two"), (true, false), "the same length at another time is another file");
    }

    #[test]
    fn of_many_who_ask_at_once_one_reads() {
        let dir = tempfile::tempdir().unwrap();
        let (kept, reads) = (FileCache::default(), AtomicUsize::new(0));
        let read = || {
            reads.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
            Ok::<_, ()>(7)
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(*kept.get(&dir.path().join("absent"), read).unwrap(), 7));
            }
        });
        assert_eq!(reads.into_inner(), 1);
    }
}
