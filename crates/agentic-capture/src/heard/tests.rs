use super::*;

#[test]
fn only_a_time_is_a_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let layout = Layout::new(folder.path());
    assert_eq!(last_heard(&layout, Source::Codex), None);
    let now = Instant::from_millis(1_763_800_000_000);
    hear(&layout, Source::Codex, now).expect("writable");
    assert_eq!(last_heard(&layout, Source::Codex), Some(now));
    let path = heard(&layout, Source::Codex);
    for content in [&b"soon"[..], b"", b"\xff\xfe", &[b' '; 1 << 20]] {
        std::fs::write(&path, content).expect("writable");
        assert_eq!(last_heard(&layout, Source::Codex), None);
    }
    hear(&layout, Source::Codex, now).expect("writable");
    assert_eq!(last_heard(&layout, Source::Codex), Some(now), "nothing of what was longer is left");
    std::fs::remove_file(&path).expect("there");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("starts");
    assert!(made.success());
    hear(&layout, Source::Codex, now).expect_err("nobody reads from it, and nobody waits");
    assert_eq!(last_heard(&layout, Source::Codex), None);
    std::fs::remove_file(&path).expect("there");
    std::fs::create_dir(&path).expect("writable");
    assert_eq!(last_heard(&layout, Source::Codex), None);
}

#[test]
fn nobody_waits_to_say_what_somebody_else_is_saying() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let layout = Layout::new(folder.path());
    let [before, now] = [1_763_800_000_000, 1_763_800_001_000].map(Instant::from_millis);
    hear(&layout, Source::Codex, before).expect("writable");
    let other = File::open(heard(&layout, Source::Codex)).expect("there");
    other.lock().expect("nobody holds it");
    hear(&layout, Source::Codex, now).expect("it is left to the other");
    assert_eq!(last_heard(&layout, Source::Codex), Some(before));
    other.unlock().expect("it is held");
    hear(&layout, Source::Codex, now).expect("writable");
    assert_eq!(last_heard(&layout, Source::Codex), Some(now));
}
