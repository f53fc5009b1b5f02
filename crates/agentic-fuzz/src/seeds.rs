//! The first inputs of every target: from the conformance suite where there are texts, made with the
//! writers where there are none.

mod federated;

use std::fs;
use std::path::{Path, PathBuf};

use agentic_model::{Value, canonical, json};

/// How long a seed may be, in bytes.
const SEED_BYTES_MAX: usize = 16 << 10;

/// An input that a target may begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzSeed {
    /// The name of the target.
    pub target: &'static str,
    /// What it is given.
    pub bytes: Vec<u8>,
}

/// Gathers the seeds of all targets from the folder of the conformance suite.
///
/// # Errors
/// Fails when the folder cannot be read.
pub fn seeds(suite: &Path) -> std::io::Result<Vec<FuzzSeed>> {
    let mut corpus = Corpus::default();
    for path in files(suite)? {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("agent") => corpus.add("agentlang", "", &text),
            Some("as") => {
                for dialect in ["\0", "\x07"] {
                    corpus.add("context", dialect, &text);
                }
            }
            Some("json" | "jsonl") => corpus.add_json(&text),
            Some("case") => corpus.add_case(&path, &text),
            _ => {}
        }
    }
    corpus.add_made();
    Ok(corpus.seeds)
}

#[derive(Default)]
struct Corpus {
    seeds: Vec<FuzzSeed>,
}

impl Corpus {
    fn write(&mut self, target: &'static str, bytes: &[u8]) {
        if bytes.len() <= SEED_BYTES_MAX {
            self.seeds.push(FuzzSeed { target, bytes: bytes.to_vec() });
        }
    }

    fn add(&mut self, target: &'static str, before: &str, text: &str) {
        self.write(target, format!("{before}{text}").as_bytes());
    }

    fn add_json(&mut self, text: &str) {
        for text in text.lines().chain([text]) {
            if serde_json::from_str::<serde_json::Value>(text).is_err() {
                continue;
            }
            for target in ["json_agent", "json_context", "json_model"] {
                self.add(target, "", text);
            }
            let Ok(value) = json::from_text(text) else { continue };
            let sources = texts(&value).into_iter().filter(|text| text.contains(">=>"));
            for source in sources {
                self.add("pipeline", "", &source);
            }
        }
    }

    /// A case holds files behind bars, and messages in its commands.
    fn add_case(&mut self, path: &Path, text: &str) {
        let barred = text.lines().map(|line| line.strip_prefix('|').map(str::trim_start));
        let mut file = String::new();
        for line in barred.chain([None]) {
            match line {
                Some(line) => file.push_str(&format!("{line}\n")),
                None if file.is_empty() => {}
                None => {
                    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
                    let target = match folder.to_str() {
                        Some("agentlang") => "agentlang",
                        Some("context") => "context",
                        Some("pipeline") => "pipeline",
                        Some("redact") => "redact",
                        _ => "trailer",
                    };
                    self.add(target, if target == "context" { "\0" } else { "" }, &file);
                    file.clear();
                }
            }
        }
    }

    fn add_made(&mut self) {
        for (target, bytes) in federated::seeds() {
            self.write(target, &bytes);
        }
        for text in QUERIES {
            self.add("query", "", text);
            self.add("query_compile", "", text);
        }
        for text in SECRETS {
            self.add("redact", "", text);
        }
        for text in MESSAGES {
            self.add("trailer", "", text);
        }
        for text in records() {
            self.add("record", "\x01", &text);
            let value = json::from_text(&text).expect("the record is JSON");
            let bytes = canonical::encode(&value).expect("it has a canonical form");
            self.write("record", &[&[0], &bytes[..]].concat());
        }
        for note in ["\x02body\0@\n", "\x00\0remark\n", "\x05one\ntwo\0before\n@\nafter\n- list\n"]
        {
            self.add("notes_text", "", note);
        }
        for mode in 0..2_u8 {
            let frames = agentic_store::journal::frame::encode(b"payload").repeat(3);
            self.write("frame", &[&[mode][..], &frames].concat());
        }
        self.write("frame", b"\x01\0\x03\0\x09\x01\x02abc\x05defghi\x01jk");
        for kind in 0..4_u8 {
            self.write("pack_index", &[&[kind, 3, 0, 5], &[7_u8; 200][..]].concat());
            self.write("pack_index", &[&[kind, 1, 1, 0, 2], &[0xab_u8; 300][..]].concat());
        }
        for style in [0_u8, 1, 2, 19, 0xf0] {
            let tree = [0, 9, 128, 6, 0, style, 1, 9, style, 2, 6, style, 3, 5, style, 4];
            let edit = [5, 0, 0, 1, 1, 0, 2, 2, 0, 3, 4, 0, 4];
            self.write("notes_tree", &[&tree[..], &edit].concat());
            let bulk = [0, 128, 0, 2, 0, style, 1, 8, 0, 1, 5, 1, 0, 9, 2, 0, 1, 4, 0, 7];
            self.write("notes_tree", &bulk);
        }
        self.write("notes_tree", b"\xff100644 a\0aaaaaaaaaaaaaaaaaaaa");
    }
}

