//! A cache gives back what was kept, and nothing that was damaged, cut or written by somebody else.

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cache");
    (folder, path)
}

fn entry(key: &str, content: &[u8]) -> CacheEntry {
    CacheEntry { key: key.to_owned(), content: Arc::from(content) }
}

fn found(cache: &FactCache, name: &str) -> Option<(String, Vec<u8>)> {
    cache.find(name).map(|entry| (entry.key, entry.content.to_vec()))
}

/// Lists the files of a cache.
fn files(path: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(path).into_iter().flatten().flatten();
    files.map(|file| file.path()).collect()
}

#[test]
fn what_is_kept_is_found_by_the_next_who_looks() {
    let (_folder, path) = place();
    let cache = FactCache::new(path.clone());
    assert_eq!(found(&cache, "alice"), None);
    for n in 0..200 {
        cache.keep(&format!("agent-{n}"), entry(&n.to_string(), &[n; 3]));
    }
    cache.keep("agent-7", entry("newer", b""));
    assert!(files(&path).is_empty(), "nothing is written before it is asked for");
    cache.write(&|_| true);
    let again = FactCache::new(path);
    for n in (0..200).filter(|n| *n != 7) {
        let expected = Some((n.to_string(), vec![n; 3]));
        assert_eq!(found(&again, &format!("agent-{n}")), expected);
    }
    assert_eq!(found(&again, "agent-7"), Some(("newer".to_owned(), Vec::new())));
}

#[test]
fn what_nobody_has_any_more_is_dropped_when_its_file_is_written() {
    let (_folder, path) = place();
    let cache = FactCache::new(path.clone());
    cache.keep("alice", entry("1", b"a"));
    cache.write(&|name| name != "alice");
    assert_eq!(found(&FactCache::new(path), "alice"), None);
}

#[test]
fn a_file_that_is_cut_or_changed_anywhere_is_none() {
    let (_folder, path) = place();
    let cache = FactCache::new(path.clone());
    cache.keep("alice", entry("key", b"content"));
    cache.write(&|_| true);
    let [file] = files(&path).try_into().expect("one name is in one file");
    let whole = std::fs::read(&file).expect("readable");
    for at in 0..whole.len() {
        std::fs::write(&file, &whole[..at]).expect("writable");
        assert_eq!(found(&FactCache::new(path.clone()), "alice"), None, "cut at {at}");
        let mut changed = whole.clone();
        changed[at] ^= 0x20;
        std::fs::write(&file, changed).expect("writable");
        assert_eq!(found(&FactCache::new(path.clone()), "alice"), None, "changed at {at}");
    }
    std::fs::write(&file, whole).expect("writable");
    assert!(found(&FactCache::new(path), "alice").is_some());
}

#[test]
fn a_folder_that_cannot_be_written_costs_nothing_but_time() {
    let (_folder, path) = place();
    std::fs::write(&path, "a file in the way").expect("writable");
    let cache = FactCache::new(path.clone());
    cache.keep("alice", entry("1", b"a"));
    cache.write(&|_| true);
    assert_eq!(found(&cache, "alice"), Some(("1".to_owned(), b"a".to_vec())));
    assert_eq!(found(&FactCache::new(path), "alice"), None);
}

#[test]
fn packed_values_end_where_they_end() {
    let mut writer = PackedWriter::default();
    writer.number(-7);
    writer.bytes("ümlaut".as_bytes());
    writer.bytes(b"\xff");
    let bytes = writer.into_bytes();
    let mut reader = PackedReader::new(&bytes);
    assert_eq!((reader.number(), reader.text()), (Some(-7), Some("ümlaut")));
    assert_eq!(reader.clone().text(), None, "that is no text");
    assert_eq!(reader.bytes(), Some(&b"\xff"[..]));
    assert!(reader.is_at_end() && reader.bytes().is_none() && reader.number().is_none());
    for cut in 0..bytes.len() {
        let mut reader = PackedReader::new(&bytes[..cut]);
        let read = reader.number().and_then(|_| reader.text()).and_then(|_| reader.bytes());
        assert_eq!(read, None, "cut at {cut}");
    }
}
