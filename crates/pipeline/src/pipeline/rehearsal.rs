//! Rehearses an offline run in a separate folder, so that looking changes nothing in a workspace.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use tempfile::TempDir;

use super::{Progress, RunError, Selection, run_recipe};
use crate::config::Config;
use crate::recipe::Recipe;
use crate::stages::Pulse;
use crate::stages::Stop;
use riddlemill_files::fence;
use riddlemill_tables::{Error, Manifest, durable};

/// A workspace of links to the real one's stages, which a run can replace; removed when dropped.
pub(super) struct Rehearsal {
    /// The settings of the real one, with this root.
    pub config: Config,
    _folder: TempDir,
}

/// Ignores progress.
struct Silent;

impl Pulse for Silent {
    fn report_done(&self, _: u64) {}
}

impl Progress for Silent {
    fn begin_stage(&self, _: &str, _: &str, _: &str, _: u64) {}
    fn end_stage(&self, _: &str, _: &Manifest) {}
    fn report_fresh(&self, _: &str, _: &Manifest) {}
}

impl Rehearsal {
    /// Creates it: links to everything in the workspace that is not derived, and to each of its stages. A run
    /// replaces the links.
    pub(super) fn new(config: &Config) -> Result<Rehearsal, RunError> {
        // The target of a relative link would be looked up from the rehearsal's folder.
        let root = std::path::absolute(&config.root).map_err(Error::io("read", &config.root))?;
        let folder = folder_for(&root)?;
        let here = folder.path();
        for name in list_folder(&root)?.into_iter().filter(|name| name != "staged" && name != "output") {
            link_path(&root.join(&name), &here.join(&name))?;
        }
        let staged = root.join("staged");
        for recipe in if staged.exists() { list_folder(&staged)? } else { Vec::new() } {
            let (from, to) = (staged.join(&recipe), here.join("staged").join(&recipe));
            if !from.is_dir() {
                continue;
            }
            durable::create_folder(&to)?;
            // Names of locks and of a killed run's remains begin with a dot.
            for stage in list_folder(&from)?.into_iter().filter(|name| !name.starts_with('.')) {
                link_path(&from.join(&stage), &to.join(&stage))?;
            }
        }
        let mut config = config.clone();
        // A path that leaves the workspace would be resolved from the rehearsal's folder.
        for source in config.sources.iter_mut().filter(|source| source.path.starts_with("..")) {
            source.path = root.join(&source.path).display().to_string();
        }
        config.root = here.to_path_buf();
        Ok(Rehearsal { config, _folder: folder })
    }

    /// Makes what an offline run would make of a recipe now.
    pub(super) fn run_offline(&self, recipe: &'static Recipe) -> Result<(), RunError> {
        let selection = Selection { offline: true, ..Selection::default() };
        run_recipe(&self.config, recipe, &selection, &Stop::default(), &Silent).map(drop)
    }
}

/// A new folder in the workspace's `.index`, or among the system's temporary ones where the workspace cannot be written.
fn folder_for(root: &Path) -> Result<TempDir, RunError> {
    let derived = root.join(".index");
    let named = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("rehearsal-");
        builder
    };
    let made = fs::create_dir_all(&derived).and_then(|()| named().tempdir_in(&derived));
    match made {
        Err(e) if matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            let place = std::env::temp_dir();
            let folder = named().tempdir().map_err(Error::io("create a folder in", &place))?;
            fence::rehearse_elsewhere(folder.path(), root).map_err(Error::io("read", root))?;
            Ok(folder)
        }
        made => Ok(made.map_err(Error::io("create a folder in", &derived))?),
    }
}

fn list_folder(folder: &Path) -> Result<Vec<String>, RunError> {
    let failed = || Error::io("read", folder);
    let entries = fs::read_dir(folder).map_err(failed())?;
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(failed())?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

fn link_path(from: &Path, to: &Path) -> Result<(), RunError> {
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(from, to);
    // Windows has separate links for files and folders.
    #[cfg(windows)]
    let linked = match from.is_dir() {
        true => std::os::windows::fs::symlink_dir(from, to),
        false => std::os::windows::fs::symlink_file(from, to),
    };
    Ok(linked.map_err(Error::io("link", to))?)
}
