//! `agentic demo`
//!
//! The demo runs real commands of this binary and of git, and prints what they print: nothing in it
//! is scripted but the commands.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use super::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print_text, talk};

/// Tell the whole story on a small real repository
///
/// Example: agentic demo --keep /tmp/agentic-demo
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Keep the repository in this folder, which must not exist yet
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// One step of the story: where it happens, what is said, and the command.
struct Step {
    folder: &'static str,
    says: &'static str,
    command: &'static [&'static str],
    input: &'static str,
}

const BEFORE: &str = "const TOKEN_TTL: u64 = 60;\n\nfn refresh() {}\n";
const AFTER: &str = "const TOKEN_TTL: u64 = 60;\n\n/// Only one worker refreshes; the others wait.\nfn refresh() {}\n";

/// How the repository comes to be; its output is not shown.
const SETUP: &[&[&str]] = &[
    &["init", "--quiet", "--initial-branch=main", "."],
    &["config", "user.name", "Ada Example"],
    &["config", "user.email", "ada@example.com"],
    &["config", "commit.gpgSign", "false"],
    &["add", "."],
    &["commit", "--quiet", "--message=Start"],
];

const BEGINNING: &[Step] = &[Step {
    folder: "repo",
    says: "An agent is a branch, seeded by a briefing, here with a worktree of its own.",
    command: &[
        "agentic",
        "spawn",
        "fix-auth",
        "-m",
        "Fix the token refresh race",
        "--at",
        "main",
        "--worktree",
        "../fix-auth",
    ],
    input: "",
}];

const STORY: &[Step] = &[
    Step {
        folder: "fix-auth",
        says: "What it saw and said is appended to its trace, durable at once.",
        command: &[
            "agentic",
            "trace",
            "add",
            "--kind",
            "tool",
            "cargo test refresh: 2 workers refreshed at once",
        ],
        input: "",
    },
    Step {
        folder: "fix-auth",
        says: "What it did is a typed commit; the trace is bound to it as a git note.",
        command: &[
            "agentic",
            "commit",
            "-m",
            "Let one worker refresh",
            "--kind",
            "refactor",
            "--field",
            "severity=\"high\"",
            "--trace",
        ],
        input: "",
    },
    Step {
        folder: "repo",
        says: "A sub-agent begins where its parent stands, and needs no worktree to commit.",
        command: &["agentic", "spawn", "review", "--from", "fix-auth", "-m", "Review the fix"],
        input: "",
    },
    Step {
        folder: "repo",
        says: "",
        command: &[
            "agentic",
            "commit",
            "--agent",
            "review",
            "-m",
            "Waiters need a deadline",
            "--kind",
            "finding",
            "--stdin",
        ],
        input: "{\"REVIEW.md\": \"A waiter may wait for ever.\\n\"}",
    },
    Step {
        folder: "repo",
        says: "Who reviews whom is asserted; who came from whom and who merged follows from commits.",
        command: &["agentic", "relate", "review", "reviews", "fix-auth"],
        input: "",
    },
    Step {
        folder: "repo",
        says: "",
        command: &["agentic", "merge", "review", "--into", "fix-auth"],
        input: "",
    },
    Step {
        folder: "repo",
        says: "",
        command: &["agentic", "merge", "fix-auth", "--into", "main", "-m", "Take the fix"],
        input: "",
    },
    Step {
        folder: "repo",
        says: "The family of agents, and what holds between them.",
        command: &["agentic", "tree"],
        input: "",
    },
    Step { folder: "repo", says: "", command: &["agentic", "relations"], input: "" },
    Step {
        folder: "repo",
        says: "Stock git sees all of it: history, traces, and a sound repository.",
        command: &["git", "log", "--graph", "--format=%h %an: %s", "main"],
        input: "",
    },
    Step {
        folder: "repo",
        says: "",
        command: &["git", "log", "-1", "--format=%s%n%N", "--notes=agentic/fix-auth", "main^2^"],
        input: "",
    },
    Step { folder: "repo", says: "", command: &["git", "fsck", "--strict"], input: "" },
];

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let (stage, kept) = match args.keep {
        Some(folder) => (context.directory.join(folder), true),
        None => (std::env::temp_dir().join(format!("agentic-demo-{}", std::process::id())), false),
    };
    if stage.exists() {
        return Err(Failure::refused(
            &format!("`{}` already exists", stage.display()),
            "name a folder that does not exist yet",
        ));
    }
    let told = tell(&stage);
    if kept {
        talk(&format!("the repository is `{}`", stage.join("repo").display()));
    } else {
        // What was made for the demo alone goes with it.
        let _ = std::fs::remove_dir_all(&stage);
    }
    told.map(|()| ExitCode::SUCCESS)
}

fn tell(stage: &Path) -> Result<(), Failure> {
    let repo = stage.join("repo");
    write(&repo, "auth.rs", BEFORE)?;
    for arguments in SETUP {
        let step = [&["git"], *arguments].concat();
        let output = execute(&repo, &step, "")?;
        if !output.0 {
            return Err(broken(&step, &output.1));
        }
    }
    BEGINNING.iter().try_for_each(|step| play(stage, step))?;
    write(&stage.join("fix-auth"), "auth.rs", AFTER)?;
    STORY.iter().try_for_each(|step| play(stage, step))
}

fn play(stage: &Path, step: &Step) -> Result<(), Failure> {
    if !step.says.is_empty() {
        print_text(&format!("\u{1b}[1m{}\u{1b}[0m", step.says));
    }
    let quoted: Vec<String> = step.command.iter().map(|word| quote(word)).collect();
    let input = match step.input {
        "" => String::new(),
        input => format!(" <<< '{}'", input.trim_end()),
    };
    print_text(&format!("\u{1b}[2m{} $\u{1b}[0m {}{input}", step.folder, quoted.join(" ")));
    let (success, output) = execute(&stage.join(step.folder), step.command, step.input)?;
    let indented: String = output.lines().map(|line| format!("  {line}\n")).collect();
    print_text(&indented);
    if success { Ok(()) } else { Err(broken(step.command, &output)) }
}

/// Runs a command and returns whether it succeeded, with everything that it printed.
fn execute(folder: &Path, command: &[&str], input: &str) -> Result<(bool, String), Failure> {
    let cannot = |error: std::io::Error| Failure::io(&format!("run `{}`", command[0]), &error);
    let program = match command[0] {
        "agentic" => std::env::current_exe().map_err(cannot)?,
        other => PathBuf::from(other),
    };
    let mut child = Command::new(program)
        .args(&command[1..])
        .current_dir(folder)
        .env_remove("AGENTIC_AGENT")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env("GIT_PAGER", "cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input is not disturbed by it.
        let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
    }
    let output = child.wait_with_output().map_err(cannot)?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok((output.status.success(), text))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| Failure::io(&format!("write `{}`", path.display()), &error))
}

fn broken(command: &[&str], output: &str) -> Failure {
    let message = format!("`{}` failed: {}", command.join(" "), output.trim());
    Failure::refused(&message, "the demo needs git 2.30 or later and a folder it can write to")
}

fn quote(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=^:".contains(c));
    if plain { word.to_owned() } else { format!("'{word}'") }
}
