//! numpy's arrays of Python objects, the format in which BrainTeaser is published: a header, followed by a pickle.
//!
//! Only what such an array contains is read of the pickle: dictionaries, lists, texts, numbers, None, True and False, and
//! numpy's own objects. A pickle can call any Python function; here nothing is called, and everything unknown is an error.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// What a file begins with.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// The most bytes of a file that are read: it is held in memory.
pub(super) const MOST: u64 = 1 << 30;

/// Values nested deeper than this are not rows of a benchmark.
const DEPTH: usize = 64;

/// The elements of an array, each as JSON in Python's notation.
///
/// # Errors
/// An error if it is not such an array.
pub fn parse_array(bytes: &[u8]) -> Result<Vec<String>, &'static str> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is not a numpy array")?;
    let (major, rest) = rest.split_first().ok_or(CUT)?;
    // The minor version changes nothing.
    let rest = rest.get(1..).ok_or(CUT)?;
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or(CUT)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        _ => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or(CUT)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
    };
    let header = rest.get(..length).ok_or(CUT)?;
    let header = String::from_utf8_lossy(header);
    if !header.contains("'|O'") && !header.contains("\"|O\"") {
        return Err("the array contains numbers instead of objects");
    }
    let value = Machine::new(&rest[length..]).run_program()?;
    let elements = match value {
        Value::Array(elements) | Value::List(elements) => elements.borrow().clone(),
        other => vec![other],
    };
    // The limit is for all elements together, because they may share large parts.
    let mut left = MOST as usize;
    let text = |element: &Value| -> Result<String, &'static str> {
        let mut text = String::new();
        element.write_json(&mut text, 0, left)?;
        left = left.saturating_sub(text.len());
        Ok(text)
    };
    elements.iter().map(text).collect()
}

/// What several places of an array may share.
type SharedItems<T> = Rc<RefCell<Vec<T>>>;

fn share_items<T>(items: Vec<T>) -> SharedItems<T> {
    Rc::new(RefCell::new(items))
}

const CUT: &str = "the array ends in the middle";
const FOREIGN: &str = "the array contains objects other than dictionaries, lists, strings and numbers";

#[derive(Clone, Debug)]
enum Value {
    None,
    Flag(bool),
    /// As Python writes it.
    Number(String),
    Text(String),
    Bytes(Vec<u8>),
    List(SharedItems<Value>),
    Tuple(Vec<Value>),
    Dict(SharedItems<(Value, Value)>),
    /// `module name`, which is only looked at.
    Global(String),
    /// What numpy makes an array or its type of; a number of numpy's own is its bytes.
    Array(SharedItems<Value>),
    Scalar(String),
    Type(String),
    Mark,
}

impl Value {
    /// Writes at most so many bytes: what is shared may be small here and endless there.
    fn write_json(&self, text: &mut String, depth: usize, most: usize) -> Result<(), &'static str> {
        if depth > DEPTH || text.len() > most {
            return Err("the array is nested too deeply, or too large");
        }
        let list = |text: &mut String, items: &[Value]| -> Result<(), &'static str> {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                item.write_json(text, depth + 1, most)?;
            }
            text.push(']');
            Ok(())
        };
        match self {
            Value::None => text.push_str("null"),
            Value::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) | Value::Scalar(number) => text.push_str(number),
            Value::Text(value) => text.push_str(&serde_json::Value::from(value.as_str()).to_string()),
            Value::Tuple(items) => list(text, items)?,
            Value::List(items) | Value::Array(items) => list(text, &items.borrow())?,
            Value::Dict(members) => {
                text.push('{');
                for (at, (key, value)) in members.borrow().iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    match key {
                        Value::Text(_) => key.write_json(text, depth + 1, most)?,
                        Value::Number(number) => drop(write!(text, "\"{number}\"")),
                        _ => return Err(FOREIGN),
                    }
                    text.push_str(": ");
                    value.write_json(text, depth + 1, most)?;
                }
                text.push('}');
            }
            Value::Bytes(_) | Value::Global(_) | Value::Type(_) | Value::Mark => return Err(FOREIGN),
        }
        Ok(())
    }
}

