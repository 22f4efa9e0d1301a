//! Rules about the source that the compiler does not check.

use proc_macro2::{TokenStream, TokenTree};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use syn::{
    Attribute, File, Item, ItemUse, LitStr, UseTree, Visibility,
    visit::{self, Visit},
};

/// Dependencies that only the named crates of the host may have.
const HOMES: [(&str, &[&str]); 11] = [
    ("axum", &["http"]),
    ("rmcp", &["mcp"]),
    ("sqlx", &["store"]),
    ("rusqlite", &["store"]),
    ("sea-query", &["store"]),
    ("wasmtime", &["sandbox"]),
    ("jsonwebtoken", &["identity"]),
    ("opentelemetry", &["telemetry"]),
    ("opentelemetry-otlp", &["telemetry"]),
    ("notify", &["catalog", "command", "publication"]),
    ("anyhow", &["catalog", "command", "http", "sandbox"]),
];

/// Texts that equal the id of a shipped capability but mean something else, each with its crates.
const HOMONYMS: [(&str, &[&str]); 4] = [
    // A folder of the data folder.
    ("media", &["blobs"]),
    // A collection of the host's own records, which the store erases by its name.
    ("owners", &["identity", "store"]),
    // A sensitive interface, and a role.
    ("approvals", &["sandbox", "vocabulary"]),
    // A scope.
    ("svc.events", &["vocabulary"]),
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

/// Returns the crates of the host: the name of each folder, and its `src`.
fn crates() -> BTreeMap<String, PathBuf> {
    let folders = std::fs::read_dir(workspace().join("host")).unwrap();
    let sources = folders.map(|entry| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), path.join("src"))
    });
    sources.collect()
}

fn parse(path: &Path) -> File {
    syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
    })
}

#[test]
fn dependencies_stay_in_their_crates() {
    for (name, source) in crates() {
        let manifest = std::fs::read_to_string(source.with_file_name("Cargo.toml")).unwrap();
        let manifest = manifest.split("[dev-dependencies]").next().unwrap();
        for (dependency, homes) in HOMES {
            let used = manifest.lines().any(|line| line.starts_with(&format!("{dependency}.")));
            assert!(!used || homes.contains(&&*name), "{name} depends on {dependency}");
        }
    }
}

#[test]
fn every_file_begins_with_a_module_comment() {
    for folder in ["host", "sdk", "xtask/src", "tests", "plugins", "examples"] {
        for path in sources(&workspace().join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("//!"), "{} does not open with //!", path.display());
        }
    }
}

/// Collects the paths that a file uses outside of its tests, as segments.
#[derive(Default)]
struct Paths {
    used: Vec<Vec<String>>,
    /// The names that the file re-exports, each with its module.
    exported: BTreeMap<String, String>,
}

