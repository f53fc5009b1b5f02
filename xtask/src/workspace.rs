//! The workspace as plain data, so that every rule can be tested on a small one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

/// The folders whose files the rules look at. Beside its targets the folder of the fuzzer has whatever
/// the fuzzer writes.
const FOLDERS: [&str; 5] = ["crates", "xtask", "schemas", "docs", "fuzz/fuzz_targets"];

/// The files beside them.
const FILES: [&str; 7] = [
    "ARCHITECTURE.md",
    "Cargo.lock",
    "DEPENDENCIES.md",
    "bench/results.json",
    "README.md",
    "scoreboard.json",
    "scoreboard.md",
];

/// The crate of ours that is no member of the workspace.
pub const LEFT_OUT: &str = "crates/agentic-temporal";

/// How deep folders are searched.
const FOLDER_DEPTH_MAX: usize = 16;

/// Everything that the rules look at.
#[derive(Debug, Default)]
pub struct TidyWorkspace {
    /// Our crates.
    pub packages: Vec<Package>,
    /// Files by their path from the root, with `/` between folders.
    pub files: BTreeMap<String, String>,
    /// The paths of all files that git has or would take.
    pub paths: BTreeSet<String>,
    /// How many cases every suite of the conformance suite has.
    pub cases: BTreeMap<String, usize>,
}

/// One of our crates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// What its `Cargo.toml` asks for.
    pub dependencies: Vec<Dependency>,
}

/// Something that a crate asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the crate that is asked for.
    pub name: String,
    /// Whether it becomes part of the crate or only of its tests.
    pub role: DependencyRole,
    /// Whether it is ours.
    pub origin: DependencyOrigin,
}

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyRole {
    /// It is needed to build the crate.
    Build,
    /// It is needed for tests, examples and benches.
    Test,
}

/// Who makes a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyOrigin {
    /// It is a crate of this workspace.
    Ours,
    /// It comes from a registry.
    Outside,
}

impl TidyWorkspace {
    /// Reads the workspace that this program belongs to.
    pub fn load() -> Result<TidyWorkspace> {
        let root = root();
        let mut files = BTreeMap::new();
        for folder in FOLDERS {
            read_files(&root, &root.join(folder), 0, &mut files)?;
        }
        for name in FILES {
            if let Ok(text) = fs::read_to_string(root.join(name)) {
                files.insert(name.to_owned(), text);
            }
        }
        let cases = agentic_conformance::count_cases(&root.join("conformance"))?;
        let mut packages = packages(&metadata(&root)?)?;
        packages.extend(self::packages(&metadata(&root.join(LEFT_OUT))?)?);
        let paths = paths(&root)?;
        Ok(TidyWorkspace { packages, files, paths, cases })
    }
}

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("this crate is a folder of the workspace").to_owned()
}

/// Makes a cargo command that runs in the root of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Asks cargo for the crates of the workspace.
fn metadata(root: &Path) -> Result<Json> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()
        .context("cannot run `cargo metadata`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`cargo metadata` failed: {said}");
    serde_json::from_slice(&output.stdout).context("cannot read what `cargo metadata` says")
}

/// Finds the folder that cargo builds into.
pub fn target_folder() -> Result<PathBuf> {
    let metadata = metadata(&root())?;
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(PathBuf::from(target))
}

/// Asks git for the files of the repository.
fn paths(root: &Path) -> Result<BTreeSet<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot run `git ls-files`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git ls-files` failed: {said}");
    let listing = String::from_utf8_lossy(&output.stdout);
    Ok(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn packages(metadata: &Json) -> Result<Vec<Package>> {
    let list = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    Ok(list
        .iter()
        .map(|package| Package {
            name: text(&package["name"]),
            dependencies: package["dependencies"]
                .as_array()
                .map(|list| list.iter().map(dependency).collect())
                .unwrap_or_default(),
        })
        .collect())
}

fn dependency(json: &Json) -> Dependency {
    Dependency {
        name: text(&json["name"]),
        role: if json["kind"] == "dev" { DependencyRole::Test } else { DependencyRole::Build },
        origin: if json["path"].is_string() {
            DependencyOrigin::Ours
        } else {
            DependencyOrigin::Outside
        },
    }
}

fn text(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

fn read_files(
    root: &Path,
    folder: &Path,
    depth: usize,
    files: &mut BTreeMap<String, String>,
) -> Result<()> {
    if depth > FOLDER_DEPTH_MAX || !folder.is_dir() {
        return Ok(());
    }
    let listing =
        fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    for entry in listing {
        let path = entry.with_context(|| format!("cannot list `{}`", folder.display()))?.path();
        if path.is_dir() {
            read_files(root, &path, depth + 1, files)?;
        } else if let Ok(content) = fs::read_to_string(&path) {
            let below = path.strip_prefix(root).context("the file is in the workspace")?;
            files.insert(below.to_string_lossy().into_owned(), content);
        }
    }
    Ok(())
}
