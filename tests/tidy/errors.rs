//! Functions whose errors are plain texts, read from the code itself.

use syn::visit::{self, Visit};
use syn::{Attribute, GenericArgument, ImplItemFn, ItemFn, ItemMod, PathArguments, PathSegment, Type};

/// The functions of a file that name a `Result<_, String>`, in their signature or inside. What is compiled only
/// for tests is left out.
pub fn plain_text(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader.found.dedup();
    reader.found
}

#[derive(Default)]
struct Reader {
    /// The function around this place; empty outside of any.
    function: String,
    found: Vec<String>,
}

impl Reader {
    fn within(&mut self, function: String, visit: impl FnOnce(&mut Reader)) {
        let outer = std::mem::replace(&mut self.function, function);
        visit(self);
        self.function = outer;
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.within(function.sig.ident.to_string(), |reader| visit::visit_item_fn(reader, function));
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.within(function.sig.ident.to_string(), |reader| visit::visit_impl_item_fn(reader, function));
    }

    fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
        if let ("Result", PathArguments::AngleBracketed(given)) =
            (segment.ident.to_string().as_str(), &segment.arguments)
            && given.args.len() == 2
            && let Some(GenericArgument::Type(Type::Path(error))) = given.args.last()
            && error.path.segments.last().is_some_and(|last| last.ident == "String")
        {
            self.found.push(self.function.clone());
        }
        visit::visit_path_segment(self, segment);
    }
}

/// Whether only tests compile what has this attribute.
pub fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
}

#[test]
fn a_plain_text_is_found_wherever_it_is_named() {
    let text = "
        fn a() -> Result<(), String> {}
        fn b() { let c = || -> Result<Vec<String>, Error> {}; let d = |x| -> std::result::Result<Option<u8>, String> {}; }
        impl E { fn f(self) -> Result<Result<u8, String>, Error> {} fn g() -> io::Result<String> {} }
        static H: Cell<Result<u8, String>> = Cell::new();
        #[cfg(test)] mod tests { fn i() -> Result<(), String> {} }
    ";
    assert_eq!(plain_text(text), ["a", "b", "f", ""]);
}
