//! A large repository, read without script: every list goes on to its end by links, and every page is as
//! small as all are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use agentic_model::{AgentName, Kind};
use agentic_space::{Options, Space};

use super::*;

/// How many agents there are.
const N_AGENTS: usize = 1_240;
/// How many of them came from another.
const N_CHILDREN: usize = 20;
/// How many requests the session has made.
const N_REQUESTS: usize = 1_000;
/// How many entries the trace has.
const N_ENTRIES: usize = 5_000;
/// How many lines the difference has.
const N_LINES: usize = 10_000;
/// The most elements of a page.
const ELEMENTS_MAX: usize = 1_500;
/// The most bytes of a page with all that it needs.
const PAGE_BYTES_MAX: usize = 150 << 10;
/// How many read pages at the same time.
const READERS: usize = 4;
/// How many pages a list may have.
const PAGES_MAX: usize = 200;

/// A repository with much in it.
struct LargeServed {
    served: SocketServed,
    commit: String,
    session: String,
}

impl LargeServed {
    fn new() -> LargeServed {
        let served = SocketServed::new();
        served.ok(&["spawn", "alice", "--empty", "-m", "work"]);
        served.write("tree/long.txt", &lines(N_LINES));
        let start = served.sandbox.start().to_owned();
        let alice = AgentName::parse("alice").expect("a name");
        let log = Kind::parse("log").expect("a kind");
        let texts: Vec<String> = (0..N_ENTRIES).map(|n| format!("entry number {n}.")).collect();
        let entries: Vec<(&Kind, &[u8])> =
            texts.iter().map(|text| (&log, text.as_bytes())).collect();
        let space = Space::open(&start, Options::default()).expect("a repository");
        space.add_traces(&alice, &entries).expect("it has a branch");
        drop(space);
        let commit = served.commit("alice", "tree", &["--trace"]);
        let flow = format!("for n in 0..{N_REQUESTS} {{ sleep(0); }} \"done\"");
        served.write("long.rhai", flow.as_bytes());
        let started = served.json(&["session", "start", "alice", "--flow", "long.rhai", "--json"]);
        let session = started["session"].as_str().expect("an id").to_owned();
        for number in 0..N_CHILDREN {
            served.ok(&["spawn", &format!("child-{number}"), "-m", "help", "--from", "alice"]);
        }
        // What git alone has made has a page too.
        let head = served.sandbox.git(&start, &["rev-parse", "agents/alice"]).expect("it is there");
        let refs: String = (0..N_AGENTS - N_CHILDREN - 1)
            .map(|number| format!("create refs/heads/agents/n{number:04} {head}"))
            .collect();
        let input =
            served.sandbox.git_with_input(&start, &["update-ref", "--stdin"], refs.as_bytes());
        assert!(input.expect("git runs").stderr.is_empty(), "git makes them");
        // Until the index has compared all of them, the page says that some may be missing.
        let begun = Instant::now();
        while !served.page("/agents").contains(&format!("{N_AGENTS} agents")) {
            assert!(begun.elapsed() < PATIENCE, "not all agents are listed");
            std::thread::sleep(Duration::from_millis(100));
        }
        LargeServed { served, commit, session }
    }

    /// Reads a page, checks its bounds, and returns it.
    fn page(&self, path: &str) -> String {
        let page = self.served.page(path);
        let n_elements = page
            .match_indices('<')
            .filter(|(at, _)| page.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphabetic));
        let n_elements = n_elements.count();
        assert!(n_elements <= ELEMENTS_MAX, "{path}: {n_elements} elements");
        let mut n_bytes = page.len();
        for (name, address) in addresses(&page) {
            assert!(
                address.starts_with(['/', '#', '?']),
                "{path} leads to another host: {address}"
            );
            assert!(!address.starts_with("//"), "{path} leads to another host: {address}");
            if name == "src" || address.starts_with("/assets/") {
                let asset = self.served.get(&address);
                assert_eq!(asset.status, 200, "{address}");
                n_bytes += asset.body.len();
            }
        }
        assert!(n_bytes <= PAGE_BYTES_MAX, "{path}: {n_bytes} bytes with all it needs");
        page
    }

    /// Reads all pages of a list, from one to the next; returns what each says.
    fn pages(&self, path: &str) -> Vec<String> {
        let (mut pages, mut next) = (Vec::new(), Some(path.to_owned()));
        while let Some(path) = next {
            assert!(pages.len() < PAGES_MAX, "{path} never ends");
            let page = self.page(&path);
            next = page.split_once("rel=\"next\" href=\"").map(|(_, rest)| unescaped(rest));
            pages.push(page);
        }
        pages
    }
}

