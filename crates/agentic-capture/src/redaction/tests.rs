use std::fs;
use std::path::PathBuf;

use agentic_space::{Options, Space};
use tempfile::TempDir;

use super::*;

/// Makes a repository.
fn repository() -> (TempDir, PathBuf, Space) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().join("repo");
    let path = root.display().to_string();
    agentic_git::run_git(folder.path(), &["init", "-q", &path]).expect("git makes it");
    let space = Space::open(&root, Options::default()).expect("it opens");
    (folder, root, space)
}

fn redact(space: &Space, root: &Path, text: &str) -> String {
    let redactor = redactor(space, Some(root)).expect("it can be made");
    redactor.redact_text(text).text.into_owned()
}

#[test]
fn values_of_the_files_of_a_worktree_are_known() {
    let (_folder, root, space) = repository();
    fs::write(root.join(".env.local"), "# why\nexport GREETING=\"tulip-orbit-94\"\n")
        .expect("written");
    fs::write(root.join(".npmrc"), "//registry.invalid/:_authToken=walnut-harbour-31\n")
        .expect("written");
    fs::write(root.join(".netrc"), "machine a login b password copper-lantern-7\n")
        .expect("written");
    for value in ["tulip-orbit-94", "walnut-harbour-31", "copper-lantern-7"] {
        let text = redact(&space, &root, &format!("near {value} here"));
        assert!(text.starts_with("near [redacted:known-value:"), "{text}");
    }
}

#[test]
fn the_key_of_tags_is_made_once_and_only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, root, space) = repository();
    let text = "password: k7Qz9vWm2XpL4tRb";
    let first = redact(&space, &root, text);
    assert_eq!(first, redact(&space, &root, text));
    let key = space.repository().layout().root().join(KEY_FILE);
    let found = fs::metadata(&key).expect("it is there");
    assert_eq!((found.len(), found.permissions().mode() & 0o777), (32, 0o600));
    fs::remove_file(&key).expect("removed");
    assert_ne!(first, redact(&space, &root, text));
}

#[test]
fn rules_of_the_project_add_and_its_allowances_do_not_count() {
    let (_folder, root, space) = repository();
    let file = "[redact]\nallow = ['.*']\nfiles = ['more.toml']\n[[redact.rule]]\nid = 'shop'\n\
                regex = 'shop-[0-9]+'\nkeywords = ['shop-']\n";
    fs::write(root.join("agentic.toml"), file).expect("written");
    let more = "[[rules]]\nid = 'mart'\nregex = 'mart-[0-9]+'\nkeywords = ['mart-']\n";
    fs::write(root.join("more.toml"), more).expect("written");
    agentic_git::run_git(&root, &["config", "agentic.redactAllow", ".*"]).expect("git does it");
    let space_again = Space::open(&root, Options::default()).expect("it opens");
    let text = redact(&space_again, &root, "shop-1 mart-2 password: k7Qz9vWm2XpL4tRb");
    for rule in ["shop", "mart", "key-value"] {
        assert!(text.contains(&format!("[redacted:{rule}:")), "{text}");
    }
    assert_eq!(refused_settings(&root), ["allow"]);
    drop(space);
}

#[test]
fn rules_that_are_none_leave_no_redactor() {
    let (_folder, root, space) = repository();
    let file = |text: &str| fs::write(root.join("agentic.toml"), text).expect("written");
    file("[[redact.rule]]\nid = 'a'\nregex = '('\nkeywords = ['abc']\n");
    assert!(redactor(&space, Some(&root)).is_err_and(|error| error.to_string().contains("`a`")));
    file("redact.files = ['gone.toml']\n");
    assert!(redactor(&space, Some(&root)).is_err());
    file("redact.files = ['../outside.toml']\n");
    fs::write(root.join("../outside.toml"), "").expect("written");
    assert!(
        redactor(&space, Some(&root)).is_err_and(|error| error.to_string().contains("outside"))
    );
    file("this is no TOML");
    assert!(redactor(&space, Some(&root)).is_ok());
}
