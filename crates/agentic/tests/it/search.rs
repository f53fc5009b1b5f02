//! Searching with an index and without: the same hits, whatever happens to the index.

use std::collections::BTreeSet;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::serve::{Served, begin};

/// How long an index may take to be there.
const PATIENCE: Duration = Duration::from_secs(60);
const QUERIES: [&str; 12] = [
    "token",
    "token refresh",
    "\"the token\"",
    "re*",
    "-token",
    "agent:bob",
    "in:briefing",
    "kind:finding token",
    "by:alice",
    "src/retry_count.rs",
    "under:alice work",
    "nothing",
];

/// Fills a repository with what can be found.
fn fill(served: &Served) {
    served.ok(&["spawn", "alice", "-m", "Mend the token refresh"]);
    served.ok(&["spawn", "bob", "-m", "work below alice", "--from", "alice"]);
    for (number, agent) in ["alice", "bob", "alice"].iter().enumerate() {
        let text = format!("the token of RefreshToken in src/retry_count.rs {number}");
        served.ok(&["trace", "add", "--agent", agent, &text]);
        let message = format!("Found the token race {number}");
        let commit = ["commit", "--agent", agent, "--trace", "--allow-empty", "--kind", "finding"];
        served.ok(&[&commit[..], &["-m", &message]].concat());
    }
    served.ok(&["trace", "add", "--agent", "bob", "a pending token"]);
}

