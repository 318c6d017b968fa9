//! Who imports whom, file by file, read from the code itself: `use`, paths in expressions, types and macros,
//! followed through re-exports to the file that defines the name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree};

/// A module's path below its crate; the crate itself is the empty one.
type Module = Vec<String>;

/// The name of an imported thing in the importing module, its path from the crate's root, and whether the
/// path began with neither `crate` nor `self` nor `super`.
type Import = (String, Module, bool);

/// The files of a crate that import each other in a loop, with a name that ties each to the next.
///
/// `folder` is the crate's code, relative to the repository.
pub fn circles(root: &Path, folder: &str) -> Vec<String> {
    let krate = Crate::read(&root.join(folder));
    let mut arrows = krate.arrows();
    // A module may use what its parent defines: the two are one thing in two files.
    arrows.retain(|(from, to), _| !is_around(to, from));
    let nodes: BTreeSet<&PathBuf> = arrows.keys().flat_map(|(from, to)| [from, to]).collect();
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        nodes.iter().map(|from| (*from, reachable(from, &arrows))).collect();
    let mut actual = BTreeSet::new();
    let mut found = Vec::new();
    for from in &nodes {
        let circle: Vec<_> = reach[*from].iter().filter(|to| reach[*to].contains(*from)).copied().collect();
        if circle.len() < 2 || !actual.insert(circle.clone()) {
            continue;
        }
        let within = arrows.iter().filter(|((a, b), _)| circle.contains(&a) && circle.contains(&b));
        let lines = within.map(|((a, b), names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let [a, b] = [a, b].map(|file| file.strip_prefix(root).unwrap_or(file).display());
            format!("{a} -> {b}: {}", names.join(", "))
        });
        found.push(lines.collect::<Vec<_>>().join("\n"));
    }
    found
}

/// Whether the first file's module contains the second's.
fn is_around(outer: &Path, inner: &Path) -> bool {
    let folder = match outer.file_stem().and_then(|s| s.to_str()) {
        Some("mod" | "lib" | "main") => outer.parent().unwrap_or(outer).to_path_buf(),
        _ => outer.with_extension(""),
    };
    inner.starts_with(&folder)
}

fn reachable<'a>(
    from: &PathBuf,
    arrows: &'a BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>,
) -> BTreeSet<&'a PathBuf> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        for (_, to) in arrows.keys().filter(|(a, _)| a == at) {
            if seen.insert(to) {
                next.push(to);
            }
        }
    }
    seen
}

#[derive(Default)]
struct Crate {
    /// The file of each module.
    files: BTreeMap<Module, PathBuf>,
    /// A module's imports and re-exports: the local name, and the path from the crate's root.
    uses: BTreeMap<Module, Vec<Import>>,
    /// All paths in a module, from the crate's root.
    named: BTreeMap<Module, Vec<Module>>,
}

impl Crate {
    fn read(folder: &Path) -> Crate {
        let mut krate = Crate::default();
        for root in ["lib.rs", "main.rs"].map(|name| folder.join(name)) {
            if root.exists() {
                krate.module(Vec::new(), &root, folder);
            }
        }
        krate.leave_out_other_crates();
        krate
    }

    /// Removes imports from elsewhere: `use rayon::…` refers to this crate only if it has a module `rayon`.
    fn leave_out_other_crates(&mut self) {
        let files = &self.files;
        for (module, uses) in &mut self.uses {
            uses.retain(|(_, path, relative)| {
                !relative || path.get(..module.len() + 1).is_some_and(|below| files.contains_key(below))
            });
        }
    }

    fn module(&mut self, module: Module, file: &Path, folder: &Path) {
        let text = fs::read_to_string(file).unwrap();
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.items(module, &parsed.items, file, folder);
    }

