//! Puts the folders of `src/benchmarks` into the program, file by file, in the order of their paths: a benchmark that is
//! added there is built in without a line anywhere else.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    // `folders` leads there, and is what `cargo package` follows; a checkout without links has the place itself.
    let here = env::var("CARGO_MANIFEST_DIR")?;
    let places = ["folders", "../../src/benchmarks"].map(|place| Path::new(&here).join(place));
    let place = places.iter().find(|place| place.is_dir()).ok_or("no src/benchmarks")?;
    // Relative, so that a target folder which is used by another checkout watches the folders of that checkout.
    println!("cargo::rerun-if-changed={}", place.strip_prefix(&here)?.display());
    let root = place.canonicalize()?;
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    // By a path from this package, for the same reason: an absolute one would be that of the checkout that was built first.
    let from = place.strip_prefix(&here)?.display();
    let mut list = String::from("[\n");
    for file in files {
        let name: Vec<_> = file.strip_prefix(&root)?.iter().map(|part| part.to_string_lossy()).collect();
        let name = name.join("/");
        let path = format!("/{from}/{name}");
        writeln!(list, "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),")?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("files.rs"), list)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml" || extension == "jinja") {
            files.push(path);
        }
    }
    Ok(())
}