fn status(served: &Served) -> Json {
    serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON")
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait_until_ready(served: &Served) {
    let is_ready = || {
        let index = &status(served)["index"];
        index["text"]["state"] == "ready" && index["main"]["state"] == "ready"
    };
    wait_until("both indexes are ready", is_ready);
}

fn found(served: &Served, query: &str) -> Json {
    serde_json::from_str(&served.ok(&["search", "--json", "--", query])).expect("JSON")
}

/// Asks the process itself: what `search` prints may come from reading everything.
fn found_by_index(served: &Served, cookie: &str, query: &str) -> Json {
    let query: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let answered =
        served.ask("GET", &format!("/api/v1/search?q={query}"), &[("Cookie", cookie)], "");
    assert_eq!(answered.status, 200, "{}", answered.body);
    let mut found: Json = serde_json::from_str(&answered.body).expect("JSON");
    // What every list says, and the command has not.
    assert!(found["as_of"]["n"].is_u64(), "{found}");
    found.as_object_mut().expect("a map").remove("as_of");
    found
}

/// Compares lists of agents with what the command prints, and the page with them.
fn check_agents(served: &Served, cookie: &str) {
    let get = |path: &str| served.ask("GET", path, &[("Cookie", cookie)], "");
    for (path, command) in [("agents", "agents"), ("tree", "tree")] {
        let printed = served.ok(&[command, "--json"]);
        let answered = get(&format!("/api/v1/{path}"));
        assert_eq!(answered.status, 200, "{}", answered.body);
        let items = answered.body.strip_prefix("{\"items\":").expect("a list");
        let items = items.split_once(",\"as_of\"").expect("a list").0;
        let compact: Json = serde_json::from_str(&printed).expect("JSON");
        let listed: Json = serde_json::from_str(items).expect("JSON");
        assert_eq!(listed, compact, "{path}");
    }
    let page = get("/agents");
    assert_eq!(page.status, 200);
    for agent in ["alice", "bob"] {
        let is_there = served.ok(&["agents"]).contains(agent);
        assert_eq!(page.body.contains(&format!("id=\"agent-{agent}\"")), is_there, "{agent}");
    }
    assert!(!page.body.contains("Checking"), "there are few");
}

fn check(served: &Served) {
    let cookie = served.log_in();
    check_agents(served, &cookie);
    for query in QUERIES {
        let scanned = served.ok(&["search", "--no-serve", "--json", "--", query]);
        let scanned: Json = serde_json::from_str(&scanned).expect("JSON");
        assert_eq!(found(served, query), scanned, "{query}");
        assert_eq!(found_by_index(served, &cookie, query), scanned, "{query}");
    }
}

fn index(served: &Served) -> PathBuf {
    served.sandbox.start().join(".git/agentic/index")
}

#[test]
fn an_index_finds_what_reading_everything_finds() {
    let served = Served::new();
    fill(&served);
    wait_until_ready(&served);
    check(&served);
    assert_eq!(found(&served, "token")["items"].as_array().map(Vec::len), Some(9));
    // What was written is found at once, and once after it is bound.
    served.ok(&["trace", "add", "--agent", "alice", "a needle"]);
    let n_found = || found(&served, "needle")["items"].as_array().map(Vec::len);
    wait_until("it is found", || n_found() == Some(1));
    served.ok(&["commit", "--agent", "alice", "--trace", "--allow-empty", "-m", "bound"]);
    assert_eq!(n_found(), Some(1));
    wait_until("it is bound", || found(&served, "needle")["items"][0]["commit"].is_string());
    check(&served);
    // What git does is noticed too.
    let start = served.sandbox.start();
    served.sandbox.git(start, &["update-ref", "-d", "refs/heads/agents/bob"]).expect("git");
    wait_until("bob is gone", || found(&served, "agent:bob")["items"] == serde_json::json!([]));
    check(&served);
}

#[test]
fn an_index_that_is_deleted_or_damaged_is_made_anew() {
    let served = Served::new();
    fill(&served);
    wait_until_ready(&served);
    std::fs::remove_dir_all(index(&served)).expect("it is there");
    // While it is made anew, everything is found all the same, by the command and by the process.
    check(&served);
    wait_until("it is there again", || index(&served).join("text").exists());
    wait_until_ready(&served);
    check(&served);
    served.ok(&["serve", "rebuild"]);
    wait_until_ready(&served);
    check(&served);
}

#[test]
fn an_index_is_gone_on_with_after_a_kill_and_made_anew_after_damage() {
    let mut served = Served::new();
    fill(&served);
    wait_until_ready(&served);
    let databases: [fn(&Path); 5] = [|_| {}, damage_middle, cut, zero, take_away];
    for spoil in databases {
        served.process.kill().expect("it runs");
        served.process.wait().expect("it runs");
        spoil(&index(&served).join("text"));
        spoil(&index(&served).join("main"));
        // Without a server everything is read.
        assert_eq!(found(&served, "token")["items"].as_array().map(Vec::len), Some(9));
        served.process = begin(&served.sandbox, served.sandbox.start(), &[]);
        wait_until_ready(&served);
        let url = status(&served)["url"].as_str().expect("a page").to_owned();
        served.host = url.trim_start_matches("http://").to_owned();
        check(&served);
    }
}

/// Visits the files of a database.
fn files(folder: &Path, change: &dyn Fn(&mut std::fs::File, u64)) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, change);
            continue;
        }
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).expect("writable");
        let length = file.metadata().expect("it is there").len();
        change(&mut file, length);
    }
}

fn take_away(folder: &Path) {
    std::fs::remove_dir_all(folder).expect("it is there");
}

fn damage_middle(folder: &Path) {
    files(folder, &|file, length| {
        file.seek(SeekFrom::Start(length / 3)).expect("a file");
        file.write_all(&[0xa5; 8]).expect("writable");
    });
}

fn cut(folder: &Path) {
    files(folder, &|file, length| file.set_len(length / 2).expect("writable"));
}

