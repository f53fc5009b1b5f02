//! Secrets: where they come from, and that they are not shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agentic_providers::host::CancelFlag;
use agentic_providers::secret::{Secret, SecretSource};

fn read(source: &SecretSource, folder: &Path) -> Result<String, String> {
    let secret = source.read(folder, &CancelFlag::new());
    secret.map(|secret| secret.expose().to_owned()).map_err(|error| error.to_string())
}

fn write(folder: &Path, content: &[u8], mode: u32) -> SecretSource {
    let path = folder.join("key");
    fs::write(&path, content).expect("the folder is ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("the file is ours");
    SecretSource::File("key".into())
}

#[test]
fn a_secret_is_never_shown() {
    let secret = Secret::new("sk-123");
    assert_eq!(
        format!("{secret} {secret:?} {:?}", Some(&secret)),
        "[secret] [secret] Some([secret])"
    );
    assert_eq!(secret.cover("a sk-123 b sk-123"), "a [secret] b [secret]");
    assert_eq!(Secret::new("").cover("abc"), "abc");
}

#[test]
fn files_are_private_and_hold_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let check = |content: &[u8], mode, wanted: Result<&str, &str>| {
        let found = read(&write(folder, content, mode), folder);
        match wanted {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text)),
            Err(part) => assert!(found.as_ref().is_err_and(|it| it.contains(part)), "{found:?}"),
        }
    };
    check(b"sk-1\n", 0o600, Ok("sk-1"));
    check(b"sk-1\r\n", 0o400, Ok("sk-1"));
    check(b"sk-1", 0o640, Err("may be read by others"));
    check(b"sk-1", 0o604, Err("may be read by others"));
    check(b"", 0o600, Err("it is empty"));
    check(b"\n", 0o600, Err("it is empty"));
    check(b"a\nb", 0o600, Err("more than one line"));
    check(b"\xff\xfe", 0o600, Err("no UTF-8"));
    check(&[b'x'; (64 << 10) + 1], 0o600, Err("too long"));
    assert!(read(&SecretSource::File("none".into()), folder).is_err());
}

#[test]
fn commands_print_secrets() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = |line: &str, wanted: Result<&str, &str>| {
        let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
        let found = read(&SecretSource::Command(argv), folder.path());
        match wanted {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text)),
            Err(part) => assert!(found.as_ref().is_err_and(|it| it.contains(part)), "{found:?}"),
        }
    };
    check("echo sk-2", Ok("sk-2"));
    check("echo sk-2; exit 3", Err("exit status: 3"));
    check("echo sk-2; echo sk-3 >&2; exit 3", Err("gave no secret"));
    check("true", Err("it is empty"));
    assert!(read(&SecretSource::Command(Vec::new()), folder.path()).is_err());
}

#[test]
fn an_unset_variable_is_named() {
    let source = SecretSource::Environment("AGENTIC_TEST_NO_SUCH_KEY".to_owned());
    let error = read(&source, Path::new("/")).expect_err("it is not set");
    assert!(error.contains("`AGENTIC_TEST_NO_SUCH_KEY` is not set"), "{error}");
}
