//! Merges a log with one that diverged from it.

use rustc_hash::FxHashSet;

use super::lines::lines;
use super::{Log, LogError};

impl Log {
    /// Appends the lines of `other` that this log does not have, in order. Returns the new ones; `only_look`
    /// stores none.
    ///
    /// # Errors
    /// [`LogError`] if either is damaged, or this one cannot be written; then none is stored.
    pub fn merge(&self, other: &Log, only_look: bool) -> Result<Vec<Vec<u8>>, LogError> {
        let mut known: FxHashSet<Vec<u8>> = lines(&self.read()?).map(<[u8]>::to_vec).collect();
        let mut new: Vec<Vec<u8>> = lines(&other.read()?).map(<[u8]>::to_vec).collect();
        new.retain(|line| known.insert(line.clone()));
        if !new.is_empty() && !only_look {
            let mut bytes = new.join(&b'\n');
            bytes.push(b'\n');
            self.append(&bytes)?;
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_elsewhere_is_taken_over_once() {
        let dir = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| {
            let log = Log::at(dir.path().join(name).join("raw/tasks.jsonl"));
            log.append(b"{\"n\":1}\n").unwrap();
            log
        });
        here.append(b"{\"n\":2}\n").unwrap();
        there.append(b"{\"n\":3}\n{\"n\":4}\n").unwrap();
        assert_eq!(here.merge(&there, true).unwrap().len(), 2);
        assert_eq!(here.read().unwrap(), b"{\"n\":1}\n{\"n\":2}\n", "a look stores nothing");
        assert_eq!(here.merge(&there, false).unwrap(), [b"{\"n\":3}".to_vec(), b"{\"n\":4}".to_vec()]);
        assert!(here.merge(&there, false).unwrap().is_empty());
        assert_eq!(here.read().unwrap(), b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
        assert!(here.merge(&Log::at(dir.path().join("nowhere.jsonl")), false).unwrap().is_empty());
    }
}