fn zero(folder: &Path) {
    files(folder, &|file, length| {
        let zeros = vec![0; usize::try_from(length.min(4_096)).expect("small")];
        file.write_all(&zeros).expect("writable");
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_gone_without() {
    let served = Served::new();
    fill(&served);
    wait_until_ready(&served);
    served.ok(&["serve", "stop"]);
    let folder = index(&served);
    std::fs::remove_dir_all(&folder).expect("it is there");
    // A file in its place: not even root makes a folder of that.
    std::fs::write(&folder, "").expect("writable");
    let mut served = served;
    served.process = begin(&served.sandbox, served.sandbox.start(), &[]);
    let url = status(&served)["url"].as_str().expect("a page").to_owned();
    served.host = url.trim_start_matches("http://").to_owned();
    wait_until("it goes without", || {
        let index = &status(&served)["index"];
        index["text"]["state"] == "absent" && index["main"]["state"] == "absent"
    });
    check(&served);
}

#[test]
fn an_index_that_another_process_has_is_gone_without() {
    let mut served = Served::new();
    fill(&served);
    wait_until_ready(&served);
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("a child");
    let held: Vec<std::fs::File> = ["main", "text"]
        .iter()
        .map(|name| {
            let path = index(&served).join(name).join("db");
            let file = std::fs::File::open(&path).expect("a database");
            file.lock().expect("nobody else has it");
            file
        })
        .collect();
    served.process = begin(&served.sandbox, served.sandbox.start(), &[]);
    let url = status(&served)["url"].as_str().expect("a page").to_owned();
    served.host = url.trim_start_matches("http://").to_owned();
    wait_until("it goes without", || {
        let index = &status(&served)["index"];
        let is_held = |name: &str| {
            let why = index[name]["why"].as_str().unwrap_or_default();
            index[name]["state"] == "absent" && why.contains("another process has")
        };
        is_held("main") && is_held("text")
    });
    check(&served);
    served.ok(&["trace", "add", "--agent", "alice", "written meanwhile"]);
    assert_eq!(found(&served, "meanwhile")["items"].as_array().map(Vec::len), Some(1));
    check(&served);
    drop(held);
}

/// Makes a repository of somebody else with an agent that has a trace, and fetches it.
fn fetch_carol(served: &mut Served) {
    let start = served.sandbox.start().to_owned();
    let there = served.sandbox.repositories().join("there");
    let path = there.to_str().expect("text").to_owned();
    let git = |served: &Served, folder: &Path, arguments: &[&str]| {
        served.sandbox.git(folder, arguments).expect("git does it");
    };
    git(served, &served.sandbox.repositories(), &["init", "--quiet", &path]);
    for arguments in [
        &["init"][..],
        &["spawn", "carol", "-m", "Look after the remote token"],
        &["trace", "add", "--agent", "carol", "a remote token was seen"],
        &["commit", "--agent", "carol", "--trace", "--allow-empty", "-m", "Seen"],
    ] {
        let mut command = served.sandbox.command("agentic", &there);
        let done = command.args(arguments).output().expect("it runs");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    git(served, &start, &["remote", "add", "there", &path]);
    served.ok(&["init"]);
    // A process that has just begun may not know of a remote that came since.
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("a child");
    served.process = begin(&served.sandbox, &start, &[]);
    let url = status(served)["url"].as_str().expect("a page").to_owned();
    served.host = url.trim_start_matches("http://").to_owned();
    wait_until_ready(served);
    git(served, &start, &["fetch", "--quiet", "there"]);
}

#[test]
fn what_archived_agents_and_those_of_remotes_said_is_found_too() {
    let mut served = Served::new();
    fill(&served);
    wait_until_ready(&served);
    served.ok(&["commit", "--agent", "bob", "--trace", "--allow-empty", "-m", "bound"]);
    let n_found =
        |served: &Served, query: &str| found(served, query)["items"].as_array().map_or(0, Vec::len);
    let before = found(&served, "token")["items"].clone();
    let of_bob = n_found(&served, "token agent:bob");
    assert!(of_bob > 0);
    // Folding an agent away takes nothing of what it said.
    served.ok(&["archive", "bob"]);
    check(&served);
    assert_eq!(found(&served, "token")["items"], before);
    assert_eq!(n_found(&served, "token agent:bob"), of_bob);
    fetch_carol(&mut served);
    wait_until("carol is found", || n_found(&served, "remote token in:trace") == 1);
    check(&served);
    let hit = found(&served, "remote token agent:there/carol in:trace")["items"][0].clone();
    assert_eq!((&hit["agent"], &hit["by"]), (&"there/carol".into(), &"carol".into()), "{hit}");
    assert_eq!(n_found(&served, "remote in:briefing"), 1);
    // Once she has a branch here, she is found here, and once.
    let start = served.sandbox.start();
    let branch = ["update-ref", "refs/heads/agents/carol", "refs/remotes/there/agents/carol"];
    served.sandbox.git(start, &branch).expect("git does it");
    wait_until("she is found here", || {
        let hits = found(&served, "Seen in:commit")["items"].clone();
        hits.as_array().is_some_and(|hits| hits.len() == 1 && hits[0]["agent"] == "carol")
    });
    check(&served);
    served.ok(&["archive", "--restore", "bob"]);
    check(&served);
    served.ok(&["serve", "rebuild"]);
    wait_until_ready(&served);
    check(&served);
}

#[test]
fn a_briefing_counts_only_where_it_is_on_the_agents_own_line() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "Find the marble"]);
    served.ok(&["spawn", "bob", "-m", "Carve the granite"]);
    served.ok(&["spawn", "other", "-m", "Polish the slate"]);
    for agent in ["alice", "bob", "other"] {
        served.ok(&["commit", "--agent", agent, "--allow-empty", "-m", "Work"]);
    }
    served.ok(&["merge", "bob", "--into", "alice"]);
    wait_until_ready(&served);
    // Git moves a branch to where its genesis is an ancestor, and on no line of first parents; then a
    // write of ours goes on from there, whose journal knows that genesis still.
    let start = served.sandbox.start();
    let moved = ["update-ref", "refs/heads/agents/bob", "refs/heads/agents/alice"];
    served.sandbox.git(start, &moved).expect("git does it");
    let n_found = || found(&served, "granite in:briefing")["items"].as_array().map(Vec::len);
    wait_until("its briefing is none of it any more", || n_found() == Some(0));
    served.ok(&["merge", "other", "--into", "bob"]);
    wait_until("the merge is read", || {
        let hits = found(&served, "agent:bob kind:session-merge")["items"].clone();
        hits.as_array().is_some_and(|hits| !hits.is_empty())
    });
    check(&served);
    let scanned = served.ok(&["search", "--no-serve", "--json", "--", "granite in:briefing"]);
    let scanned: Json = serde_json::from_str(&scanned).expect("JSON");
    assert_eq!(scanned["items"], serde_json::json!([]));
    assert_eq!(n_found(), Some(0));
    // Back on its own line it is found again.
    let back = ["update-ref", "refs/heads/agents/bob", "refs/heads/agents/bob~1^2"];
    drop(served.sandbox.git(start, &back));
    check(&served);
}

/// Words of which none is a part of another.
const VOCABULARY: [&str; 12] = [
    "kestrel", "lantern", "monsoon", "nickel", "orchard", "puffin", "quarry", "ribbon", "saffron",
    "thistle", "umbra", "velvet",
];
/// How many random queries are asked, unless `AGENTIC_TEST_QUERIES` asks for more.
const RANDOM_QUERIES: usize = 25;

#[test]
fn a_search_finds_what_grep_finds_in_the_traces_that_are_shown() {
    let wanted = std::env::var("AGENTIC_TEST_QUERIES").ok().and_then(|n| n.parse().ok());
    let served = Served::new();
    let mut random = 99_u64;
    let mut roll = |sides: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(random >> 33).expect("31 bits") % sides
    };
    // What each entry says, by its trace and its number.
    let mut said: Vec<((String, u64), String)> = Vec::new();
    for agent in ["a0", "a1", "a2"] {
        served.ok(&["spawn", agent, "-m", "look"]);
        for _ in 0..4 {
            for _ in 0..3 {
                let words: Vec<&str> = (0..4).map(|_| VOCABULARY[roll(VOCABULARY.len())]).collect();
                served.ok(&["trace", "add", "--agent", agent, &words.join(" ")]);
            }
            let commit = ["commit", "--agent", agent, "--trace", "--allow-empty", "-m", "x"];
            let made: Json = serde_json::from_str(&served.ok(&[&commit[..], &["--json"]].concat()))
                .expect("JSON");
            let oid = made["commit"].as_str().expect("a commit");
            let shown: Json =
                serde_json::from_str(&served.ok(&["trace", "show", oid, "--json"])).expect("JSON");
            let cid = shown["cid"].as_str().expect("an id").to_owned();
            for (n, entry) in (0..).zip(shown["entries"].as_array().expect("entries")) {
                let text = entry["text"].as_str().expect("a text").to_owned();
                said.push(((cid.clone(), n), text));
            }
        }
    }
    served.ok(&["archive", "a2"]);
    wait_until_ready(&served);
    let cookie = served.log_in();
    for number in 0..wanted.unwrap_or(RANDOM_QUERIES) {
        let words: Vec<&str> = (0..=roll(2)).map(|_| VOCABULARY[roll(VOCABULARY.len())]).collect();
        let without = VOCABULARY[roll(VOCABULARY.len())];
        let query = match roll(4) {
            0 => format!("in:trace {} -{without}", words.join(" ")),
            1 => format!("in:trace \"{}\"", words.join(" ")),
            2 => format!("in:trace {}*", &words[0][..3]),
            _ => format!("in:trace {}", words.join(" ")),
        };
        let is_hit = |text: &str| match () {
            () if query.contains('-') => {
                words.iter().all(|word| text.contains(word)) && !text.contains(without)
            }
            () if query.contains('"') => text.contains(&words.join(" ")),
            () if query.contains('*') => text.contains(&words[0][..3]),
            () => words.iter().all(|word| text.contains(word)),
        };
        let grepped: BTreeSet<(String, u64)> =
            said.iter().filter(|(_, text)| is_hit(text)).map(|(place, _)| place.clone()).collect();
        let hits = |view: &Json| -> BTreeSet<(String, u64)> {
            let items = view["items"].as_array().expect("hits").iter();
            items
                .map(|hit| {
                    (hit["id"].as_str().expect("an id").to_owned(), hit["n"].as_u64().expect("one"))
                })
                .collect()
        };
        assert_eq!(hits(&found_by_index(&served, &cookie, &query)), grepped, "{query}");
        // To start a program for each takes long.
        if number % 5 == 0 || wanted.is_some() {
            let scan = ["search", "--no-serve", "--limit", "500", "--json", "--", &query];
            let scanned: Json = serde_json::from_str(&served.ok(&scan)).expect("JSON");
            assert_eq!(hits(&scanned), grepped, "{query}");
        }
    }
}

