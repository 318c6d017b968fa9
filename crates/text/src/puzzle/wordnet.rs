//! WordNet's database files, read as wndb(5) documents them.
//!
//! `index.<pos>` lists lemmas in order, each with the byte offsets of its senses in `data.<pos>`, most
//! frequent first; a line of `data.<pos>` is a synset: its words, its pointers, its gloss. Files are kept as
//! read; a lemma is found by binary search in the index, a synset by its offset.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WordNetError {
    /// A file is missing or unreadable.
    #[error("wordnet: cannot read {}: {source}\n  hint: Debian's wordnet-base puts the files into /usr/share/wordnet", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not in the documented format.
    #[error("wordnet: {}: {what}\n  hint: index.noun and data.noun must be of one version", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

/// A part of speech: one pair of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pos {
    /// Nouns.
    Noun,
    /// Verbs.
    Verb,
    /// Adjectives.
    Adjective,
    /// Adverbs.
    Adverb,
}

impl Pos {
    /// Every part of speech, most frequent answers first.
    pub const ALL: [Pos; 4] = [Pos::Noun, Pos::Verb, Pos::Adjective, Pos::Adverb];

    fn name(self) -> &'static str {
        match self {
            Pos::Noun => "noun",
            Pos::Verb => "verb",
            Pos::Adjective => "adj",
            Pos::Adverb => "adv",
        }
    }

    fn of_code(code: &str) -> Option<Pos> {
        Some(match code {
            "n" => Pos::Noun,
            "v" => Pos::Verb,
            "a" | "s" => Pos::Adjective,
            "r" => Pos::Adverb,
            _ => return None,
        })
    }
}

/// The place of a synset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The part of speech, which selects the file.
    pub pos: Pos,
    /// Byte offset in it.
    pub offset: usize,
}

/// A set of words with one meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synset {
    pub place: Place,
    /// Its words, with spaces between the parts of a collocation, and the lexicographer's capitals.
    pub words: Vec<String>,
    /// The lexicographers' file it belongs to: 5 is animals, 6 artifacts.
    pub file: u32,
    /// Prefix of each word's key in the list of counts: `lemma%type:file:id:`.
    pub keys: Vec<String>,
    /// Pointers to other synsets, with their symbols: `@` hypernym, `@i` of an instance, `~` and `~i` their converse.
    pub pointers: Vec<(String, Place)>,
    /// Its definition, with examples.
    pub gloss: String,
}

impl Synset {
    /// The synsets that a kind of pointer leads to.
    pub fn follow_pointers<'a>(&'a self, symbols: &'a [&'a str]) -> impl Iterator<Item = Place> + 'a {
        self.pointers.iter().filter(|(symbol, _)| symbols.contains(&symbol.as_str())).map(|(_, place)| *place)
    }
}

/// An opened database.
#[derive(Debug)]
pub struct WordNet {
    /// Index, data and exceptions of each part of speech present.
    files: Vec<(Pos, Files)>,
    /// How often each sense occurs in the texts tagged by WordNet's makers; empty if the list is missing.
    counts: String,
    /// How often each word occurs in glosses and in their examples; counted on first use.
    glosses: OnceLock<FxHashMap<String, Used>>,
    folder: PathBuf,
}

/// How often a word is used in glosses.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    in_all: u32,
    /// How many of these are in examples, which are sentences as people write them.
    in_examples: u32,
}

#[derive(Debug, Default)]
struct Files {
    index: String,
    data: String,
    exceptions: String,
}

