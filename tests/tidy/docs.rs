//! Documentation that is missing, and documentation that says nothing: read from the code itself.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, Field, File, Ident, ImplItemFn, Item, ItemImpl, ItemMod, Lit, Meta, Signature, Type,
    Variant, Visibility,
};

/// The public functions, types and constants of a file without documentation. Fields and variants may be clear by
/// their names.
pub fn undocumented(file: &File) -> Vec<String> {
    read(file).undocumented
}

/// The fields and variants of a file whose documentation repeats their names: `/// The file.` of `file`.
pub fn repeated(file: &File) -> Vec<String> {
    read(file).repeated
}

fn read(file: &File) -> Reader {
    let mut reader = Reader { hidden: file.items.iter().filter_map(hidden).collect(), ..Reader::default() };
    reader.visit_file(file);
    reader
}

/// A type that only its own crate sees, whose functions may be clear by their names.
fn hidden(item: &Item) -> Option<String> {
    let (visible, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    (!matches!(visible, Visibility::Public(_))).then(|| name.to_string())
}

#[derive(Default)]
struct Reader {
    hidden: BTreeSet<String>,
    undocumented: Vec<String>,
    repeated: Vec<String>,
}

impl Reader {
    fn needs_docs(&mut self, visible: &Visibility, attributes: &[Attribute], name: &Ident) {
        if matches!(visible, Visibility::Public(_)) && docs(attributes).is_empty() {
            self.undocumented.push(name.to_string());
        }
    }

    fn needs_more_than_its_name(&mut self, attributes: &[Attribute], name: &Ident) {
        if let [line] = docs(attributes).as_slice()
            && repeats(line, &name.to_string())
        {
            self.repeated.push(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Fn(item) => self.needs_docs(&item.vis, &item.attrs, &item.sig.ident),
            Item::Struct(item) => self.needs_docs(&item.vis, &item.attrs, &item.ident),
            Item::Enum(item) => self.needs_docs(&item.vis, &item.attrs, &item.ident),
            Item::Trait(item) => self.needs_docs(&item.vis, &item.attrs, &item.ident),
            Item::Type(item) => self.needs_docs(&item.vis, &item.attrs, &item.ident),
            Item::Const(item) => self.needs_docs(&item.vis, &item.attrs, &item.ident),
            Item::Static(item) => self.needs_docs(&item.vis, &item.attrs, &item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !module.attrs.iter().any(super::errors::is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let hidden = match &*item.self_ty {
            Type::Path(of) => {
                of.path.segments.last().is_some_and(|of| self.hidden.contains(&of.ident.to_string()))
            }
            _ => false,
        };
        // The functions of a trait are documented there.
        if item.trait_.is_none() && !hidden {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let Signature { ident, .. } = &function.sig;
        self.needs_docs(&function.vis, &function.attrs, ident);
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if let Some(name) = &field.ident {
            self.needs_more_than_its_name(&field.attrs, name);
        }
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.needs_more_than_its_name(&variant.attrs, &variant.ident);
        visit::visit_variant(self, variant);
    }
}

/// The lines of the documentation.
fn docs(attributes: &[Attribute]) -> Vec<String> {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(value) => match &value.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => Some(String::new()),
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect()
}

/// Whether a sentence is an article and the words of a name.
fn repeats(sentence: &str, name: &str) -> bool {
    let words: Vec<&str> = sentence.trim_end_matches('.').split(' ').collect();
    let Some((article, words)) = words.split_first() else { return false };
    let bare = |text: &str| text.replace(['_', '`'], "").to_lowercase();
    ["The", "A", "An", "Its", "Their"].contains(article)
        && !words.is_empty()
        && words.iter().map(|word| bare(word)).collect::<String>() == bare(name)
}

#[test]
fn what_is_missing_or_repeated_is_found() {
    let file = syn::parse_file(
        "
        pub fn a() {}
        /// Something.
        pub struct B { /// The file.
            file: u8, /// The file that was read.
            other: u8, pub bare: u8 }
        impl B { pub fn c(&self) {} fn d(&self) {} }
        struct Own; impl Own { pub fn f(&self) {} }
        impl Clone for B { fn clone(&self) -> B {} }
        /// One of two.
        pub enum E { /// A whole number.
            WholeNumber, /// Nothing.
            Null }
        #[cfg(test)] mod tests { pub fn e() {} }
        ",
    );
    let file = file.unwrap();
    assert_eq!(undocumented(&file), ["a", "c"]);
    assert_eq!(repeated(&file), ["file", "WholeNumber"]);
}
