//! Random repositories: every list of the API is what the command prints, and whoever has an answer is
//! told so exactly as long as it is that.
//!
//! Some repositories are made by default; `AGENTIC_TEST_REPOSITORIES=1000` makes as many as that.

use super::api::{percent, without_ages};
use super::*;

/// How many repositories are made.
const REPOSITORIES: u64 = 40;
/// How many are looked at at the same time: mostly one waits for processes.
const AT_ONCE: u64 = 4;
/// How much happens before somebody serves the repository, and how much while somebody does.
const STEPS: (usize, usize) = (8, 5);
/// How often what a clock may change is looked at again.
const LOOKS: usize = 3;

/// Numbers that a seed gives.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides.max(1)
    }

    fn one_of<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.roll(words.len())]
    }
}

/// A repository in which anything may happen.
struct Wilderness {
    served: Served,
    dice: Dice,
    n_agents: usize,
}

impl Wilderness {
    fn new(seed: u64) -> Wilderness {
        let mut dice = Dice(seed);
        dice.roll(1);
        let mut made = Wilderness { served: Served::new(), dice, n_agents: 0 };
        made.spawn();
        (0..STEPS.0).for_each(|_| made.step());
        if seed % 2 == 1 {
            // Whoever begins to serve it finds it as it is.
            made.served.process.kill().expect("it runs");
            made.served.process.wait().expect("a child");
            made.served.process = begin(&made.served.sandbox, made.start(), &[]);
            let status = made.json(&["serve", "status"]);
            let url = status["url"].as_str().expect("it has a page");
            made.served.host = url.trim_start_matches("http://").to_owned();
        }
        made
    }

    fn start(&self) -> &Path {
        self.served.sandbox.start()
    }

    /// Runs a command that may be refused: not everything can be done at any time.
    fn try_run(&self, arguments: &[&str]) -> String {
        let output = run(&self.served.sandbox, self.start(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("BUG") && output.status.code().is_some(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn json(&self, arguments: &[&str]) -> Json {
        let printed = self.try_run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&printed).expect("JSON")
    }

    fn spawn(&mut self) {
        let name = format!("a{}", self.n_agents);
        let from = format!("a{}", self.dice.roll(self.n_agents));
        let mut arguments = vec!["spawn", &name, "-m", "look"];
        if self.n_agents > 0 && self.dice.roll(2) == 0 {
            arguments.extend(["--from", &from]);
        }
        self.try_run(&arguments);
        self.n_agents += 1;
    }

    fn step(&mut self) {
        let (agent, other) = (
            format!("a{}", self.dice.roll(self.n_agents)),
            format!("a{}", self.dice.roll(self.n_agents)),
        );
        let (agent, other) = (agent.as_str(), other.as_str());
        match self.dice.roll(14) {
            0 | 1 => self.spawn(),
            2 => drop(self.try_run(&["trace", "add", "--agent", agent, "saw a <thing>"])),
            3..=5 => {
                let kind = self.dice.one_of(&["finding", "refactor", "note", "plan"]);
                let commit = ["commit", "--agent", agent, "-m", "Look", "--allow-empty", "--trace"];
                self.try_run(&[&commit[..], &["--kind", kind]].concat());
            }
            6 => {
                let relation = self.dice.one_of(&["reviews", "depends-on", "merged-into"]);
                let verb = self.dice.one_of(&["relate", "unrelate"]);
                self.try_run(&[verb, agent, relation, other]);
            }
            7 => drop(self.try_run(&["merge", other, "--into", agent])),
            8 => drop(self.try_run(&["archive", agent])),
            9 => drop(self.try_run(&["archive", "--restore", agent])),
            10 | 11 => self.ask(agent),
            12 => self.decide(),
            _ => {
                let branch = format!("refs/heads/agents/{agent}");
                let old = format!("refs/heads/agents/{other}");
                // Plain git: a branch that nobody spawned, or that somebody moved.
                let _ = self.served.sandbox.git(self.start(), &["update-ref", &branch, &old]);
            }
        }
    }

    /// Has a program ask, or wait, or end.
    fn ask(&mut self, agent: &str) {
        let flow = match self.dice.roll(4) {
            0 => r#"hold("Go?").action"#.to_owned(),
            1 => "sleep(100000); 1".to_owned(),
            2 => "let n = 1; n + 1".to_owned(),
            _ => {
                let soon = agentic_model::Instant::from_millis(now_millis() + 1_500);
                format!("hold(\"Soon?\", #{{deadline: \"{soon}\", on_expiry: 1}}).value")
            }
        };
        std::fs::write(self.start().join("flow.rhai"), flow).expect("writable");
        let key = format!("k{}", self.dice.roll(1 << 20));
        self.try_run(&["session", "start", agent, "--flow", "flow.rhai", "--key", &key]);
    }

    fn decide(&mut self) {
        let pending = self.json(&["pending"]);
        let holds = pending.as_array().expect("a list");
        if let Some(hold) = holds.get(self.dice.roll(holds.len())) {
            let action = self.dice.one_of(&["approve", "reject"]);
            self.try_run(&["decide", hold["request"].as_str().expect("a name"), action]);
        }
    }

    /// Chooses what is looked at: addresses, and the commands that print the same.
    fn places(&mut self) -> Vec<(String, Vec<String>)> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let mut places: Vec<(String, Vec<String>)> = ["agents", "tree", "pending"]
            .map(|one| (one.to_owned(), words(one)))
            .into_iter()
            .chain([("sessions".to_owned(), words("session list"))])
            .collect();
        let query = "? (A, K) commit(agent: A, kind: K).";
        places.push((
            format!("query?q={}", percent(query)),
            vec!["query".to_owned(), query.to_owned()],
        ));
        // What an index has is looked at; what it has not read yet comes soon.
        let search = ["search", "--no-serve", "--limit", "500", "look"];
        places.push(("search?q=look".to_owned(), search.map(str::to_owned).to_vec()));
        let listed = self.json(&["agents"]);
        let listed = listed.as_array().expect("a list");
        if let Some(agent) = listed.get(self.dice.roll(listed.len())) {
            let agent = agent["agent"].as_str().expect("a name");
            let of = |path: &str, command: &str| {
                (path.replace("{}", agent), words(&command.replace("{}", agent)))
            };
            places.extend([
                of("agents/{}/log", "log {}"),
                of("agents/{}/log?kind=finding", "log {} --kind finding"),
                of("agents/{}/relations", "relations --of {}"),
                of("agents/{}/sessions", "session list --agent {}"),
                of("agents/{}", "show {}"),
                of("pending?agent={}", "pending --agent {}"),
            ]);
            let log = self.json(&["log", agent]);
            let log = log.as_array().expect("a list");
            if let Some(commit) = log.get(self.dice.roll(log.len())) {
                let commit = commit["commit"].as_str().expect("an id");
                let of = |path: &str, command: &str| {
                    (path.replace("{}", commit), words(&command.replace("{}", commit)))
                };
                places.push(of("commits/{}", "show {}"));
                places.push(of("commits/{}/trace-history", "trace history {}"));
            }
        }
        let sessions = self.json(&["session", "list"]);
        let sessions = sessions.as_array().expect("a list");
        if let Some(session) = sessions.get(self.dice.roll(sessions.len())) {
            let session = session["session"].as_str().expect("an id");
            places.push((format!("sessions/{session}"), words(&format!("session show {session}"))));
        }
        places
    }
}

fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_millis()).expect("this age")
}

