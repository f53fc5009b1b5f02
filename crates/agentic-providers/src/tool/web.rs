//! The tools that agents of AgentLang find without any handler: `web_search(query)` and
//! `fetch_url(url)`. Both only read.
//!
//! A model chooses the address, so it is held to the public web: what stands on this machine or in a
//! private network is read only where the configuration names it.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::time::Duration;

use agentic_model::Value;
use agentic_replay::{Answer, Failure, Stopped};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use ureq::http::Uri;

use crate::configuration::{Configuration, check_server};
use crate::host::CancelFlag;
use crate::http::{Client, HttpFault, Message, Received, percent_encoded};
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

/// What is read of the web.
#[derive(Debug, Clone, Default)]
pub(super) struct Web {
    search: Option<String>,
    hosts: Vec<String>,
    results: Option<String>,
    limit: Option<String>,
}

/// A call that failed: a class, and what happened.
type Fault = (&'static str, String);

#[derive(Serialize)]
struct Hit {
    title: String,
    url: String,
    snippet: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Found {
    heading: String,
    abstract_text: String,
    #[serde(rename = "AbstractURL")]
    abstract_url: String,
    related_topics: Vec<Json>,
}

impl Web {
    pub fn configured(configuration: &Configuration) -> Web {
        let variable = |name: &str| configuration.variables.get(name).cloned();
        Web {
            search: configuration.tools.search.clone(),
            hosts: configuration.tools.hosts.clone(),
            results: variable(RESULTS_VARIABLE),
            limit: variable(TIMEOUT_VARIABLE),
        }
    }

    /// Answers the request of a tool.
    pub fn answer(&self, payload: &Value, limit: Option<Duration>, cancel: &CancelFlag) -> Answer {
        let text = |key: &str| payload.get(key).and_then(Value::as_text).unwrap_or_default();
        let args: Json = serde_json::from_str(text("args")).unwrap_or_default();
        let result = match text("tool") {
            "web_search" => self.search(&args, limit, cancel),
            "fetch_url" => self.fetch(&args, limit, cancel),
            other => Err(("ExecutionError", format!("nothing here performs the tool `{other}`"))),
        };
        match result {
            Ok(json) => Answer::Ok(Value::Text(json.to_string())),
            Err(("timed-out", _)) if limit.is_some() => Answer::TimedOut,
            Err(("cancelled", _)) => Answer::Cancelled(Stopped::Stopped),
            Err((class, message)) => Answer::Failed(Failure::new(class, message)),
        }
    }

    fn search(
        &self,
        args: &Json,
        limit: Option<Duration>,
        cancel: &CancelFlag,
    ) -> Result<Json, Fault> {
        let query = argument(args, "query")?;
        let hits_max = self.hits_max()?;
        let server = self.search.as_deref().unwrap_or(SEARCH_DEFAULT);
        let sign = if server.contains('?') { '&' } else { '?' };
        let query = percent_encoded(query);
        let url = format!("{server}{sign}q={query}&format=json&no_redirect=1&no_html=1");
        let received = self.get(&url, limit, cancel)?;
        let bytes = received.read_all(SEARCH_BYTES_MAX).map_err(fault)?;
        let found: Found = serde_json::from_slice(&bytes)
            .map_err(|error| ("invalid", format!("`{server}` makes no sense: {error}")))?;
        Ok(serde_json::json!(hits(found, hits_max)))
    }

    fn fetch(
        &self,
        args: &Json,
        limit: Option<Duration>,
        cancel: &CancelFlag,
    ) -> Result<Json, Fault> {
        let url = argument(args, "url")?;
        self.check(url).map_err(|reason| ("refused", reason))?;
        let received = self.get(url, limit, cancel)?;
        let is_page = received.is_of_type("text/html");
        let bytes = received.read_beginning(PAGE_BYTES_MAX);
        if cancel.is_set() {
            return Err(("cancelled", String::new()));
        }
        let text = String::from_utf8_lossy(&bytes);
        let content = if is_page { visible(&text) } else { text.trim().to_owned() };
        Ok(serde_json::json!({"content": content}))
    }

    fn get(
        &self,
        url: &str,
        limit: Option<Duration>,
        cancel: &CancelFlag,
    ) -> Result<Received, Fault> {
        let own = self.limit()?;
        let client = Client::new(limit.map_or(own, |limit| limit.min(own)), cancel);
        let message = Message { method: "GET", url, headers: &[], body: None };
        let received = client.send(&message).map_err(fault)?;
        match received.status {
            200..300 => Ok(received),
            status => Err(("refused", format!("`{url}` answered with status {status}"))),
        }
    }

    fn hits_max(&self) -> Result<usize, Fault> {
        let Some(given) = &self.results else { return Ok(RESULTS_DEFAULT) };
        given.trim().parse().map_err(|_| {
            ("unconfigured", format!("`{RESULTS_VARIABLE}` is no number of hits: `{given}`"))
        })
    }

    fn limit(&self) -> Result<Duration, Fault> {
        let Some(given) = &self.limit else { return Ok(TIME_LIMIT) };
        let seconds = given.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0);
        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
            ("unconfigured", format!("`{TIMEOUT_VARIABLE}` is no number of seconds: `{given}`"))
        })
    }

    /// Refuses an address that is not one of the public web, unless it is configured.
    fn check(&self, url: &str) -> Result<(), String> {
        check_server(url)?;
        let uri: Uri = url.parse().map_err(|_| format!("`{url}` is no address"))?;
        let authority = uri.authority().map(|it| it.as_str()).unwrap_or_default();
        let host = uri.host().unwrap_or_default();
        if self.hosts.iter().any(|known| known == host || known == authority) {
            return Ok(());
        }
        let name = host.trim_matches(['[', ']']);
        // One whose name cannot be found here may be found by a proxy.
        let found = (name, 0).to_socket_addrs().into_iter().flatten();
        let is_near = found.into_iter().any(|address| !is_public(address.ip()));
        if is_near || name == "localhost" {
            return Err(format!(
                "`{host}` is not of the public web; `tools.hosts` of `agentic.toml` does not name it"
            ));
        }
        Ok(())
    }
}

