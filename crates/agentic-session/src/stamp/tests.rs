//! Stamps of folders, and when they are kept.

use std::time::{SystemTime, UNIX_EPOCH};

use agentic_store::Layout;

use super::{FolderStamp, SETTLED_AFTER, SHARDS, STAMP_BYTES, Shard};
use crate::folder::entries;
use crate::tests::temporary_folder;

/// Makes the stamp of a folder that was changed at a number of seconds.
fn changed_at(seconds: i64) -> FolderStamp {
    FolderStamp([seconds, 0, seconds, 0, 1, 2])
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
    i64::try_from(since.as_secs()).expect("it is not much later")
}

#[test]
fn a_stamp_is_read_as_it_was_written() {
    for words in [[0; 6], [i64::MAX; 6], [i64::MIN; 6], [1, -2, 3, -4, 5, -6]] {
        let stamp = FolderStamp(words);
        assert_eq!(FolderStamp::from_bytes(&stamp.to_bytes()), stamp);
    }
    assert_eq!(changed_at(7).to_bytes().len(), STAMP_BYTES);
}

#[test]
fn a_folder_that_was_changed_just_now_is_listed_once_more() {
    let settled = i64::try_from(SETTLED_AFTER.as_secs()).expect("a few seconds");
    assert!(!changed_at(now()).is_settled());
    assert!(changed_at(now() - settled - 2).is_settled());
    let touched = FolderStamp([0, 0, now(), 0, 1, 2]);
    assert!(!touched.is_settled(), "its inner time counts, whatever the other one was set to");
}

#[test]
fn a_time_beyond_all_bounds_is_not_settled() {
    for seconds in [now() + 1000, i64::MAX - 1, i64::MAX] {
        assert!(!changed_at(seconds).is_settled(), "{seconds}");
    }
    assert!(changed_at(i64::MIN).is_settled(), "long ago is long ago");
}

#[test]
fn there_is_a_folder_for_every_first_byte_of_both_kinds() {
    let folder = temporary_folder();
    let layout = Layout::new(folder.path());
    let all: Vec<Shard> = Shard::all(&layout).collect();
    assert_eq!(all.len(), SHARDS);
    assert!(all.iter().enumerate().all(|(at, shard)| usize::from(shard.first) == at % 256));
    assert!(all[0x0a].path.ends_with("0a") && all[0xff].path.ends_with("ff"));
    assert!(all[..256].iter().all(|shard| shard.path.starts_with(layout.open_sessions())));
    assert!(all[256..].iter().all(|shard| shard.path.starts_with(layout.ended_sessions())));
}

#[test]
fn what_is_no_session_in_a_folder_is_passed_over() {
    let folder = temporary_folder();
    let layout = Layout::new(folder.path());
    let shard = Shard::all(&layout).nth(0xab).expect("there are 512");
    assert_eq!(
        (FolderStamp::of(&shard).expect("readable"), shard.sessions().expect("none")),
        (None, vec![])
    );
    let id = "ab".repeat(32);
    for name in [id.as_str(), &id[..63], &id.to_uppercase(), "lost+found", ".hidden"] {
        std::fs::create_dir_all(shard.path.join(name)).expect("writable");
    }
    let found = shard.sessions().expect("readable");
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [id]);
    assert!(FolderStamp::of(&shard).expect("readable").is_some());
    assert_eq!(entries(&shard.path).expect("readable").len(), 5);
}

#[test]
fn a_file_in_place_of_a_folder_is_an_error_not_an_empty_list() {
    let folder = temporary_folder();
    let file = folder.path().join("file");
    std::fs::write(&file, b"").expect("writable");
    assert!(entries(&file).is_err());
    assert_eq!(entries(&folder.path().join("none")).expect("there is none"), Vec::<String>::new());
}
