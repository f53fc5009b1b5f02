//! What a passage claims about the repository, and whether it is so.

use std::collections::BTreeSet;

use crate::workspace::TidyWorkspace;

/// Where the verbs of the command line are listed.
const VERBS: &str = "crates/agentic/src/cli/verb.rs";
/// Where the verbs of the house are.
const HOUSE_VERBS: &str = "xtask/src/main.rs";
/// The marks of something that stands for many names.
const PLACEHOLDERS: [char; 7] = ['<', '>', '*', '…', '{', '$', ':'];
/// What is counted.
const COUNTED: [&str; 3] = ["cases", "suites", "crates"];
/// The page whose figures stand elsewhere, and where.
const FRONT: &str = "README.md";
const MEASURED: [&str; 2] = ["docs/benchmarks.md", "docs/performance-log.md"];
/// What follows a figure.
const UNITS: [&str; 4] = ["ms", "×", "durable", "to"];
/// How the variables of the environment begin that are ours.
const OUR_VARIABLES: [&str; 2] = ["AGENTIC_", "AGENTLANG_"];

/// What claims are held against.
pub struct DocumentClaims<'a> {
    workspace: &'a TidyWorkspace,
    /// The folders that stand in the root.
    roots: BTreeSet<&'a str>,
    /// The verbs of the command line.
    verbs: BTreeSet<&'a str>,
}