/// Somebody who keeps answers, and asks for them anew only where they changed.
struct Client {
    cookie: String,
    kept: BTreeMap<String, (String, Json)>,
    n_unchanged: usize,
}

impl Client {
    fn get(&mut self, served: &Served, path: &str) -> Json {
        let known = self.kept.get(path).map(|(tag, _)| tag.clone()).unwrap_or_default();
        let headers = [("Cookie", self.cookie.as_str()), ("If-None-Match", &known)];
        let answered = served.ask("GET", &format!("/api/v1/{path}"), &headers, "");
        match answered.status {
            304 => self.n_unchanged += 1,
            200 => {
                let tag = answered.head.lines().find_map(|line| line.strip_prefix("etag: "));
                let body = serde_json::from_str(&answered.body).expect("JSON");
                self.kept.insert(path.to_owned(), (tag.expect("a tag").to_owned(), body));
            }
            status => panic!("{path}: {status}: {}", answered.body),
        }
        self.kept[path].1.clone()
    }

    /// Reads what is at an address; of a list all pages.
    fn read(&mut self, served: &Served, path: &str, limit: usize) -> Json {
        let sign = if path.contains('?') { '&' } else { '?' };
        let parts: Vec<&str> = path.split('?').next().expect("a path").split('/').collect();
        let is_list = parts.len() != 2 && parts[0] != "statistics";
        if !is_list {
            return self.get(served, path);
        }
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.get(served, &format!("{path}{sign}limit={limit}{after}"));
            items.extend(page["items"].as_array().expect("items").clone());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Json::Array(items),
            }
        }
    }
}

fn check_all(wilderness: &mut Wilderness, client: &mut Client, seed: u64) {
    let limit = [1, 3, 100][wilderness.dice.roll(3)];
    for (path, command) in wilderness.places() {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        // The second time nothing has happened since, but time: whoever has the answer has the right one.
        for _ in 0..2 {
            let begun = Instant::now();
            for look in 1.. {
                let read = without_ages(client.read(&wilderness.served, &path, limit));
                let mut printed = without_ages(wilderness.json(&command));
                if let Some(hits) = printed.get_mut("items") {
                    printed = hits.take();
                }
                if read == printed {
                    break;
                }
                // A deadline may pass between the two, and an index reads behind who writes.
                let may_be_late = path.starts_with("search") && begun.elapsed() < PATIENCE;
                assert!(
                    look < LOOKS || may_be_late,
                    "seed {seed}: {path}: {read}\n{command:?}: {printed}"
                );
            }
        }
    }
}

/// Looks at one repository again and again while things happen; returns how many answers were known.
fn look_at(seed: u64) -> usize {
    let mut wilderness = Wilderness::new(seed);
    let cookie = wilderness.served.log_in();
    let mut client = Client { cookie, kept: BTreeMap::new(), n_unchanged: 0 };
    check_all(&mut wilderness, &mut client, seed);
    for _ in 0..STEPS.1 {
        wilderness.step();
        check_all(&mut wilderness, &mut client, seed);
    }
    client.n_unchanged
}

#[test]
fn lists_of_random_repositories_are_what_commands_print_and_are_known_as_long_as_they_are() {
    let wanted = std::env::var("AGENTIC_TEST_REPOSITORIES").ok().and_then(|n| n.parse().ok());
    let n_wanted = wanted.unwrap_or(REPOSITORIES);
    let n_unchanged: usize = std::thread::scope(|scope| {
        let look = |first: u64| {
            let seeds = (first..n_wanted).step_by(usize::try_from(AT_ONCE).expect("few"));
            scope.spawn(move || seeds.map(look_at).sum::<usize>())
        };
        let threads: Vec<_> = (0..AT_ONCE).map(look).collect();
        threads.into_iter().map(|thread| thread.join().expect("every look is right")).sum()
    });
    println!("{n_wanted} repositories, {n_unchanged} answers were known");
    assert!(n_unchanged > 0, "nothing is ever known");
}