/// A real number as Python's `repr`, with the words that its JSON has for what is none.
fn real_number(x: f64) -> Value {
    Value::Number(match x {
        x if x.is_nan() => "NaN".into(),
        x if x.is_infinite() => if x > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        x => serde_json::Number::from_f64(x).map_or_else(String::new, |number| number.to_string()),
    })
}

/// The machine that a pickle is a program of.
struct Machine<'b> {
    rest: &'b [u8],
    stack: Vec<Value>,
    memo: Vec<Option<Value>>,
}

impl<'b> Machine<'b> {
    fn new(rest: &'b [u8]) -> Machine<'b> {
        Machine { rest, stack: Vec::new(), memo: Vec::new() }
    }

    fn take_bytes(&mut self, length: usize) -> Result<&'b [u8], &'static str> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(CUT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn read_number<const N: usize>(&mut self) -> Result<u64, &'static str> {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(self.take_bytes(N)?);
        Ok(u64::from_le_bytes(bytes))
    }

    fn read_sized<const N: usize>(&mut self) -> Result<&'b [u8], &'static str> {
        let length = self.read_number::<N>()?;
        self.take_bytes(usize::try_from(length).map_err(|_| CUT)?)
    }

    fn read_line(&mut self) -> Result<String, &'static str> {
        let end = self.rest.iter().position(|b| *b == b'\n').ok_or(CUT)?;
        let line = String::from_utf8_lossy(self.take_bytes(end)?).into_owned();
        self.take_bytes(1)?;
        Ok(line)
    }