/// Lists the texts in a value.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => vec![text.clone()],
        Value::List(items) => items.iter().flat_map(texts).collect(),
        Value::Map(map) => map.values().flat_map(texts).collect(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Link(_) => Vec::new(),
    }
}

fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Texts with secrets, in several notations.
const SECRETS: [&str; 6] = [
    "export TOKEN=k7Qz9vWm2XpL4tRb && curl -u ada:k7Qz9vWm https://a:b1c2d3@host.invalid/?sig=k7Qz9vWm2XpL4tRb",
    "{\"password\": \"k7Qz9vWm\", \"x\": \"{\\\"token\\\": \\\"k7Qz9vWm2XpL\\\"}\"}",
    "Authorization: Bearer k7Qz9vWm2XpL4tRb\nCookie: session=k7Qz9vWm2XpL4tRb; theme=dark",
    "near tulip-orbit-94 and dHVsaXAtb3JiaXQtOTQ= \u{1b}[1mpass\u{1b}[0mword=k7Qz\\\n9vWm2",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIk7Qz9vWm2XpL4tRbk7Qz9vWm2XpL4tRb\n-----END RSA PRIVATE KEY-----",
    "password: [redacted:key-value:1a2b3c4d] [redacted:tulip-orbit-94:1a2b3c4d]",
];

/// Queries that use all of the grammar.
const QUERIES: [&str; 12] = [
    "r(A, B) :- e(A, B). r(A, C) :- e(A, B), r(B, C). ? r(A, 4). ? why r(1, B) limit 2 offset 1.",
    "r(A, B) :- e(A, B). r(A, C) :- r(A, B), r(B, C). ? e(A, 4), r(A, B), !e(B, A), A != B.",
    "k(A, N) :- N = count { t(n: A) }. ? k(A, N), M = max { X : e(X, _), X < N } order by M desc.",
    "? t(n: N, text: T, at: At), At > now - 2h30m, T != null, contains(T, \"o\"), L = len(T) * 2.",
    "? (X, Y) t(text: T), X = number(json(T, \"/a/0\")), Y = lower(T), matches(T, \"^[a-z]+\").",
    "param $p: int = 3. use shared. ? shared(A, $p), S = sum { A * 2 - 1 : e(A, _) }.",
    "up(X) :- X = 0. up(Y) :- up(X), Y = X + 1, Y < 20. ? up(X), X mod 3 = 1.",
    "? u(cost: C, took: D, good: true), X = C / 2.5, Y = D + 1s, Z = 2026-05-31 + D.",
    "? c(id: #abcdefgh, n: N). ? c(I, N), I = #abcde, M = -N.",
    "p(1, null, \"a\\n\\u00e9\", 1.5e3). p(2, true, session-merge, 0.1). ? p(A, B, C, D).",
    "p(X) :- e(X, Y), !q(Y). q(X) :- e(X, X). ? p(X), L = list { Y : q(Y) }, A = avg { Y : e(Y, X) }.",
    "w(A,B,A,B,A,B,A,B,A,B,A,B,A,B,A,B,A,B,A,B) :- e(A, B). ? why w(A,B,_,_,_,_,_,_,_,_,_,_,_,_,_,_,_,_,_,3).",
];
const MESSAGES: [&str; 10] = [
    "Title\n\nBody.\n\nAgentic-Kind: test\nAgentic-Agent: alice\n",
    "T\n\nA: 1\n  more\nB:2\n\n\n",
    "T\n\nSigned-off-by: A <a@b>\nprose\nAgentic-Kind: test\n",
    "T\n\n(cherry picked from commit 1234567)\nAgentic-Kind : test\n",
    "T\n\nbody\n---\nA: b\n",
    "T\n\n# remark\nA: b\n",
    "T\r\n\r\nA: b\r\n",
    "T\n\nA: b\n\n# Conflicts:\n#\tfile\n",
    "T\n\nA: b\n \n continued\n",
    "T\n\nkey=value\nA: b\n",
];

