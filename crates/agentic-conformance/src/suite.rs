//! Suites: folders of case files.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::case::Case;
use crate::parse::{self, MalformedLine};

/// What case files end with.
const EXTENSION: &str = "case";

/// A folder of case files.
pub(crate) struct Suite {
    /// The name of the folder.
    pub name: String,
    /// Everything that counts as a case, by file and line.
    pub items: Vec<SuiteItem>,
}

/// Something that passes or fails.
pub(crate) enum SuiteItem {
    /// A case, and the file it stands in.
    Case { file: String, case: Case },
    /// A file that cannot be read as cases; it counts as one failed case.
    Malformed { file: String, malformed: MalformedLine },
}

impl SuiteItem {
    /// Returns the title of the case.
    pub fn title(&self) -> &str {
        match self {
            SuiteItem::Case { case, .. } => &case.title,
            SuiteItem::Malformed { .. } => "the file can be read",
        }
    }

    /// Returns where it stands: the file with its line.
    pub fn place(&self) -> String {
        match self {
            SuiteItem::Case { file, case } => format!("{file}:{}", case.line),
            SuiteItem::Malformed { file, malformed } => format!("{file}:{}", malformed.line),
        }
    }
}

/// Loads the suites of those names, or all when there are none. A folder without a case file is
/// no suite.
pub(crate) fn load(cases_dir: &Path, names: &[String]) -> Result<Vec<Suite>, Error> {
    let mut suites = Vec::new();
    for name in sorted_names(cases_dir)? {
        let folder = cases_dir.join(&name);
        if folder.is_dir() {
            let items = load_folder(&folder, &name)?;
            if !items.is_empty() {
                suites.push(Suite { name, items });
            }
        }
    }
    if suites.is_empty() {
        return Err(Error::NoCases { path: cases_dir.display().to_string() });
    }
    let is_known = |name: &&String| suites.iter().any(|suite| suite.name == **name);
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
        return Err(Error::NoSuite { name: name.clone(), known: known.join(", ") });
    }
    suites.retain(|suite| names.is_empty() || names.contains(&suite.name));
    Ok(suites)
}

fn load_folder(folder: &Path, suite: &str) -> Result<Vec<SuiteItem>, Error> {
    let mut items = Vec::new();
    for name in sorted_names(folder)? {
        let path = folder.join(&name);
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            let text = fs::read_to_string(&path)
                .map_err(Error::file(format!("read `{}`", path.display())))?;
            let file = format!("{suite}/{name}");
            match parse::cases(&text) {
                Ok(cases) => {
                    items.extend(
                        cases.into_iter().map(|case| SuiteItem::Case { file: file.clone(), case }),
                    );
                }
                Err(malformed) => items.push(SuiteItem::Malformed { file, malformed }),
            }
        }
    }
    Ok(items)
}

fn sorted_names(folder: &Path) -> Result<Vec<String>, Error> {
    let attempt = format!("list `{}`", folder.display());
    let entries = fs::read_dir(folder).map_err(Error::file(&attempt))?;
    let mut names = entries
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Error::file(&attempt))?;
    names.sort();
    Ok(names)
}
