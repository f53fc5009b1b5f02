//! A type has one name, and no other type of the workspace has it: whoever reads it anywhere knows
//! which one is meant.

use std::collections::BTreeMap;

use syn::{Attribute, Item};

use crate::workspace::TidyWorkspace;

/// Rust's own words for a crate's failures: they are said with their crate.
const WORDS_OF_CRATES: [&str; 2] = ["Error", "Result"];

/// Participles that do not end as most do.
const PARTICIPLES: [&str; 18] = [
    "Begun", "Came", "Drawn", "Driven", "Found", "Given", "Held", "Kept", "Known", "Made", "Ran",
    "Said", "Seen", "Shown", "Taken", "Told", "Unspoken", "Written",
];

/// Nouns that end like participles.
const NOUNS: [&str; 4] = ["Feed", "Need", "Seed", "Speed"];

/// Finds type names that two types have, and those that are participles without a noun.
pub(super) fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (path, text) in workspace.files.iter().filter(|(path, _)| is_production(path)) {
        let Ok(file) = syn::parse_file(text) else { continue };
        for name in type_names(&file.items) {
            places.entry(name).or_default().push(path);
        }
    }
    let mut findings = Vec::new();
    for (name, paths) in places {
        if paths.len() > 1 && !WORDS_OF_CRATES.contains(&name.as_str()) {
            findings.push(format!("names: `{name}` is defined in {}", paths.join(", ")));
        }
        if is_participle(&name) {
            findings.push(format!("names: `{name}` in {} lacks a noun", paths.join(", ")));
        }
    }
    findings
}

fn is_production(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    let is_ours = path.starts_with("crates/") || path.starts_with("xtask/");
    is_ours && path.contains("/src/") && path.ends_with(".rs") && !is_test
}

fn type_names(items: &[Item]) -> Vec<String> {
    items.iter().flat_map(type_names_in).collect()
}

fn type_names_in(item: &Item) -> Vec<String> {
    if let Item::Mod(item) = item {
        let items = item.content.as_ref().filter(|_| !is_for_tests(&item.attrs));
        return items.map_or_else(Vec::new, |(_, items)| type_names(items));
    }
    let name = if let Item::Struct(item) = item {
        Some(&item.ident)
    } else if let Item::Enum(item) = item {
        Some(&item.ident)
    } else if let Item::Trait(item) = item {
        Some(&item.ident)
    } else if let Item::Type(item) = item {
        Some(&item.ident)
    } else {
        None
    };
    name.map(ToString::to_string).into_iter().collect()
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(char::is_ascii_uppercase).count() == 1;
    let ends_as_one = name.ends_with("ed") && !NOUNS.contains(&name);
    is_one_word && (ends_as_one || PARTICIPLES.contains(&name))
}
