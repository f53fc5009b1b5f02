//! What stands before whoever decides is what the commit says that they saw.

use agentic_api::view::question::text_hash;
use agentic_testkit::Browser;
use serde_json::{Value as Json, json};

use crate::stage::{ServedRepository, go, is_silent};

/// How many payloads are made.
const N_PAYLOADS: usize = 100;
/// How deep they nest.
const DEPTH_MAX: u64 = 4;
/// What texts are made of.
const PIECES: [&str; 24] = [
    "a",
    "Z",
    " ",
    "\n",
    "\t",
    "\r\n",
    "\r",
    "\u{0}",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{200b}",
    "\u{e0041}",
    "é",
    "𝄞",
    "<",
    ">",
    "&amp;",
    "\"",
    "'",
    "\\",
    "</pre>",
    "⟦202E⟧",
    "  ",
    "line\n",
];

/// Opens each hold, sends an approval of what stands there, and tells what stood there.
const APPROVE: &str = "
    const done = arguments[arguments.length - 1], [requests] = arguments;
    const load = (method, address, sent) => new Promise((tell, fail) => {
      const ask = new XMLHttpRequest();
      ask.open(method, address);
      ask.responseType = 'document';
      ask.onload = () => tell(ask);
      ask.onerror = fail;
      ask.send(sent);
    });
    const approve = async (request) => {
      const page = (await load('GET', '/holds/' + request)).response;
      const form = new FormData(page.querySelector('#decision'));
      form.set('action', 'approve');
      const address = page.querySelector('#decision').getAttribute('action');
      const sent = await load('POST', address, new URLSearchParams(form));
      return { request, text: page.querySelector('#shown').textContent, status: sent.status,
        decided: sent.response.querySelector('#decided')?.textContent };
    };
    (async () => {
      const found = [];
      for (const request of requests) found.push(await approve(request));
      done(found);
    })().catch((error) => done(String(error)));";

/// Makes values that differ as those of people do, and more.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn text(&mut self) -> String {
        let n_pieces = self.throw(12);
        let piece = |dice: &mut Dice| PIECES[dice.throw(PIECES.len() as u64) as usize];
        (0..n_pieces).map(|_| piece(self)).collect()
    }

    fn value(&mut self, depth: u64) -> Json {
        let n_parts = self.throw(4);
        match self.throw(if depth < DEPTH_MAX { 8 } else { 5 }) {
            0 => Json::Null,
            1 => Json::from(self.throw(2) == 0),
            2 => Json::from(self.throw(1 << 30) as i64 - (1 << 29)),
            3 | 4 => Json::from(self.text()),
            5 => (0..n_parts).map(|_| self.value(depth + 1)).collect(),
            6 => json!({ "before": self.text(), "after": self.text() }),
            _ => (0..n_parts).map(|_| (self.text(), self.value(depth + 1))).collect(),
        }
    }
}

#[test]
fn what_was_shown_of_a_hundred_payloads_hashes_to_what_their_commits_say() {
    let served = ServedRepository::begin();
    served.agentic(&["spawn", "alice", "-m", "x"]);
    let mut dice = Dice(18);
    let payloads: Vec<Json> = (0..N_PAYLOADS).map(|_| json!({ "it": dice.value(0) })).collect();
    let flow = r#"all(input.map(|one| || hold("Is it so?", #{ payload: one }).action)).len()"#;
    let ask = |payloads: &[Json]| {
        let started =
            served.start_session("alice", flow, &["--input", &json!(payloads).to_string()]);
        assert_eq!(started["state"], "held", "{started}");
        started["pending"].as_array().expect("a list").clone()
    };
    let requests = payloads.chunks(20).map(ask).collect::<Vec<Vec<Json>>>().concat();
    assert_eq!(requests.len(), N_PAYLOADS);
    let browser = served.visit();
    let found = approve_all(&browser, &requests);
    let log = served.json(&["log", "alice", "--kind", "decision"]);
    let log = log.as_array().expect("a list");
    assert_eq!(log.len(), N_PAYLOADS);
    let mut texts = std::collections::BTreeSet::new();
    for one in &found {
        assert_eq!((&one["status"], one["decided"].is_string()), (&json!(200), true), "{one}");
        let text = one["text"].as_str().expect("a text");
        let shown = text_hash(text);
        let commits: Vec<&Json> =
            log.iter().filter(|commit| commit["fields"]["shown"] == shown).collect();
        assert_eq!(commits.len(), 1, "{one}: {shown}");
        assert!(!text.contains(['\r', '\0', '\u{1b}', '\u{202e}', '\u{200b}']), "{text:?}");
        texts.insert(text);
    }
    assert!(texts.len() > N_PAYLOADS / 2, "they differ");
    go(&browser, "/");
    is_silent(&browser, "all holds");
}

fn approve_all(browser: &Browser, requests: &[Json]) -> Vec<Json> {
    // Not so many at once that a script on a busy machine takes longer than a browser waits.
    let parts = requests.chunks(20).map(|part| {
        let found = browser.run_long(APPROVE, &[json!(part)]).expect("a script runs");
        found.as_array().unwrap_or_else(|| panic!("{found}")).clone()
    });
    parts.collect::<Vec<Vec<Json>>>().concat()
}