#[test]
fn the_page_of_hits_goes_on_to_older_ones() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "work"]);
    let entries: Vec<String> = (0..120).map(|n| format!("needle {n}.")).collect();
    for entry in &entries {
        served.ok(&["trace", "add", "--agent", "alice", entry]);
    }
    let cookie = served.log_in();
    let get = |path: &str| served.ask("GET", path, &[("Cookie", &cookie)], "");
    let (mut path, mut n_seen, mut n_pages) = ("/search?q=needle".to_owned(), 0, 0);
    wait_until("all is found", || {
        get("/search?q=needle&after=100").body.matches("<mark>").count() == 20
    });
    loop {
        let page = get(&path);
        assert_eq!(page.status, 200, "{}", page.body);
        let n_hits = page.body.matches("<mark>").count();
        assert!((1..=50).contains(&n_hits), "{n_hits}");
        (n_seen, n_pages) = (n_seen + n_hits, n_pages + 1);
        let Some((_, next)) = page.body.split_once("rel=\"next\" href=\"") else { break };
        path = next.split('"').next().expect("an address").replace("&amp;", "&");
    }
    assert_eq!((n_seen, n_pages), (120, 3));
    for entry in [&entries[0], &entries[119]] {
        let number = entry.trim_start_matches("needle ");
        let last = if entry == &entries[0] { "&after=100" } else { "" };
        assert!(get(&format!("/search?q=needle{last}")).body.contains(number), "{entry}");
    }
    assert!(get("/search?q=needle&after=120").body.contains("There are no more."));
    assert_eq!(get("/search?q=needle&after=x").status, 400);
}

