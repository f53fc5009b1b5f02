//! Each sort of write is noticed, by events and by times; and what cannot be named asks for a look at everything.

use std::fs;

use super::*;
use crate::bell::ring;

const SOON: Duration = Duration::from_secs(5);

struct Place {
    folder: tempfile::TempDir,
    layout: Layout,
}

impl Place {
    /// A repository as git leaves it, with a journal.
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        for path in ["refs/heads/agents", "refs/notes/agentic", "refs/agentic"] {
            fs::create_dir_all(folder.path().join(path)).expect("writable");
        }
        fs::create_dir_all(layout.open_sessions()).expect("writable");
        fs::create_dir_all(layout.root().join("lock")).expect("writable");
        Place { folder, layout }
    }

    /// Makes all folders as old as those of a repository in which nothing happens.
    fn grow_old(&self) {
        let git = ["refs/heads", "refs/heads/agents", "refs/notes/agentic", "refs/agentic"];
        let git = git.map(|path| self.folder.path().join(path));
        let ours = [self.layout.open_sessions(), self.layout.root().join("lock")];
        for path in git.into_iter().chain(ours) {
            let folder = fs::File::open(path).expect("it is there");
            folder.set_modified(SystemTime::now() - RETRY).expect("a time can be set");
        }
    }

    fn watch(&self) -> WriteWatch {
        WriteWatch::begin(&self.layout, self.folder.path()).expect("a bell can be hung up")
    }

    /// Watches where the system tells of nothing.
    fn polling(&self) -> WriteWatch {
        let bell = Bell::hang_up(&self.layout).expect("a bell can be hung up");
        WriteWatch::with(Some(bell), &self.layout, self.folder.path(), None)
    }

    /// Writes a file as git writes a ref: beside, then by a rename.
    fn write_ref(&self, name: &str) {
        let path = self.folder.path().join(name);
        let lock = self.folder.path().join(format!("{name}.lock"));
        fs::write(&lock, "0123").expect("writable");
        fs::rename(lock, path).expect("writable");
    }
}

fn agent(name: &str) -> GroundChange {
    GroundChange::Stream(Stream::Agent(AgentName::parse(name).expect("a name")))
}

/// Waits until something was noticed that is asked for; returns all that was until then.
fn noticed(watch: &mut WriteWatch, expected: &GroundChange) -> BTreeSet<GroundChange> {
    let until = Instant::now() + SOON;
    let mut all = BTreeSet::new();
    while !all.contains(expected) && Instant::now() < until {
        all.extend(watch.wait(SOON));
    }
    assert!(all.contains(expected), "{expected:?} is not among {all:?}");
    all
}

#[test]
fn a_branch_that_git_moves_is_named() {
    let place = Place::new();
    let mut watch = place.watch();
    assert_eq!(watch.mode(), WatchMode::Events);
    place.write_ref("refs/heads/agents/alice");
    assert_eq!(noticed(&mut watch, &agent("alice")), BTreeSet::from([agent("alice")]));
    place.write_ref("refs/notes/agentic/bob");
    assert_eq!(noticed(&mut watch, &agent("bob")), BTreeSet::from([agent("bob")]));
    fs::remove_file(place.folder.path().join("refs/heads/agents/alice")).expect("it is there");
    noticed(&mut watch, &agent("alice"));
    for other in ["refs/heads/main", "refs/agentic/registry", "packed-refs", "HEAD"] {
        place.write_ref(other);
        assert_eq!(
            noticed(&mut watch, &GroundChange::Refs),
            BTreeSet::from([GroundChange::Refs]),
            "{other}"
        );
    }
    assert_eq!(watch.wait(Duration::ZERO), BTreeSet::new());
}

#[test]
fn what_is_not_ours_is_not_told() {
    let place = Place::new();
    let mut watch = place.watch();
    for other in ["index", "config", "COMMIT_EDITMSG", "refs/heads/agents/UPPER"] {
        place.write_ref(other);
    }
    fs::write(place.layout.space_lock("packs"), "").expect("writable");
    fs::write(place.layout.worktree_lock("0a"), "").expect("writable");
    place.write_ref("refs/heads/agents/zoe");
    assert_eq!(noticed(&mut watch, &agent("zoe")), BTreeSet::from([agent("zoe")]));
}

#[test]
fn the_end_of_a_write_is_seen_at_its_lock() {
    let place = Place::new();
    let mut watch = place.watch();
    fs::write(place.layout.lock(&Stream::Space), "").expect("writable");
    noticed(&mut watch, &GroundChange::Stream(Stream::Space));
    fs::write(place.layout.session_lock("00ab"), "").expect("writable");
    noticed(&mut watch, &GroundChange::Session("00ab".to_owned()));
    fs::create_dir(place.layout.open_sessions().join("0123")).expect("writable");
    noticed(&mut watch, &GroundChange::Session("0123".to_owned()));
}