impl WordNet {
    /// Reads a folder. Nouns are required; other parts of speech and the exception lists are optional.
    ///
    /// # Errors
    /// [`WordNetError`] naming the file.
    pub fn open(folder: &Path) -> Result<WordNet, WordNetError> {
        let read = |name: String, needed: bool| {
            let path = folder.join(name);
            match fs::read(&path) {
                Ok(bytes) => {
                    String::from_utf8(bytes).map_err(|e| WordNetError::Format { path, what: e.to_string() })
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound && !needed => Ok(String::new()),
                Err(source) => Err(WordNetError::Io { path, source }),
            }
        };
        let mut files = Vec::new();
        for pos in Pos::ALL {
            let index = read(format!("index.{}", pos.name()), pos == Pos::Noun)?;
            // An index without its data would only fail at the first lookup.
            let data = read(format!("data.{}", pos.name()), pos == Pos::Noun || !index.is_empty())?;
            let exceptions = read(format!("{}.exc", pos.name()), false)?;
            if !index.is_empty() {
                files.push((pos, Files { index, data, exceptions }));
            }
        }
        let counts = read("cntlist.rev".into(), false)?;
        Ok(WordNet { files, counts, glosses: OnceLock::new(), folder: folder.to_path_buf() })
    }

    /// How often a word occurs in a sense, in the texts tagged by WordNet's makers.
    pub fn count_uses(&self, sense: &Synset, word: &str) -> u64 {
        let Some((_, key)) =
            sense.words.iter().zip(&sense.keys).find(|(own, _)| own.eq_ignore_ascii_case(word))
        else {
            return 0;
        };
        // `key::head number count`; the key of a satellite ends in its head word.
        let lines =
            lines_starting(&self.counts, key).filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        lines.sum()
    }

    /// How often a word, in lower case, occurs in glosses, which explain other words.
    pub fn in_glosses(&self, word: &str) -> u32 {
        self.usage_of_word(word).in_all
    }

    /// How often a word, in lower case, occurs in the examples that glosses quote.
    pub fn in_examples(&self, word: &str) -> u32 {
        self.usage_of_word(word).in_examples
    }

    fn usage_of_word(&self, word: &str) -> Used {
        let count = || {
            let mut counts: FxHashMap<String, Used> = FxHashMap::default();
            let lines = self.files.iter().flat_map(|(_, files)| files.data.lines());
            for (_, gloss) in lines.filter_map(|line| line.split_once('|')) {
                // Every second piece between quotation marks is an example.
                for (at, piece) in gloss.split('"').enumerate() {
                    for word in piece.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
                        let used = counts.entry(word.to_lowercase()).or_default();
                        used.in_all += 1;
                        used.in_examples += (at % 2) as u32;
                    }
                }
            }
            counts
        };
        self.glosses.get_or_init(count).get(word).copied().unwrap_or_default()
    }

    /// Whether the database has word frequencies.
    pub fn has_counts(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Whether the word itself, not a base form of it, is listed as this part of speech.
    pub fn is_listed(&self, word: &str, pos: Pos) -> bool {
        let lemma = word.to_lowercase().replace(' ', "_");
        self.files.iter().any(|(of, files)| *of == pos && find_line(&files.index, &lemma).is_some())
    }

    /// A hash of all files, for decisions that depend on them.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (pos, files) in &self.files {
            for part in [pos.name(), &files.index, &files.data, &files.exceptions] {
                // With the lengths, no text can move from one file to the next without another hash.
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        hasher.update(self.counts.as_bytes());
        hasher.finalize().to_hex()[..16].to_string()
    }

    /// The senses of a word, by part of speech and then by frequency. If the word itself is not listed, its
    /// base forms are looked up: `swallows`, `mice`.
    ///
    /// # Errors
    /// [`WordNetError::Format`] if a file is damaged.
    pub fn find_senses(&self, word: &str) -> Result<Vec<Synset>, WordNetError> {
        let lemma = word.to_lowercase().replace(' ', "_");
        let mut senses = Vec::new();
        for (pos, files) in &self.files {
            let forms = std::iter::once(lemma.clone()).chain(base_forms(*pos, &lemma, &files.exceptions));
            let Some(line) = forms.into_iter().find_map(|form| find_line(&files.index, &form)) else {
                continue;
            };
            for offset in self.parse_offsets(*pos, line)? {
                senses.push(self.read_synset(Place { pos: *pos, offset })?);
            }
        }
        Ok(senses)
    }

    /// The synset at a place.
    ///
    /// # Errors
    /// [`WordNetError::Format`] if there is none.
    pub fn read_synset(&self, place: Place) -> Result<Synset, WordNetError> {
        let files = self.files.iter().find(|(pos, _)| *pos == place.pos).map(|(_, files)| files);
        let line = files.and_then(|files| files.data.get(place.offset..)?.lines().next());
        line.and_then(|line| parse_synset(line, place)).ok_or_else(|| {
            self.format_error("data", place.pos, format!("no synset at byte {}", place.offset))
        })
    }

    /// `lemma pos synset_cnt p_cnt [ptr_symbol…] sense_cnt tagsense_cnt synset_offset…`
    fn parse_offsets(&self, pos: Pos, line: &str) -> Result<Vec<usize>, WordNetError> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<usize>().ok());
        let offsets = number(2).zip(number(3)).and_then(|(senses, pointers)| {
            let offsets: Vec<usize> =
                (6 + pointers..6 + pointers + senses).map(number).collect::<Option<_>>()?;
            Some(offsets)
        });
        offsets.ok_or_else(|| self.format_error("index", pos, format!("this line is not an entry: {line:?}")))
    }

    fn format_error(&self, kind: &str, pos: Pos, what: String) -> WordNetError {
        WordNetError::Format { path: self.folder.join(format!("{kind}.{}", pos.name())), what }
    }
}