#[test]
fn the_page_shows_hits_and_what_is_wrong_with_a_query() {
    let served = Served::new();
    fill(&served);
    served.ok(&["trace", "add", "--agent", "alice", "<script>alert(1)</script> token"]);
    let cookie = served.log_in();
    let get = |path: &str| served.ask("GET", path, &[("Cookie", &cookie)], "");
    wait_until("what was said last is found", || {
        get("/api/v1/search?q=alert").body.contains("alert(1)")
    });
    let page = get("/search");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("id=\"search\""));
    let page = get("/search?q=token");
    assert!(page.body.contains("<mark>token</mark>"), "{}", page.body);
    assert!(!page.body.contains("<script>alert"), "what somebody said is text");
    assert!(page.body.contains("/search?q=token%20in%3Atrace"), "filters are links");
    let wrong = get("/search?q=in%3Acellar");
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("there is no place"), "{}", wrong.body);
    assert_eq!(served.ask("GET", "/search?q=token", &[], "").status, 401);
    assert_eq!(served.ask("GET", "/api/v1/search?q=token", &[], "").status, 401);
    let api = |query: &str| get(&format!("/api/v1/search{query}"));
    assert_eq!(api("?q=in%3Acellar").status, 400);
    assert_eq!(api("?q=token&colour=red").status, 400);
    assert_eq!(api("?q=token&limit=501").status, 400);
    let all: Json = serde_json::from_str(&api("?q=token").body).expect("JSON");
    let mut paged = Vec::new();
    let mut after = String::new();
    loop {
        let page: Json =
            serde_json::from_str(&api(&format!("?q=token&limit=4{after}")).body).expect("JSON");
        paged.extend(page["items"].as_array().expect("hits").clone());
        assert_eq!(page["more"], page["next"].is_string(), "{page}");
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(Json::from(paged), all["items"]);
    let tagged = api("?q=token");
    let tag = tagged.head.lines().find_map(|line| line.strip_prefix("etag: "));
    let tag = tag.expect("it is tagged").to_owned();
    let known = [("Cookie", cookie.as_str()), ("If-None-Match", tag.as_str())];
    assert_eq!(served.ask("GET", "/api/v1/search?q=token", &known, "").status, 304);
    let refused: Json = serde_json::from_str(&api("?q=in%3Acellar").body).expect("JSON");
    assert_eq!(refused["error"]["code"], 2);
}

#[test]
fn the_sigma_that_ends_a_word_is_found_by_its_capital_with_and_without_an_index() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "Ο ΟΔΥΣΣΕΎΣ ήρθε"]);
    served.ok(&["trace", "add", "--agent", "alice", "ήρθε ο Οδυσσεύς"]);
    wait_until_ready(&served);
    let cookie = served.log_in();
    let n = |found: &Json| found["items"].as_array().map(Vec::len);
    // In what alice was asked, in the commit that says so, and in what she said.
    for query in ["Οδυσσεύς", "ΟΔΥΣΣΕΎΣ", "\"ο οδυσσεύς\"", "οδυσσεύς*"]
    {
        let by_index = || found_by_index(&served, &cookie, query);
        wait_until(query, || n(&by_index()) == Some(3));
        let scanned = served.ok(&["search", "--no-serve", "--json", "--", query]);
        assert_eq!(serde_json::from_str::<Json>(&scanned).expect("JSON"), by_index(), "{query}");
    }
}
