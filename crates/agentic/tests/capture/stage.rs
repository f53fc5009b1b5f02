//! A repository with two agents, one of them with a worktree, and a home in which vendors keep files.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

/// The binary.
const AGENTIC: &str = env!("CARGO_BIN_EXE_agentic");

/// What a test works with.
pub struct CaptureStage {
    root: tempfile::TempDir,
    /// The real path of everything.
    pub folder: PathBuf,
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Ended {
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
}

impl CaptureStage {
    /// Makes `shop` on `main` with capture on, agents `fix-cart` (with a worktree) and `other`.
    pub fn new() -> CaptureStage {
        let root = tempfile::tempdir().expect("a temporary folder");
        let folder = root.path().canonicalize().expect("just made");
        let stage = CaptureStage { root, folder };
        for path in ["shop", "elsewhere", "home"] {
            fs::create_dir_all(stage.folder.join(path)).expect("writable");
        }
        stage.git("shop", "init -q -b main");
        stage.write("shop/README.md", "shop\n");
        stage.git("shop", "add README.md");
        stage.git("shop", "commit -q -m Begin");
        stage.git("shop", "config agentic.capture on");
        stage.agentic("shop", "spawn fix-cart -m Cart --worktree");
        stage.agentic("shop", "spawn other -m Other");
        stage
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    /// Runs git, which must succeed, and returns what it prints.
    pub fn git(&self, folder: &str, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let ended = self.program("git", folder, &words, &[], b"");
        assert_eq!(ended.exit, 0, "git {line}: {}", ended.stderr);
        ended.stdout
    }

    /// Runs agentic, which must succeed, and returns what it prints.
    pub fn agentic(&self, folder: &str, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let ended = self.program(AGENTIC, folder, &words, &[], b"");
        assert_eq!(ended.exit, 0, "agentic {line}: {}", ended.stderr);
        ended.stdout
    }

    /// Runs agentic; of an agent that is archived nothing is pending.
    pub fn agentic_or_archived(&self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let ended = self.program(AGENTIC, "shop", &words, &[], b"");
        if ended.stderr.contains("is archived") { "[]".to_owned() } else { ended.stdout }
    }

    /// Lists the entries of an agent, pending ones and those of its newest trace: kind, text and `meta`.
    pub fn entries(&self, agent: &str) -> Vec<Value> {
        let list = |line: String| {
            let text = self.agentic_or_archived(&line);
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            let entries = value.get("entries").cloned().unwrap_or(value);
            entries.as_array().cloned().unwrap_or_default()
        };
        let mut found = list(format!("trace pending --agent {agent} --json"));
        found.extend(list(format!("trace show {agent} --json")));
        found
    }

    /// Lists the entries that are bound to the newest commit of an agent, whole, as its objects have them.
    pub fn bound_entries(&self, agent: &str) -> Vec<Value> {
        let shown = self.agentic("shop", &format!("trace show {agent} --json"));
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        let mut ahead = vec![shown["cid"].as_str().expect("an id").to_owned()];
        let mut entries = Vec::new();
        while let Some(cid) = ahead.pop() {
            let object = self.agentic("shop", &format!("object get {cid}"));
            let object: Value = serde_json::from_str(&object).expect("JSON");
            let linked = object["parts"].as_array().into_iter().flatten();
            let linked = linked.chain([&object["previous"]]);
            ahead.extend(linked.filter_map(|link| Some(link["/"].as_str()?.to_owned())));
            entries.extend(object["entries"].as_array().into_iter().flatten().cloned());
        }
        entries
    }

    /// Runs a hook on a payload; `@ROOT@` and `@HOME@` stand for folders.
    pub fn hook(&self, words: &[&str], payload: &str, env: &[(&str, &str)]) -> Ended {
        let words: Vec<&str> = ["hook"].iter().chain(words).copied().collect();
        self.program(AGENTIC, "elsewhere", &words, env, self.filled(payload).as_bytes())
    }

    /// Puts folders in the place of their names.
    pub fn filled(&self, text: &str) -> String {
        let home = self.folder.join("home").display().to_string();
        let root = self.folder.display().to_string();
        text.replace('¦', "").replace("@HOME@", &home).replace("@ROOT@", &root)
    }

    /// Runs a program in a folder of the stage.
    pub fn program(
        &self,
        program: &str,
        folder: &str,
        words: &[&str],
        env: &[(&str, &str)],
        input: &[u8],
    ) -> Ended {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.folder.join(folder));
        self.environment(&mut command);
        command.envs(env.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program is there");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program that does not read to the end is not wrong for that.
        let _ = stdin.write_all(input);
        drop(stdin);
        let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
        Ended {
            exit: status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// Runs agentic in `shop`, and says how much memory it had at most, in bytes; looks at it while it
    /// runs, so that what it takes in its last moments may be missed.
    pub fn with_peak(&self, words: &[&str]) -> (u64, Ended) {
        let mut command = Command::new(AGENTIC);
        command.args(words).current_dir(self.folder.join("shop"));
        self.environment(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the program is there");
        let status = format!("/proc/{}/status", child.id());
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let mut peak = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let text = fs::read_to_string(&status).unwrap_or_default();
                    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                    let kib =
                        line.and_then(|it| it.trim().strip_suffix(" kB")?.parse::<u64>().ok());
                    peak = peak.max(kib.unwrap_or(0) << 10);
                    std::thread::yield_now();
                }
                peak
            });
            let output = child.wait_with_output().expect("it ends");
            is_over.store(true, Ordering::Relaxed);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let ended = Ended {
                exit: output.status.code().unwrap_or(-1),
                stdout: text(&output.stdout),
                stderr: text(&output.stderr),
            };
            (watch.join().expect("it only looks"), ended)
        })
    }

