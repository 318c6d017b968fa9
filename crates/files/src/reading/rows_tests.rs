//! Tables of text, by the rules and against them.

use proptest::prelude::*;

use super::*;

/// Cells of each row, parted by `|`, behind the number of its line; what is wrong begins with `!`.
fn rows(text: &str) -> Vec<String> {
    let dialect = Dialect::guess_dialect(text.as_bytes());
    let mut reader = RowReader::new(&text.as_bytes()[dialect.skip..], dialect, 1 << 20);
    let mut found = Vec::new();
    while let Some(row) = reader.next_row().unwrap() {
        if found.is_empty() {
            reader
                .expect_columns(row.cells.len(), dialect.count_spare_cells(text.as_bytes(), row.cells.len()));
        }
        let cells: Vec<String> =
            row.cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let mark = match row.fault {
            None => "",
            Some(RowFault::Unclosed(_)) => "!quote ",
            Some(RowFault::TooMany { .. }) => "!many ",
            Some(RowFault::Unnamed { .. }) => "!unnamed ",
            Some(RowFault::Rest { .. }) => "!rest ",
        };
        found.push(format!("{mark}{} {}", row.line, cells.join("|")));
    }
    found
}

#[test]
fn a_quote_that_is_never_closed_costs_its_row_only() {
    let table = "id,text,who\n1,\"open,a\n2,two,b\n3,\"three\",c\n4,four,d\n";
    assert_eq!(rows(table)[1..], ["!quote 2 1|\"open|a", "3 2|two|b", "4 3|three|c", "5 4|four|d"]);
    // To the end of the file, and with the end of lines that Windows writes.
    let table = "id,text,who\r\n1,\"open,a\r\n2,two,b\r\n";
    assert_eq!(rows(table)[1..], ["!quote 2 1|\"open|a", "3 2|two|b"]);
    // A later stray quote closes nothing that looks like rows.
    let table = "id,text\n1,\"open\n2,two\n3,three\n4,four\n5,five\"\n6,six\n";
    assert_eq!(rows(table)[1], "!quote 2 1|\"open");
    assert_eq!(rows(table)[2..], ["3 2|two", "4 3|three", "5 4|four", "6 5|five\"", "7 6|six"]);
    // What a broken quote leaves of a text of several lines is no row.
    let table = "id,text,who\n1,\"he said \"no\" and\nleft,a\n2,two,b\n";
    assert_eq!(rows(table)[1..], ["!quote 2 1|\"he said \"no\" and", "!rest 3 left|a", "4 2|two|b"]);
}

#[test]
fn a_cell_too_many_is_told_though_it_is_empty() {
    // The last column is empty, and a comma stands in the text.
    let table = "id,text,who\n1,one,a\n2,two, or more,\n3,three,\n4,four,b\n";
    assert_eq!(rows(table)[1..], ["2 1|one|a", "!many 3 2|two| or more|", "4 3|three|", "5 4|four|b"]);
    // Every row ends with what parts columns: the cell behind it is none, and the next one is.
    let table = "id,text\n1,one,\n2,two,\n3,three,\n4,four, or more,\n5,five,\n6,,\n7,seven,\n";
    let found = rows(table);
    assert_eq!(found[1..4], ["2 1|one|", "3 2|two|", "4 3|three|"]);
    assert_eq!(found[4..], ["!many 5 4|four| or more|", "6 5|five|", "7 6||", "8 7|seven|"]);
    // Nothing parts one column.
    assert_eq!(rows("text\none, two,\nthree\nfour\n")[1..], ["2 one, two,", "3 three", "4 four"]);
}

#[test]
fn texts_of_several_lines_and_quotes_in_texts_are_read() {
    let table = "id,text\n1,\"one\ntwo, \"\"three\"\"\"\n2,\"a \\\"b\\\", c\"\n3,\"go\" she said\n4,\"he said \"go\", twice\"\n5, \"a, b\"\n";
    assert_eq!(
        rows(table)[1..],
        [
            "2 1|one\ntwo, \"three\"",
            "4 2|a \"b\", c",
            "5 3|\"go\" she said",
            "6 4|he said \"go\", twice",
            "7 5|a, b"
        ]
    );
    assert_eq!(rows("a,b\n\n1,\n,2"), ["1 a|b", "3 1|", "4 |2"]);
    assert_eq!(rows("sep=;\r\na;b\r\n1;2\r\n"), ["2 a|b", "3 1|2"]);
}

#[test]
fn a_mark_at_the_start_of_a_cell_between_tabs_is_text_unless_the_file_quotes() {
    let table = "id\ttext\n1\t\"So what\n2\t\"Go\" they said\n3\t\"All of it\"\n4\tx\n";
    assert_eq!(rows(table)[1..], ["2 1|\"So what", "3 2|\"Go\" they said", "4 3|\"All of it\"", "5 4|x"]);
    let table = "id\ttext\n1\t\"one\ttwo\"\n2\t\"say \"\"no\"\"\"\n";
    assert_eq!(rows(table)[1..], ["2 1|one\ttwo", "3 2|say \"no\""]);
}

#[test]
fn cells_beyond_the_columns_are_named_though_they_are_empty() {
    let table = "id,text,who\n1,one, two,a\n2,two,b,,\n3,three\n";
    assert_eq!(rows(table)[1..], ["!many 2 1|one| two|a", "!many 3 2|two|b||", "4 3|three"]);
    let table = "id,text,who\n1,one\nand two,a\n2,three,b\n3,four\n4,five\n";
    assert_eq!(
        rows(table)[1..],
        ["!rest 2 1|one", "!rest 3 and two|a", "4 2|three|b", "5 3|four", "6 4|five"]
    );
    let table = " id | text \n----+------\n 1 | one two\n";
    assert_eq!(rows(table), ["1 id|text", "3 1|one two"]);
    assert_eq!(rows("text\none, two\nthree\n")[1..], ["2 one, two", "3 three"]);
}

proptest! {
    /// Whatever is written by the rules is read as it was, in pieces of any size.
    #[test]
    fn a_table_by_the_rules_is_read_as_written(texts in prop::collection::vec("[a\"\n, \\u{4e91}x]{1,8}", 1..6)) {
        let mut written = "id,text\n".to_owned();
        for (at, text) in texts.iter().enumerate() {
            written.push_str(&format!("{at},\"{}\"\n", text.replace('"', "\"\"")));
        }
        let dialect = Dialect { delimiter: b',', skip: 0, has_quotes: true, is_strict: true };
        let mut reader = RowReader::new(written.as_bytes(), dialect, 1 << 20);
        let header = reader.next_row().unwrap().unwrap();
        reader.expect_columns(header.cells.len(), 0);
        for (at, text) in texts.iter().enumerate() {
            let row = reader.next_row().unwrap().unwrap();
            prop_assert_eq!(row.cells[0].clone(), at.to_string().into_bytes());
            prop_assert_eq!(String::from_utf8_lossy(&row.cells[1]), text.as_str());
        }
        prop_assert!(reader.next_row().unwrap().is_none());
    }

    #[test]
    fn any_text_is_read_to_its_end(text in "[a1\"\n\r,\t \\\\]{0,60}") {
        let lines = text.matches('\n').count() as u64 + 1;
        let dialect = Dialect::guess_dialect(text.as_bytes());
        let mut reader = RowReader::new(&text.as_bytes()[dialect.skip..], dialect, 1 << 20);
        while let Some(row) = reader.next_row().unwrap() {
            reader.expect_columns(2, 0);
            prop_assert!(row.line <= lines);
        }
    }
}