/// Bodies of records. `$` stands for a hash, `&` for a content id, `#` for a git id, `_` for data.
const SESSION_RECORDS: [&str; 20] = [
    r#""kind":"start","session":$,"agent":"alice","flow":&,"language":"rhai","semantics":1,"input":_,"seed":$,"key":"k","allow":["exec","*"],"head":"abc""#,
    r#""kind":"start","session":$,"agent":"a","flow":&,"language":"context","semantics":2,"input":&,"seed":$,"key":"","allow":[],"parent":$,"parent_seq":7,"parent_hash":$"#,
    r#""kind":"ask","path":"a/b","request":"exec","hash":$,"payload":_,"handling":"once""#,
    r#""kind":"ask","path":"a","request":"hold","hash":$,"payload":&,"schema":&,"handling":"decision","timeout_ms":5,"line":1,"column":2"#,
    r#""kind":"answer","path":"a","outcome":"ok","value":_,"by":"executor","attempt":1"#,
    r#""kind":"answer","path":"a","outcome":"err","code":"x","message":"m","details":_,"by":"decision","who":"abc","attempt":1"#,
    r#""kind":"answer","path":"a","outcome":"timeout","by":"timer","attempt":2"#,
    r#""kind":"answer","path":"a","outcome":"cancelled","stopped":"unknown","by":"signal","who":"12","attempt":1"#,
    r#""kind":"attempt","path":"a","n":1,"error":"e","next_at":9"#,
    r#""kind":"found","path":"a","found":_"#,
    r#""kind":"signal","id":"i","name":"n","value":_"#,
    r#""kind":"escalate","path":"a","to":["user:ada"],"why":"w""#,
    r#""kind":"vote","path":"a","decision":"d","principal":"p","action":"approve""#,
    r#""kind":"publish","path":"a","head":"h""#,
    r#""kind":"permit","path":"a","decision":"d","edited":_"#,
    r#""kind":"upgrade","from":&,"to":&,"verified":3"#,
    r#""kind":"withdraw","path":"a","why":"dropped""#,
    r#""kind":"cancel","who":"w","why":"y","mode":"kill""#,
    r#""kind":"scope_end","path":"a","from":1,"to":2,"hash":$,"result":_"#,
    r#""kind":"continue","state":_,"flow":&"#,
];

/// The same of streams.
const STREAM_RECORDS: [&str; 7] = [
    r#""kind":"open","body":null"#,
    r#""kind":"entry","body":{"kind":"log","at":5,"body":"text","continues":true},"genesis":#"#,
    r#""kind":"tx","body":{"verb":"commit","objects":[["blob",_],["tree",_],["commit",_]],"author":["A","a@b",5,60],"committer":["C","c@d",6,-60],"from":1,"count":2,"branch":["refs/heads/agents/a",null,#],"index":"/w"},"head":#"#,
    r#""kind":"tx","body":{"verb":"decide","objects":[],"author":["A","",5,0],"committer":["C","",6,0],"from":0,"count":0,"branch":["r",#,#],"notes":{"name":"n","notes":[[#,"text"]],"objects":[["thing",_],["thing",&,#]]},"files":"/w"},"notes":#"#,
    r#""kind":"done","body":[#,#],"compared":#"#,
    r#""kind":"abort","body":#"#,
    r#""kind":"cut","body":[3,[#]]"#,
];

/// Completes the records.
fn records() -> Vec<String> {
    let bytes = |n: usize| json::to_text(&Value::Bytes(vec![7; n]));
    let cid = json::to_text(&Value::Link(agentic_model::Cid::of(b"x")));
    let filled = |text: &str| {
        let text = text.replace('$', &bytes(32)).replace('&', &cid).replace('#', &bytes(20));
        text.replace(":_", &format!(":{}", bytes(1))).replace(",_", &format!(",{}", bytes(1)))
    };
    let session = |body: &&str| format!(r#"{{"v":1,"seq":1,"prev":$,"at":5,{body}}}"#);
    let stream = |body: &&str| {
        format!(r#"{{"v":1,"seq":1,"prev":$,"at":5,"synced":0,"taken":0,"pending":0,{body}}}"#)
    };
    let all = SESSION_RECORDS.iter().map(session).chain(STREAM_RECORDS.iter().map(stream));
    all.map(|text| filled(&text)).collect()
}
