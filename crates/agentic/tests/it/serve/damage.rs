//! Damaged files of the index: pages are right and answered throughout, and the index is made anew.
//!
//! A few bytes are flipped by default; `AGENTIC_TEST_DAMAGE=200` flips as many as that.

use std::path::PathBuf;

use super::*;

const AGENTS: usize = 5;
const FLIPS: usize = 6;
/// How long a page may take while its index is found to be damaged.
const ANSWERED: Duration = Duration::from_secs(10);
const ZEROS: usize = 512;

/// What happens to a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Cut,
    Emptied,
    /// A block of zeros in the middle.
    Zeroed,
    Removed,
    /// One bit of this byte is another.
    Flipped(usize),
}

impl Damage {
    fn harm(self, path: &Path) {
        let mut bytes = std::fs::read(path).expect("readable");
        let middle = bytes.len() / 2;
        match self {
            Damage::Cut => bytes.truncate(middle),
            Damage::Emptied => bytes.clear(),
            Damage::Zeroed => {
                let end = bytes.len().min(middle + ZEROS);
                bytes[middle..end].fill(0);
            }
            Damage::Removed => return std::fs::remove_file(path).expect("removable"),
            Damage::Flipped(at) => bytes[at] ^= 1 << (at % 8),
        }
        std::fs::write(path, bytes).expect("writable");
    }
}

/// Lists the files below a folder that have something in them, with their lengths.
fn files(folder: &Path) -> Vec<(PathBuf, usize)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("an entry"))
    {
        let (path, about) = (entry.path(), entry.metadata().expect("there"));
        if about.is_dir() {
            found.extend(files(&path));
        } else if about.len() > 0 {
            found.push((path, about.len() as usize));
        }
    }
    found.sort();
    found
}

fn are_ready(served: &Served) -> bool {
    let status: Json =
        serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON");
    let index = &status["index"];
    index["main"]["state"] == "ready" && index["text"]["state"] == "ready"
}

fn await_index(served: &Served, what: &str) {
    let begun = Instant::now();
    while !are_ready(served) {
        assert!(begun.elapsed() < PATIENCE, "{what}: the index is not made anew");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Asks for all agents and for one word of each trace.
fn check_pages(served: &Served, cookie: &str, what: &str) {
    let get = |path: &str| {
        let begun = Instant::now();
        let page = served.ask("GET", path, &[("Cookie", cookie)], "");
        assert!(begun.elapsed() < ANSWERED, "{what}: {path} took {:?}", begun.elapsed());
        assert_eq!(page.status, 200, "{what}: {path}: {}", page.body);
        serde_json::from_str::<Json>(&page.body).expect("JSON")
    };
    let n = |list: &Json| list["items"].as_array().map_or(0, Vec::len);
    assert_eq!(n(&get("/api/v1/agents")), AGENTS, "{what}");
    let hits = get("/api/v1/search?q=needle3");
    assert_eq!(n(&hits), 1, "{what}: {hits}");
}

#[test]
fn a_damaged_index_is_made_anew_and_pages_are_right_meanwhile() {
    let n_flips = std::env::var("AGENTIC_TEST_DAMAGE").ok().and_then(|n| n.parse().ok());
    let n_flips: usize = n_flips.unwrap_or(FLIPS);
    let mut served = Served::new();
    for number in 0..AGENTS {
        let (agent, text) = (format!("a{number}"), format!("needle{number}"));
        served.ok(&["spawn", &agent, "-m", "look"]);
        served.ok(&["trace", "add", "--agent", &agent, &text]);
        served.ok(&["commit", "--agent", &agent, "-m", "Look", "--trace", "--allow-empty"]);
    }
    let start = served.sandbox.start().to_owned();
    let (index, sound) = (start.join(".git/agentic/index"), served.sandbox.root().join("sound"));
    let cookie = served.log_in();
    await_index(&served, "at first");
    check_pages(&served, &cookie, "at first");
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("it ends");
    std::fs::rename(&index, &sound).expect("movable");

    let files = files(&sound);
    assert!(files.len() >= 2, "each database has a file: {files:?}");
    let whole = [Damage::Cut, Damage::Emptied, Damage::Zeroed, Damage::Removed];
    let mut cases: Vec<(&PathBuf, Damage)> =
        files.iter().flat_map(|(path, _)| whole.map(|damage| (path, damage))).collect();
    let n_bytes: usize = files.iter().map(|(_, length)| length).sum();
    for flip in 0..n_flips {
        let mut at = n_bytes * (2 * flip + 1) / (2 * n_flips);
        for (path, length) in &files {
            if at < *length {
                cases.push((path, Damage::Flipped(at)));
                break;
            }
            at -= length;
        }
    }
    for (path, damage) in cases {
        let inside = path.strip_prefix(&sound).expect("it is below");
        let what = format!("{} {damage:?}", inside.display());
        let copied = served.sandbox.command("cp", &start).arg("-R").args([&sound, &index]).status();
        assert!(copied.expect("it runs").success());
        damage.harm(&index.join(inside));
        served.process = begin(&served.sandbox, &start, &[]);
        let status: Json =
            serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON");
        let url = status["url"].as_str().expect("it has a page");
        served.host = url.trim_start_matches("http://").to_owned();
        let cookie = served.log_in();
        check_pages(&served, &cookie, &what);
        await_index(&served, &what);
        check_pages(&served, &cookie, &what);
        served.ok(&["serve", "stop"]);
        served.process.wait().expect("it ends");
        std::fs::remove_dir_all(&index).expect("removable");
    }
}
