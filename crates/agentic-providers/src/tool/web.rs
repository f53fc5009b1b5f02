//! The tools that agents of AgentLang find without any handler: `web_search(query)` and
//! `fetch_url(url)`. Both only read.
//!
//! A model chooses the address, so it is held to the public web: what stands on this machine or in a
//! private network is read only where the configuration names it.

mod public;

use std::time::Duration;

use agentic_model::Value;
use agentic_replay::{CancelExtent, ProgramFailure, RequestAnswer};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use ureq::http::Uri;

use self::public::PublicWeb;
use crate::configuration::Configuration;
use crate::configuration::loosening::{HOSTS, SEARCH, WithheldSettings};
use crate::host::CancelFlag;
use crate::http::{Client, HttpFault, HttpMessage, HttpReply, percent_encoded};
use crate::model::TIMEOUT_VARIABLE;

/// The variable that says how many hits a search gives.
pub const RESULTS_VARIABLE: &str = "AGENTLANG_WEB_RESULTS";
/// The service that is searched where no other is configured. It answers as its like do: `Heading`,
/// `AbstractText`, `AbstractURL`, `RelatedTopics`.
const SEARCH_DEFAULT: &str = "https://api.duckduckgo.com/";
/// How many hits a search gives where nothing says otherwise.
const RESULTS_DEFAULT: usize = 5;
/// How long a call may take where nothing says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// How much of a page is read, in bytes.
const PAGE_BYTES_MAX: u64 = 50_000;
/// The longest answer of a search, in bytes.
const SEARCH_BYTES_MAX: u64 = 1 << 20;
/// How long the title of a hit is that has none of its own, in characters.
const TITLE_CHARS_MAX: usize = 80;
/// How often a page may say that it is elsewhere.
const REDIRECTS_MAX: usize = 5;

/// What is read of the web.
#[derive(Debug, Clone, Default)]
pub(super) struct Web {
    search: Option<String>,
    public: PublicWeb,
    results: Option<String>,
    limit: Option<String>,
    withheld: WithheldSettings,
}

