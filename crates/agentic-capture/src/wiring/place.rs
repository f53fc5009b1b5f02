//! Where coding agents keep their settings, and whether they are here.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Source;

/// For whom something is wired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WiringScope {
    /// For every checkout of a user.
    User,
    /// For one checkout; git does not see it.
    Local,
    /// For everybody, by a file that is committed.
    Project,
}

impl WiringScope {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            WiringScope::User => "user",
            WiringScope::Local => "local",
            WiringScope::Project => "project",
        }
    }
}

/// The folders of a user in which coding agents look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentHomes {
    home: PathBuf,
    claude: Option<PathBuf>,
    codex: Option<PathBuf>,
    config: Option<PathBuf>,
    path: OsString,
}

impl AgentHomes {
    /// Finds them; nothing where there is no home.
    pub fn from_environment() -> Option<AgentHomes> {
        let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Some(AgentHomes {
            home: folder("HOME")?,
            claude: folder("CLAUDE_CONFIG_DIR"),
            codex: folder("CODEX_HOME"),
            config: folder("XDG_CONFIG_HOME").filter(|path| path.is_absolute()),
            path: env::var_os("PATH").unwrap_or_default(),
        })
    }

    /// Takes a folder for a home in which nothing is configured.
    pub fn at(home: &Path) -> AgentHomes {
        let path = OsString::new();
        AgentHomes { home: home.to_owned(), claude: None, codex: None, config: None, path }
    }

    /// Returns the user's own folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the folder in which programs keep what a user configures.
    pub fn configuration(&self) -> PathBuf {
        self.config.clone().unwrap_or_else(|| self.home.join(".config"))
    }

    /// Returns the folder of a coding agent.
    pub fn folder(&self, source: Source) -> PathBuf {
        let own = |given: &Option<PathBuf>, name: &str| {
            given.clone().unwrap_or_else(|| self.home.join(name))
        };
        match source {
            Source::Claude => own(&self.claude, ".claude"),
            Source::Codex => own(&self.codex, ".codex"),
            Source::Cursor => self.home.join(".cursor"),
            Source::Gemini => self.home.join(".gemini"),
            Source::Copilot => self.home.join(".copilot"),
            Source::Opencode => self.configuration().join("opencode"),
        }
    }

    /// Tells whether a coding agent is here: its program can be started, or its folder is there.
    pub fn has(&self, source: Source) -> bool {
        let names: &[&str] = match source {
            Source::Claude => &["claude"],
            Source::Codex => &["codex"],
            Source::Cursor => &["cursor", "cursor-agent"],
            Source::Gemini => &["gemini"],
            Source::Copilot => &["copilot"],
            Source::Opencode => &["opencode"],
        };
        let folders: Vec<PathBuf> = env::split_paths(&self.path).collect();
        let is_started = names.iter().any(|name| {
            folders.iter().any(|folder| folder.is_absolute() && folder.join(name).is_file())
        });
        is_started || self.folder(source).is_dir()
    }

    /// Returns the file in which hooks are named. `checkout` is the top of the worktree.
    pub fn hooks_file(&self, source: Source, scope: WiringScope, checkout: &Path) -> PathBuf {
        let (user, project) = match source {
            Source::Claude => ("settings.json", ".claude/settings.json"),
            Source::Codex => ("hooks.json", ".codex/hooks.json"),
            Source::Cursor => ("hooks.json", ".cursor/hooks.json"),
            Source::Gemini => ("settings.json", ".gemini/settings.json"),
            Source::Copilot => ("hooks/agentic.json", ".github/hooks/agentic.json"),
            Source::Opencode => ("plugins/agentic.ts", ".opencode/plugins/agentic.ts"),
        };
        match (scope, source) {
            (WiringScope::User, _) => self.folder(source).join(user),
            (WiringScope::Local, Source::Claude) => checkout.join(".claude/settings.local.json"),
            (WiringScope::Local | WiringScope::Project, _) => checkout.join(project),
        }
    }

    /// Returns the file in which servers of MCP are named.
    pub fn servers_file(&self, source: Source, scope: WiringScope, checkout: &Path) -> PathBuf {
        let (user, project) = match source {
            Source::Claude => (self.claude_state(), ".mcp.json"),
            Source::Codex => (self.folder(source).join("config.toml"), ".codex/config.toml"),
            Source::Cursor => (self.folder(source).join("mcp.json"), ".cursor/mcp.json"),
            Source::Gemini => (self.folder(source).join("settings.json"), ".gemini/settings.json"),
            Source::Copilot => (self.folder(source).join("mcp-config.json"), ".github/mcp.json"),
            Source::Opencode => (self.folder(source).join("opencode.json"), "opencode.json"),
        };
        match (scope, source) {
            (WiringScope::User, _) | (WiringScope::Local, Source::Claude) => user,
            (WiringScope::Local | WiringScope::Project, _) => checkout.join(project),
        }
    }

    /// Claude Code keeps its servers beside its folder, or in one that was chosen.
    fn claude_state(&self) -> PathBuf {
        self.claude.as_ref().unwrap_or(&self.home).join(".claude.json")
    }
}