    fn items(&mut self, module: Module, items: &[Item], file: &Path, folder: &Path) {
        self.files.insert(module.clone(), file.to_path_buf());
        let mut reader = Reader { module: module.clone(), ..Reader::default() };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let below = [module.clone(), vec![name.clone()]].concat();
                    match &inner.content {
                        Some((_, items)) => self.items(below, items, file, &folder.join(&name)),
                        None => {
                            let beside = path_attribute(inner).map_or(format!("{name}.rs"), |path| path);
                            let (file, within) = (folder.join(beside), folder.join(&name));
                            let file = if file.exists() { file } else { within.join("mod.rs") };
                            self.module(below, &file, &within);
                        }
                    }
                }
                item => reader.visit_item(item),
            }
        }
        self.uses.entry(module.clone()).or_default().extend(reader.uses);
        self.named.entry(module).or_default().extend(reader.named);
    }

    /// Which file uses which names of which other.
    fn arrows(&self) -> BTreeMap<(PathBuf, PathBuf), BTreeSet<String>> {
        let mut arrows: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for (module, named) in &self.named {
            let imported = self.uses[module].iter().map(|(_, path, _)| path);
            for path in imported.chain(named) {
                let Some((home, name)) = self.home(path, 0) else { continue };
                let (from, to) = (&self.files[module], &self.files[&home]);
                if from != to {
                    arrows.entry((from.clone(), to.clone())).or_default().insert(name);
                }
            }
        }
        arrows
    }

    /// The module that defines the target of a path, and its name there.
    fn home(&self, path: &[String], depth: usize) -> Option<(Module, String)> {
        let mut module = Module::new();
        for (at, name) in path.iter().enumerate() {
            let below = [module.clone(), vec![name.clone()]].concat();
            if self.files.contains_key(&below) {
                module = below;
                continue;
            }
            let handed_on = self.uses[&module].iter().find(|(known, ..)| known == name);
            if let Some((_, meant, _)) = handed_on.filter(|_| depth < 9) {
                let whole = [meant.as_slice(), &path[at + 1..]].concat();
                return if whole == path { None } else { self.home(&whole, depth + 1) };
            }
            for (_, meant, _) in self.uses[&module].iter().filter(|(known, ..)| known == "*" && depth < 9) {
                let whole = [meant.as_slice(), &path[at..]].concat();
                if let Some(found) = self.home(&whole, depth + 1).filter(|_| whole != path) {
                    return Some(found);
                }
            }
            return (!module.is_empty() || path.len() == 1).then(|| (module, name.clone()));
        }
        Some((module, path.last().cloned().unwrap_or_default()))
    }
}

/// Reads one module.
#[derive(Default)]
struct Reader {
    module: Module,
    uses: Vec<Import>,
    named: Vec<Module>,
}

impl Reader {
    /// A path from the crate's root; `None` if it is not in a module of this crate.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let mut at = self.module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &path[1..];
            }
            "self" | "super" => {
                while let Some(word @ ("self" | "super")) = rest.first().map(String::as_str) {
                    if word == "super" {
                        at.pop()?;
                    }
                    rest = &rest[1..];
                }
            }
            _ => {}
        }
        at.extend_from_slice(rest);
        Some(at)
    }

    fn tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                self.import(before.last().cloned().unwrap_or_default(), before);
            }
            UseTree::Name(name) => self.import(name.ident.to_string(), &with(name.ident.to_string())),
            UseTree::Rename(name) => self.import(name.rename.to_string(), &with(name.ident.to_string())),
            UseTree::Glob(_) => self.import("*".to_string(), before),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree)),
        }
    }

    fn import(&mut self, name: String, path: &[String]) {
        let relative =
            !path.first().is_some_and(|first| ["crate", "self", "super"].contains(&first.as_str()));
        self.uses.extend(self.absolute(path).map(|path| (name, path, relative)));
    }

    /// Paths among tokens without a syntax tree: the arguments of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.follow(&path);
                        path.clear();
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.follow(&path);
                    path.clear();
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.follow(&path);
    }

    fn follow(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.named.extend(self.absolute(path));
        }
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        if item.leading_colon.is_none() {
            self.tree(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.follow(&words);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'a Macro) {
        self.tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    /// Clap's and serde's attributes name what is elsewhere.
    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether only tests compile it.
fn is_test(attributes: &[Attribute]) -> bool {
    let test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    };
    attributes.iter().any(test)
}

/// The file of `#[path = "file"]`.
fn path_attribute(item: &ItemMod) -> Option<String> {
    let named = item.attrs.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let syn::Expr::Lit(value) = &named.meta.require_name_value().ok()?.value else { return None };
    let syn::Lit::Str(text) = &value.lit else { return None };
    Some(text.value())
}
