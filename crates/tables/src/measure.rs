//! Measures what each part of this crate's Parquet writer gains over Polars' writer for whole columns.
//!
//! ```text
//! cargo test --release -p riddlemill-tables --lib measure:: -- --ignored --nocapture
//! ```
//!
//! A million posts as in a dump of threads, in parts as in a stage. Each line is encoded from the same rows
//! in memory; the columns' digests, which a manifest needs, are computed in every one of them.

use std::slice;
use std::time::{Duration, Instant};

use polars::prelude::PolarsResult;
use rayon::prelude::*;
use riddlemill_record::{Column as Described, Outcome, Post, Typed};

use super::batch::Batch;
use super::chunks::{Chunk, Chunks};
use super::column::ColumnSlices;
use super::edit::{ColumnAccess, edit_part};
use super::frame::{FrameColumns, RowChunks};
use super::part::{Encoded, PART_ROWS, from_bytes};

const POSTS: usize = 1_000_000;
const ROUNDS: usize = 3;

fn make_post(n: usize) -> Post {
    let words = ["云会恐高吗", "鱼会淹死吗", "镜子里的我知道我在看它吗", "雨伞怕淋雨", "闹钟几点起床"];
    let text = format!("{}{}？{n}", words[n % 5], words[n / 5 % 5]);
    Post {
        id: format!("tieba:{}", 6_000_000_000 + n),
        content: Some(text.clone()),
        text,
        source: "forum".into(),
        file: "posts.jsonl".into(),
        position: n as u64,
        author: Some(format!("{:016x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))),
        time: Some(format!("2021-0{}-1{}", n % 9 + 1, n % 9)),
        score: Some((n % 97) as f64),
        ..Post::default()
    }
}

fn make_parts() -> Vec<RowChunks<Post>> {
    let part = |first: usize| {
        let last = POSTS.min(first + PART_ROWS);
        let mut rows = FrameColumns::<Post>::with_all_columns((), last - first);
        (first..last).for_each(|n| rows.append(&make_post(n)));
        RowChunks::from_block(rows)
    };
    (0..POSTS).step_by(PART_ROWS).collect::<Vec<_>>().into_par_iter().map(part).collect()
}

type Encode = fn(&[Described], &[ColumnSlices<'_>]) -> PolarsResult<Vec<Chunk>>;

/// Every column by Polars' own writer.
fn by_polars(described: &[Described], columns: &[ColumnSlices<'_>]) -> PolarsResult<Vec<Chunk>> {
    let one = |(described, column): (&Described, &ColumnSlices<'_>)| {
        let digest = column.compute_digest();
        Chunks::encode_by_polars(slice::from_ref(described), slice::from_ref(column))?
            .find_chunk(described.name, digest)
    };
    described.par_iter().zip(columns).map(one).collect()
}

/// Text columns and empty columns by this crate's pages.
fn by_pages(described: &[Described], columns: &[ColumnSlices<'_>]) -> PolarsResult<Vec<Chunk>> {
    let one = |(described, column): (&Described, &ColumnSlices<'_>)| {
        Chunk::encode_column(described, column, column.compute_digest())
    };
    described.par_iter().zip(columns).map(one).collect()
}

/// The same, with columns of one value cached from part to part.
fn by_cache(described: &[Described], columns: &[ColumnSlices<'_>]) -> PolarsResult<Vec<Chunk>> {
    described
        .par_iter()
        .zip(columns)
        .map(|(described, column)| Chunk::cached_or_encoded(described, column))
        .collect()
}

/// The shortest of several rounds, and bytes.
fn shortest_round(mut round: impl FnMut() -> u64) -> (Duration, u64) {
    let timed = (0..ROUNDS).map(|_| {
        let began = Instant::now();
        let bytes = round();
        (began.elapsed(), bytes)
    });
    timed.min().unwrap()
}

#[test]
#[ignore = "a measurement of a minute, not a law"]
fn what_each_part_of_the_writer_brings() {
    let parts = make_parts();
    let encoded = |encode: Encode| -> Vec<Encoded> {
        let one = |rows: &RowChunks<Post>| {
            let columns: Vec<_> = (0..Post::COLUMNS.len()).map(|at| rows.column_at(at)).collect();
            Encoded::new(Post::COLUMNS, rows.count_rows(), encode(Post::COLUMNS, &columns).unwrap()).unwrap()
        };
        parts.iter().map(one).collect()
    };
    let bytes = |parts: &[Encoded]| parts.iter().map(|part| part.file_bytes().len() as u64).sum();
    let ways: [(&str, Encode); 4] = [
        ("Polars' writer, column by column", by_polars),
        ("own pages of texts and of empty columns", by_pages),
        ("and columns of one value kept", by_cache),
        ("and equal columns encoded once", Chunk::encode_columns),
    ];
    println!("{POSTS} posts of {} columns in {} parts", Post::COLUMNS.len(), parts.len());
    let mut before: Option<Duration> = None;
    for (name, encode) in ways {
        let (time, bytes) = shortest_round(|| bytes(&encoded(encode)));
        let gain = before
            .map(|before| format!("{:+.1} %", (time.as_secs_f64() / before.as_secs_f64() - 1.0) * 100.0));
        println!(
            "{name:<44} {:>7.3} s {:>6.1} MB {}",
            time.as_secs_f64(),
            bytes as f64 / 1e6,
            gain.unwrap_or_default()
        );
        before = Some(time);
    }
    let files: Vec<Vec<u8>> = encoded(Chunk::encode_columns).iter().map(Encoded::file_bytes).collect();
    let shorten = |mut post: Post| match post.position % 10 {
        0 => {
            let before = post.text.clone();
            post.text.pop();
            let after = post.text.clone();
            Outcome::Changed { row: post, rule: "number", evidence: "digit".into(), before, after }
        }
        _ => Outcome::Kept(post),
    };
    let touched = ColumnAccess { reads: &["id", "text", "position"], writes: &["text"] };
    let (by_columns, _) = shortest_round(|| {
        files
            .iter()
            .map(|file| edit_part::<Post>((), file.clone(), touched, &shorten).unwrap().ledger.count)
            .sum()
    });
    let (by_rows, _) = shortest_round(|| {
        let one = |file: &Vec<u8>| {
            let rows: Vec<Post> = from_bytes((), file.clone()).unwrap();
            let mut batch = Batch::with_room((), rows.len());
            rows.into_iter().for_each(|post| batch.append(&post.id.clone(), &shorten(post)));
            let (rows, ledger) = (RowChunks::from_block(batch.rows), RowChunks::from_block(batch.ledger));
            Encoded::encode_rows(&rows).unwrap();
            Encoded::encode_rows(&ledger).unwrap().count
        };
        files.iter().map(one).sum()
    });
    println!("a stage that changes one text in ten, by rows    {:>7.3} s", by_rows.as_secs_f64());
    println!("the same by columns: what is not touched passes  {:>7.3} s", by_columns.as_secs_f64());
}
