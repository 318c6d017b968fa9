//! `apply import`: the ledger records of one dump.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::json;

use super::lines::{encode_row, row_output, write_lines};
use crate::cli::args::{Apply, Global};
use crate::cli::exit::{Exit, Failure};
use crate::config::{Config, Problems, Profiles, Source, SourceKind, Take, sections};
use crate::record::Post;
use crate::stages::import::{
    CensusError, Dump, PartCensus, Piece, Secrets, add_names, find_cut, find_source_files, is_divisible,
    ledger_records, no_names, part_census,
};
use crate::stages::salt;
use crate::stages::withdrawal::Withdrawals;
use crate::store::{Error, LedgerRecord, Workspace, durable};
use crate::text::sketch::TextSketch;
use riddlemill_files::reading::decode_text;

/// Records that one task writes at a time.
const TASK: usize = 256;

pub(super) fn import_dump(args: &Apply, config: &Config, global: &Global) -> Result<Exit, Failure> {
    if args.list {
        return list_dumps(args, config);
    }
    if let Some(to) = &args.write_names {
        return write_names(args, config, global, to);
    }
    // The temporary file is deleted when it is dropped, so it has to live until the end.
    let (_spooled, path) = spool_dump(args)?;
    let dump = open_dump(args, config, path)?;
    let settings: sections::Import = config.typed_settings(args.recipe.as_deref(), "import");
    let workspace = Workspace::new(&global.workspace);
    let salt = salt::read_or_draw(&workspace)?;
    let withdrawn = Withdrawals::load(&workspace)?;
    let known = args.census.as_deref().map(|file| {
        let lines = File::open(file).map(BufReader::new).map_err(Error::io("read", file))?;
        let census = PartCensus::read_parts(lines, &salt).and_then(|census| census.into_threads(&settings));
        census.map_err(|e| Failure::usage(format!("{}: {e}", file.display())))
    });
    let known = known.transpose()?;
    // Threads and users of a piece may begin in an earlier one, which only a census covers.
    if known.is_none() && !dump.piece.is_first() {
        let hint = "`apply census` of each piece, and `apply census --merge`";
        return Err(Failure::usage(format!("a piece needs --census FILE\n  hint: {hint}")));
    }
    let mut names = no_names(&config.root, &settings, &salt)?;
    match &args.names {
        Some(file) => {
            let text = std::fs::read(file).and_then(|bytes| decode_text(&bytes));
            let text = text.map_err(Error::io("read", file))?;
            names.add_file(&text).map_err(|e| Failure::usage(format!("{}: {e}", file.display())))?;
        }
        // Without a list, only the names in this dump are known.
        None => add_names(&mut names, &dump, &settings),
    }
    let secrets = Secrets { salt: &salt, names: &names };
    let mut out = row_output();
    let mut failed = 0;
    let written = ledger_records(
        &dump,
        &settings,
        &secrets,
        &withdrawn,
        known.as_ref(),
        args.unsettled,
        |records: Vec<LedgerRecord<Post>>| {
            failed += records.iter().filter(|record| record.entry.outcome == "failed").count();
            let encoded = records.par_chunks(TASK).map(|records| {
                let mut out = Vec::with_capacity(records.len() << 9);
                let each = |record: &LedgerRecord<Post>| {
                    encode_row(&mut out, record)?;
                    if args.unsettled {
                        append_sketches(&mut out, record);
                    }
                    Ok(())
                };
                records.iter().try_for_each(each).map(|()| out)
            });
            let encoded: Vec<Vec<u8>> = encoded.collect::<Result<_, _>>().map_err(Some)?;
            match write_lines(&mut out, &encoded) {
                Ok(true) => Ok(()),
                // The reader of the pipe has closed it.
                Ok(false) => Err(None),
                Err(failure) => Err(Some(failure)),
            }
        },
    );
    match written {
        Err(Some(failure)) => Err(failure),
        Ok(()) if failed > 0 => Ok(Exit::Partial),
        _ => Ok(Exit::Done),
    }
}

/// Adds to a line, of every post, what shows whether its text is like another's: 32 hexadecimal digits.
fn append_sketches(line: &mut Vec<u8>, record: &LedgerRecord<Post>) {
    let sketches: Vec<String> = record.rows.iter().map(|post| TextSketch::new(&post.text).to_hex()).collect();
    line.truncate(line.trim_ascii_end().len());
    if line.pop() == Some(b'}') {
        line.extend_from_slice(format!(",\"sketches\":{}}}\n", json!(sketches)).as_bytes());
    }
}

/// A dump as a file, which is read more than once: stdin is spooled.
fn spool_dump(args: &Apply) -> Result<(Option<tempfile::NamedTempFile>, PathBuf), Failure> {
    let (spooled, path) = match &args.input {
        Some(path) => (None, path.clone()),
        None => {
            let mut spooled =
                tempfile::NamedTempFile::new().map_err(Error::io("make", &std::env::temp_dir()))?;
            io::copy(&mut io::stdin().lock(), spooled.as_file_mut())
                .map_err(Error::io("write", spooled.path()))?;
            let path = spooled.path().to_path_buf();
            (Some(spooled), path)
        }
    };
    if !fs::metadata(&path).map_err(Error::io("read", &path))?.is_file() {
        let hint = "the dump is read more than once, so FILE cannot be a pipe; leave out FILE to read stdin";
        return Err(Failure::usage(format!("{} is not a file\n  hint: {hint}", path.display())));
    }
    File::open(&path).map_err(Error::io("read", &path))?;
    Ok((spooled, path))
}

