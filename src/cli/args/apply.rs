//! The arguments of `apply` and `assemble`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCandidates;

use crate::cli::complete;
use crate::config::sections::DedupMetric;
use crate::stages::parted::Share;

pub(crate) const HELP: &str = "\
Rows keep their order and unknown fields are passed through; every row gets id, outcome, reason and evidence.
  clean          title, content (or text)  ->  text
  anonymise      text, names               ->  text
  filter         text                      ->  kept or dropped
  interrogative  text                      ->  is_question
  similarity     a, b                      ->  duplicate, verdict, score
  dedup          id, text                  ->  into, score (reads all rows first; --on-disk for large inputs)
                 with --against FILE       ->  resembles, resembles_score
For stages on several machines: a ledger record is one line per record, with its ledger entry, rows and links.
`assemble` writes ledger records into staged/.
  census         a dump or a piece of it            ->  what it says about its threads and users, as hashes
  census --merge those of all pieces, in order      ->  that of the dump
  import         a dump (--kind or --source)        ->  ledger records; of a piece with --census, --offset and --lines
  settle         ledger records of import, in order ->  ledger records; {again: [{row, same}], record} has known ids
  clean, anonymise, filter with --ledger            ->  ledger records
  rows           as settle; --ledgers FOLDER        ->  id, text, score, time of the posts that filter keeps; into FOLDER
                                                        the ledger records of import, clean, anonymise and filter
Dedup in parts, for inputs too large for one machine. Sort the lines by their bytes between the steps.
  dedup-keys     id, text                           ->  key, rank: rows with the same key are copies
  dedup-stats    id, text; or its own output        ->  counts, which add up over parts
  dedup-keys --stats FILE                           ->  key, role, rank, of, skip, size, signature (--texts: text)
  dedup-verify   sorted keys                        ->  from, into, verdict: maybe, copy; with texts and
                                                        --stats FILE same, borderline
  dedup-resolve  pairs                              ->  id, into, score, predicate
  dedup-ledger   {row, into: {id, text}, score, predicate}  ->  ledger records
Settings come from pipeline.toml of the workspace if there is one; otherwise they are the defaults.";

#[derive(Args)]
pub(crate) struct Apply {
    /// The stage, or the step of a distributed stage
    #[arg(value_enum)]
    pub stage: ApplyStage,
    /// import, census: the dump, or a piece of it; default: stdin
    #[arg(value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Use this recipe's settings
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: Option<String>,
    /// clean, anonymise, filter: read posts, or ledger records of the stage before; write ledger records
    #[arg(long = "ledger", alias = "books")]
    pub ledger: bool,
    /// rows: the folder for the ledger records of import, clean, anonymise and filter
    #[arg(long, value_name = "FOLDER")]
    pub ledgers: Option<PathBuf>,
    /// import, census: the dump's format, as in a [[source]] of pipeline.toml
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// import, census: the [[source]] whose settings and name apply to the dump
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// import: the file's name in the ledger
    #[arg(long, value_name = "NAME")]
    pub file: Option<String>,
    /// import: the file is one of several: leave records with the same id to `apply settle`
    #[arg(long)]
    pub unsettled: bool,
    /// import: the user names to look for in every text, a file of --write-names; default: those of this dump
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// import: only write the names of all users of the recipe's dumps, as hashes; census: also write those of this dump
    #[arg(long, value_name = "FILE", requires = "recipe")]
    pub write_names: Option<PathBuf>,
    /// census: merge the censuses of the pieces of a dump, read from stdin in their order
    #[arg(long, conflicts_with = "input")]
    pub merge: bool,
    /// import: the merged census of the dump, for a dump in several pieces; default: it is taken first
    #[arg(long, value_name = "FILE")]
    pub census: Option<PathBuf>,
    /// import, census: the input is a piece of a dump, and so many bytes are before it; `--list` says what a piece
    /// begins with (`cut`: a line, a gzip member or a record)
    #[arg(long, value_name = "BYTES", default_value_t = 0, hide_default_value = true)]
    pub offset: u64,
    /// import: so many lines are before the piece, unpacked
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub lines: u64,
    /// import: only list the recipe's dumps, in the order of import
    #[arg(long, requires = "recipe")]
    pub list: bool,
    /// dedup-keys: the output of dedup-stats; without it, write the keys that find copies. dedup-verify: the same counts,
    /// where lines have texts
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// dedup-keys: write the row's text with each key, so that dedup-verify can compare at once
    #[arg(long)]
    pub texts: bool,
    /// dedup-keys: only one share of the keys, as 1/16 to 16/16; the pairs of all shares together are complete
    #[arg(long, value_name = "N/M")]
    pub share: Option<Share>,
    /// dedup --on-disk: MiB of memory for the join, in addition to about 200 bytes per row (default 2048);
    /// dedup-resolve: MiB of pairs sorted at once (default 256)
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..1 << 20))]
    pub memory: Option<u64>,
    /// dedup: write every pair at or over the threshold here, as JSON Lines a, b, score
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// dedup: the similarity metric
    #[arg(long, value_name = "METRIC", value_parser = metrics())]
    pub metric: Option<String>,
    /// dedup: the score from which two rows count as one, 0 to 1
    #[arg(long, value_name = "T")]
    pub threshold: Option<f64>,
    /// dedup: `none` compares texts as written, `default` ignores width, case, script, punctuation and spaces
    #[arg(long, value_name = "HOW", value_parser = ["none", "default"])]
    pub normalize: Option<String>,
    /// dedup: find for each row the most similar row of this JSON Lines file (id, text)
    #[arg(long, value_name = "FILE", conflicts_with = "on_disk")]
    pub against: Option<PathBuf>,
    /// dedup: keep rows and index in a temporary folder below FOLDER instead of memory
    #[arg(long, value_name = "FOLDER")]
    pub on_disk: Option<PathBuf>,
}

/// The metrics of `--metric`. `exact` is left out: it leaves what is nearly equal to embeddings, which `apply` does not read.
fn metrics() -> PossibleValuesParser {
    let read = DedupMetric::ALL.iter().filter(|metric| **metric != DedupMetric::Exact);
    PossibleValuesParser::new(read.map(|metric| metric.name()))
}

impl Apply {
    /// `--memory` in bytes; `or`, in MiB, is the default.
    pub fn memory_bytes(&self, or: u64) -> usize {
        usize::try_from(self.memory.unwrap_or(or) << 20).unwrap_or(usize::MAX)
    }
}

#[derive(Args)]
pub(crate) struct Assemble {
    /// The stage: import, clean, anonymise, filter or dedup
    #[arg(value_name = "STAGE")]
    pub stage: String,
    /// The recipe
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::recipes))]
    pub recipe: String,
    /// import: the names of all users, a file of `apply import --write-names`; default: they are read from the dumps
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// dedup: the `same` and `borderline` pairs of dedup-verify, sorted by into and from
    #[arg(long, value_name = "PATH")]
    pub pairs: Vec<PathBuf>,
    /// Files of ledger records, in order, or folders with part- files; gzip and zstd are recognised
    #[arg(value_name = "PATH", required = true)]
    pub ledgers: Vec<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ApplyStage {
    Clean,
    Anonymise,
    Filter,
    Interrogative,
    Dedup,
    Similarity,
    Census,
    Import,
    Settle,
    Rows,
    DedupStats,
    DedupKeys,
    DedupVerify,
    DedupResolve,
    #[value(name = "dedup-ledger", alias = "dedup-book")]
    DedupLedger,
}
