//! Files of one crate that import each other in a ring can only be understood together.
//!
//! What a file imports is read from its `use` items and from paths that begin with `crate`, `self` or
//! `super`; a name that a module only passes on counts for the file that defines it. Tests are left
//! out. Methods are not followed, so an `impl` in another file makes no ring by itself.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use crate::workspace::TidyWorkspace;

/// How many files a ring may have.
const FILES_MAX: usize = 8;
/// How often a name may be passed on before it is taken for lost.
const HOPS_MAX: usize = 8;

/// A path from the root of its crate, such as `git`, `tree`.
type ModulePath = Vec<String>;

/// Finds rings that are longer than they may be.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<ModulePath, ImportModule>> = BTreeMap::new();
    for (path, text) in &workspace.files {
        let Some((name, file)) = path.strip_prefix("crates/").and_then(|it| it.split_once("/src/"))
        else {
            continue;
        };
        if let Some(module) = module_path(file)
            && let Ok(parsed) = syn::parse_file(text)
        {
            crates.entry(name).or_default().insert(module, ImportModule::read(&parsed));
        }
    }
    crates.iter().flat_map(|(name, modules)| check_crate(name, modules)).collect()
}

fn check_crate(name: &str, modules: &BTreeMap<ModulePath, ImportModule>) -> Option<String> {
    let ring = longest_ring(&imports(modules));
    (ring.len() > FILES_MAX).then(|| {
        let files: Vec<String> = ring.iter().map(|module| module.join("::")).collect();
        let (n_files, files) = (files.len(), files.join(", "));
        format!(
            "cycles: {n_files} files of `{name}` import each other, more than {FILES_MAX}: {files}"
        )
    })
}

/// Names the module that a file is; nothing for tests and programs.
fn module_path(file: &str) -> Option<ModulePath> {
    let name = file.strip_suffix(".rs")?;
    let mut parts: ModulePath = name.split('/').map(str::to_owned).collect();
    if parts.first().is_some_and(|first| first == "bin")
        || parts.iter().any(|it| it.starts_with("test"))
    {
        return None;
    }
    if matches!(parts.last()?.as_str(), "lib" | "main" | "mod") {
        parts.pop();
    }
    Some(parts)
}

/// What one file names of others.
#[derive(Debug, Default)]
struct ImportModule {
    /// Paths that it uses.
    used: BTreeSet<ModulePath>,
    /// Names that it passes on, and where they come from.
    passed_on: BTreeMap<String, ModulePath>,
}

impl ImportModule {
    fn read(file: &syn::File) -> ImportModule {
        let mut module = ImportModule::default();
        module.visit_file(file);
        module
    }

    fn take(&mut self, tree: &syn::UseTree, before: &mut ModulePath, is_passed_on: bool) {
        let mut add = |name: Option<String>, path: ModulePath| match (is_passed_on, name) {
            (true, Some(name)) => drop(self.passed_on.insert(name, path)),
            (true, None) => {}
            (false, _) => drop(self.used.insert(path)),
        };
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.take(&path.tree, before, is_passed_on);
                before.pop();
            }
            syn::UseTree::Name(name) => {
                let ident = name.ident.to_string();
                // `use a::b::{self}` is about `b`.
                let is_self = ident == "self" && !before.is_empty();
                let last = if is_self { before.last().cloned() } else { Some(ident.clone()) };
                let mut path = before.clone();
                path.extend((!is_self).then_some(ident));
                add(last, path);
            }
            syn::UseTree::Rename(rename) => {
                let mut path = before.clone();
                path.extend((rename.ident != "self").then(|| rename.ident.to_string()));
                add(Some(rename.rename.to_string()), path);
            }
            syn::UseTree::Glob(_) => add(None, before.clone()),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.take(tree, before, is_passed_on);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for ImportModule {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_passed_on = !matches!(item.vis, syn::Visibility::Inherited);
        self.take(&item.tree, &mut Vec::new(), is_passed_on);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: ModulePath = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if parts.len() > 1 && matches!(parts[0].as_str(), "crate" | "self" | "super") {
            self.used.insert(parts);
        }
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|it| it.is_ident("test"))
        });
        if !is_test {
            visit::visit_item_mod(self, item);
        }
    }
}

/// Tells for every file which other files it imports from.
fn imports(
    modules: &BTreeMap<ModulePath, ImportModule>,
) -> BTreeMap<&ModulePath, BTreeSet<&ModulePath>> {
    let of = |from: &ModulePath, module: &ImportModule| {
        let found = module.used.iter().filter_map(|path| absolute(modules, from, path));
        let files = found.filter_map(|path| defining_file(modules, path));
        files
            .filter_map(|file| modules.get_key_value(&file).map(|(file, _)| file))
            .filter(|file| *file != from)
            .collect()
    };
    modules.iter().map(|(from, module)| (from, of(from, module))).collect()
}

/// Makes a path begin at the root of the crate; nothing for one that leads out of it.
fn absolute(
    modules: &BTreeMap<ModulePath, ImportModule>,
    from: &ModulePath,
    path: &[String],
) -> Option<ModulePath> {
    let (first, rest) = path.split_first()?;
    let mut base = from.clone();
    match first.as_str() {
        "crate" => return Some(rest.to_vec()),
        "self" => {}
        "super" => {
            let n_up = path.iter().take_while(|part| *part == "super").count();
            base.truncate(base.len().checked_sub(n_up)?);
            base.extend_from_slice(&path[n_up..]);
            return Some(base);
        }
        _ => {
            base.push(first.clone());
            if !modules.contains_key(&base) {
                return None;
            }
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// Finds the file that defines what a path names.
fn defining_file(
    modules: &BTreeMap<ModulePath, ImportModule>,
    mut path: ModulePath,
) -> Option<ModulePath> {
    for _ in 0..HOPS_MAX {
        let length =
            (0..=path.len()).rev().find(|length| modules.contains_key(&path[..*length]))?;
        let file = path[..length].to_vec();
        let Some(from) = path.get(length).and_then(|name| modules[&file].passed_on.get(name))
        else {
            return Some(file);
        };
        // What comes from another crate is defined in no file of this one.
        let Some(mut next) = absolute(modules, &file, from) else { return Some(file) };
        next.extend_from_slice(&path[length + 1..]);
        path = next;
    }
    None
}

/// Returns the largest set of files each of which leads to each other.
fn longest_ring(graph: &BTreeMap<&ModulePath, BTreeSet<&ModulePath>>) -> BTreeSet<ModulePath> {
    let reach: BTreeMap<_, _> = graph.keys().map(|from| (*from, reached(graph, from))).collect();
    let ring = |file: &ModulePath| {
        let there = &reach[file];
        let back = there.iter().filter(|other| reach[**other].contains(file));
        back.map(|other| (*other).clone()).collect::<BTreeSet<ModulePath>>()
    };
    graph.keys().map(|file| ring(file)).max_by_key(BTreeSet::len).unwrap_or_default()
}

fn reached<'a>(
    graph: &BTreeMap<&'a ModulePath, BTreeSet<&'a ModulePath>>,
    from: &ModulePath,
) -> BTreeSet<&'a ModulePath> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&ModulePath> = graph[from].iter().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(graph[next].iter().copied());
        }
    }
    found
}
