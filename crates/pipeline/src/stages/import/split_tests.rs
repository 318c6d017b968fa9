//! Files of every shape, cut into items.

use proptest::prelude::*;

use super::*;

type Owned = (u64, Result<Vec<u8>, Unread>);

/// The items of bytes that arrive in pieces, returned as soon as they are complete.
fn split(bytes: &[u8], piece: usize, limit: u64) -> Vec<Owned> {
    let (mut splitter, mut out) = (Splitter::new(limit), Vec::new());
    let owned = |item: Item<'_>| (item.position, item.bytes.map(<[u8]>::to_vec));
    for piece in bytes.chunks(piece.max(1)) {
        splitter.feed_piece(piece);
        out.extend(splitter.take_items().par_iter().map(owned).collect::<Vec<_>>());
    }
    splitter.finish(None);
    out.extend(splitter.take_items().par_iter().map(owned).collect::<Vec<_>>());
    out
}

fn texts(items: &[Owned]) -> Vec<(u64, String)> {
    let text = |b: &Vec<u8>| String::from_utf8_lossy(b).trim().to_string();
    items.iter().map(|(at, bytes)| (*at, bytes.as_ref().map_or_else(|e| e.to_string(), text))).collect()
}

#[test]
fn lines_keep_their_numbers() {
    let items = split(b"\n{\"a\":1}\r\n\n  \n{\"b\":2}", 3, 1000);
    assert_eq!(texts(&items), [(2, "{\"a\":1}".into()), (5, "{\"b\":2}".into())]);
}

#[test]
fn array_elements_are_cut_at_their_own_commas() {
    let items = split(br#"[ {"a": "x,]\"}", "b": [1, 2]}, 7 ,{"c":{}} ]"#, 4, 1000);
    let want = [(1, r#"{"a": "x,]\"}", "b": [1, 2]}"#.into()), (2, "7".into()), (3, r#"{"c":{}}"#.into())];
    assert_eq!(texts(&items), want);
}

#[test]
fn a_broken_element_costs_only_itself() {
    let items = split(b"[\n{\"a\": \"x},\n{\"b\": 2},\n{\"c\": 3}\n]\n", 5, 1000);
    assert_eq!(texts(&items)[1..], [(2, "{\"b\": 2}".into()), (3, "{\"c\": 3}".into())]);
}

#[test]
fn objects_over_lines_and_lists_in_objects_are_cut() {
    let read = |shape: RecordForm, bytes: &[u8]| {
        let mut splitter = Splitter::for_shape(&shape, 1000);
        bytes.chunks(3).for_each(|piece| splitter.feed_piece(piece));
        splitter.finish(None);
        let items = splitter.take_items();
        let item = |at: usize| {
            let item = items.get(at).unwrap();
            assert!(
                bytes[items.start_of_item(at) as usize..bytes.len().min(items.end_of_item(at) as usize)]
                    .len()
                    >= item.bytes.unwrap().len()
            );
            (item.position, String::from_utf8_lossy(item.bytes.unwrap()).trim().to_owned())
        };
        (0..items.len()).map(item).collect::<Vec<_>>()
    };
    let values = b"{\n \"a\": \"}\"\n}{\n \"b\": {}\n}\n";
    assert_eq!(
        read(RecordForm::Values, values),
        [(1, "{\n \"a\": \"}\"\n}".into()), (2, "{\n \"b\": {}\n}".into())]
    );
    let wrapped = b"{\"n\": 2, \"data\": [{\"a\": 1}, {\"b\": 2}], \"more\": [{\"c\": 3}]}\n";
    assert_eq!(read(RecordForm::Within(18), wrapped), [(1, "{\"a\": 1}".into()), (2, "{\"b\": 2}".into())]);
}

#[test]
fn a_long_line_is_counted_and_not_kept() {
    let mut bytes = vec![b'x'; 5000];
    bytes.extend_from_slice(b"\nshort\n");
    let items = split(&bytes, 64, 100);
    assert_eq!(items[0].1, Err(Unread::Oversize(5000)));
    assert_eq!(texts(&items)[1], (2, "short".into()));
}

#[test]
fn an_open_array_says_so() {
    let items = split(b"[{\"a\":1},\n{\"b\":", 100, 1000);
    assert_eq!(items.len(), 3);
    assert!(matches!(items[2].1, Err(Unread::Truncated(_))));
}

/// Each item, read again from where it begins.
fn again(bytes: &[u8], limit: u64) -> (Vec<Owned>, Vec<Owned>) {
    let mut splitter = Splitter::new(limit);
    splitter.feed_piece(bytes);
    splitter.finish(None);
    let shape =
        if matches!(splitter.shape, SplitShape::Array(_)) { RecordForm::Array } else { RecordForm::Lines };
    let items = splitter.take_items();
    let owned = |item: Item<'_>| (item.position, item.bytes.map(<[u8]>::to_vec));
    let ends = |item: &Owned| matches!(item.1, Err(Unread::Truncated(_)));
    let all: Vec<Owned> = items.par_iter().map(owned).collect();
    let resumed = (0..items.len()).filter(|at| !ends(&all[*at])).map(|at| {
        let position = items.get(at).unwrap().position;
        let mut splitter = Splitter::resume_at(limit, &shape, position);
        splitter.feed_piece(&bytes[items.start_of_item(at) as usize..]);
        splitter.finish(None);
        owned(splitter.take_items().get(0).unwrap())
    });
    (resumed.collect(), all.into_iter().filter(|item| !ends(item)).collect())
}

proptest! {
    #[test]
    fn every_item_is_read_again_from_its_place(bytes in prop::collection::vec(prop::sample::select(b"[]{},:\"\\\n\r a1".to_vec()), 0..200)) {
        let (resumed, all) = again(&bytes, 50);
        // What is not blank begins behind blank lines that count.
        prop_assert_eq!(resumed, all);
    }

    #[test]
    fn pieces_do_not_matter(bytes in prop::collection::vec(prop::sample::select(b"[]{},:\"\\\n\r a1".to_vec()), 0..200), piece in 1usize..20) {
        prop_assert_eq!(split(&bytes, piece, 50), split(&bytes, bytes.len().max(1), 50));
    }
}