#[test]
fn who_watches_aside_notices_refs_and_locks_and_leaves_the_bell_to_its_holder() {
    let place = Place::new();
    let mut holder = place.watch();
    let mut aside = WriteWatch::aside(&place.layout, place.folder.path());
    place.write_ref("refs/heads/agents/alice");
    noticed(&mut aside, &agent("alice"));
    fs::write(place.layout.root().join("lock/bob"), "").expect("writable");
    noticed(&mut aside, &agent("bob"));
    ring(&place.layout, &agent("carol"));
    noticed(&mut holder, &agent("carol"));
}

#[test]
fn the_bell_ends_the_wait() {
    let place = Place::new();
    let mut watch = place.watch();
    std::thread::scope(|scope| {
        scope.spawn(|| ring(&place.layout, &agent("alice")));
        noticed(&mut watch, &agent("alice"));
    });
}

#[test]
fn a_folder_that_goes_and_comes_back_is_watched_again() {
    let place = Place::new();
    let agents = place.folder.path().join("refs/heads/agents");
    let mut watch = place.watch();
    fs::remove_dir(&agents).expect("it is empty");
    noticed(&mut watch, &GroundChange::Refs);
    // Several folders at once, as a fetch makes them: what was written before the watch is seen too.
    fs::create_dir_all(&agents).expect("writable");
    place.write_ref("refs/heads/agents/alice");
    noticed(&mut watch, &GroundChange::Anything);
    place.write_ref("refs/heads/agents/bob");
    noticed(&mut watch, &agent("bob"));
}

#[test]
fn folders_that_come_later_are_watched_then() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let layout = Layout::new(folder.path());
    let mut watch = WriteWatch::begin(&layout, folder.path()).expect("a bell can be hung up");
    fs::create_dir_all(folder.path().join("refs/heads/agents")).expect("writable");
    noticed(&mut watch, &GroundChange::Anything);
    // The look may have been between two of the folders.
    while !watch.wait(Duration::from_millis(50)).is_empty() {}
    fs::write(folder.path().join("refs/heads/agents/alice"), "0123").expect("writable");
    noticed(&mut watch, &agent("alice"));
}

#[test]
fn without_events_of_the_system_times_are_looked_at() {
    let place = Place::new();
    place.grow_old();
    let mut watch = place.polling();
    watch.retry_at = Instant::now() + RETRY;
    assert_eq!(watch.mode(), WatchMode::Polling);
    assert_eq!(watch.wait(Duration::ZERO), BTreeSet::new());
    place.write_ref("refs/heads/agents/alice");
    noticed(&mut watch, &GroundChange::Anything);
    ring(&place.layout, &agent("bob"));
    noticed(&mut watch, &agent("bob"));
    // Later the system can tell again.
    watch.retry_at = Instant::now();
    noticed(&mut watch, &GroundChange::Anything);
    assert_eq!(watch.mode(), WatchMode::Events);
    place.write_ref("refs/heads/agents/alice");
    noticed(&mut watch, &agent("alice"));
}

#[test]
fn a_change_right_behind_another_is_seen_without_a_time_of_its_own() {
    let place = Place::new();
    let mut watch = place.polling();
    // As if events could not be had for longer than this takes.
    watch.retry_at = Instant::now() + SOON;
    let agents = place.folder.path().join("refs/heads/agents");
    let folder = fs::File::open(&agents).expect("it is there");
    place.write_ref("refs/heads/agents/alice");
    let at = fs::metadata(&agents).and_then(|found| found.modified()).expect("it has a time");
    noticed(&mut watch, &GroundChange::Anything);
    // The second one gets the time of the first, as within one step of the clock.
    place.write_ref("refs/heads/agents/bob");
    folder.set_modified(at).expect("a time can be set");
    noticed(&mut watch, &GroundChange::Anything);
}

#[test]
fn more_than_the_system_keeps_asks_for_a_look_at_everything() {
    let place = Place::new();
    let mut watch = place.watch();
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("readable");
    let most: usize = most.trim().parse().expect("a number");
    let path = place.folder.path().join("refs/heads/agents/alice");
    for _ in 0..=most / 2 {
        fs::write(&path, "0123").expect("writable");
        fs::remove_file(&path).expect("it is there");
    }
    noticed(&mut watch, &GroundChange::Anything);
}