/// The line of a sorted file that begins with a word and a space. Lines of the licence begin with two spaces,
/// so they sort before every word.
fn find_line<'a>(sorted: &'a str, word: &str) -> Option<&'a str> {
    let bytes = sorted.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = (low + high) / 2;
        let start = bytes[..middle].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let end = bytes[middle..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |at| middle + at);
        let line = &sorted[start..end];
        let head = if line.starts_with(' ') { "" } else { line.split(' ').next().unwrap_or_default() };
        match head.cmp(word) {
            std::cmp::Ordering::Equal => return Some(line),
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

/// The lines of a sorted file that begin with a text.
fn lines_starting<'a>(sorted: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let bytes = sorted.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = (low + high) / 2;
        let start = bytes[..middle].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let end = bytes[middle..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |at| middle + at + 1);
        if &bytes[start..end] < text.as_bytes() {
            low = end;
        } else {
            high = start;
        }
    }
    sorted[low..].lines().take_while(move |line| line.starts_with(text))
}

/// `synset_offset lex_filenum ss_type w_cnt word lex_id… p_cnt ptr… [frames…] | gloss`
fn parse_synset(line: &str, place: Place) -> Option<Synset> {
    let (head, gloss) = line.split_once('|')?;
    let mut fields = head.split_whitespace();
    let offset: usize = fields.next()?.parse().ok()?;
    let lexicographer: u32 = fields.next()?.parse().ok()?;
    let code = fields.next()?;
    let pos = Pos::of_code(code)?;
    let kind = ["n", "v", "a", "r", "s"].iter().position(|of| *of == code)? + 1;
    // A line repeats its own offset, so an index of another version is noticed here.
    if offset != place.offset || pos != place.pos {
        return None;
    }
    // The format has this number in hexadecimal, and that of the pointers in decimal.
    let count = usize::from_str_radix(fields.next()?, 16).ok()?;
    let (mut words, mut keys) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let word = fields.next()?;
        // Adjectives may carry a syntactic marker: `galore(ip)`.
        let word = word.split_once('(').map_or(word, |(word, _)| word);
        words.push(word.replace('_', " "));
        let id = u32::from_str_radix(fields.next()?, 16).ok()?;
        keys.push(format!("{}%{kind}:{lexicographer:02}:{id:02}:", word.to_lowercase()));
    }
    let count: usize = fields.next()?.parse().ok()?;
    let mut pointers = Vec::with_capacity(count);
    for _ in 0..count {
        let symbol = fields.next()?.to_owned();
        let offset: usize = fields.next()?.parse().ok()?;
        let pos = Pos::of_code(fields.next()?)?;
        fields.next()?;
        pointers.push((symbol, Place { pos, offset }));
    }
    Some(Synset { place, words, file: lexicographer, keys, pointers, gloss: gloss.trim().to_owned() })
}

