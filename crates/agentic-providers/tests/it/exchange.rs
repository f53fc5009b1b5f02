//! Recorded exchanges with servers of models, played again.
//!
//! `tests/exchange/*.txt` hold cases:
//!
//! | line | means |
//! | --- | --- |
//! | `== TITLE` | a case begins |
//! | `model: ADDRESS` | who is asked; its server is replaced by the one on loopback. `each`: one of every protocol |
//! | `ask: PAYLOAD` | the payload of the request of kind `model` |
//! | `task: PAYLOAD` | that of a request of kind `agent-task` instead |
//! | `listen` | the reply is asked for in pieces |
//! | `limit: MS` | the time limit of the call |
//! | `reply:` and lines with `\|` | what the server sends, one block for each attempt |
//! | `hex: FF FE` | more bytes of the last reply, and `flood: N` N more, `stall` and silence |
//! | `sent: LINE`, `header: LINE`, `body: JSON` | what the server must have got in the last attempt |
//! | `answer: JSON`, `failed: CODE: TEXT` | what the program gets; TEXT is a part |
//! | `heard: TEXT` | what a listener heard, `/` where it was told to begin anew |
//! | `asked: N` | how often the server was asked |
//!
//! In a case for each protocol a reply is written in words that [`Tongue`] translates.

use std::fs;
use std::path::Path;
use std::time::Duration;

use agentic_model::{Value, json};
use agentic_providers::host::CancelFlag;
use agentic_providers::model::{
    Endpoint, Model, ModelAddress, ModelCall, ModelProtocol, Refusals, ReplyPart, RetryRule,
    answer_of, prompt_of, task_answer, task_prompt,
};
use agentic_providers::secret::SecretSource;
use agentic_replay::RequestAnswer;

use crate::server::{Asked, End, Play, Server, reply};

/// The secret that no answer may show.
const KEY: &str = "sk-test-0123456789";

#[derive(Default, Clone)]
struct Case {
    title: String,
    model: String,
    ask: String,
    is_task: bool,
    is_heard: bool,
    limit_ms: Option<u64>,
    replies: Vec<String>,
    extras: Vec<(usize, Extra)>,
    wanted: Vec<(String, String)>,
}

#[derive(Clone)]
enum Extra {
    Bytes(Vec<u8>),
    Flood(usize),
    Stall,
}

/// How a protocol says what a case for each of them has replied.
struct Tongue {
    model: &'static str,
    /// `@whole TEXT`
    whole: &'static str,
    /// `@stream`: the type of a reply in pieces
    stream: &'static str,
    /// `@piece TEXT`
    piece: &'static str,
    /// `@end`
    end: &'static str,
    /// `@garbled`: a piece that breaks off
    garbled: &'static str,
}

const TONGUES: [Tongue; 3] = [
    Tongue {
        model: "openai://m",
        whole: r#"{"choices":[{"message":{"content":"TEXT"},"finish_reason":"stop"}]}"#,
        stream: "text/event-stream",
        piece: r#"data: {"choices":[{"delta":{"content":"TEXT"}}]}"#,
        end: "data: [DONE]",
        garbled: r#"data: {"choices":[{"delta":"#,
    },
    Tongue {
        model: "anthropic://m",
        whole: r#"{"content":[{"type":"text","text":"TEXT"}],"stop_reason":"end_turn"}"#,
        stream: "text/event-stream",
        piece: r#"data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"TEXT"}}"#,
        end: r#"data: {"type":"message_stop"}"#,
        garbled: r#"data: {"type":"content_block_delta","#,
    },
    Tongue {
        model: "ollama://m",
        whole: r#"{"message":{"content":"TEXT"},"done":true,"done_reason":"stop"}"#,
        stream: "application/x-ndjson",
        piece: r#"{"message":{"content":"TEXT"},"done":false}"#,
        end: r#"{"message":{"content":""},"done":true,"done_reason":"stop"}"#,
        garbled: r#"{"message":{"content":"#,
    },
];

impl Tongue {
    /// Makes the case for this protocol out of one for each.
    fn of(&self, case: &Case) -> Case {
        let title = format!("{}: {}", self.model, case.title);
        let replies = case.replies.iter().map(|reply| self.translate(reply)).collect();
        Case { title, model: self.model.to_owned(), replies, ..case.clone() }
    }

    fn translate(&self, reply: &str) -> String {
        let line = |line: &str| match line.split_once('@') {
            Some((before, word)) => format!("{before}{}\n", self.word(word)),
            None => format!("{line}\n"),
        };
        reply.lines().map(line).collect()
    }

    fn word(&self, word: &str) -> String {
        let (word, rest) = word.split_once(' ').unwrap_or((word, ""));
        match word {
            "whole" => self.whole.replace("TEXT", rest),
            "stream" => self.stream.to_owned(),
            "piece" => self.piece.replace("TEXT", rest),
            "end" => self.end.to_owned(),
            "garbled" => self.garbled.to_owned(),
            "deep" => "[".repeat(rest.parse().expect("a depth")),
            other => panic!("what is `@{other}`?"),
        }
    }
}

