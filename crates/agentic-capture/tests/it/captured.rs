//! A repository that is captured, and the events of conversations in it.

use std::path::{Path, PathBuf};

use agentic_capture::hook::{HookAnswer, HookRequest, HookRole, answer};
use agentic_capture::{HookEnvironment, Source};
use agentic_session::{SessionOptions, SessionSpace};
use agentic_testkit::{Sandbox, Setup};

/// A repository that is captured, and a home of its own.
pub struct CapturedFolder {
    sandbox: Sandbox,
    home: tempfile::TempDir,
}

impl CapturedFolder {
    pub fn new() -> CapturedFolder {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        for (key, value) in
            [("user.name", "Ada"), ("user.email", "ada@example.com"), ("agentic.capture", "on")]
        {
            sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
        }
        CapturedFolder { sandbox, home: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn start(&self) -> &Path {
        self.sandbox.start()
    }

    pub fn home(&self) -> PathBuf {
        self.home.path().canonicalize().expect("there")
    }

    /// Runs git there, and returns what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.sandbox.git(self.start(), arguments).expect("git does so")
    }

    pub fn space(&self) -> SessionSpace {
        SessionSpace::open(self.start(), SessionOptions::default()).expect("a repository")
    }

    /// Hands an event of a conversation of Claude Code to the hook, with more of an environment.
    pub fn event(&self, more: &[(&str, &str)], payload: &serde_json::Value) -> HookAnswer {
        let home = self.home().display().to_string();
        let environment = std::iter::once(("HOME", home.as_str())).chain(more.iter().copied());
        let environment = HookEnvironment::of(environment);
        let request = HookRequest {
            source: Source::Claude,
            role: HookRole::Capture,
            named: None,
            environment: &environment,
            options: SessionOptions::default(),
        };
        answer(&request, payload.to_string().as_bytes())
    }
}
