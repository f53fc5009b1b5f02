//! Wiring coding agents: fake homes, the binary, and what is in the files afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::{Value as Json, json};

use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);
/// The folders by which coding agents are known to be here.
const HOMES: [&str; 6] =
    [".claude", ".codex", ".cursor", ".gemini", ".copilot", ".config/opencode"];
/// The files that wiring makes, in the order of the coding agents.
const FILES: [&str; 6] = [
    ".claude/settings.json",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".gemini/settings.json",
    ".copilot/hooks/agentic.json",
    ".config/opencode/plugins/agentic.ts",
];
/// The events that Claude Code knows, by its reference of hooks.
const CLAUDE_EVENTS: [&str; 13] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "SessionEnd",
    "WorktreeCreate",
    "WorktreeRemove",
];

struct Wired {
    sandbox: Sandbox,
}

impl Wired {
    fn new() -> Wired {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        Wired { sandbox }
    }

    fn with_homes() -> Wired {
        let wired = Wired::new();
        for folder in HOMES {
            fs::create_dir_all(wired.home().join(folder)).expect("writable");
        }
        wired
    }

    fn home(&self) -> PathBuf {
        self.sandbox.root().join("home")
    }

    fn try_run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> FinishedProgram {
        let mut command = self.sandbox.command("agentic", self.sandbox.start());
        command.args(arguments).envs(variables.iter().copied());
        run(command, b"", LIMIT).expect("it starts")
    }

    fn ok(&self, arguments: &[&str]) -> Json {
        let all = [arguments, &["--json"]].concat();
        let finished = self.try_run(&all, &[]);
        assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
        serde_json::from_slice(&finished.stdout).expect("JSON")
    }

    fn refused(&self, arguments: &[&str], code: i32) -> String {
        let finished = self.try_run(arguments, &[]);
        assert_eq!(finished.ending, ProgramEnding::Exit(code), "{}", text(&finished));
        String::from_utf8_lossy(&finished.stderr).into_owned()
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().expect("in a home")).expect("writable");
        fs::write(&path, text).expect("writable");
        path
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.home().join(path)).expect(path)
    }

    fn json(&self, path: &str) -> Json {
        serde_json::from_str(&self.read(path)).expect("JSON")
    }

    /// Returns every file of the home and of the checkout, with its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.home(), &mut found);
        collect(self.sandbox.start(), &mut found);
        found
    }

    fn new_files(&self, before: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
        let new = self.files().into_keys().filter(|path| !before.contains_key(path));
        let home = self.home();
        let new = new.filter(|path| path.starts_with(&home));
        new.map(|path| path.strip_prefix(&home).expect("in it").display().to_string()).collect()
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("there") {
        let path = entry.expect("readable").path();
        // Journals, caches and locks are not what this is about.
        if path.ends_with(".git/agentic") || path.is_symlink() {
            continue;
        }
        match path.is_dir() {
            true => collect(&path, found),
            false => drop(found.insert(path.clone(), fs::read(&path).expect("readable"))),
        }
    }
}

#[test]
fn plain_init_changes_no_home_and_names_who_is_here() {
    let wired = Wired::with_homes();
    let before = wired.files();
    let answer = wired.ok(&["init"]);
    assert_eq!(answer["wired"], json!([]));
    let next = answer["next"][0].as_str().expect("a hint");
    assert!(next.contains("agentic init --agents auto") && next.contains("opencode"), "{next}");
    assert_eq!(wired.files(), before);
}