/// Tells whether an address is one of the public web.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let [first, second, ..] = it.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            !(it.is_loopback()
                || it.is_private()
                || it.is_link_local()
                || it.is_broadcast()
                || it.is_multicast()
                || first == 0
                || is_shared)
        }
        IpAddr::V6(it) => match it.to_ipv4_mapped() {
            Some(inner) => is_public(IpAddr::V4(inner)),
            None => {
                !(it.is_loopback()
                    || it.is_unspecified()
                    || it.is_multicast()
                    || it.is_unique_local()
                    || it.is_unicast_link_local())
            }
        },
    }
}

/// Returns an argument by the name that these tools give it.
fn argument<'a>(args: &'a Json, name: &str) -> Result<&'a str, Fault> {
    args[name].as_str().ok_or_else(|| ("KeyError", format!("'{name}'")))
}

fn fault(fault: HttpFault) -> Fault {
    let class = match &fault {
        HttpFault::Malformed(_) | HttpFault::TooLong(_) => "refused",
        HttpFault::Transport(_) => "transport",
        HttpFault::TimedOut(_) => "timed-out",
        HttpFault::Cancelled => "cancelled",
    };
    (class, fault.to_string())
}

fn hits(found: Found, hits_max: usize) -> Vec<Hit> {
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
    fn only_the_public_web_is_read_unasked() {
        let web = Web { hosts: vec!["10.0.0.1".into(), "[::1]:80".into()], ..Web::default() };
        let refused = [
            "http://127.0.0.1/",
            "http://localhost:1/",
            "http://10.0.0.2/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0/",
            "http://100.64.0.1/",
            "http://2130706433/",
            "ftp://1.1.1.1/",
            "http://a@1.1.1.1/",
            "file:///etc/passwd",
            "",
            "/x",
        ];
        for url in refused {
            assert!(web.check(url).is_err(), "{url}");
        }
        for url in [
            "http://1.1.1.1/",
            "https://[2606:4700::1]/x",
            "http://10.0.0.1:8/",
            "http://[::1]:80/",
        ] {
            assert_eq!(web.check(url), Ok(()), "{url}");
        }
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