impl Paths {
    fn tree(&mut self, tree: &UseTree, mut before: Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before);
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.tree(tree, before.clone()));
            }
            UseTree::Name(name) => self.leaf(before, name.ident.to_string()),
            UseTree::Rename(name) => self.leaf(before, name.ident.to_string()),
            UseTree::Glob(_) => self.used.push(before),
        }
    }

    fn leaf(&mut self, mut path: Vec<String>, name: String) {
        path.push(name);
        self.used.push(path);
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if matches!(item.vis, Visibility::Inherited) {
            return self.tree(&item.tree, Vec::new());
        }
        let mut passed = Self::default();
        passed.tree(&item.tree, Vec::new());
        for path in passed.used {
            let names: Vec<_> = path.iter().filter(|name| *name != "self").collect();
            if let [module, .., name] = names.as_slice() {
                self.exported.insert((*name).clone(), (*module).clone());
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.used.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

/// Returns, for each module of a folder, the sibling modules that it uses. A module has the name of
/// its file or folder; the folder's own `mod.rs` or `lib.rs` has the name `self`.
fn siblings(folder: &Path, module: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let own = ["lib.rs", "mod.rs", "main.rs"].map(|name| folder.join(name));
    let own = own.iter().find(|path| path.exists()).unwrap();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let parts: BTreeMap<_, _> = entries
        .filter(|path| path.is_dir() || path.extension().is_some_and(|end| end == "rs"))
        .map(|path| match &path == own {
            true => ("self".to_owned(), path),
            false => (name(&path), path),
        })
        .collect();
    let mut root = Paths::default();
    root.visit_file(&parse(own));
    let part_of = |path: &[String]| -> Option<String> {
        let next = path.first()?;
        match parts.contains_key(next) {
            true => Some(next.clone()),
            false => Some(root.exported.get(next).cloned().unwrap_or_else(|| "self".to_owned())),
        }
    };
    let mut graph = BTreeMap::new();
    for (part, path) in &parts {
        let files = if path.is_dir() { sources(path) } else { vec![path.clone()] };
        let mut uses = BTreeSet::new();
        for file in files {
            let inside = file.strip_prefix(folder).unwrap().with_extension("");
            let mut place: Vec<String> = module.to_vec();
            place.extend(inside.iter().map(|part| part.to_str().unwrap().to_owned()));
            place.pop_if(|last| ["lib", "mod", "main"].contains(&last.as_str()));
            let mut paths = Paths::default();
            paths.visit_file(&parse(&file));
            for path in paths.used {
                let absolute = match path.iter().position(|step| step != "super") {
                    _ if path.first().is_some_and(|first| first == "crate") => path[1..].to_vec(),
                    Some(up @ 1..) if up <= place.len() => {
                        [&place[..place.len() - up], &path[up..]].concat()
                    }
                    Some(0) if part == "self" && parts.contains_key(&path[0]) => {
                        [module, &path].concat()
                    }
                    _ => continue,
                };
                if let Some(rest) = absolute.strip_prefix(module) {
                    uses.extend(part_of(rest).filter(|used| used != part));
                }
            }
        }
        uses.retain(|used| parts.contains_key(used));
        graph.insert(part.clone(), uses);
    }
    graph
}

/// Returns the nodes of a graph that are on a cycle.
fn circles(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let reaches = |start: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(part) = open.pop() {
            open.extend(graph[part].iter().filter(|next| seen.insert((*next).clone())));
        }
        seen
    };
    graph.keys().filter(|part| reaches(part).contains(*part)).cloned().collect()
}

#[test]
fn files_of_a_folder_do_not_depend_on_each_other_in_a_cycle() {
    fn check(folder: &Path, module: &[String], found: &mut Vec<String>) {
        let graph = siblings(folder, module);
        let circle = circles(&graph);
        if !circle.is_empty() {
            found.push(format!("{}: {}", folder.display(), circle.join(", ")));
        }
        for name in graph.keys().filter(|name| *name != "self") {
            let inner = folder.join(name);
            if inner.join("mod.rs").exists() {
                check(&inner, &[module, std::slice::from_ref(name)].concat(), found);
            }
        }
    }
    let mut found = Vec::new();
    for source in crates().values() {
        check(source, &[], &mut found);
    }
    assert!(found.is_empty(), "files that use each other:\n{}", found.join("\n"));
}

/// Collects whole string literals outside of tests.
#[derive(Default)]
struct Literals(Vec<String>);

impl<'ast> Visit<'ast> for Literals {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.0.push(literal.value());
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
    }
}

impl Literals {
    /// Collects literals from tokens, which the parser leaves for the arguments of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = syn::parse_str::<LitStr>(&literal.to_string());
                    self.0.extend(text.map(|text| text.value()));
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

#[test]
fn the_host_names_no_shipped_capability() {
    let metadata = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(workspace())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let plugins = workspace().join("plugins");
    let shipped: BTreeSet<String> = std::fs::read_dir(plugins)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|folder| {
            metadata["packages"].as_array().unwrap().iter().any(|package| {
                let manifest = package["manifest_path"].as_str().unwrap();
                manifest.ends_with(&format!("plugins/{folder}/Cargo.toml"))
                    && package["targets"].to_string().contains("cdylib")
            })
        })
        .collect();
    assert!(shipped.contains("svc.phone-binding"));
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, source) in crates() {
        for path in sources(&source) {
            let mut literals = Literals::default();
            literals.visit_file(&parse(&path));
            let ids: Vec<_> =
                literals.0.into_iter().filter(|text| shipped.contains(text)).collect();
            if !ids.is_empty() {
                found.entry(name.clone()).or_default().extend(ids);
            }
        }
    }
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (text, names) in HOMONYMS {
        for name in names {
            known.entry((*name).to_owned()).or_default().insert(text.to_owned());
        }
    }
    assert_eq!(found, known);
}