/// Reads an address up to its quotation mark.
fn unescaped(rest: &str) -> String {
    rest.split('"').next().unwrap_or_default().replace("&amp;", "&")
}

/// Lists the addresses that a page names, with the attributes that name them.
fn addresses(page: &str) -> Vec<(&'static str, String)> {
    let of = |name: &'static str| {
        let wanted = format!(" {name}=\"");
        let found: Vec<_> =
            page.split(&wanted).skip(1).map(|rest| (name, unescaped(rest))).collect();
        found
    };
    ["href", "src", "action"].into_iter().flat_map(of).collect()
}

/// Returns what sort of page is at an address: what is an id in it is left out.
fn sort_of(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let keys: Vec<&str> =
        query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
    let parts: Vec<&str> = path
        .split('/')
        .enumerate()
        .map(|(at, part)| match at % 2 {
            0 if at > 0 => "*",
            _ => part,
        })
        .collect();
    format!("{}?{}", parts.join("/"), keys.join("&"))
}

/// Collects what stands behind a text on pages, up to a sign.
fn behind<'p>(pages: &'p [String], before: &str, end: char) -> BTreeSet<&'p str> {
    let found = |page: &'p String| page.split(before).skip(1).collect::<Vec<&'p str>>();
    pages.iter().flat_map(found).filter_map(|rest| rest.split(end).next()).collect()
}

#[test]
fn a_large_repository_is_read_to_its_ends_page_by_page() {
    let large = LargeServed::new();
    let (commit, session) = (&large.commit, &large.session);
    for list in ["/agents", "/agents?view=tree"] {
        let pages = large.pages(list);
        let named = behind(&pages, "href=\"/agents/", '"');
        let named = named.into_iter().filter(|name| !name.contains(['/', '?'])).count();
        assert_eq!(named, N_AGENTS, "{list}: {} pages", pages.len());
    }
    let pages = large.pages(&format!("/sessions/{session}"));
    let asked: usize = pages.iter().map(|page| page.matches("<th scope=\"row\">").count()).sum();
    assert_eq!((asked, pages.len()), (N_REQUESTS, N_REQUESTS / 100), "requests");
    let trace = large.served.json(&["trace", "show", commit, "--json"]);
    let cid = trace["cid"].as_str().expect("an id");
    let said = large.pages(&format!("/traces/{cid}"));
    let said = behind(&said, "entry number ", '.');
    assert_eq!(said.len(), N_ENTRIES, "entries");
    // The difference goes on in pages of its one file, beside the trace.
    let shown = large.pages(&format!("/commits/{commit}?file=0"));
    assert_eq!(behind(&shown, "line ", ' ').iter().filter(is_number).count(), N_LINES, "lines");
}

fn is_number(text: &&&str) -> bool {
    text.parse::<usize>().is_ok()
}

/// What is read of all pages, and by whom.
#[derive(Default)]
struct PageCrawl {
    waiting: Vec<String>,
    seen: BTreeSet<String>,
    /// How many pages of each sort there are.
    sorts: BTreeMap<String, usize>,
    /// How many readers may still find more.
    n_reading: usize,
}