impl<'a> DocumentClaims<'a> {
    /// Takes what a workspace has.
    pub fn of(workspace: &'a TidyWorkspace) -> DocumentClaims<'a> {
        let roots = workspace.paths.iter().filter_map(|path| Some(path.split_once('/')?.0));
        let list = workspace.files.get(VERBS).map_or("", String::as_str);
        let verbs = list.lines().filter_map(|line| line.split_once(" = \"")?.1.strip_suffix("\","));
        DocumentClaims { workspace, roots: roots.collect(), verbs: verbs.collect() }
    }

    /// Finds what is not as a passage of a page says.
    pub fn check(&self, page: &str, passage: &str) -> Vec<String> {
        let spans = passage.split('`').skip(1).step_by(2);
        let mut findings: Vec<String> = spans.filter_map(|span| self.check_span(span)).collect();
        findings.extend(links(passage).filter_map(|link| self.check_link(page, link)));
        findings.extend(self.check_counts(passage));
        if page == FRONT {
            findings.extend(self.check_figures(passage));
        }
        findings
    }

    fn check_span(&self, span: &str) -> Option<String> {
        let words: Vec<&str> = span.split_whitespace().collect();
        match words.as_slice() {
            ["cargo", "xtask", verb, ..] => self.check_house_verb(verb),
            ["agentic", verb, ..] => self.check_verb(verb),
            [name, "=", value @ ..] => self.check_constant(name, &value.join(" ")),
            [name, ..] => self.check_name(name.trim_end_matches(',')),
            [] => None,
        }
    }

    fn check_house_verb(&self, verb: &str) -> Option<String> {
        let main = self.workspace.files.get(HOUSE_VERBS)?;
        let is_verb = main.contains(&format!("[\"{verb}\"]"));
        (!is_verb).then(|| format!("names `cargo xtask {verb}`, which is no verb"))
    }

    fn check_verb(&self, verb: &str) -> Option<String> {
        let is_name = verb.starts_with(|it: char| it.is_ascii_lowercase());
        let is_missing = is_name && verb != "help" && !self.verbs.contains(verb);
        is_missing.then(|| format!("names `agentic {verb}`, which is no verb"))
    }

    fn check_constant(&self, name: &str, value: &str) -> Option<String> {
        let is_it = |text: &String| {
            let mut lines = text.lines().filter(|line| line.contains(&format!("const {name}: ")));
            lines.any(|line| line.ends_with(&format!(" = {value};")))
        };
        let is_true = !is_constant(name) || self.sources().any(is_it);
        (!is_true).then(|| format!("says `{name} = {value}`, as no source does"))
    }

    fn check_name(&self, name: &str) -> Option<String> {
        if name.contains(PLACEHOLDERS) {
            return None;
        }
        let is_of_root = name.split_once('/').is_some_and(|(root, _)| self.roots.contains(root));
        let is_page = !name.contains('/') && name.ends_with(".md");
        if (name.ends_with(".rs") || is_of_root || is_page) && !self.has_path(name) {
            return Some(format!("names `{name}`, which is no file or folder"));
        }
        if name.starts_with("agentic-") && !name.contains('/') && !self.has_crate(name) {
            return Some(format!("names `{name}`, which is no crate"));
        }
        let variable = name.split('=').next().unwrap_or(name);
        let is_ours = OUR_VARIABLES.iter().any(|begin| variable.starts_with(begin));
        let is_sought = is_ours || (is_constant(name) && name.ends_with("_MAX"));
        let is_missing = is_sought && !self.sources().any(|text| text.contains(variable));
        is_missing.then(|| format!("names `{name}`, which no source has"))
    }

    /// Finds a file by the end of its path, or a folder.
    fn has_path(&self, name: &str) -> bool {
        let folder = format!("{}/", name.trim_end_matches('/'));
        let end = format!("/{name}");
        let is_it =
            |path: &String| path == name || path.ends_with(&end) || path.starts_with(&folder);
        self.workspace.paths.iter().any(is_it)
    }

    fn has_crate(&self, name: &str) -> bool {
        self.workspace.packages.iter().any(|package| package.name == name)
    }

    fn sources(&self) -> impl Iterator<Item = &String> {
        let files = self.workspace.files.iter();
        files.filter(|(path, _)| path.ends_with(".rs")).map(|(_, text)| text)
    }

    fn check_link(&self, page: &str, link: &str) -> Option<String> {
        let path = link.split('#').next().unwrap_or(link);
        if path.is_empty() || link.contains("://") {
            return None;
        }
        let mut parts: Vec<&str> = page.split('/').collect();
        parts.pop();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match part {
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let target = parts.join("/");
        let folder = format!("{target}/");
        let is_it = |path: &String| *path == target || path.starts_with(&folder);
        let is_there = self.workspace.paths.iter().any(is_it);
        (!is_there).then(|| format!("links to `{link}`, which is not there"))
    }

    /// Finds numbers of what can be counted that are not those of today.
    fn check_counts(&self, passage: &str) -> Vec<String> {
        let words: Vec<&str> = passage.split_whitespace().collect();
        let pairs = words.windows(2).filter_map(|pair| {
            let n_said: usize = pair[0].replace(',', "").parse().ok()?;
            let word = pair[1].trim_end_matches(|it: char| !it.is_alphanumeric());
            let n_found = self.count(COUNTED.iter().find(|it| **it == word)?);
            (n_said != n_found).then(|| format!("says {n_said} {word}, but there are {n_found}"))
        });
        pairs.collect()
    }

    /// Finds figures that were not measured.
    fn check_figures(&self, passage: &str) -> Vec<String> {
        let words: Vec<&str> = passage.split_whitespace().collect();
        let pages: Vec<&String> =
            MEASURED.iter().filter_map(|page| self.workspace.files.get(*page)).collect();
        let figures = words.windows(2).filter(|pair| {
            let unit = pair[1].trim_end_matches([';', ',', '.']);
            pair[0].starts_with(|it: char| it.is_ascii_digit()) && UNITS.contains(&unit)
        });
        figures
            .map(|pair| pair[0])
            .filter(|figure| !pages.iter().any(|page| page.contains(figure)))
            .map(|figure| format!("says {figure}, which no page of measurements has"))
            .collect()
    }

    fn count(&self, what: &str) -> usize {
        match what {
            "cases" => self.workspace.cases.values().sum(),
            "suites" => self.workspace.cases.len(),
            _ => self.workspace.packages.iter().filter(|it| it.name != "xtask").count(),
        }
    }
}

fn is_constant(name: &str) -> bool {
    name.contains('_') && name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
}

/// Returns where the links of a passage lead.
fn links(passage: &str) -> impl Iterator<Item = &str> {
    passage.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}
