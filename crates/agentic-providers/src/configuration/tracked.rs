//! Whether git tracks a file: then it is not the user's own word, for it comes with a clone, a pull
//! or a merge.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where a file that git tracks belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedPlace {
    /// The folder of the repository that all its worktrees share.
    pub repository: PathBuf,
    /// The path of the file from the top of its worktree.
    pub file: String,
}

/// The commits whose files count as tracked, beside the index: that of this worktree, and that of
/// the main one, from which an agent's was made.
const COMMITS: [&str; 2] = ["HEAD", "main-worktree/HEAD"];

/// Finds out whether git tracks a file, under the path that was given or the one that its links
/// lead to. What cannot be found out counts as tracked.
pub fn find(path: &Path) -> Option<TrackedPlace> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let name = path.file_name().unwrap_or_default();
    let spelled = folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(name);
    let real = path.canonicalize().ok().filter(|real| *real != spelled);
    of_path(&spelled).or_else(|| real.and_then(|real| of_path(&real)))
}

fn of_path(path: &Path) -> Option<TrackedPlace> {
    let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    let top = path.ancestors().skip(1).find(has_git)?;
    let file = path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned();
    let common = git(top, &["rev-parse", "--git-common-dir"], "");
    let common = common.map(|text| top.join(text.trim_end_matches('\n')));
    let repository = common.and_then(|folder| folder.canonicalize().ok());
    let tracked = TrackedPlace { repository: repository.unwrap_or_else(|| top.to_owned()), file };
    is_tracked(top, &tracked.file).then_some(tracked)
}

fn is_tracked(top: &Path, file: &str) -> bool {
    // In whatever case it is written: a file system may know none.
    let pattern = format!(":(top,icase,literal){file}");
    // Entries that are staged only, or that git was told not to look at, are listed as well.
    match git(top, &["ls-files", "-z", "--cached", "--", &pattern], "") {
        Some(listed) if listed.is_empty() => {}
        Some(_) | None => return true,
    }
    if file.contains(['\n', '\u{fffd}']) {
        return true;
    }
    let questions: String = COMMITS.iter().map(|commit| format!("{commit}:{file}\n")).collect();
    let Some(answers) = git(top, &["cat-file", "--batch-check"], &questions) else { return true };
    answers.lines().any(|line| !line.ends_with(" missing"))
}

/// Runs git at the top of a worktree, with nothing of our environment that would lead it elsewhere.
fn git(top: &Path, arguments: &[&str], input: &str) -> Option<String> {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    let ceiling = top.parent().map(|parent| OsString::from(parent.as_os_str())).unwrap_or_default();
    command
        .args(["-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"])
        .args(arguments)
        .current_dir(top)
        // What stands in the place of `.git` and is no repository must not lead to one above it.
        .env("GIT_CEILING_DIRECTORIES", ceiling)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A few lines: they fit the pipe whoever reads them when.
        stdin.write_all(input.as_bytes()).ok()?;
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}
