//! Cases of the conformance corpus, as data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_diag::SourceText;
use agentic_lang_context::json::{self, Json};
use agentic_lang_context::{
    CheckFindings, CheckOptions, ContextModule, ContextOptions, Dialect, EntryPoint, Version,
    compile,
};

/// One case: its folder and what it says.
pub struct Case {
    pub name: String,
    pub folder: PathBuf,
    pub json: Json,
}

/// How the dialect of a case is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The version that the case names, strictly.
    Declared,
    /// Whatever the text shows.
    Detected,
}

pub fn all() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/context/public");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
        .expect("the corpus is part of the project")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .collect();
    folders.sort();
    folders.into_iter().map(read).collect()
}

fn read(folder: PathBuf) -> Case {
    let text = std::fs::read_to_string(folder.join("case.json")).expect("every case has its data");
    let name = folder.file_name().expect("a folder has a name").to_string_lossy().into_owned();
    Case { name, folder, json: json::parse(&text).expect("the data of a case is JSON") }
}

impl Case {
    pub fn expect(&self, key: &str) -> Option<&Json> {
        self.json.get("expect").and_then(|expect| expect.get(key))
    }

    pub fn text(&self, key: &str) -> &str {
        self.json.get(key).and_then(Json::as_text).unwrap_or_default()
    }

    pub fn version(&self) -> Version {
        Version::parse(self.text("dialect")).expect("a case names a version")
    }

    pub fn compile(&self, reading: Reading) -> Result<ContextModule, CheckFindings> {
        let dialect = match reading {
            Reading::Declared => Some(Dialect::strict(self.version())),
            Reading::Detected => None,
        };
        let options = CheckOptions { dialect, ..CheckOptions::default() };
        let text = self.file("main.as").expect("every case has a program");
        compile(SourceText::new("main.as", text), &options, &mut |path| self.file(path))
    }

    pub fn file(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.folder.join(path)).map_err(|error| error.to_string())
    }

    /// Every file of the case by its path, as the workspace of its tools.
    pub fn workspace(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("the corpus can be listed") {
                let path = entry.expect("the corpus can be listed").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(&self.folder).expect("it is below the folder");
                let content = std::fs::read_to_string(&path).expect("the corpus is text");
                files.push((name.to_string_lossy().into_owned(), content));
            }
        }
        files
    }

    fn option(&self, key: &str) -> Option<&Json> {
        self.json.get("options").and_then(|options| options.get(key))
    }

    pub fn entry(&self) -> EntryPoint {
        let text = |key| self.option(key).and_then(Json::as_text).map(str::to_owned);
        EntryPoint { agent: text("agent"), function: text("function") }
    }

    pub fn run_options(&self) -> ContextOptions {
        let variant = self.option("variant").and_then(Json::as_object);
        let variant: BTreeMap<String, String> = variant
            .into_iter()
            .flat_map(|variant| variant.iter())
            .map(|(site, name)| (site.to_string(), name.as_text().unwrap_or_default().to_owned()))
            .collect();
        ContextOptions { variant, ..ContextOptions::default() }
    }
}
