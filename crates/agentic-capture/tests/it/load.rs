//! Many conversations at once: nothing is lost, nothing doubled, and no event waits for all others.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use agentic_capture::hook::HookAnswer;
use agentic_model::{AgentName, Briefing, Instant, Value};
use agentic_session::SessionSpace;
use agentic_space::spawn::{SpawnOrigin, spawn};
use serde_json::json;

use crate::captured::CapturedFolder;

/// How many conversations go on at once, and how many events each has.
const CONVERSATIONS: usize = 64;
const EVENTS: usize = 200;
/// How many agents they share.
const AGENTS: usize = 8;
/// How often what was not taken at once is asked for again.
const ROUNDS_MAX: usize = 50;
/// What one event may read, in bytes and in calls, whoever else is there: a clock would count the others,
/// too. A file of 200 lines and a journal's last record are among them.
const TOLL_MAX: Toll = Toll { n_bytes: 192 << 10, n_calls: 250 };

/// What a thread has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Toll {
    n_bytes: u64,
    n_calls: u64,
}

impl Toll {
    /// Reads what this thread has read until now.
    fn now() -> Toll {
        let text = fs::read_to_string("/proc/thread-self/io").expect("the system counts");
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|number| number.trim().parse().ok()).expect("it is there")
        };
        Toll { n_bytes: number("rchar:"), n_calls: number("syscr:") }
    }

    /// Takes the greater of each.
    fn most(self, other: Toll) -> Toll {
        let n_bytes = self.n_bytes.max(other.n_bytes);
        Toll { n_bytes, n_calls: self.n_calls.max(other.n_calls) }
    }

    fn since(self, before: Toll) -> Toll {
        let n_bytes = self.n_bytes - before.n_bytes;
        Toll { n_bytes, n_calls: self.n_calls - before.n_calls }
    }
}

struct Crowd {
    captured: CapturedFolder,
}

impl Crowd {
    fn new() -> Crowd {
        let crowd = Crowd { captured: CapturedFolder::new() };
        let space = crowd.space();
        for number in 0..AGENTS {
            let briefing = Briefing::of_text("Mend the cart").to_object().expect("short");
            let agent = crowd.agent(number);
            spawn(&space, &agent, &briefing, &SpawnOrigin::Root).expect("the name is free");
        }
        crowd
    }

    fn space(&self) -> SessionSpace {
        self.captured.space()
    }

    fn agent(&self, conversation: usize) -> AgentName {
        AgentName::parse(&format!("fix-{}", conversation % AGENTS)).expect("a name")
    }

    fn transcript(&self, conversation: usize) -> PathBuf {
        self.captured.home().join(format!(".claude/projects/x/{conversation:08x}-0000.jsonl"))
    }

    fn say(&self, conversation: usize, number: usize) {
        let path = self.transcript(conversation);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
        // A file whose first line is older than itself may begin with copies of the lines of others.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
        let now = Instant::from_millis(i64::try_from(now).expect("before long"));
        let line = json!({"type": "user", "uuid": format!("{conversation}-{number}"),
            "timestamp": now.to_string(),
            "message": {"role": "user", "content": format!("{conversation} {number}")}});
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("writable");
        writeln!(file, "{line}").expect("writable");
    }

    fn event(&self, conversation: usize) -> HookAnswer {
        let payload = json!({"session_id": format!("{conversation:08x}-0000"),
            "cwd": self.captured.start(), "transcript_path": self.transcript(conversation),
            "hook_event_name": "UserPromptSubmit"});
        let agent = self.agent(conversation).to_string();
        self.captured.event(&[("AGENTIC_AGENT", &agent)], &payload)
    }

    /// Counts how often each prompt is pending.
    fn prompts(&self) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        let space = self.space();
        for number in 0..AGENTS {
            for entry in space.pending_trace(&self.agent(number)).expect("readable") {
                if let Some(text) = entry.body.as_text().filter(|_| entry.kind.as_str() == "prompt")
                {
                    *found.entry(text.to_owned()).or_default() += 1;
                }
                let conversation = entry.meta.get("conversation").and_then(Value::as_text);
                assert!(conversation.is_some(), "{entry:?}");
            }
        }
        found
    }
}

#[test]
fn the_first_event_of_a_conversation_reads_as_much_beside_many_agents() {
    let crowd = Crowd::new();
    let first = |conversation| {
        crowd.say(conversation, 0);
        let before = Toll::now();
        assert_eq!(crowd.event(conversation), HookAnswer::silent());
        Toll::now().since(before)
    };
    let (_warm, few) = (first(0), first(8));
    let git_dir = crowd.space().repository().common_dir().to_owned();
    let folder = git_dir.join("refs/notes/agentic");
    let tip = fs::read(folder.join(crowd.agent(0).as_str())).expect("it has notes");
    for number in 0..400 {
        fs::write(folder.join(format!("other-{number}")), &tip).expect("writable");
    }
    let many = first(16);
    assert!(many.n_calls < few.n_calls + 20, "{many:?} beside many, {few:?} beside few");
}

#[test]
fn sixty_four_conversations_with_two_hundred_events_each_lose_and_double_nothing() {
    let crowd = Crowd::new();
    let talk = |conversation| {
        let mut most = Toll { n_bytes: 0, n_calls: 0 };
        for number in 0..EVENTS {
            crowd.say(conversation, number);
            let before = Toll::now();
            assert_eq!(crowd.event(conversation), HookAnswer::silent());
            most = most.most(Toll::now().since(before));
        }
        most
    };
    let most = std::thread::scope(|scope| {
        let talk = &talk;
        let talks = (0..CONVERSATIONS).map(|number| scope.spawn(move || talk(number)));
        let talks: Vec<_> = talks.collect();
        let tolls = talks.into_iter().map(|talk| talk.join().expect("it does not panic"));
        tolls.reduce(Toll::most).expect("there are some")
    });
    println!("at most {most:?}");
    assert_eq!(most.most(TOLL_MAX), TOLL_MAX, "an event waits for others: {most:?}");
    // What somebody was too busy for is taken by a later event.
    for _ in 0..ROUNDS_MAX {
        for conversation in 0..CONVERSATIONS {
            crowd.event(conversation);
        }
        if crowd.prompts().len() >= CONVERSATIONS * EVENTS {
            break;
        }
    }
    let found = crowd.prompts();
    assert_eq!(found.len(), CONVERSATIONS * EVENTS);
    assert!(found.values().all(|n| *n == 1), "nothing is doubled");
}