/// `apply census`: what a dump or a piece of it says about its threads and users; or that of the pieces of a dump.
pub(super) fn take_census(args: &Apply, config: &Config, global: &Global) -> Result<Exit, Failure> {
    let salt = salt::read_or_draw(&Workspace::new(&global.workspace))?;
    let refused = |error: CensusError| match error {
        // A wrong cut is not the caller's mistake: it shows only when the pieces are read.
        CensusError::Apart => Failure { exit: Exit::Gap, message: error.to_string() },
        error => Failure::usage(error.to_string()),
    };
    let census = if args.merge {
        PartCensus::read_parts(io::stdin().lock(), &salt)
            .and_then(PartCensus::merge_parts)
            .map_err(refused)?
    } else {
        let (_spooled, path) = spool_dump(args)?;
        let dump = open_dump(args, config, path)?;
        let settings: sections::Import = config.typed_settings(args.recipe.as_deref(), "import");
        let mut names = no_names(&config.root, &settings, &salt)?;
        let census = part_census(&dump, &settings, &mut names, &salt);
        if let Some(to) = &args.write_names {
            durable::replace_file(to, names.to_file().as_bytes())?;
        }
        census
    };
    let mut out = row_output();
    census
        .write_lines(&mut out)
        .and_then(|()| out.flush())
        .map_err(Error::io("write", Path::new("stdout")))?;
    Ok(Exit::Done)
}

/// Writes the names of all users of a recipe's dumps, as hashes, for machines that import one of them.
fn write_names(args: &Apply, config: &Config, global: &Global, to: &Path) -> Result<Exit, Failure> {
    let recipe = args.recipe.as_deref().and_then(crate::recipe::find_recipe);
    let (name, riddles) = recipe.map_or(("", false), |recipe| (recipe.name, recipe.is_of_riddles()));
    let settings: sections::Import = config.typed_settings(args.recipe.as_deref(), "import");
    let salt = salt::read_or_draw(&Workspace::new(&global.workspace))?;
    let mut names = no_names(&config.root, &settings, &salt)?;
    find_source_files(config, name, riddles)?.iter().for_each(|dump| add_names(&mut names, dump, &settings));
    durable::replace_file(to, names.to_file().as_bytes())?;
    Ok(Exit::Done)
}

/// Lists the dumps of a recipe in the order of import, one JSON object per line.
fn list_dumps(args: &Apply, config: &Config) -> Result<Exit, Failure> {
    let recipe = args.recipe.as_deref().and_then(crate::recipe::find_recipe);
    let (name, riddles) = recipe.map_or(("", false), |recipe| (recipe.name, recipe.is_of_riddles()));
    let mut out = row_output();
    for dump in find_source_files(config, name, riddles)? {
        let cut = find_cut(&dump);
        let Dump { source, kind, file, path, bytes, sha256, .. } = dump;
        let line = json!({ "source": source, "kind": kind, "file": file, "path": path, "bytes": bytes, "sha256": sha256, "cut": cut });
        writeln!(out, "{line}").map_err(Error::io("write", Path::new("stdout")))?;
    }
    out.flush().map_err(Error::io("write", Path::new("stdout")))?;
    Ok(Exit::Done)
}

fn open_dump(args: &Apply, config: &Config, path: PathBuf) -> Result<Dump, Failure> {
    let source = args.source.as_deref().and_then(|name| config.sources.iter().find(|s| s.name == name));
    let kind = match (&args.kind, source) {
        (Some(kind), _) => SourceKind::from_name(kind).ok_or_else(|| {
            Failure::usage(format!("unknown kind {kind:?}\n  hint: {}", SourceKind::NAMES.join(", ")))
        })?,
        (None, Some(source)) => source.kind,
        (None, None) => {
            let what = match &args.source {
                Some(name) => format!("no [[source]] is named {name:?}\n  hint: `riddlemill config` lists the sources"),
                None => "the format of the dump is not known\n  hint: give --kind KIND, or --source NAME of pipeline.toml".into(),
            };
            return Err(Failure::usage(what));
        }
    };
    let named = args.kind.as_deref().and_then(SourceKind::profile_of);
    let profile = match named {
        Some(name) => Profiles::open(&config.root).load_profile(name).map_err(Problems)?,
        None => source.and_then(|source| source.profile.clone()),
    };
    if kind == SourceKind::Profile && profile.is_none() {
        let what = "pages need a profile: give a [[source]] of kind \"profile\" with --source";
        return Err(Failure::usage(what));
    }
    if args.offset > 0 && !is_divisible(kind) {
        return Err(Failure::usage(
            "a dump of this kind cannot be read in pieces: `apply import --list` shows where one can be cut (`cut`)",
        ));
    }
    let own = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = match (&args.file, &args.input) {
        (Some(name), _) => name.clone(),
        (None, Some(path)) => own(path),
        (None, None) => "stdin".into(),
    };
    Ok(Dump {
        source: args.source.clone().unwrap_or_else(|| "dump".into()),
        kind,
        language: source
            .and_then(|source| source.language)
            .or(config.stated_language(args.recipe.as_deref())),
        take: source.map_or(Take::default(), |source: &Source| source.take),
        published: source.and_then(|source| source.published),
        fields: source.map(|source| source.fields.clone()).unwrap_or_default(),
        optional: source.map(|source| source.optional.clone()).unwrap_or_default(),
        at: source.and_then(|source| source.at.clone()),
        profile,
        licence: source.and_then(|source| source.licence.clone()),
        named: PathBuf::from(&file),
        file,
        path,
        // Hash and size are only needed in a manifest.
        sha256: String::new(),
        bytes: 0,
        piece: Piece { byte: args.offset, lines: args.lines, ..Piece::default() },
    })
}