#[test]
fn six_homes_get_exactly_their_files() {
    let wired = Wired::with_homes();
    let before = wired.files();
    let answer = wired.ok(&["init", "--agents", "auto"]);
    let mut wanted = FILES.map(str::to_owned);
    wanted.sort();
    assert_eq!(wired.new_files(&before), wanted);
    let made = answer["wired"].as_array().expect("a list");
    assert!(made.iter().all(|it| it["action"] == "made") && made.len() == 6, "{answer}");
    assert!(answer["next"].to_string().contains("/hooks"), "{answer}");
    let on = wired.sandbox.git(wired.sandbox.start(), &["config", "--local", "agentic.capture"]);
    assert_eq!(on.expect("set").trim(), "on");

    let claude = wired.json(FILES[0]);
    let hooks = claude["hooks"].as_object().expect("events");
    assert_eq!(hooks.len(), 11, "{claude}");
    for (event, groups) in hooks {
        assert!(CLAUDE_EVENTS.contains(&event.as_str()), "{event}");
        let entry = &groups[0]["hooks"][0];
        let program = entry["command"].as_str().expect("a path");
        assert!(Path::new(program).is_absolute() && program.ends_with("agentic"), "{program}");
        assert_eq!(entry["args"], json!(["hook", "claude"]));
        assert_eq!((&entry["type"], &entry["timeout"]), (&json!("command"), &json!(10)));
    }
    assert_eq!(hooks["PreToolUse"][0]["matcher"], "Bash|PowerShell");
    let writers = "Bash|PowerShell|Edit|Write|MultiEdit|NotebookEdit|Agent";
    assert_eq!(hooks["PostToolUse"][0]["matcher"], writers);

    let codex = wired.json(FILES[1]);
    assert_eq!(codex["hooks"].as_object().expect("events").len(), 9);
    let entry = &codex["hooks"]["Stop"][0]["hooks"][0];
    assert!(entry["command"].as_str().is_some_and(|it| it.ends_with("agentic hook codex")));
    assert_eq!(entry.get("args"), None);
    for (file, field) in [(FILES[2], "command"), (FILES[4], "bash")] {
        let flat = wired.json(file);
        assert_eq!(flat["version"], 1);
        let entry = &flat["hooks"]["sessionStart"][0];
        assert!(entry[field].as_str().is_some_and(|it| it.contains("agentic hook")), "{flat}");
    }
    let copilot = &wired.json(FILES[4])["hooks"]["preToolUse"][0];
    assert_eq!(copilot["timeoutSec"], 30);
    let line = copilot["bash"].as_str().expect("a line");
    assert!(line.ends_with("agentic hook copilot --event preToolUse"), "{line}");
    let gemini = &wired.json(FILES[3])["hooks"]["BeforeTool"][0]["hooks"][0];
    assert_eq!(gemini["timeout"], 10_000);
    assert!(wired.read(FILES[5]).contains("tool.execute.before"));
}

#[test]
fn a_second_run_changes_no_byte() {
    let wired = Wired::with_homes();
    let both = ["init", "--agents", "auto", "--mcp", "--git-hooks"];
    wired.ok(&both);
    let before = wired.files();
    let answer = wired.ok(&both);
    let again = answer["wired"].as_array().expect("a list");
    assert!(again.iter().all(|it| it["action"] == "unchanged"), "{answer}");
    assert_eq!(wired.files(), before);
}

#[test]
fn files_of_others_stay_and_come_back() {
    let wired = Wired::with_homes();
    let settings = "{\r\n\t\"model\": \"x\",\r\n\t\"zeta\": 1.50,\r\n\t\"hooks\": {\r\n\t\t\
        \"Stop\": [\r\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\r\n\
        \t\t],\r\n\t\t\"PreToolUse\": []\r\n\t}\r\n}";
    let real = wired.write("dotfiles/claude.json", settings);
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("ours");
    let link = wired.home().join(FILES[0]);
    symlink(&real, &link).expect("writable");
    let gemini = "{ \"mcpServers\": {\"x\": {\"command\": \"x\"}} }";
    wired.write(FILES[3], gemini);
    let toml = "model = \"gpt\" # mine\n\n[mcp_servers.other]\ncommand = \"o\"";
    wired.write(".codex/config.toml", toml);
    let before = wired.files();

    wired.ok(&["init", "--agents", "auto", "--mcp", "--git-hooks"]);
    assert!(link.is_symlink());
    let mode = fs::metadata(&real).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let changed = wired.read("dotfiles/claude.json");
    assert!(changed.starts_with("{\r\n\t\"model\": \"x\",\r\n\t\"zeta\": 1.50,"), "{changed}");
    let value: Json = serde_json::from_str(&changed).expect("JSON");
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
    assert_eq!(value["hooks"]["Stop"].as_array().map(Vec::len), Some(2));
    assert_eq!(wired.json(FILES[3])["mcpServers"]["agentic"]["args"], json!(["mcp"]));

    let answer = wired.ok(&["capture", "off"]);
    assert!(answer["removed"].as_array().is_some_and(|it| it.len() >= 6), "{answer}");
    assert_eq!(wired.files(), before);
    let again = wired.ok(&["capture", "off"]);
    assert_eq!(again["removed"], json!([]));
}

