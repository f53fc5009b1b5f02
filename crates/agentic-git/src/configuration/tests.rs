//! What a repository that stays open learns of its configuration.

use std::path::Path;
use std::time::Instant;

use tempfile::TempDir;

use super::{ConfigurationStart, ConfigurationWatch, SETTLED_FOR, TICK};
use crate::{Repository, run_git};

fn git(folder: &Path, arguments: &[&str]) {
    let told = run_git(folder, arguments).and_then(|told| told.checked(arguments));
    told.expect("git does it");
}

/// Makes a repository of Ada's that was opened some time ago.
fn opened() -> (TempDir, Repository) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["config", "user.name", "Ada"]);
    git(folder.path(), &["config", "user.email", "ada@example.com"]);
    let mut repository = Repository::discover(folder.path()).expect("it is one");
    let start = ConfigurationStart::at(Instant::now().checked_sub(SETTLED_FOR));
    repository.configuration = ConfigurationWatch::new(start);
    (folder, repository)
}

fn address(repository: &Repository) -> String {
    repository.committer().expect("somebody commits").email
}

#[test]
fn who_commits_and_which_remotes_there_are_is_read_again_once_it_has_changed() {
    let (folder, repository) = opened();
    assert_eq!((address(&repository).as_str(), repository.remotes()), ("ada@example.com", vec![]));
    git(folder.path(), &["config", "user.email", "eve@example.com"]);
    git(folder.path(), &["remote", "add", "elsewhere", "/nowhere"]);
    git(folder.path(), &["config", "agentic.sign", "true"]);
    assert_eq!(address(&repository), "eve@example.com");
    assert_eq!(repository.remotes(), ["elsewhere"]);
    assert!(repository.is_set("agentic.sign").expect("it is a switch"));
    assert_eq!(repository.config("user.name").as_deref(), Some("Ada"));
    git(folder.path(), &["remote", "remove", "elsewhere"]);
    assert_eq!(repository.remotes(), Vec::<String>::new());
}

#[test]
fn a_process_that_stays_sees_what_changes_as_soon_as_it_has_begun() {
    let (folder, _) = opened();
    let set = |address: &str| git(folder.path(), &["config", "user.email", address]);
    let repository = Repository::discover(folder.path()).expect("it is one");
    let of_thread = repository.share().open();
    set("eve@example.com");
    assert_eq!(address(&repository), "ada@example.com", "a command is over soon");
    repository.follow_configuration();
    let later = repository.share().open();
    for seen in [&repository, &of_thread, &later] {
        assert_eq!(address(seen), "eve@example.com");
    }
    set("bob@example.com");
    for seen in [&repository, &of_thread, &later] {
        assert_eq!(address(seen), "bob@example.com");
    }
}

#[test]
fn a_change_within_a_tick_of_the_one_before_is_seen() {
    let (folder, repository) = opened();
    let included = folder.path().join("included");
    git(folder.path(), &["config", "include.path", &included.to_string_lossy()]);
    for name in ["bob", "eve", "kim"].into_iter().cycle().take(60) {
        // In place, with the same length: only the times can tell.
        let text = format!("[user]\n\temail = {name}@example.com\n");
        std::fs::write(&included, text).expect("writable");
        assert_eq!(address(&repository), format!("{name}@example.com"));
    }
}

#[test]
fn what_has_settled_has_one_mark_and_is_read_once() {
    let (folder, repository) = opened();
    git(folder.path(), &["config", "user.email", "eve@example.com"]);
    std::thread::sleep(2 * TICK);
    let mark = repository.configuration_mark();
    assert_eq!(repository.configuration_mark(), mark);
    assert!(!repository.configuration.later.borrow().as_ref().is_none_or(|later| later.is_old()));
    git(folder.path(), &["config", "user.email", "bob@example.com"]);
    assert_ne!(repository.configuration_mark(), mark);
}

#[test]
fn files_that_are_included_count_and_so_do_those_that_come_later() {
    let (folder, repository) = opened();
    let included = folder.path().join("included");
    std::fs::write(&included, "[user]\n\temail = eve@example.com\n").expect("writable");
    git(folder.path(), &["config", "include.path", &included.to_string_lossy()]);
    assert_eq!(address(&repository), "eve@example.com");
    std::fs::write(&included, "[user]\n\temail = bob@example.com\n").expect("writable");
    assert_eq!(address(&repository), "bob@example.com");
    git(folder.path(), &["config", "extensions.worktreeConfig", "true"]);
    assert_eq!(address(&repository), "bob@example.com");
    git(folder.path(), &["config", "--worktree", "user.email", "kim@example.com"]);
    assert_eq!(address(&repository), "kim@example.com");
}

#[test]
fn a_file_that_cannot_be_read_leaves_what_was_known() {
    let (folder, repository) = opened();
    assert_eq!(address(&repository), "ada@example.com");
    let file = folder.path().join(".git/config");
    let sound = std::fs::read_to_string(&file).expect("readable");
    std::fs::write(&file, "[user\n").expect("writable");
    assert_eq!(address(&repository), "ada@example.com");
    std::fs::write(&file, sound.replace("ada@", "eve@")).expect("writable");
    assert_eq!(address(&repository), "eve@example.com");
}

#[test]
fn threads_that_open_the_same_repository_later_follow_it_too() {
    let (folder, repository) = opened();
    let shared = repository.share();
    git(folder.path(), &["config", "user.email", "eve@example.com"]);
    let seen = std::thread::spawn(move || address(&shared.open()));
    assert_eq!(seen.join().expect("it does not panic"), "eve@example.com");
}

#[test]
fn a_change_waits_while_another_program_writes() {
    let (folder, repository) = opened();
    let lock = folder.path().join(".git/config.lock");
    std::fs::write(&lock, "").expect("writable");
    let gone = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            gone.store(true, std::sync::atomic::Ordering::SeqCst);
            std::fs::remove_file(&lock).expect("nobody else removes it");
        });
        let end =
            repository.configure(&["config", "user.email", "eve@example.com"]).expect("git runs");
        assert!(end.success, "{}", end.stderr);
        assert!(gone.load(std::sync::atomic::Ordering::SeqCst), "the lock was held");
    });
}

#[test]
fn a_change_beside_a_lock_that_stays_ends_with_the_words_of_git() {
    let (folder, repository) = opened();
    std::fs::write(folder.path().join(".git/config.lock"), "").expect("writable");
    let end = repository.configure(&["config", "user.email", "eve@example.com"]).expect("git runs");
    assert!(!end.success && end.stderr.contains("config"), "{}", end.stderr);
}
