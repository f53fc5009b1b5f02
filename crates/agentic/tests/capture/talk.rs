//! A conversation of Claude Code that a test has.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use serde_json::{Value, json};

use crate::stage::CaptureStage;

/// A conversation of Claude Code in the worktree of `fix-cart`.
pub struct Talk<'s> {
    stage: &'s CaptureStage,
    pub id: String,
    /// Where it takes place.
    pub folder: String,
}

impl Talk<'_> {
    pub fn new(stage: &CaptureStage, number: usize) -> Talk<'_> {
        Talk {
            stage,
            id: format!("{number:08x}-0000-4000-8000-000000000000"),
            folder: "shop.agents/fix-cart".to_owned(),
        }
    }

    /// Returns where its words are kept.
    pub fn transcript(&self) -> std::path::PathBuf {
        self.stage.folder.join(format!("home/.claude/projects/-x/{}.jsonl", self.id))
    }

    /// Adds a prompt to the transcript.
    pub fn say(&self, text: &str) {
        let path = self.transcript();
        fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
        let number = fs::read_to_string(&path).unwrap_or_default().lines().count();
        let line = json!({
            "type": "user",
            "uuid": format!("{}-4000-8000-{number:012x}", &self.id[..13]),
            "timestamp": "2026-11-20T09:00:01.037Z",
            "sessionId": self.id,
            "message": { "role": "user", "content": text },
        });
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("writable");
        writeln!(file, "{line}").expect("writable");
    }

    /// Sends an event, which must print nothing.
    pub fn event(&self, name: &str, env: &[(&str, &str)]) -> i32 {
        let payload = json!({
            "session_id": self.id,
            "cwd": self.stage.folder.join(&self.folder),
            "transcript_path": self.transcript(),
            "hook_event_name": name,
        });
        let ended = self.stage.hook(&["claude"], &payload.to_string(), env);
        assert_eq!(ended.stdout, "", "{name}");
        ended.exit
    }
}

/// Lists the prompts that are pending for an agent.
pub fn prompts(stage: &CaptureStage, agent: &str) -> Vec<String> {
    let pending = stage.agentic("shop", &format!("trace pending --agent {agent} --json"));
    let pending: Value = serde_json::from_str(&pending).expect("JSON");
    let entries = pending.as_array().expect("a list").iter();
    let prompts = entries.filter(|entry| entry["kind"] == "prompt");
    prompts.filter_map(|entry| Some(entry["text"].as_str()?.to_owned())).collect()
}