#[test]
fn off_takes_one_coding_agent_and_one_scope() {
    let wired = Wired::with_homes();
    wired.ok(&["init", "--agents", "claude,codex"]);
    wired.ok(&["init", "--agents", "claude", "--scope", "local"]);
    let local = wired.sandbox.start().join(".claude/settings.local.json");
    assert!(local.is_file());
    let status = wired.sandbox.git(wired.sandbox.start(), &["status", "--porcelain"]);
    assert_eq!(status.expect("a repository"), "", "git does not see the file");
    wired.ok(&["capture", "off", "claude", "--scope", "local"]);
    assert!(!local.exists() && wired.home().join(FILES[0]).is_file());
    wired.ok(&["capture", "off", "claude"]);
    assert!(!wired.home().join(FILES[0]).exists() && wired.home().join(FILES[1]).is_file());
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    let wired = Wired::with_homes();
    for broken in ["{ // mine\n}\n", "{\"hooks\": }", "{\"hooks\": []}", ""] {
        wired.write(FILES[0], broken);
        let said = wired.refused(&["init", "--agents", "claude,codex"], 1);
        assert!(said.contains("was left alone"), "{said}");
        assert!(said.contains("\"SessionStart\"") && said.contains("hint:"), "{said}");
        assert_eq!(wired.read(FILES[0]), broken);
    }
    assert!(wired.home().join(FILES[1]).is_file(), "the others are wired");
}

#[test]
fn sixteen_at_once_leave_one_entry_each() {
    let wired = Wired::with_homes();
    wired.write(FILES[0], "{\n  \"a\": 1\n}\n");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| wired.ok(&["init", "--agents", "auto", "--mcp"]));
        }
    });
    let text = wired.read(FILES[0]);
    assert_eq!(text.matches("\"hook\"").count(), 11, "{text}");
    let left =
        wired.files().into_keys().filter(|path| path.to_string_lossy().contains(".agentic-"));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_dry_run_writes_nothing() {
    let wired = Wired::with_homes();
    let before = wired.files();
    let all = ["init", "--agents", "auto", "--mcp", "--git-hooks", "--plugin", "p", "--dry-run"];
    let answer = wired.ok(&all);
    assert_eq!(answer["wired"][0]["action"], "made");
    assert_eq!(wired.files(), before);
}

#[test]
fn only_a_person_wires() {
    let wired = Wired::with_homes();
    for arguments in [&["init", "--agents", "auto"][..], &["capture", "off"]] {
        let finished = wired.try_run(arguments, &[("AGENTIC_AGENT", "alice")]);
        assert_eq!(finished.ending, ProgramEnding::Exit(9), "{}", text(&finished));
    }
    assert!(!wired.home().join(FILES[0]).exists());
}

#[test]
fn a_plugin_has_the_same_hooks_for_any_machine() {
    let wired = Wired::new();
    wired.ok(&["init", "--plugin", "plugin"]);
    let read = |name: &str| {
        let text = fs::read_to_string(wired.sandbox.start().join("plugin").join(name));
        serde_json::from_str::<Json>(&text.expect("written")).expect("JSON")
    };
    assert_eq!(read(".claude-plugin/plugin.json")["name"], "agentic");
    let entry = &read("hooks/hooks.json")["hooks"]["SessionStart"][0]["hooks"][0];
    assert_eq!(entry["command"], "agentic");
}

