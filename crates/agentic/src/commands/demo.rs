//! `agentic demo`
//!
//! The demo runs real commands of this binary and of git, and prints what they print: nothing in it
//! is scripted but the commands. One of them it kills.

mod story;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant as Moment};

use self::story::{Ends, StoryStep};
use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{print_coloured, print_text, talk};
use crate::text::{Colour, Text};

/// Tell the whole story on a small real repository
///
/// Example: agentic demo --keep /tmp/agentic-demo
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct DemoArgs {
    /// Keep the repository in this folder, which must not exist yet
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// How often the demo looks whether the time to kill has come.
const POLL: Duration = Duration::from_millis(10);
/// How long it waits for that.
const PATIENCE: Duration = Duration::from_secs(60);
/// The exit code of what waits for a human.
const HELD: i32 = 4;

/// Runs the verb.
pub fn run(context: &Context, args: DemoArgs) -> VerbOutcome {
    let (repository, kept) = match args.keep {
        Some(folder) => (context.directory.join(folder), true),
        None => (std::env::temp_dir().join(format!("agentic-demo-{}", std::process::id())), false),
    };
    if repository.exists() {
        return Err(CommandFailure::refused(
            &format!("`{}` already exists", repository.display()),
            "name a folder that does not exist yet",
        ));
    }
    let told = tell(&repository);
    if kept {
        talk(&format!("the repository is `{}`", repository.display()));
    } else {
        // What was made for the demo alone goes with it.
        let _ = std::fs::remove_dir_all(&repository);
    }
    told?;
    tell_next(kept.then_some(&repository));
    Ok(ExitCode::SUCCESS)
}

/// Says what to try next.
fn tell_next(kept: Option<&PathBuf>) {
    talk(&match kept {
        Some(folder) => {
            let folder = folder.display();
            format!("next: `agentic -C {folder} serve --open` shows it on a page")
        }
        None => {
            "next: `agentic demo --keep DIR && agentic -C DIR serve --open` keeps it, and shows \
                 it on a page"
                .to_owned()
        }
    });
    talk("in a repository of yours: `agentic spawn NAME -m BRIEFING --worktree`");
}

fn tell(repository: &Path) -> Result<(), CommandFailure> {
    write(repository, "auth.rs", story::BEFORE)?;
    write(repository, ".gitignore", story::IGNORED)?;
    for command in story::SETUP {
        let (status, output) = finish(start(repository, command, "")?, command)?;
        if !status.success() {
            return Err(broken(command, &output));
        }
    }
    story::BEGINNING.iter().try_for_each(|step| play(repository, step))?;
    write(&repository.join("fix-auth"), "auth.rs", story::AFTER)?;
    story::WORK.iter().try_for_each(|step| play(repository, step))?;
    write(repository, "release.rhai", story::FLOW)?;
    write(repository, "upload.sh", story::UPLOAD)?;
    story::SESSION.iter().try_for_each(|step| play(repository, step))?;
    write(repository, "deploy.rhai", story::DEPLOY)?;
    let rest = story::QUESTION.iter().chain(story::PROOF);
    rest.into_iter().try_for_each(|step| play(repository, step))
}

fn play(repository: &Path, step: &StoryStep) -> Result<(), CommandFailure> {
    if !step.says.is_empty() {
        print_coloured(&Text::default().coloured(Colour::Bold, step.says));
    }
    let input = match step.input {
        "" => String::new(),
        input => format!(" <<< '{}'", input.trim_end()),
    };
    let place = if step.folder == story::REPOSITORY { "repo" } else { step.folder };
    let prompt = Text::default().coloured(Colour::Dim, &format!("{place} $"));
    print_coloured(&prompt.plain(&format!(" {}{input}", step.command)));
    let mut child = start(&repository.join(step.folder), step.command, step.input)?;
    if let Ends::KilledAt(file) = step.ends {
        kill_at(&mut child, &repository.join(file), step.command)?;
    }
    let (status, output) = finish(child, step.command)?;
    let indented: String = output.lines().map(|line| format!("  {line}\n")).collect();
    print_text(&indented);
    let is_as_told = match step.ends {
        Ends::Well => status.success(),
        Ends::Held => status.code() == Some(HELD),
        Ends::KilledAt(_) => status.code().is_none(),
    };
    if !is_as_told {
        return Err(broken(step.command, &output));
    }
    if let Ends::KilledAt(_) = step.ends {
        print_text(&format!("  ({status})"));
    }
    Ok(())
}

/// Kills the command, and nothing else, once the file is there; what the command had started ends
/// when the file is gone.
fn kill_at(child: &mut Child, file: &Path, command: &str) -> Result<(), CommandFailure> {
    let cannot = |error: std::io::Error| CommandFailure::io(&format!("kill `{command}`"), &error);
    let begun_at = Moment::now();
    while !file.exists() {
        let has_ended = child.try_wait().map_err(cannot)?.is_some();
        if has_ended || begun_at.elapsed() > PATIENCE {
            let _ = child.kill();
            return Err(broken(command, "it did not come to what the demo kills it in"));
        }
        std::thread::sleep(POLL);
    }
    child.kill().map_err(cannot)?;
    child.wait().map_err(cannot)?;
    std::fs::remove_file(file).map_err(cannot)
}

/// Starts a command of the story.
fn start(folder: &Path, command: &str, input: &str) -> Result<Child, CommandFailure> {
    let cannot = |error: std::io::Error| CommandFailure::io(&format!("run `{command}`"), &error);
    let words = words(command);
    let program = match words[0].as_str() {
        "agentic" => std::env::current_exe().map_err(cannot)?,
        other => PathBuf::from(other),
    };
    let mut child = Command::new(program)
        .args(&words[1..])
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
    Ok(child)
}

/// Waits for a command; returns how it ended, with everything that it printed.
fn finish(child: Child, command: &str) -> Result<(ExitStatus, String), CommandFailure> {
    let output = child.wait_with_output();
    let output = output.map_err(|error| CommandFailure::io(&format!("run `{command}`"), &error))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok((output.status, text))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), CommandFailure> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| CommandFailure::io(&format!("write `{}`", path.display()), &error))
}

fn broken(command: &str, output: &str) -> CommandFailure {
    let message = format!("`{command}` did not end as the story says: {}", output.trim());
    CommandFailure::refused(
        &message,
        "the demo needs git 2.30 or later and a folder it can write to",
    )
}

/// Splits a command at blanks; single quotes keep words together.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for character in command.chars() {
        match (character, is_quoted) {
            ('\'', _) => is_quoted = !is_quoted,
            (' ', false) => words.push(String::new()),
            _ => words.last_mut().expect("there is always a word").push(character),
        }
    }
    words
}