/// A call that failed: a class, and what happened.
type WebFault = (&'static str, String);

#[derive(Serialize)]
struct Hit {
    title: String,
    url: String,
    snippet: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct FoundWeb {
    heading: String,
    abstract_text: String,
    #[serde(rename = "AbstractURL")]
    abstract_url: String,
    related_topics: Vec<Json>,
}

impl Web {
    pub fn configured(configuration: &Configuration) -> Web {
        let variable = |name: &str| configuration.variables.get(name).cloned();
        let counts = configuration.withheld.check(HOSTS).is_ok();
        let hosts = counts.then_some(configuration.tools.hosts.as_slice());
        Web {
            search: configuration.tools.search.clone(),
            public: PublicWeb { hosts: hosts.map(<[String]>::to_vec).unwrap_or_default() },
            results: variable(RESULTS_VARIABLE),
            limit: variable(TIMEOUT_VARIABLE),
            withheld: configuration.withheld.clone(),
        }
    }

    /// Answers the request of a tool.
    pub fn answer(
        &self,
        payload: &Value,
        limit: Option<Duration>,
        cancel: &CancelFlag,
    ) -> RequestAnswer {
        let text = |key: &str| payload.get(key).and_then(Value::as_text).unwrap_or_default();
        let args: Json = serde_json::from_str(text("args")).unwrap_or_default();
        let result = match text("tool") {
            "web_search" => self.search(&args, limit, cancel),
            "fetch_url" => self.fetch(&args, limit, cancel),
            other => Err(("ExecutionError", format!("nothing here performs the tool `{other}`"))),
        };
        match result {
            Ok(json) => RequestAnswer::Ok(Value::Text(json.to_string())),
            Err(("timed-out", _)) if limit.is_some() => RequestAnswer::TimedOut,
            Err(("cancelled", _)) => RequestAnswer::Cancelled(CancelExtent::Stopped),
            Err((class, message)) => RequestAnswer::Failed(ProgramFailure::new(class, message)),
        }
    }

    fn search(
        &self,
        args: &Json,
        limit: Option<Duration>,
        cancel: &CancelFlag,
    ) -> Result<Json, WebFault> {
        let query = argument(args, "query")?;
        // Another service than the one that was meant would see the question.
        self.withheld.check(SEARCH).map_err(|reason| ("refused", reason))?;
        let hits_max = self.hits_max()?;
        let server = self.search.as_deref().unwrap_or(SEARCH_DEFAULT);
        let sign = if server.contains('?') { '&' } else { '?' };
        let query = percent_encoded(query);
        let url = format!("{server}{sign}q={query}&format=json&no_redirect=1&no_html=1");
        let client = Client::new(self.limit(limit)?, cancel);
        let received = whole(get(&client, &url)?, server)?;
        let bytes = received.read_all(SEARCH_BYTES_MAX).map_err(fault)?;
        let found: FoundWeb = serde_json::from_slice(&bytes)
            .map_err(|error| ("invalid", format!("`{server}` makes no sense: {error}")))?;
        Ok(serde_json::json!(hits(found, hits_max)))
    }

    fn fetch(
        &self,
        args: &Json,
        limit: Option<Duration>,
        cancel: &CancelFlag,
    ) -> Result<Json, WebFault> {
        let client = Client::by(self.public.clone(), self.limit(limit)?, cancel);
        let received = self.find_page(&client, argument(args, "url")?)?;
        let is_page = received.is_of_type("text/html");
        let bytes = received.read_beginning(PAGE_BYTES_MAX);
        if cancel.is_set() {
            return Err(("cancelled", String::new()));
        }
        let text = String::from_utf8_lossy(&bytes);
        let content = if is_page { visible(&text) } else { text.trim().to_owned() };
        Ok(serde_json::json!({"content": content}))
    }

    /// Goes where a page says that it is. Each address must be one of the public web.
    fn find_page(&self, client: &Client, url: &str) -> Result<HttpReply, WebFault> {
        let mut url = url.to_owned();
        for _ in 0..=REDIRECTS_MAX {
            self.public.check(&url).map_err(|reason| ("refused", self.explained(reason)))?;
            let received = get(client, &url)?;
            match received.header("location").and_then(|place| joined(&url, place)) {
                Some(place) if received.is_elsewhere() => url = place,
                Some(_) | None => return whole(received, &url),
            }
        }
        Err(("refused", format!("`{url}` is elsewhere again, after {REDIRECTS_MAX} other places")))
    }

    /// Adds to the refusal of a host that hosts are named which do not count.
    fn explained(&self, reason: String) -> String {
        match self.withheld.check(HOSTS) {
            Ok(()) => reason,
            Err(withheld) => format!("{reason}; {withheld}"),
        }
    }

    fn hits_max(&self) -> Result<usize, WebFault> {
        let Some(given) = &self.results else { return Ok(RESULTS_DEFAULT) };
        given.trim().parse().map_err(|_| {
            ("unconfigured", format!("`{RESULTS_VARIABLE}` is no number of hits: `{given}`"))
        })
    }

    fn limit(&self, asked: Option<Duration>) -> Result<Duration, WebFault> {
        let own = match &self.limit {
            None => TIME_LIMIT,
            Some(given) => seconds(given).ok_or_else(|| {
                ("unconfigured", format!("`{TIMEOUT_VARIABLE}` is no number of seconds: `{given}`"))
            })?,
        };
        Ok(asked.map_or(own, |asked| asked.min(own)))
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0)?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn get(client: &Client, url: &str) -> Result<HttpReply, WebFault> {
    client.send(&HttpMessage { method: "GET", url, headers: &[], body: None }).map_err(fault)
}

fn whole(received: HttpReply, url: &str) -> Result<HttpReply, WebFault> {
    match received.status {
        200..300 => Ok(received),
        status => Err(("refused", format!("`{url}` answered with status {status}"))),
    }
}

/// Returns the address that a reference means in a page (RFC 3986, section 5.2, without dots);
/// nothing if it makes no sense.
fn joined(base: &str, reference: &str) -> Option<String> {
    let base: Uri = base.parse().ok()?;
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    if reference.contains("://") {
        return Some(reference.to_owned());
    }
    if reference.starts_with("//") {
        return Some(format!("{scheme}:{reference}"));
    }
    let path = base.path();
    let folder = match reference.bytes().next() {
        Some(b'/') => "",
        Some(b'?') => path,
        Some(_) => &path[..=path.rfind('/')?],
        None => return None,
    };
    Some(format!("{scheme}://{authority}{folder}{reference}"))
}

/// Returns an argument by the name that these tools give it.
fn argument<'a>(args: &'a Json, name: &str) -> Result<&'a str, WebFault> {
    args[name].as_str().ok_or_else(|| ("KeyError", format!("'{name}'")))
}

fn fault(fault: HttpFault) -> WebFault {
    let class = match &fault {
        HttpFault::Malformed(_) | HttpFault::TooLong(_) => "refused",
        HttpFault::Unreachable(_) | HttpFault::Transport(_) => "transport",
        HttpFault::TimedOut(_) => "timed-out",
        HttpFault::Cancelled => "cancelled",
    };
    (class, fault.to_string())
}

fn hits(found: FoundWeb, hits_max: usize) -> Vec<Hit> {
    let mut hits = Vec::new();
    if !found.abstract_text.trim().is_empty() {
        let title = if found.heading.is_empty() { "Abstract".to_owned() } else { found.heading };
        let snippet = found.abstract_text.trim().to_owned();
        hits.push(Hit { title, url: found.abstract_url, snippet });
    }
    // Topics stand in groups, whose depth the reader of the JSON bounds.
    let mut topics: Vec<&Json> = found.related_topics.iter().rev().collect();
    while let Some(topic) = topics.pop() {
        if let Some(inner) = topic["Topics"].as_array() {
            topics.extend(inner.iter().rev());
        } else if let Some(text) = topic["Text"].as_str().filter(|text| !text.trim().is_empty()) {
            let title = text.split_once(" - ").map(|(title, _)| title.trim().to_owned());
            let title = title.unwrap_or_else(|| text.chars().take(TITLE_CHARS_MAX).collect());
            let url = topic["FirstURL"].as_str().unwrap_or_default().to_owned();
            hits.push(Hit { title, url, snippet: text.trim().to_owned() });
        }
    }
    hits.truncate(hits_max);
    hits
}

/// Returns what a page shows: its text without marks, scripts and styles, blanks joined.
fn visible(page: &str) -> String {
    let mut words = String::new();
    let mut rest = page;
    while let Some((text, after)) = rest.split_once('<') {
        words.push_str(text);
        words.push(' ');
        let hidden = ["script", "style"].into_iter().find(|mark| {
            after.get(..mark.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(mark))
        });
        let after = match hidden {
            Some(mark) => behind_end(after, mark),
            None => after,
        };
        rest = after.split_once('>').map_or("", |(_, behind)| behind);
    }
    words.push_str(rest);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns what comes behind the word that ends a script or style.
fn behind_end<'a>(text: &'a str, mark: &str) -> &'a str {
    let ends = text.match_indices("</").map(|(at, _)| at + 2);
    let mut ends = ends.filter(|at| {
        text.get(*at..at + mark.len()).is_some_and(|found| found.eq_ignore_ascii_case(mark))
    });
    ends.next().map_or("", |at| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_what_it_shows() {
        let check = |page: &str, wanted: &str| assert_eq!(visible(page), wanted, "{page}");
        check("<p>One</p>\n <b>two</b>", "One two");
        check("a<SCRIPT x>if (1<2) {}</script >b<style>p{}</STYLE>c", "a b c");
        check("a<script>never ends", "a");
        check("a < b", "a");
        check("ä<ö>ü</", "ä ü");
    }

    #[test]
    fn references_are_joined_to_where_they_stand() {
        let check = |reference: &str, wanted: Option<&str>| {
            assert_eq!(joined("http://a.b:8/c/d?e", reference).as_deref(), wanted, "{reference}");
        };
        check("https://x/y", Some("https://x/y"));
        check("//x/y", Some("http://x/y"));
        check("/y?z", Some("http://a.b:8/y?z"));
        check("y", Some("http://a.b:8/c/y"));
        check("?y", Some("http://a.b:8/c/d?y"));
        check("", None);
    }

    #[test]
    fn hits_come_in_order_and_are_counted() {
        let text = r#"{"Heading":"","AbstractText":" Tea. ","AbstractURL":"u","RelatedTopics":
            [{"Topics":[{"Text":"Green - a tea","FirstURL":"g"}]},{"Text":""},{"Text":"Black","FirstURL":7}]}"#;
        let found = || serde_json::from_str(text).expect("it is JSON");
        let titles: Vec<String> = hits(found(), 9).into_iter().map(|hit| hit.title).collect();
        assert_eq!(titles, ["Abstract", "Green", "Black"]);
        assert_eq!(hits(found(), 2).len(), 2);
        assert_eq!(hits(found(), 0).len(), 0);
    }
}