    fn pop(&mut self) -> Result<Value, &'static str> {
        self.stack.pop().ok_or(FOREIGN)
    }

    /// What is above the last mark.
    fn pop_to_mark(&mut self) -> Result<Vec<Value>, &'static str> {
        let mark = self.stack.iter().rposition(|value| matches!(value, Value::Mark)).ok_or(FOREIGN)?;
        let above = self.stack.split_off(mark + 1);
        self.stack.pop();
        Ok(above)
    }

    fn text_value(bytes: &[u8]) -> Value {
        Value::Text(String::from_utf8_lossy(bytes).into_owned())
    }

    fn remember_top(&mut self, place: usize) -> Result<(), &'static str> {
        // A damaged file must not make the memo take all memory.
        if place > self.memo.len() + (1 << 20) {
            return Err(FOREIGN);
        }
        if self.memo.len() <= place {
            self.memo.resize(place + 1, None);
        }
        self.memo[place] = self.stack.last().cloned();
        Ok(())
    }

    fn push_remembered(&mut self, place: usize) -> Result<(), &'static str> {
        let value = self.memo.get(place).cloned().flatten().ok_or(FOREIGN)?;
        self.stack.push(value);
        Ok(())
    }

    fn extend(&mut self, items: Vec<Value>) -> Result<(), &'static str> {
        match self.stack.last_mut() {
            Some(Value::List(list)) => list.borrow_mut().extend(items),
            _ => return Err(FOREIGN),
        }
        Ok(())
    }

    fn insert_members(&mut self, items: Vec<Value>) -> Result<(), &'static str> {
        let Some(Value::Dict(members)) = self.stack.last_mut() else { return Err(FOREIGN) };
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            members.borrow_mut().push((key, value));
        }
        Ok(())
    }

    fn run_program(mut self) -> Result<Value, &'static str> {
        loop {
            let code = self.take_bytes(1)?[0];
            match code {
                // The number of the protocol and the length of a frame are not needed.
                0x80 => drop(self.take_bytes(1)?),
                0x95 => drop(self.take_bytes(8)?),
                b'.' => return self.pop(),
                b'(' => self.stack.push(Value::Mark),
                b'0' => drop(self.pop()?),
                b'N' => self.stack.push(Value::None),
                0x88 => self.stack.push(Value::Flag(true)),
                0x89 => self.stack.push(Value::Flag(false)),
                b'K' => {
                    let n = self.read_number::<1>()?;
                    self.stack.push(Value::Number(n.to_string()));
                }
                b'M' => {
                    let n = self.read_number::<2>()?;
                    self.stack.push(Value::Number(n.to_string()));
                }
                b'J' => {
                    let n = self.read_number::<4>()? as u32 as i32;
                    self.stack.push(Value::Number(n.to_string()));
                }
                0x8a => {
                    let bytes = self.read_sized::<1>()?;
                    if bytes.len() > 8 {
                        return Err(FOREIGN);
                    }
                    let sign = if bytes.last().is_some_and(|b| b >> 7 == 1) { 0xff } else { 0 };
                    let mut whole = [sign; 8];
                    whole[..bytes.len()].copy_from_slice(bytes);
                    self.stack.push(Value::Number(i64::from_le_bytes(whole).to_string()));
                }
                b'I' | b'L' => {
                    let line = self.read_line()?;
                    self.stack.push(match (code, line.as_str()) {
                        (b'I', "00") => Value::Flag(false),
                        (b'I', "01") => Value::Flag(true),
                        (_, number) => {
                            let number = number.trim_end_matches('L');
                            number.parse::<i64>().map_err(|_| FOREIGN)?;
                            Value::Number(number.to_owned())
                        }
                    });
                }
                b'G' => {
                    let bytes: [u8; 8] = self.take_bytes(8)?.try_into().map_err(|_| CUT)?;
                    self.stack.push(real_number(f64::from_be_bytes(bytes)));
                }
                b'F' => {
                    let line = self.read_line()?;
                    self.stack.push(real_number(line.parse().map_err(|_| FOREIGN)?));
                }
                b'X' => {
                    let bytes = self.read_sized::<4>()?;
                    self.stack.push(Self::text_value(bytes));
                }
                0x8c => {
                    let bytes = self.read_sized::<1>()?;
                    self.stack.push(Self::text_value(bytes));
                }
                0x8d => {
                    let bytes = self.read_sized::<8>()?;
                    self.stack.push(Self::text_value(bytes));
                }
                b'B' => {
                    let bytes = self.read_sized::<4>()?.to_vec();
                    self.stack.push(Value::Bytes(bytes));
                }
                b'C' | b'U' => {
                    let bytes = self.read_sized::<1>()?.to_vec();
                    self.stack.push(Value::Bytes(bytes));
                }
                b']' => self.stack.push(Value::List(share_items(Vec::new()))),
                b'}' => self.stack.push(Value::Dict(share_items(Vec::new()))),
                b')' => self.stack.push(Value::Tuple(Vec::new())),
                b'a' => {
                    let item = self.pop()?;
                    self.extend(vec![item])?;
                }
                b'e' => {
                    let items = self.pop_to_mark()?;
                    self.extend(items)?;
                }
                b's' => {
                    let value = self.pop()?;
                    let key = self.pop()?;
                    self.insert_members(vec![key, value])?;
                }
                b'u' => {
                    let items = self.pop_to_mark()?;
                    self.insert_members(items)?;
                }
                b't' => {
                    let items = self.pop_to_mark()?;
                    self.stack.push(Value::Tuple(items));
                }
                b'l' => {
                    let items = self.pop_to_mark()?;
                    self.stack.push(Value::List(share_items(items)));
                }
                b'd' => {
                    let items = self.pop_to_mark()?;
                    self.stack.push(Value::Dict(share_items(Vec::new())));
                    self.insert_members(items)?;
                }
                0x85..=0x87 => {
                    let length = usize::from(code - 0x84);
                    let from = self.stack.len().checked_sub(length).ok_or(FOREIGN)?;
                    let items = self.stack.split_off(from);
                    self.stack.push(Value::Tuple(items));
                }
                b'q' => {
                    let place = self.read_number::<1>()? as usize;
                    self.remember_top(place)?;
                }
                b'r' => {
                    let place = self.read_number::<4>()? as usize;
                    self.remember_top(place)?;
                }
                b'p' => {
                    let place = self.read_line()?.parse().map_err(|_| FOREIGN)?;
                    self.remember_top(place)?;
                }
                0x94 => self.remember_top(self.memo.len())?,
                b'h' => {
                    let place = self.read_number::<1>()? as usize;
                    self.push_remembered(place)?;
                }
                b'j' => {
                    let place = self.read_number::<4>()? as usize;
                    self.push_remembered(place)?;
                }
                b'g' => {
                    let place = self.read_line()?.parse().map_err(|_| FOREIGN)?;
                    self.push_remembered(place)?;
                }
                b'c' => {
                    let global = format!("{} {}", self.read_line()?, self.read_line()?);
                    self.stack.push(Value::Global(global));
                }
                0x93 => {
                    let (name, module) = (self.pop()?, self.pop()?);
                    let (Value::Text(name), Value::Text(module)) = (name, module) else {
                        return Err(FOREIGN);
                    };
                    self.stack.push(Value::Global(format!("{module} {name}")));
                }
                b'R' => {
                    let (given, called) = (self.pop()?, self.pop()?);
                    let object = construct_value(called, given)?;
                    self.stack.push(object);
                }
                b'b' => {
                    let state = self.pop()?;
                    let built = self.pop()?;
                    self.stack.push(built_of(built, state)?);
                }
                _ => return Err(FOREIGN),
            }
        }
    }
}

