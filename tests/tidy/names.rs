//! Names of functions and types, counted in the code itself.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};
use syn::{File, ImplItemFn, Item, ItemFn, ItemImpl, ItemMod, TraitItemFn};

use super::errors::is_test;

/// The functions and types that files define outside of tests; methods of other crates' traits have no name of ours.
#[derive(Default)]
pub struct Names {
    pub functions: Vec<String>,
    pub types: Vec<String>,
}

impl Names {
    pub fn add_file(&mut self, file: &File) {
        self.visit_file(file);
    }

    /// The percentage of functions whose name is one word.
    pub fn percent_of_one_word(&self) -> f64 {
        let one_word = self.functions.iter().filter(|name| !name.contains('_')).count();
        100.0 * one_word as f64 / self.functions.len().max(1) as f64
    }

    /// The names that several types have, each with their number.
    pub fn shared_types(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        self.types.iter().for_each(|name| *counts.entry(name.as_str()).or_default() += 1);
        counts.retain(|_, count| *count > 1);
        counts
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Struct(item) => self.types.push(item.ident.to_string()),
            Item::Enum(item) => self.types.push(item.ident.to_string()),
            Item::Trait(item) => self.types.push(item.ident.to_string()),
            Item::Type(item) => self.types.push(item.ident.to_string()),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.functions.push(function.sig.ident.to_string());
        visit::visit_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        // A trait names its functions where it is declared.
        if item.trait_.is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.functions.push(function.sig.ident.to_string());
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.functions.push(function.sig.ident.to_string());
        visit::visit_trait_item_fn(self, function);
    }
}

#[test]
fn functions_and_types_are_counted_outside_of_tests_and_of_other_traits() {
    let code = "
        pub fn read_rows() {} fn rows() {} struct Row; trait Reads { fn read(&self); }
        impl Reads for Row { fn read(&self) {} } impl Row { fn id(&self) {} } mod a { struct Row; }
        #[cfg(test)] mod tests { fn helper() {} struct Row; }";
    let mut names = Names::default();
    names.add_file(&syn::parse_file(code).unwrap());
    assert_eq!(names.functions, ["read_rows", "rows", "read", "id"]);
    assert_eq!(names.percent_of_one_word(), 75.0);
    assert_eq!(names.shared_types(), BTreeMap::from([("Row", 2)]));
}
