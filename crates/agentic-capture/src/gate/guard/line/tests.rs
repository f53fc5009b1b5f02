use agentic_model::Value;

use super::*;
use crate::Source;

/// Tells whether a line is held in a checkout that has rules, wiring and a git directory.
fn is_held(line: &str, tool: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let top = folder.path().canonicalize().expect("just made").join("repo");
    for name in
        ["agentic.toml", ".claude/settings.json", ".git/config", "home/.claude/settings.json"]
    {
        std::fs::create_dir_all(top.join(name).parent().expect("in a folder")).expect("writable");
        std::fs::write(top.join(name), "").expect("writable");
    }
    std::fs::create_dir_all(top.join("src")).expect("writable");
    let guarded = GuardedFiles {
        files: vec![top.join("home/.claude/settings.json")],
        checkouts: vec![top.clone()],
        inside: ["agentic.toml", ".claude/settings.json", ".git"].map(PathBuf::from).to_vec(),
        git: vec![top.join(".git")],
    };
    let (home, input) = (top.join("home"), Value::Null);
    let call = HeldCall {
        source: Source::Claude,
        tool,
        input: &input,
        folder: &top,
        checkout: &top,
        home: Some(&home),
    };
    guarded.are_changed_by_line(line, &call)
}

#[test]
fn lines_that_change_what_is_guarded_are_held() {
    for line in [
        "rm agentic.toml",
        "rm -f ./agentic.toml",
        "rm 'agentic.toml'",
        "cd src && rm ../agentic.toml",
        "cd .claude; rm settings.json",
        "mv agentic.toml /tmp/x",
        "mv /tmp/agentic.toml .",
        "cp /tmp/agentic.toml .",
        "cp /dev/null agentic.toml",
        "ln -sf /dev/null agentic.toml",
        "sed -i /hold/d agentic.toml",
        "sed -Ei.bak s/a/b/ agentic.toml",
        "git checkout HEAD~1 -- agentic.toml",
        "git restore --source=HEAD~1 agentic.toml",
        "git rm agentic.toml",
        "git -C src/.. mv agentic.toml x",
        "git checkout main -- .claude",
        "rm .claude/settings.json",
        "rm -rf .claude",
        "rm -rf .git",
        "mv .git x",
        "rm -rf .c*",
        "rm *.toml",
        "rm -rf *",
        "> agentic.toml",
        ": >agentic.toml",
        "echo x >> agentic.toml",
        "cat x &> agentic.toml",
        "cat >agentic.toml <<'E'\nx\nE",
        "echo x | tee agentic.toml",
        "mkfifo agentic.toml",
        "truncate -s0 agentic.toml",
        "chmod 000 agentic.toml",
        "dd if=/dev/null of=agentic.toml",
        "find . -name agentic.toml -delete",
        "perl -pi -e s/a/b/ agentic.toml",
        "agentic capture off",
        "/usr/bin/agentic capture off claude",
        "agentic init --agents=claude",
        "true; sudo rm agentic.toml",
        "X=1 timeout 5 rm agentic.toml",
        "bash -lc rm agentic.toml",
        "sh -c 'rm agentic.toml'",
        "sh <<E\nrm agentic.toml\nE",
        "echo $(rm agentic.toml)",
        "rm \"$PWD/agentic.toml\"",
        "rm $(git rev-parse --show-toplevel)/agentic.toml",
        "rm ${ROOT}/agentic.toml",
        "rm ~/.claude/settings.json",
        "rm $HOME/.claude/settings.json",
    ] {
        assert!(is_held(line, "Bash"), "{line}");
    }
    for line in ["Remove-Item .\\agentic.toml", "'x' > agentic.toml", "Set-Content agentic.toml x"]
    {
        assert!(is_held(line, "PowerShell"), "{line}");
    }
}

#[test]
fn lines_that_read_or_are_about_something_else_pass() {
    for line in [
        "cat agentic.toml",
        "sed -n 1,5p agentic.toml",
        "grep -r hold agentic.toml .claude/settings.json",
        "bash -lc cat agentic.toml",
        "git add agentic.toml && git commit -m 'rm agentic.toml' agentic.toml",
        "git diff agentic.toml",
        "git checkout .",
        "git checkout main",
        "find . -name agentic.toml",
        "cp agentic.toml /tmp/x",
        "echo 'rm agentic.toml' >notes.md",
        "cat >notes.md <<E\nrm agentic.toml\nE",
        "rm -rf src",
        "rm src/agentic.toml",
        "ls .git .claude",
        "chmod -R u+w .git",
        "rm -rf other/*",
        "cargo test # rm agentic.toml",
        "agentic capture status",
        "agentic init",
        "mkdir -p .claude/skills && touch .claude/skills/x.md",
    ] {
        assert!(!is_held(line, "Bash"), "{line}");
    }
}