#[test]
fn hooks_of_git_that_somebody_placed_elsewhere_are_only_told_of() {
    let wired = Wired::new();
    let start = wired.sandbox.start();
    wired.sandbox.git(start, &["config", "core.hooksPath", ".husky"]).expect("writable");
    let answer = wired.ok(&["init", "--git-hooks"]);
    let next = answer["next"].to_string();
    assert!(next.contains(".husky/post-commit: agentic hook git post-commit"), "{next}");
    assert!(!start.join(".git/hooks/post-commit").exists() && !start.join(".husky").exists());
}

#[test]
fn switches_that_keep_hooks_from_running_are_reported() {
    let wired = Wired::with_homes();
    wired.write(FILES[0], "{\"disableAllHooks\": true, \"allowManagedHooksOnly\": true}");
    wired.write(".codex/config.toml", "[features]\nhooks = false\n");
    let next = wired.ok(&["init", "--agents", "claude,codex"])["next"].to_string();
    for word in ["disableAllHooks", "allowManagedHooksOnly", "hooks = false"] {
        assert!(next.contains(word), "{word} in {next}");
    }
}

#[test]
fn gates_are_written_for_one_checkout_and_follow_into_its_worktrees() {
    let wired = Wired::with_homes();
    let start = wired.sandbox.start();
    let rules = "[[hold]]\ntool = \"Bash|WebFetch\"\nmatch = 'terraform apply'\n";
    fs::write(start.join("agentic.toml"), rules).expect("writable");
    let answer = wired.ok(&["init", "--agents", "claude,codex,copilot", "--holds"]);
    assert!(answer["next"].to_string().contains("copilot goes on when a hook fails"), "{answer}");
    assert!(!wired.read(FILES[0]).contains("--gate"), "never for all checkouts");
    let local = |folder: &Path| {
        let text = fs::read_to_string(folder.join(".claude/settings.local.json"));
        serde_json::from_str::<Json>(&text.expect("written")).expect("JSON")
    };
    for event in ["PreToolUse", "PermissionRequest"] {
        let group = &local(start)["hooks"][event][0];
        assert_eq!(group["matcher"], "Bash|Edit|MultiEdit|NotebookEdit|PowerShell|WebFetch|Write");
        let entry = &group["hooks"][0];
        let line = entry["command"].as_str().expect("a line");
        assert!(line.ends_with("agentic hook claude --gate || exit 2"), "{line}");
        assert_eq!((&entry["timeout"], entry.get("args")), (&json!(600), None));
    }
    let codex = fs::read_to_string(start.join(".codex/hooks.json")).expect("written");
    assert!(codex.contains("hook codex --gate || exit 2") && codex.contains("apply_patch"));
    let status = wired.sandbox.git(start, &["status", "--porcelain", "-uall"]);
    assert_eq!(status.expect("a repository").trim(), "?? agentic.toml");

    wired.ok(&["spawn", "alice", "-m", "x", "--worktree"]);
    let below = start.parent().expect("a folder").join("repo.agents/alice");
    assert!(local(&below)["hooks"]["PreToolUse"][0]["hooks"][0].to_string().contains("--gate"));
    let status = wired.sandbox.git(&below, &["status", "--porcelain", "-uall"]);
    assert_eq!(status.expect("a worktree"), "");

    let before = wired.files();
    wired.ok(&["init", "--agents", "claude,codex,copilot", "--holds"]);
    assert_eq!(wired.files(), before);
    wired.ok(&["init", "--agents", "claude"]);
    assert_eq!(wired.files(), before, "gates stay until they are taken out");
    wired.ok(&["capture", "off"]);
    assert!(!start.join(".claude/settings.local.json").exists());
    assert!(!start.join(".codex/hooks.json").exists());
    assert!(!below.join(".claude/settings.local.json").exists());
}

#[test]
fn rules_that_cannot_be_read_wire_no_gate() {
    let wired = Wired::with_homes();
    fs::write(wired.sandbox.start().join("agentic.toml"), "[[hold]\n").expect("writable");
    let said = wired.refused(&["init", "--agents", "claude", "--holds"], 1);
    assert!(said.contains("agentic.toml") && said.contains("line 1"), "{said}");
}
