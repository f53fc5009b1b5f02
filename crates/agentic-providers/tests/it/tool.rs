//! Tools, and what hostile programs try with them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;
use std::time::Duration;

use agentic_model::{Value, json};
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::provider::{ProviderExecutor, Providers};
use agentic_replay::{Path as RequestPath, Request, RequestAnswer};
use tempfile::TempDir;

use crate::server::{End, Play, Server, reply};

/// A workspace with some files, and a folder beside it that nobody may reach.
pub struct World {
    root: TempDir,
    executor: ProviderExecutor,
}

pub fn world(toml: &str) -> World {
    let root = tempfile::tempdir().expect("a temporary folder");
    let inside = root.path().join("inside");
    fs::create_dir_all(inside.join("src/deep")).expect("ours");
    fs::create_dir_all(root.path().join("outside")).expect("ours");
    fs::write(root.path().join("outside/secret"), "TOP SECRET").expect("ours");
    fs::write(inside.join("a.txt"), "one\ntwo\nthree\n").expect("ours");
    fs::write(inside.join("src/b.rs"), "fn two() {}\n").expect("ours");
    fs::write(inside.join("src/deep/c.rs"), "two two\n").expect("ours");
    let path = inside.join("agentic.toml");
    let configuration = Configuration::parse(toml, &path).expect("the configuration is right");
    World { root, executor: Providers::configured(configuration).executor("test") }
}

/// Makes the request of a call.
pub fn request(uri: &str, method: &str, args: &str) -> Request {
    let payload = Value::map([
        ("tool", Value::text("T")),
        ("method", Value::text(method)),
        ("uri", Value::text(uri)),
        ("args", Value::text(args)),
    ]);
    Request::new(RequestPath::root(), "tool", payload)
}

impl World {
    /// Reads the files that configure the workspace, as they are now.
    pub fn configured_again(self) -> World {
        let configuration = Configuration::find(&self.inside()).expect("the files are right");
        World { executor: Providers::configured(configuration).executor("test"), ..self }
    }

    pub fn inside(&self) -> std::path::PathBuf {
        self.root.path().join("inside")
    }

    pub fn call(&self, uri: &str, method: &str, args: &str) -> String {
        self.call_until(uri, method, args, &CancelFlag::new())
    }

    pub fn call_until(&self, uri: &str, method: &str, args: &str, cancel: &CancelFlag) -> String {
        let request = request(uri, method, args);
        self.answer(&request, cancel)
    }

    pub fn answer(&self, request: &Request, cancel: &CancelFlag) -> String {
        match self.executor.answer(request, cancel) {
            Some(RequestAnswer::Ok(value)) => match value.get("json").and_then(Value::as_text) {
                Some(text) => text.to_owned(),
                None => json::to_text(&value),
            },
            Some(RequestAnswer::Failed(failure)) => {
                format!("{}: {}", failure.code, failure.message)
            }
            other => format!("{other:?}"),
        }
    }

    pub fn check(&self, uri: &str, method: &str, args: &str, wanted: &str) {
        let found = self.call(uri, method, args);
        assert_eq!(found, wanted, "{uri} {method} {args}");
    }

    pub fn refuses(&self, uri: &str, method: &str, args: &str, part: &str) {
        let found = self.call(uri, method, args);
        assert!(found.starts_with("refused: "), "{uri} {method} {args}: {found}");
        assert!(found.contains(part), "{uri} {method} {args}: {found}");
    }
}