    /// Gives a command the environment of the stage and no other.
    pub fn environment(&self, command: &mut Command) {
        let agentic = Path::new(AGENTIC).parent().expect("in a folder").display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        command.env_clear();
        command.env("PATH", format!("{agentic}:{path}"));
        command.env("HOME", self.folder.join("home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@example.com"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.com"),
        ] {
            command.env(name, value);
        }
    }

    /// Returns a path below `.git/agentic/capture`.
    pub fn capture(&self, path: &str) -> PathBuf {
        self.folder.join("shop/.git/agentic/capture").join(path)
    }

    /// Reads what is remembered of a conversation: agent and reason.
    pub fn bound(&self, native: &str) -> Option<(String, String)> {
        let records = files(&self.capture("conversation"));
        let records = records.iter().filter_map(|path| {
            let text = fs::read_to_string(path).ok()?;
            serde_json::from_str::<Value>(&text).ok()
        });
        let record = records.into_iter().find(|record| record["native"] == native)?;
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        Some((text("agent"), text("reason")))
    }

    /// Reads the codes of the error log.
    pub fn errors(&self) -> Vec<String> {
        let text = fs::read_to_string(self.capture("errors.log")).unwrap_or_default();
        text.lines().filter_map(|line| Some(line.rsplit_once(' ')?.1.to_owned())).collect()
    }

    /// Lists all agents, archived ones too.
    pub fn agents(&self) -> Vec<String> {
        let open = self.git("shop", "for-each-ref --format=%(refname:lstrip=3) refs/heads/agents");
        let archived = self.agentic("shop", "archive --list --json");
        let archived: Value = serde_json::from_str(&archived).expect("JSON");
        let archived = archived.as_array().expect("a list").iter();
        let archived = archived.filter_map(|agent| Some(agent["agent"].as_str()?.to_owned()));
        open.lines().map(str::to_owned).chain(archived).collect()
    }

    /// Checks what git itself says.
    pub fn check(&self) {
        let ended = self.program("git", "shop", &["fsck", "--strict"], &[], b"");
        assert_eq!(ended.exit, 0, "git fsck: {}", ended.stderr);
        assert!(self.root.path().exists());
    }
}

/// Lists the files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}