impl PageCrawl {
    /// Takes the addresses of pages that nobody has read yet.
    fn take(&mut self, addresses: impl IntoIterator<Item = String>, depth: CrawlDepth) {
        for address in addresses {
            let address = address.split('#').next().unwrap_or_default().to_owned();
            if is_page(&address) && depth.has(&address) && self.seen.insert(address.clone()) {
                *self.sorts.entry(sort_of(&address)).or_default() += 1;
                self.waiting.push(address);
            }
        }
    }
}

/// How many pages are read that show the same session after another number of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CrawlDepth {
    /// Those of every hundredth record.
    Some,
    /// All, which `AGENTIC_TEST_PAGES=all` asks for.
    All,
}

impl CrawlDepth {
    fn has(self, address: &str) -> bool {
        let record = address.split_once("at=").map(|(_, rest)| rest.split('&').next());
        let number = record.flatten().and_then(|number| number.parse::<usize>().ok());
        self == CrawlDepth::All || number.is_none_or(|number| number % 100 == 0)
    }
}

fn is_page(address: &str) -> bool {
    address.starts_with('/')
        && !["/assets", "/login", "/logout"].iter().any(|other| address.starts_with(other))
        && !["/bytes", ".csv"].iter().any(|end| address.contains(end))
        && !address.contains("/entries/")
}

/// Reads pages until nobody finds more.
fn read_pages(large: &LargeServed, crawl: &Mutex<PageCrawl>, depth: CrawlDepth) {
    let lock = || crawl.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let next = {
            let mut crawl = lock();
            let next = crawl.waiting.pop();
            if next.is_none() && crawl.n_reading == 0 {
                return;
            }
            crawl.n_reading += usize::from(next.is_some());
            next
        };
        let Some(address) = next else {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        // Whoever reads a page that is wrong keeps nobody waiting.
        let _reading = PageReading(crawl);
        let page = large.page(&address);
        let found = addresses(&page).into_iter().filter(|(name, _)| *name == "href");
        lock().take(found.map(|(_, address)| address), depth);
    }
}

/// Somebody who may still find more pages.
struct PageReading<'c>(&'c Mutex<PageCrawl>);

impl Drop for PageReading<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).n_reading -= 1;
    }
}

#[test]
fn every_page_of_a_large_repository_is_small() {
    let wanted = std::env::var("AGENTIC_TEST_PAGES").is_ok_and(|wanted| wanted == "all");
    let depth = if wanted { CrawlDepth::All } else { CrawlDepth::Some };
    let large = LargeServed::new();
    let crawl = Mutex::new(PageCrawl::default());
    let begin = ["/", "/agents", "/sessions", "/statistics", "/search?q=entry"].map(str::to_owned);
    // The pages of the scrubber lead to their neighbours alone.
    let records =
        (1..=N_REQUESTS / 100).map(|n| format!("/sessions/{}?at={}", large.session, n * 100));
    crawl.lock().expect("nobody reads yet").take(begin.into_iter().chain(records), depth);
    std::thread::scope(|scope| {
        let readers: Vec<_> =
            (0..READERS).map(|_| scope.spawn(|| read_pages(&large, &crawl, depth))).collect();
        readers.into_iter().for_each(|reader| reader.join().expect("every page is small"));
    });
    let PageCrawl { sorts, seen, .. } = crawl.into_inner().expect("all have ended");
    println!("{} pages of {} sorts", seen.len(), sorts.len());
    for (wanted, n_min) in [
        ("/agents/*?", N_AGENTS),
        ("/agents?view&state&kind&name&after", N_AGENTS / 50 - 1),
        ("/commits/*?", N_CHILDREN + 2),
        ("/sessions/*?", 1),
        ("/sessions/*?at", N_REQUESTS / 100),
        ("/traces/*?from", N_ENTRIES / 200 - 1),
        ("/search?q", 1),
    ] {
        let n_read = sorts.get(wanted).copied().unwrap_or_default();
        assert!(n_read >= n_min, "{n_read} pages of {wanted}: {sorts:?}");
    }
}