#[test]
fn files_are_read_listed_written_patched_and_taken_back() {
    let world = world("");
    let file = "file://workspace";
    let check = |method, args: &str, wanted: &str| world.check(file, method, args, wanted);
    check("read", r#"[{"path":"./src/../a.txt"}]"#, r#"{"ok":true,"content":"one\ntwo\nthree\n"}"#);
    check("list", r#"[{"path":"src"}]"#, r#"{"ok":true,"entries":["b.rs","deep"]}"#);
    check("list", r#"[{"path":"."}]"#, r#"{"ok":true,"entries":["a.txt","src"]}"#);
    let written = r#"{"ok":true,"effects":[{"id":"file-write:new/x","tool":"T","action":"write","path":"new/x","undoable":true,"existed":false,"previous":null}]}"#;
    check("write", r#"[{"path":"new/x","content":"$&"}]"#, written);
    let patched = r#"{"ok":true,"effects":[{"id":"file-patch:a.txt","tool":"T","action":"patch","path":"a.txt","undoable":true,"previous":"one\ntwo\nthree\n"}]}"#;
    check("patch", r#"[{"path":"a.txt","search":"two","replace":"$1$&"}]"#, patched);
    let read = || fs::read_to_string(world.inside().join("a.txt")).expect("it is there");
    assert_eq!(read(), "one\n$1$&\nthree\n");
    let effects =
        r#"[[{"path":"a.txt","previous":"one\ntwo\nthree\n"},{"path":"new/x","previous":null}]]"#;
    check("undo", effects, r#"{"ok":true}"#);
    check("undo", effects, r#"{"ok":true}"#);
    assert_eq!(read(), "one\ntwo\nthree\n");
    assert!(!world.inside().join("new/x").exists());
    let left: Vec<_> = fs::read_dir(world.inside()).expect("ours").collect();
    assert_eq!(left.len(), 3, "no drafts are left: {left:?}");
}

#[test]
fn wrong_calls_are_refused() {
    let world = world("");
    let file = "file://workspace";
    let refuses = |method, args: &str, part: &str| world.refuses(file, method, args, part);
    refuses("read", "[]", "T.read expects one json object argument");
    refuses("read", "[{},{}]", "expects one json object argument");
    refuses("read", "[3]", "expects one json object argument");
    refuses("read", "garbage", "expects one json object argument");
    refuses("read", r#"[{"path":""}]"#, "T.read.path is required");
    refuses("read", r#"[{"path":7}]"#, "T.read.path is a text");
    refuses("read", r#"[{"path":"none"}]"#, "`none` does not exist");
    refuses("read", r#"[{"path":"src"}]"#, "is no file");
    refuses("read", r#"[{"path":"a.txt/x"}]"#, "no folder");
    refuses("list", r#"[{"path":"a.txt"}]"#, "is no folder");
    refuses("write", r#"[{"path":"src","content":""}]"#, "is no file");
    refuses("write", r#"[{"path":"x"}]"#, "T.write.content is required");
    refuses("patch", r#"[{"path":"a.txt","search":"four","replace":""}]"#, "not found");
    refuses("undo", "[{}]", "list of effects");
    refuses("chmod", "[{}]", "no method `chmod`");
    fs::write(world.inside().join("raw"), b"\xff\xfe").expect("ours");
    refuses("read", r#"[{"path":"raw"}]"#, "no UTF-8");
    world.refuses("gopher://x", "get", "[{}]", "no tool is called by `gopher://`");
    world.refuses("npm:left-pad", "pad", "[{}]", "JavaScript host");
    world.refuses("node:fs", "readFileSync", "[{}]", "JavaScript host");
}

#[test]
fn nothing_outside_of_the_workspace_is_reached() {
    let world = world("");
    let inside = world.inside();
    symlink("../outside", inside.join("out")).expect("ours");
    symlink(world.root.path().join("outside/secret"), inside.join("absolute")).expect("ours");
    symlink("../../outside/secret", inside.join("src/secret")).expect("ours");
    symlink("loop", inside.join("loop")).expect("ours");
    symlink("src", inside.join("within")).expect("ours");
    let deep = "a/".repeat(2000);
    let escapes = [
        "../outside/secret",
        "src/../../outside/secret",
        "/etc/passwd",
        "out/secret",
        "out/../../outside/secret",
        "absolute",
        "src/secret",
        "within/secret",
        "loop",
        "loop/x",
        "..\\outside",
        "a\u{0}b",
        deep.as_str(),
    ];
    for path in escapes {
        let argument = |rest: &str| format!(r#"[{{"path":{}{rest}}}]"#, serde_json_text(path));
        for (uri, method, rest) in [
            ("file://w", "read", ""),
            ("file://w", "list", ""),
            ("file://w", "write", r#","content":"x""#),
            ("file://w", "patch", r#","search":"TOP","replace":"x""#),
            ("sh://find", "run", ""),
            ("sh://grep", "run", r#","pattern":"SECRET""#),
            ("sh://read-range", "run", ""),
        ] {
            let found = world.call(uri, method, &argument(rest));
            assert!(found.starts_with("refused: "), "{uri} {method} {path}: {found}");
        }
        let undo = format!(r#"[[{{"path":{},"previous":null}}]]"#, serde_json_text(path));
        assert!(world.call("file://w", "undo", &undo).starts_with("refused: "), "{path}");
    }
    let secret = fs::read_to_string(world.root.path().join("outside/secret"));
    assert_eq!(secret.expect("it is there"), "TOP SECRET");
    // A link that stays inside is followed, and shown as where it leads.
    let through = r#"{"ok":true,"content":"fn two() {}\n"}"#;
    world.check("file://w", "read", r#"[{"path":"within/b.rs"}]"#, through);
    // Walks do not go through links.
    let found = world.call("sh://grep", "run", r#"[{"path":".","pattern":"SECRET"}]"#);
    assert_eq!(found, r#"{"ok":true,"matches":[]}"#);
}

fn serde_json_text(text: &str) -> String {
    json::to_text(&Value::text(text))
}

#[test]
fn what_configures_or_starts_programs_is_neither_read_nor_written() {
    let world = world("");
    let inside = world.inside();
    for folder in [".git/hooks", "bare/objects", "bare/refs", "bare/hooks", ".agentic"] {
        fs::create_dir_all(inside.join(folder)).expect("ours");
    }
    for file in [".git/config", "bare/HEAD", "bare/config", "agentic.toml", "src/agentic.toml"] {
        fs::write(inside.join(file), "two").expect("ours");
    }
    symlink(".git", inside.join("link")).expect("ours");
    symlink("src/../agentic.toml", inside.join("own")).expect("ours");
    for path in [
        ".git/hooks/x",
        ".GIT/x",
        "src/../.git/x",
        "link/x",
        ".git",
        "bare/hooks/x",
        "bare/config",
        "agentic.toml",
        "./src/../AGENTIC.toml",
        "agentic.toml. ",
        "own",
        "src/deep/../agentic.toml",
        "new/agentic.toml",
        "agentscript.mcp.json",
        ".mcp.json",
        ".agentic/x",
        ".agentic-x",
        "agentıc.toml",
        "agentic.tom\u{200d}l",
    ] {
        let path = serde_json_text(path);
        let refuses = |method: &str, args: &str| {
            let found = world.call("file://w", method, args);
            assert!(found.starts_with("refused: "), "{method} {args}: {found}");
        };
        refuses("write", &format!(r#"[{{"path":{path},"content":"x"}}]"#));
        refuses("patch", &format!(r#"[{{"path":{path},"search":"two","replace":"x"}}]"#));
        refuses("undo", &format!(r#"[[{{"path":{path},"previous":"x"}}]]"#));
        refuses("undo", &format!(r#"[[{{"path":{path},"previous":null}}]]"#));
        refuses("read", &format!(r#"[{{"path":{path}}}]"#));
        let range = format!(r#"[{{"path":{path}}}]"#);
        let found = world.call("sh://read-range", "run", &range);
        assert!(found.starts_with("refused: "), "{range}: {found}");
    }
    for file in [".git/config", "bare/config", "agentic.toml", "src/agentic.toml"] {
        assert_eq!(fs::read_to_string(inside.join(file)).expect("it is there"), "two", "{file}");
    }
    let found = world.call("sh://find", "run", r#"[{"path":"."}]"#);
    let wanted =
        r#"{"ok":true,"files":[".","a.txt","bare","src","src/b.rs","src/deep","src/deep/c.rs"]}"#;
    assert_eq!(found, wanted);
    let found = world.call("sh://grep", "run", r#"[{"path":".","pattern":"two","include":"*"}]"#);
    assert!(!found.contains("agentic") && !found.contains("bare"), "{found}");
    world.check(
        "file://w",
        "list",
        r#"[{"path":"."}]"#,
        r#"{"ok":true,"entries":["a.txt","bare","link","own","src"]}"#,
    );
}

#[test]
fn a_pipe_is_not_waited_for_and_a_mode_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world("");
    let pipe = world.inside().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is there").success());
    world.refuses("file://w", "read", r#"[{"path":"pipe"}]"#, "is no file");
    world.refuses("file://w", "write", r#"[{"path":"pipe","content":"x"}]"#, "is no file");
    let script = world.inside().join("a.txt");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).expect("ours");
    world.call("file://w", "write", r#"[{"path":"a.txt","content":"x"}]"#);
    let mode = fs::metadata(&script).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[test]
fn searches_are_built_in() {
    let world = world("");
    let check = |command, args: &str, wanted: &str| {
        world.check(&format!("sh://{command}"), "run", args, wanted);
    };
    let all = r#"{"ok":true,"files":[".","a.txt","src","src/b.rs","src/deep","src/deep/c.rs"]}"#;
    check("find", r#"[{"path":"."}]"#, all);
    let files = r#"{"ok":true,"files":["src/b.rs","src/deep/c.rs"]}"#;
    check("find", r#"[{"path":"src","name":"*.rs","type":"file"}]"#, files);
    check("find", r#"[{"path":"src","type":"dir","max":1}]"#, r#"{"ok":true,"files":["src"]}"#);
    let matches = r#"{"ok":true,"matches":[{"path":"src/b.rs","line":1,"text":"fn two() {}"},{"path":"src/deep/c.rs","line":1,"text":"two two"}]}"#;
    check("grep", r#"[{"path":"src","pattern":"two","include":"?.rs"}]"#, matches);
    let range = r#"{"ok":true,"text":"two\nthree","start":2,"end":3}"#;
    check("read-range", r#"[{"path":"a.txt","start":2}]"#, range);
    check("sed", r#"[{"path":"a.txt","start":2}]"#, range);
    let none = r#"{"ok":true,"text":"","start":9,"end":8}"#;
    check("read-range", r#"[{"path":"a.txt","start":9}]"#, none);
    let refuses = |command, args: &str, part| {
        world.refuses(&format!("sh://{command}"), "run", args, part);
    };
    refuses("find", r#"[{"path":".","max":0}]"#, "whole number above 0");
    refuses("find", r#"[{"path":".","max":1.5}]"#, "whole number above 0");
    refuses("find", r#"[{"path":".","type":"link"}]"#, "`file` or `dir`");
    refuses("grep", r#"[{"path":"."}]"#, "T.run.pattern is required");
    world.refuses("sh://find", "exec", r#"[{"path":"."}]"#, "no method `exec`");
}

#[test]
fn only_allowed_programs_are_started_and_they_are_bounded() {
    let world =
        world("[tools]\ncommands = [\"cat\", \"env\", \"sleep\", \"yes\", \"sh\", \"false\"]");
    let cat = r#"[{"args":["a.txt","-"],"stdin":"four"}]"#;
    let printed = r#"{"ok":true,"status":0,"stdout":"one\ntwo\nthree\nfour","stderr":""}"#;
    world.check("sh://cat", "run", cat, printed);
    let failed = r#"{"ok":false,"status":1,"stdout":"","stderr":""}"#;
    world.check("sh://false", "run", "[{}]", failed);
    let environment = world.call("sh://env", "run", "[{}]");
    assert!(environment.contains("PATH="), "{environment}");
    assert!(!environment.contains("CARGO"), "ours stays here: {environment}");
    world.refuses("sh://ls", "run", "[{}]", "there is no tool `ls`");
    world.refuses("sh://sh", "run", "[{}]", "the shell `sh` is forbidden");
    world.refuses("sh://bash", "run", "[{}]", "the shell `bash` is forbidden");
    world.refuses("sh:///bin/cat", "run", "[{}]", "there is no tool `/bin/cat`");
    world.refuses("sh://yes", "run", "[{}]", "printed more than");
    let late = world.call("sh://sleep", "run", r#"[{"args":["600"],"timeout":50}]"#);
    assert_eq!(late, "timed-out: `sleep` took longer than 50 ms");
    let cancel = CancelFlag::new();
    let stop = cancel.clone();
    let stopping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        stop.set();
    });
    let args = r#"[{"args":["600"]}]"#;
    let stopped = world.call_until("sh://sleep", "run", args, &cancel);
    assert_eq!(stopped, "Some(Cancelled(Unknown))");
    stopping.join().expect("it only sets a flag");
}

#[test]
fn variables_are_plain_only_where_that_is_said() {
    let world = world("plain = [\"CARGO_PKG_NAME\"]");
    let get = |name: &str| world.call("env://process", "get", &format!(r#"[{{"name":"{name}"}}]"#));
    assert_eq!(get("CARGO_PKG_NAME"), r#"{"ok":true,"value":"agentic-providers"}"#);
    assert_eq!(get("AGENTIC_TEST_NO_SUCH_VARIABLE"), r#"{"ok":true,"value":null}"#);
    let version = get("CARGO_PKG_VERSION");
    assert!(version.starts_with(r#"{"ok":true,"value":"${secret:CARGO_PKG_VERSION:"#), "{version}");
    assert_eq!(get("CARGO_PKG_VERSION"), version, "it is the same each time");
    world.refuses("env://process", "get", r#"[{"name":"A=B"}]"#, "no name of a variable");
    world.refuses("env://process", "set", r#"[{"name":"A"}]"#, "no method `set`");
}

#[test]
fn http_stays_at_its_origin() {
    let world = world("");
    let server = Server::start(vec![
        reply("HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"b\":1,\"a\":[]}"),
        reply("HTTP/1.1 404 Not Found\n\nno"),
        reply("HTTP/1.1 302 Found\nLocation: http://127.0.0.1:1/x\n\n"),
    ]);
    let uri = format!("{}/api/v1", server.address);
    let post = r#"[{"url":"/things?x=1#part","headers":{"X-A":"1"},"body":{"z":1,"a":2}}]"#;
    let answer = r#"{"ok":true,"status":200,"body":"{\"b\":1,\"a\":[]}","json":{"b":1,"a":[]}}"#;
    world.check(&uri, "post", post, answer);
    let asked = server.asked();
    assert_eq!(asked.line, "POST /things?x=1 HTTP/1.1");
    assert_eq!(asked.body, r#"{"z":1,"a":2}"#);
    assert!(asked.headers.contains(&"content-type: application/json".to_owned()));
    assert!(asked.headers.contains(&"x-a: 1".to_owned()));
    let missing = r#"{"ok":false,"status":404,"body":"no","json":null}"#;
    world.check(&uri, "get", r#"[{"url":"v2"}]"#, missing);
    assert_eq!(server.asked().line, "GET /api/v2 HTTP/1.1");
    let moved = r#"{"ok":false,"status":302,"body":"","json":null}"#;
    world.check(&uri, "head", r#"[{"url":"v2"}]"#, moved);
    let foreign =
        ["http://example.com/", "//example.com/", "https://127.0.0.1/", "http://127.0.0.1:1/"];
    for url in foreign {
        let args = format!(r#"[{{"url":"{url}"}}]"#);
        world.refuses(&uri, "get", &args, "is not the origin");
    }
    let with_name = format!(r#"[{{"url":"http://u:p@{}/"}}]"#, &server.address[7..]);
    world.refuses(&uri, "get", &with_name, "name or password is refused");
    world.refuses(&uri, "get", r#"[{"url":"ftp://x/"}]"#, "no `http://`");
    world.refuses(&uri, "get", r#"[{"url":"/","headers":{"Host":"evil"}}]"#, "may not hold `Host`");
    let injected = r#"[{"url":"/","headers":{"X":"a\r\nY: b"}}]"#;
    world.refuses(&uri, "get", injected, "not well formed");
    world.refuses(&uri, "get post", r#"[{"url":"/"}]"#, "is no method");
}

#[test]
fn http_is_bounded_in_time_and_size() {
    let world = world("");
    let silent = Play { end: End::Stall, ..Play::default() };
    let flood = Play {
        bytes: b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec(),
        flood: 20 << 20,
        ..Play::default()
    };
    let server = Server::start(vec![silent, flood]);
    let late = world.call(&server.address, "get", r#"[{"url":"/","timeout":100}]"#);
    assert_eq!(late, "timed-out: it took longer than 100 ms");
    world.refuses(&server.address, "get", r#"[{"url":"/"}]"#, "longer than 16777216 bytes");
    world.refuses("http://127.0.0.1:1", "get", r#"[{"url":"/"}]"#, "refused");
}

#[test]
fn secrets_are_put_in_on_the_way_out_and_covered_on_the_way_in() {
    let world = world("");
    let name = env!("CARGO_PKG_NAME");
    let placeholder = world.call("env://process", "get", r#"[{"name":"CARGO_PKG_NAME"}]"#);
    let placeholder = placeholder.split('"').nth(5).expect("a value").to_owned();
    let server = Server::start(vec![reply(&format!("HTTP/1.1 200 OK\n\nyou are {name}"))]);
    let args = format!(
        r#"[{{"url":"/","headers":{{"Authorization":"Bearer {placeholder}"}},"body":"{placeholder} {}"}}]"#,
        "${secret:CARGO_PKG_NAME:0123456789abcdef}"
    );
    let answer = world.call(&server.address, "post", &args);
    let wanted =
        format!(r#"{{"ok":true,"status":200,"body":"you are {placeholder}","json":null}}"#);
    assert_eq!(answer, wanted);
    let asked = server.asked();
    assert!(asked.headers.contains(&format!("authorization: Bearer {name}")), "{asked:?}");
    assert_eq!(asked.body, format!("{name} ${{secret:CARGO_PKG_NAME:0123456789abcdef}}"));
}

#[test]
fn a_workspace_that_is_not_there_is_refused() {
    let world = world("[tools]\nworkspace = \"none\"");
    world.refuses("file://w", "read", r#"[{"path":"a"}]"#, "the workspace cannot be opened");
    assert!(!Path::new("none").exists());
}

#[test]
fn a_secret_is_put_into_an_address_and_covered_in_every_disguise() {
    let world = world("");
    let placeholder = world.call("env://process", "get", r#"[{"name":"CARGO_PKG_NAME"}]"#);
    let placeholder = placeholder.split('"').nth(5).expect("a value").to_owned();
    let body = r#"{"agentic\u002dproviders":1,"agentic%2Dproviders":2,"t":"agentic%2Dproviders","h":"agentic&#45;providers","n":"{\"in\":\"agentic\\u002dproviders\"}"}"#;
    let server = Server::start(vec![reply(&format!(
        "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{body}"
    ))]);
    let args = format!(r#"[{{"url":"/a/{placeholder}/b?key={placeholder}&x=1"}}]"#);
    let answer = world.call(&server.address, "get", &args);
    assert_eq!(
        server.asked().line,
        "GET /a/agentic-providers/b?key=agentic-providers&x=1 HTTP/1.1"
    );
    for plain in ["agentic-providers", "u002d", "%2D", "&#45;"] {
        assert!(!answer.contains(plain), "{answer}");
    }
    let masked = format!(
        r#""json":{{"{placeholder}":1,"{placeholder}-2":2,"t":"{placeholder}","h":"{placeholder}""#
    );
    assert!(answer.contains(&masked), "{answer}");
    // What could not be sent does not say what it would have been.
    let said =
        world.call("http://127.0.0.1:1", "get", &args.replace("/a/", "http://127.0.0.1:1/a/"));
    assert!(!said.contains("agentic-providers"), "{said}");
}

#[test]
fn a_server_of_tools_is_given_variables_that_are_covered_in_what_it_says() {
    use std::os::unix::fs::PermissionsExt as _;
    let script = r#"#!/bin/sh
read -r hello
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
read -r initialized
read -r call
echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"'"$TOKEN"'"}],"structuredContent":{"t":"agentic\u002dproviders"}}}'
read -r nothing
"#;
    let world =
        world("[mcp.s]\ncommand = \"./server.sh\"\nenv = { TOKEN = \"Bearer $CARGO_PKG_NAME\" }");
    let path = world.inside().join("server.sh");
    fs::write(&path, script).expect("ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    let said = world.call("mcp://s", "echo", "[{}]");
    assert!(said.contains("Bearer ${secret:CARGO_PKG_NAME:"), "{said}");
    assert!(!said.contains("agentic-providers") && !said.contains("u002d"), "{said}");
}
