//! Options of a hundred thousand items: FLUB's four, and RuozhiBench-MC's pair out of 17 answers rated by 3.

use divan::{Bencher, black_box};
use riddlemill::options::{DrawStream, Mean, draw_choices, gap_pair};

const ITEMS: usize = 100_000;

fn main() {
    divan::main();
}

/// A text of 30 characters.
fn text(draw: &mut DrawStream) -> String {
    (0..30).map(|_| char::from_u32(0x4e00 + draw.draw_below(3000) as u32).unwrap_or('一')).collect()
}

#[divan::bench(sample_count = 3)]
fn four_options(bencher: Bencher<'_, '_>) {
    let items: Vec<(String, String, Vec<String>)> = (0..ITEMS)
        .map(|at| {
            let id = format!("tieba:{at}");
            let mut draw = DrawStream::new(1, "bench", &id);
            let right = text(&mut draw);
            (id, right, (0..3).map(|_| text(&mut draw)).collect())
        })
        .collect();
    bencher.bench_local(|| {
        let made =
            items.iter().filter(|(id, right, wrong)| draw_choices(right, wrong, 1, "options", id).is_ok());
        black_box(made.count())
    });
}

#[divan::bench(sample_count = 3)]
fn pairs_of_seventeen(bencher: Bencher<'_, '_>) {
    let questions: Vec<(String, Vec<[u32; 3]>)> = (0..ITEMS)
        .map(|at| {
            let id = format!("tieba:{at}");
            let mut draw = DrawStream::new(1, "bench", &id);
            let ratings = (0..17).map(|_| [(); 3].map(|()| draw.draw_below(5) as u32)).collect();
            (id, ratings)
        })
        .collect();
    bencher.bench_local(|| {
        let drawn = questions.iter().filter_map(|(id, ratings)| {
            let means: Vec<Mean> = ratings.iter().map(|of| Mean::new(of.iter().copied())).collect();
            gap_pair(&means, 2, 1, id)
        });
        black_box(drawn.filter(|pair| pair.of > 0).count())
    });
}
