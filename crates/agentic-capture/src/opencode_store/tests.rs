use std::fs;

use super::*;

/// When everything below was written.
const NOW: i64 = 1_763_540_000_000;

fn now() -> Instant {
    Instant::from_millis(NOW)
}

fn read(session: &OpencodeSession) -> Vec<String> {
    let mut text = String::new();
    session.rows().expect("readable").read_to_string(&mut text).expect("readable");
    text.lines().map(str::to_owned).collect()
}

/// Writes a session as the older versions do.
struct FileStore {
    folder: tempfile::TempDir,
}

impl FileStore {
    fn new() -> FileStore {
        let store = FileStore { folder: tempfile::tempdir().expect("a temporary folder") };
        store.write(
            "session/p/ses_1.json",
            r#"{"id":"ses_1","directory":"/src/shop","title":"Fix","version":"1.0.0","time":{"created":1}}"#,
        );
        store
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("there").join("storage")
    }

    fn session(&self, now: Instant) -> std::io::Result<OpencodeSession> {
        OpencodeSession::find(&self.root().join("session/p/ses_1.json"), "ses_1", now)
    }
}

const HEAD: &str = r#"{"table":"session","id":"ses_1","data":{"directory":"/src/shop","id":"ses_1","parentID":null,"title":"Fix","version":"1.0.0"}}"#;

#[test]
fn files_of_a_session_are_rows_in_their_order() {
    let store = FileStore::new();
    store.write(
        "message/ses_1/msg_2.json",
        "{\"role\":\"assistant\",\n \"time\":{\"created\":7,\"completed\":8}}",
    );
    store.write("message/ses_1/msg_1.json", r#"{"role":"user","time":{"created":5}}"#);
    store.write("part/msg_1/prt_1.json", r#"{"type":"text","text":"Fix it"}"#);
    store.write("part/msg_2/prt_3.json", "");
    store.write("part/msg_2/prt_2.json", "{");
    let session = store.session(now()).expect("there");
    assert_eq!(
        read(&session),
        [
            HEAD,
            r#"{"table":"message","id":"msg_1","session_id":"ses_1","time_created":5,"data":{"role":"user","time":{"created":5}}}"#,
            r#"{"table":"part","id":"prt_1","message_id":"msg_1","data":{"type":"text","text":"Fix it"}}"#,
            r#"{"table":"message","id":"msg_2","session_id":"ses_1","time_created":7,"data":{"role":"assistant",  "time":{"created":7,"completed":8}}}"#,
            r#"{"table":"part","id":"prt_2","message_id":"msg_2","data":{}"#,
            r#"{"table":"part","id":"prt_3","message_id":"msg_2","data":null}"#,
        ]
    );
    let before = session.stamp().expect("readable");
    assert_eq!(session.stamp().expect("readable"), before);
    store.write("part/msg_2/prt_4.json", "{}");
    assert_ne!(session.stamp().expect("readable"), before);
}

#[test]
fn a_message_that_is_being_written_waits_unless_nobody_has_touched_it_for_a_day() {
    let store = FileStore::new();
    store.write("message/ses_1/msg_1.json", r#"{"role":"assistant","time":{"created":5}}"#);
    store.write("message/ses_1/msg_2.json", r#"{"role":"user","time":{"created":6}}"#);
    let written = store.session(now()).expect("there").modified;
    let session = store.session(written).expect("there");
    assert_eq!(read(&session), [HEAD]);
    let session = store.session(written.plus_millis(QUIET_MS + 1)).expect("there");
    assert_eq!(read(&session).len(), 3);
    let failed = r#"{"role":"assistant","time":{"created":5},"error":{"name":"Aborted"}}"#;
    store.write("message/ses_1/msg_1.json", failed);
    let session = store.session(written).expect("there");
    assert_eq!(read(&session).len(), 3);
}

#[test]
fn files_that_lead_elsewhere_are_not_read() {
    let store = FileStore::new();
    fs::write(store.folder.path().join("secret.json"), "{\"role\":\"user\"}").expect("writable");
    fs::create_dir_all(store.root().join("message/ses_1")).expect("writable");
    let link = store.root().join("message/ses_1/msg_1.json");
    std::os::unix::fs::symlink(store.folder.path().join("secret.json"), link).expect("writable");
    let session = store.session(now()).expect("there");
    let mut text = String::new();
    assert!(session.rows().expect("there").read_to_string(&mut text).is_err());
    assert!(!text.contains("user"), "{text}");
}

#[test]
fn what_is_no_session_is_an_error() {
    let store = FileStore::new();
    store.write("session/p/ses_1.json", "nonsense");
    let session = store.session(now()).expect("there");
    assert!(session.rows().is_err());
    store.write("other/p/ses_1.json", "{}");
    let path = store.root().join("other/p/ses_1.json");
    assert!(OpencodeSession::find(&path, "ses_1", now()).is_err());
    store.write("opencode.db", "nonsense");
    let path = store.root().join("opencode.db");
    assert!(OpencodeSession::find(&path, "ses_1", now()).is_err());
    assert!(sessions_of(&path).is_err());
}
