//! Everything that people write in TOML is declared once: the keys of a table with type, default, bounds, choices and
//! help. The reader, the commented file, the reference and the JSON Schema follow from the declaration.
//!
//! ```
//! riddlemill_schema::choice! {
//!     /// What becomes of a word.
//!     pub enum Action {
//!         /// It is replaced.
//!         Mark = "mark",
//!         /// Its text is left out.
//!         Drop = "drop",
//!     }
//! }
//! riddlemill_schema::table! {
//!     /// How words are treated.
//!     #[derive(Clone, Debug)]
//!     pub struct Words in "words": "How words are treated." {
//!         names: Action = "mark", "Names of users.";
//!         most: u32 [Whole(1, 10)] = 3, "The most words of a text.";
//!         list: Option<String>, "A file of words.";
//!     }
//! }
//!
//! let words: Words = riddlemill_schema::default_table();
//! assert_eq!((words.names, words.most, words.list), (Action::Mark, 3, None));
//! let error = serde_json::from_str::<Words>(r#"{ "most": 11 }"#).unwrap_err();
//! assert_eq!(error.to_string(), "most: expected a whole number from 1 to 10");
//! ```

mod fault;
pub mod hint;
pub mod json;
pub mod json_schema;
mod kind;
#[doc(hidden)]
pub mod mutate;
pub mod problem;
mod reader;
mod table;

pub use fault::{Fault, FaultKind};
pub use kind::{Form, Key, Kind, Mismatch, Setting, ValueHint, reads_as};
pub use reader::{Reader, key_at, key_span, path_span, start_of_table};
pub use table::{Fields, Section, Table, default_table};

#[doc(hidden)]
pub use serde;

/// Declares a table: a struct, its keys, and how it is read.
///
/// A field is written `name: Type [kind] = default, "help";`. The kind narrows what the type accepts, as in `[Whole(1, 10)]`
/// or `[SHARE]`; `[form "expected"]` accepts what the type itself reads. The default is TOML; `= required` stands for none,
/// and without it the field is optional: its type is read from `null`. Fields after `beside` are no keys of the file; those
/// after `unread` keep their type's default.
#[macro_export]
macro_rules! table {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident in $table:literal: $doc:literal {
            $(
                $(#[$of_field:meta])*
                $field:ident: $type:ty $([$($kind:tt)+])? $(= $default:tt)?, $help:literal;
            )*
        }
        $(beside { $($(#[$of_beside:meta])* $beside:ident: $beside_type:ty;)* })?
        $(unread { $($(#[$of_unread:meta])* $unread:ident: $unread_type:ty;)* })?
    ) => {
        $(#[$attribute])*
        // The help is for people who write the file; brackets in it are no links.
        #[allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags, rustdoc::bare_urls, clippy::doc_markdown)]
        $visible struct $name {
            $( #[doc = $help] $(#[$of_field])* pub $field: $type, )*
            $( $( $(#[$of_beside])* pub $beside: $beside_type, )* )?
            $( $( $(#[$of_unread])* pub $unread: $unread_type, )* )?
        }

        impl $crate::Table for $name {
            const SECTION: $crate::Section = $crate::Section {
                name: $table,
                doc: $doc,
                keys: &[$(
                    $crate::Key {
                        name: stringify!($field),
                        kind: $crate::table!(@kind $type; $($($kind)+)?),
                        default: $crate::table!(@default $($default)?),
                        doc: $help,
                        is_required: $crate::table!(@required $($default)?),
                    },
                )*],
            };
        }

        impl $crate::Setting for $name {
            const KIND: $crate::Kind = $crate::Kind::Table(<$name as $crate::Table>::SECTION.keys);
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let mut fields = $crate::Fields::<$name>::read(from)?;
                let table = $name {
                    $( $field: fields.take(stringify!($field))?, )*
                    $( $( $beside: fields.beside(stringify!($beside))?, )* )?
                    $( $( $unread: Default::default(), )* )?
                };
                fields.finish()?;
                Ok(table)
            }
        }
    };
    (@kind $type:ty;) => { <$type as $crate::Setting>::KIND };
    (@kind $type:ty; form $expected:literal) => {
        $crate::Kind::Form(&$crate::Form { expected: $expected, check: $crate::reads_as::<$type>, is_text: false })
    };
    (@kind $type:ty; SHARE) => { <$type as $crate::Setting>::KIND.narrowed($crate::Kind::SHARE) };
    (@kind $type:ty; $($kind:tt)+) => { <$type as $crate::Setting>::KIND.narrowed($crate::Kind::$($kind)+) };
    (@default) => { "" };
    (@default required) => { "" };
    (@default $default:tt) => { stringify!($default) };
    (@required required) => { true };
    (@required $($default:tt)?) => { false };
}

/// Declares the values of a setting that is one of several texts: an enum with its names in files.
#[macro_export]
macro_rules! choice {
    (
        $(#[$attribute:meta])*
        $visible:vis enum $name:ident {
            $( $(#[$of_variant:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name {
            $( $(#[$of_variant])* $variant, )+
        }

        impl $name {
            /// Every value, in the order of the variants.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The names in files, in the order of the variants.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The name in files.
            pub const fn name(self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                }
            }

            /// The value with a name.
            pub fn from_name(name: &str) -> Option<$name> {
                match name {
                    $( $word => Some($name::$variant), )+
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::Setting for $name {
            const KIND: $crate::Kind = $crate::Kind::Choice($name::NAMES);
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let name = <String as $crate::serde::Deserialize>::deserialize(from)?;
                $name::from_name(&name)
                    .ok_or_else(|| $crate::serde::de::Error::custom($crate::hint::unknown("value", &name, $name::NAMES.iter().copied())))
            }
        }
    };
}

#[cfg(test)]
mod tests;