/// What numpy's own constructors make: an array, the type of its elements, a number.
fn construct_value(called: Value, given: Value) -> Result<Value, &'static str> {
    let (Value::Global(name), Value::Tuple(given)) = (called, given) else { return Err(FOREIGN) };
    // numpy 2 has another name for the module.
    let name = name.replace("numpy._core.", "numpy.core.");
    match (name.as_str(), given.as_slice()) {
        ("numpy.core.multiarray _reconstruct", _) => Ok(Value::Array(share_items(Vec::new()))),
        ("numpy dtype", [Value::Text(kind), ..]) => Ok(Value::Type(kind.clone())),
        ("numpy.core.multiarray scalar", [Value::Type(kind), Value::Bytes(bytes)]) => {
            parse_scalar(kind, bytes)
        }
        // How a pickle of protocol 2 writes bytes.
        ("_codecs encode", [Value::Text(text), ..]) => {
            let bytes: Result<Vec<u8>, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
            Ok(Value::Bytes(bytes.map_err(|_| FOREIGN)?))
        }
        _ => Err(FOREIGN),
    }
}

/// The last element of an array's state is the list of what it holds.
fn built_of(built: Value, state: Value) -> Result<Value, &'static str> {
    match (built, state) {
        // In place, so that memoised references to it see the same array.
        (Value::Array(array), Value::Tuple(mut state)) => match state.pop() {
            Some(Value::List(elements)) => {
                let elements = elements.borrow().clone();
                *array.borrow_mut() = elements;
                Ok(Value::Array(array))
            }
            _ => Err(FOREIGN),
        },
        (kind @ Value::Type(_), _) => Ok(kind),
        _ => Err(FOREIGN),
    }
}

/// A number of numpy's own, in the order of bytes of the machines that there are.
fn parse_scalar(kind: &str, bytes: &[u8]) -> Result<Value, &'static str> {
    let number = match (kind, bytes) {
        ("i8" | "u8", _) if bytes.len() == 8 => {
            i64::from_le_bytes(bytes.try_into().map_err(|_| CUT)?).to_string()
        }
        ("i4", _) if bytes.len() == 4 => i32::from_le_bytes(bytes.try_into().map_err(|_| CUT)?).to_string(),
        ("f8", _) if bytes.len() == 8 => {
            let Value::Number(number) = real_number(f64::from_le_bytes(bytes.try_into().map_err(|_| CUT)?))
            else {
                return Err(FOREIGN);
            };
            number
        }
        ("b1", [flag]) => return Ok(Value::Flag(*flag != 0)),
        _ => return Err(FOREIGN),
    };
    Ok(Value::Scalar(number))
}