#[test]
fn recorded_exchanges_are_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchange");
    let mut n_cases = 0;
    for entry in fs::read_dir(folder).expect("the cases are there") {
        let path = entry.expect("the folder can be read").path();
        let text = fs::read_to_string(&path).expect("cases are text");
        for case in parse(&text) {
            let cases = match case.model.as_str() {
                "each" => TONGUES.iter().map(|tongue| tongue.of(&case)).collect(),
                _ => vec![case],
            };
            for case in cases {
                run(&case);
                n_cases += 1;
            }
        }
    }
    assert!(n_cases >= 120, "only {n_cases} cases were found");
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("== ") {
            cases.push(Case { title: title.to_owned(), ask: "{}".to_owned(), ..Case::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        let at = case.replies.len().saturating_sub(1);
        match line.split_once(':').map(|(key, value)| (key, value.trim())) {
            _ if line.starts_with('|') => {
                let reply = case.replies.last_mut().expect("a line belongs to a reply");
                reply.push_str(line[1..].strip_prefix(' ').unwrap_or(""));
                reply.push('\n');
            }
            Some(("model", address)) => case.model = address.to_owned(),
            Some((kind @ ("ask" | "task"), payload)) => {
                (case.ask, case.is_task) = (payload.to_owned(), kind == "task");
            }
            Some(("limit", millis)) => case.limit_ms = Some(millis.parse().expect("a number")),
            Some(("reply", _)) => case.replies.push(String::new()),
            Some(("hex", digits)) => case.extras.push((at, Extra::Bytes(hex(digits)))),
            Some(("flood", n)) => case.extras.push((at, Extra::Flood(n.parse().expect("bytes")))),
            Some((key, value)) => case.wanted.push((key.to_owned(), value.to_owned())),
            None if line == "listen" => case.is_heard = true,
            None if line == "stall" => case.extras.push((at, Extra::Stall)),
            None => assert!(line.is_empty() || line.starts_with('#'), "what is `{line}`?"),
        }
    }
    cases
}

fn hex(digits: &str) -> Vec<u8> {
    let byte = |word| u8::from_str_radix(word, 16).expect("two digits");
    digits.split_whitespace().map(byte).collect()
}

fn plays(case: &Case) -> Vec<Play> {
    let mut plays: Vec<Play> = case.replies.iter().map(|text| reply(text)).collect();
    for (at, extra) in &case.extras {
        match extra {
            Extra::Bytes(bytes) => plays[*at].bytes.extend_from_slice(bytes),
            Extra::Flood(n) => plays[*at].flood = *n,
            Extra::Stall => plays[*at].end = End::Stall,
        }
    }
    plays
}

fn run(case: &Case) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(plays(case));
    let endpoint = endpoint(case, &server, folder.path());
    let payload = json::from_text(&case.ask).expect("the payload is JSON");
    let prompt = if case.is_task { task_prompt(&payload) } else { prompt_of(&payload) };
    let (cancel, mut heard) = (CancelFlag::new(), String::new());
    let mut listener = |piece: ReplyPart<'_>| match piece {
        ReplyPart::Text(text) => heard.push_str(text),
        ReplyPart::Again => heard.push('/'),
    };
    let mut call = ModelCall::new(&cancel);
    call.limit = case.limit_ms.map(Duration::from_millis);
    if case.is_heard {
        call.listener = Some(&mut listener);
    }
    let completion = endpoint.complete(&prompt, &mut call);
    let answer =
        if case.is_task { task_answer(&payload, completion) } else { answer_of(completion) };
    let asked = std::iter::from_fn(|| server.asked_already()).collect::<Vec<_>>();
    for (key, value) in &case.wanted {
        if key == "asked" {
            assert_eq!(asked.len().to_string(), *value, "{}: {answer:?}", case.title);
            continue;
        }
        check(case, key, value, asked.last(), &answer, &heard);
    }
    assert!(!format!("{answer:?}").contains(KEY), "{}: {answer:?}", case.title);
    assert!(case.wanted.iter().any(|(key, _)| key == "answer" || key == "failed"));
}

fn endpoint(case: &Case, server: &Server, folder: &Path) -> Endpoint {
    let address = ModelAddress::parse(&case.model).expect("the address is right");
    let key = folder.join("key");
    fs::write(&key, KEY).expect("the folder is ours");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("the file is ours");
    Endpoint {
        key: (address.protocol != ModelProtocol::Ollama).then(|| SecretSource::File("key".into())),
        protocol: address.protocol,
        server: server.address.clone(),
        name: address.name,
        folder: folder.to_owned(),
        limit: Duration::from_secs(10),
        retry: RetryRule {
            retries_max: 2,
            pause_first: Duration::from_millis(1),
            pause_max: Duration::from_secs(2),
        },
        refusals: Refusals::default(),
    }
}

fn check(
    case: &Case,
    key: &str,
    value: &str,
    asked: Option<&Asked>,
    answer: &RequestAnswer,
    heard: &str,
) {
    let title = &case.title;
    let asked = || asked.unwrap_or_else(|| panic!("{title}: nothing was sent; {answer:?}"));
    match (key, answer) {
        ("answer", RequestAnswer::Ok(found)) => {
            let wanted = json::from_text(value).expect("the answer is JSON");
            assert_eq!(*found, wanted, "{title}");
        }
        ("failed", RequestAnswer::Failed(failure)) => {
            let found = format!("{}: {}", failure.code, failure.message);
            let (code, part) = value.split_once(": ").expect("a code and a part of the text");
            assert_eq!(failure.code, code, "{title}: {found}");
            assert!(found.contains(part), "{title}: {found}");
        }
        ("sent", _) => assert_eq!(asked().line, value, "{title}"),
        ("header", _) => {
            let headers = &asked().headers;
            assert!(headers.iter().any(|header| header == value), "{title}: {headers:?}");
        }
        ("body", _) => {
            let wanted = json::from_text(value).expect("the body is JSON");
            let found: Value = json::from_text(&asked().body).expect("JSON is sent");
            assert_eq!(found, wanted, "{title}");
        }
        ("heard", _) => assert_eq!(heard, value, "{title}"),
        _ => panic!("{title}: {key}: {value}, but the answer is {answer:?}"),
    }
}
