use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{WiringRun, put_git_hooks, take_git_hooks};

/// Runs a hook, and returns what it printed and how it ended.
fn ran(hook: &Path, input: &str) -> (String, Option<i32>) {
    let mut child = Command::new(hook)
        .arg("amend")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a script");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), input.as_bytes())
        .expect("it reads");
    let ended = child.wait_with_output().expect("it ends");
    (String::from_utf8_lossy(&ended.stdout).into_owned(), ended.status.code())
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).expect("writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours");
}

#[test]
fn a_hook_that_was_there_runs_first_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let hooks = folder.path().join("hooks");
    fs::create_dir(&hooks).expect("fresh");
    let theirs = "#!/bin/sh\necho theirs \"$1\"; cat; exit 3\n";
    script(&hooks.join("post-rewrite"), theirs);
    let program = folder.path().join("agentic");
    script(&program, "#!/bin/sh\necho ours \"$@\"; cat\n");
    let program = program.to_str().expect("a plain path");
    for _ in 0..2 {
        put_git_hooks(&hooks, program, WiringRun::Apply).expect("writable");
        let (said, code) = ran(&hooks.join("post-rewrite"), "a b\nc d\n");
        assert_eq!(said, "theirs amend\na b\nc d\nours hook git post-rewrite amend\na b\nc d\n");
        assert_eq!(code, Some(3));
        let (said, code) = ran(&hooks.join("post-commit"), "");
        assert_eq!((said.trim(), code), ("ours hook git post-commit amend", Some(0)));
    }
    take_git_hooks(&hooks, WiringRun::Apply).expect("writable");
    let left: Vec<_> = fs::read_dir(&hooks).expect("there").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let back = hooks.join("post-rewrite");
    assert_eq!(fs::read_to_string(&back).expect("readable"), theirs);
    assert_eq!(fs::metadata(&back).expect("there").permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_dry_run_touches_no_hook() {
    let folder = tempfile::tempdir().expect("a folder");
    script(&folder.path().join("post-commit"), "#!/bin/sh\n");
    put_git_hooks(folder.path(), "agentic", WiringRun::Dry).expect("readable");
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
}