/// Base forms of an inflected word: those in the exception list, else by the rules of morphology(7).
fn base_forms(pos: Pos, word: &str, exceptions: &str) -> Vec<String> {
    if let Some(line) = find_line(exceptions, word) {
        return line.split(' ').skip(1).map(str::to_owned).collect();
    }
    let rules: &[(&str, &str)] = match pos {
        Pos::Noun => &[
            ("s", ""),
            ("ses", "s"),
            ("xes", "x"),
            ("zes", "z"),
            ("ches", "ch"),
            ("shes", "sh"),
            ("men", "man"),
            ("ies", "y"),
        ],
        Pos::Verb => &[
            ("s", ""),
            ("ies", "y"),
            ("es", "e"),
            ("es", ""),
            ("ed", "e"),
            ("ed", ""),
            ("ing", "e"),
            ("ing", ""),
        ],
        Pos::Adjective => &[("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
        Pos::Adverb => &[],
    };
    let detached =
        rules.iter().filter_map(|(ending, base)| Some(format!("{}{base}", word.strip_suffix(ending)?)));
    detached.filter(|form| form.len() > 1).collect()
}

/// Writes a small database in the documented format, for samples and tests.
pub mod write {
    use std::collections::BTreeMap;

    /// A synset to write: its words, the index of its hypernym, whether it is an instance of it, and its
    /// gloss.
    pub type Line<'a> = (&'a [&'a str], Option<usize>, bool, &'a str);

    /// `index.noun` and `data.noun` of these synsets, in order.
    pub fn format_nouns(licence: &str, synsets: &[Line<'_>]) -> (String, String) {
        let header: String =
            licence.lines().enumerate().map(|(i, line)| format!("  {} {line}  \n", i + 1)).collect();
        let place = |offset: usize| format!("{offset:08}");
        // Offsets have a fixed width, so a first pass with zeros gives the length of every line.
        let mut offsets = vec![0; synsets.len()];
        let mut data = String::new();
        for _ in 0..2 {
            data.clone_from(&header);
            for (at, (words, hypernym, instance, gloss)) in synsets.iter().enumerate() {
                let names: String =
                    words.iter().map(|word| format!("{} 0 ", word.replace(' ', "_"))).collect();
                let mark = |instance: bool| if instance { "i" } else { "" };
                let up = hypernym.map(|to| format!("@{} {} n 0000", mark(*instance), place(offsets[to])));
                let down = synsets.iter().enumerate().filter(|(_, line)| line.1 == Some(at));
                let down = down.map(|(to, line)| format!("~{} {} n 0000", mark(line.2), place(offsets[to])));
                let pointers: Vec<String> = up.into_iter().chain(down).collect();
                let own = data.len();
                data.push_str(&format!(
                    "{} 03 n {:02x} {names}{:03} {} | {gloss}  \n",
                    place(own),
                    words.len(),
                    pointers.len(),
                    pointers.join(" "),
                ));
                offsets[at] = own;
            }
        }
        let mut senses: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for ((words, ..), offset) in synsets.iter().zip(&offsets) {
            for word in *words {
                senses.entry(word.to_lowercase().replace(' ', "_")).or_default().push(*offset);
            }
        }
        let line = |(lemma, offsets): (&String, &Vec<usize>)| {
            let list: String = offsets.iter().map(|offset| format!(" {}", place(*offset))).collect();
            format!("{lemma} n {0} 2 @ ~ {0} 0{list}  \n", offsets.len())
        };
        (header + &senses.iter().map(line).collect::<String>(), data)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A database of birds, capitals and two other meanings.
    pub(crate) fn small_database() -> (tempfile::TempDir, WordNet) {
        let synsets: &[write::Line<'_>] = &[
            (&["bird"], None, false, "an animal with feathers and wings"),
            (&["swallow", "martlet"], Some(0), false, "a small bird with a forked tail"),
            (&["duck"], Some(0), false, "a bird that swims"),
            (&["house sparrow", "sparrow"], Some(0), false, "a small brown bird"),
            (&["national capital"], None, false, "the city where a government sits"),
            (&["Rome", "Eternal City"], Some(4), true, "the capital of Italy"),
            (&["Paris"], Some(4), true, "the capital of France"),
            (&["Oslo"], Some(4), true, "the capital of Norway"),
            (&["gulp"], None, false, "an amount of drink"),
            (&["swallow", "sup"], Some(8), false, "a small amount of liquid"),
            (&["swig"], Some(8), false, "a large draught"),
        ];
        let (index, data) = write::format_nouns("Written for a test.\nNo licence is needed.", synsets);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("index.noun"), index).unwrap();
        fs::write(folder.path().join("data.noun"), data).unwrap();
        fs::write(folder.path().join("noun.exc"), "geese goose\nsparrowes sparrow\n").unwrap();
        let wordnet = WordNet::open(folder.path()).unwrap();
        (folder, wordnet)
    }

    #[test]
    fn words_pointers_and_glosses_are_read() {
        let (_folder, wordnet) = small_database();
        let senses = wordnet.find_senses("Swallow").unwrap();
        assert_eq!(senses.len(), 2);
        assert_eq!(
            (senses[0].words.as_slice(), senses[0].gloss.as_str()),
            (&["swallow".to_owned(), "martlet".to_owned()][..], "a small bird with a forked tail")
        );
        let bird = wordnet.read_synset(senses[0].follow_pointers(&["@"]).next().unwrap()).unwrap();
        assert_eq!((bird.words[0].as_str(), bird.follow_pointers(&["~"]).count()), ("bird", 3));
        assert_eq!(wordnet.find_senses("house sparrow").unwrap().len(), 1);
        assert_eq!(wordnet.find_senses("nothing").unwrap(), []);
    }

    #[test]
    fn inflected_words_are_found_by_their_base() {
        let (_folder, wordnet) = small_database();
        for word in ["swallows", "DUCKS", "sparrowes"] {
            assert!(!wordnet.find_senses(word).unwrap().is_empty(), "{word}");
        }
        assert_eq!(base_forms(Pos::Noun, "ponies", ""), ["ponie", "pony"]);
        assert_eq!(base_forms(Pos::Verb, "riding", ""), ["ride", "rid"]);
    }

    #[test]
    fn what_is_damaged_is_named() {
        let (folder, _) = small_database();
        let data = fs::read_to_string(folder.path().join("data.noun")).unwrap();
        fs::write(folder.path().join("data.noun"), format!("x{data}")).unwrap();
        let error = WordNet::open(folder.path()).unwrap().find_senses("duck").unwrap_err().to_string();
        assert!(error.contains("data.noun") && error.contains("no synset at byte"), "{error}");
        fs::remove_file(folder.path().join("index.noun")).unwrap();
        assert!(WordNet::open(folder.path()).unwrap_err().to_string().contains("index.noun"));
    }
}
