//! Pages, as functions of views. Everything of users is text: maud escapes it.

pub mod agent;
pub mod agent_tree;
pub mod agents;
pub mod clip;
pub mod commit;
pub mod diff;
pub mod field;
pub mod hold;
pub mod inbox;
pub mod login;
pub mod search;
pub mod session;
pub mod session_diff;
pub mod statistics;
pub mod trace;

use agentic_api::view::visible_line;
use agentic_api::{Refusal, principal};
use agentic_resident::{IndexState, WatchMode};
use maud::{DOCTYPE, Markup, html};

use crate::assets::{ICON, SCRIPT, STYLE};
use crate::gate::Visitor;
use crate::site::WebSite;

/// How many digits of an id are shown.
const ID_DIGITS: usize = 10;

/// What every page has around it.
pub struct PageFrame {
    title: String,
    repository: String,
    is_logged_in: bool,
    /// Who looks, if git or a login says so.
    person: Option<String>,
    is_read_only: bool,
    /// How many holds wait for people.
    n_holds: usize,
    /// The token of the form that ends all logins.
    logout_token: String,
    /// The same as a command.
    command: Option<String>,
    /// What everybody should know about the process, whatever they look at.
    notices: Vec<String>,
    /// Where the events are that the page has already.
    place: String,
    /// When it was made, for browsers in which no script keeps it up to date.
    made_at: String,
    /// What changes when the page does, where that is not its text, and what is said then.
    state: Option<(String, String)>,
}

/// The page of what waits for people.
const INBOX: &str = "/";
/// The pages that every page leads to, with the key that leads there after `g`.
const PLACES: [(&str, &str, Option<&str>); 5] = [
    (INBOX, "Inbox", Some("i")),
    ("/agents", "Agents", Some("a")),
    ("/sessions", "Sessions", None),
    ("/search", "Search", Some("s")),
    ("/statistics", "Statistics", Some("t")),
];

impl PageFrame {
    /// Makes the frame of a page.
    pub fn new(site: &WebSite, visitor: &Visitor, title: &str) -> PageFrame {
        PageFrame {
            title: title.to_owned(),
            repository: site.repository_name(),
            is_logged_in: visitor.may_read(),
            person: visitor.may_read().then(|| who_looks(site, visitor)).flatten(),
            is_read_only: !visitor.may_decide(),
            n_holds: if visitor.may_read() { site.resident.gauge.holds_open() } else { 0 },
            logout_token: site.sealer.seal(visitor.form_owner(), &["logout"]),
            command: None,
            notices: if visitor.may_read() { notices(site) } else { Vec::new() },
            place: site.resident.events.place().to_string(),
            made_at: site.resident.space.now().to_string(),
            state: None,
        }
    }

    /// Says what changes when the page does, for a page with a form, whose seal is always another; and
    /// what is said to whoever is busy with the page then.
    #[must_use]
    pub fn with_state(self, state: &str, said: &str) -> PageFrame {
        PageFrame { state: Some((state.to_owned(), said.to_owned())), ..self }
    }

    /// Says which command shows the same.
    #[must_use]
    pub fn with_command(self, command: &str) -> PageFrame {
        PageFrame { command: Some(command.to_owned()), ..self }
    }

    /// Puts a page into its frame.
    fn around(&self, main: &Markup) -> Markup {
        self.around_as(main, main)
    }

    /// Does the same with one that is the same page as a plainer one: without its colours, or without the
    /// seals of its forms.
    fn around_as(&self, main: &Markup, plain: &Markup) -> Markup {
        let text = || (blake3::hash(plain.0.as_bytes()).to_hex()[..16].to_owned(), String::new());
        let (state, said) = self.state.clone().unwrap_or_else(text);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (visible_line(&self.title)) " · " (visible_line(&self.repository)) " · agentic" }
                    link rel="icon" href=(ICON.path);
                    link rel="stylesheet" href=(STYLE.path);
                    script src=(SCRIPT.path) defer {}
                }
                body data-place=(self.place) {
                    a.skip href="#main" { "Skip to the page" }
                    (self.header())
                    div id="notices" data-rev=(self.notices.join(" ")) {
                        @for notice in &self.notices { p.notice role="status" { (notice) } }
                    }
                    main id="main" tabindex="-1" data-rev=(state) data-said=[(!said.is_empty()).then_some(&said)] { (main) }
                    (self.footer())
                }
            }
        }
    }

    fn header(&self) -> Markup {
        html! {
            header {
                span.repository { (visible_line(&self.repository)) }
                @if self.is_logged_in {
                    nav aria-label="Pages" {
                        @for (path, name, key) in PLACES {
                            a href=(path) data-key=[key] aria-current=[(name == self.title).then_some("page")] {
                                (name)
                                @if path == INBOX { (self.hold_count()) }
                            }
                        }
                    }
                    span.live id="live" role="status" {}
                    noscript { span.live { "as of " (instant(&self.made_at)) } }
                    @if let Some(person) = &self.person { span.role { (visible_line(person)) } }
                    @if self.is_read_only { span.role { "may only look" } }
                    form method="post" action="/logout" {
                        input type="hidden" name="token" value=(self.logout_token);
                        button.quiet type="submit" { "Log out" }
                    }
                }
            }
        }
    }

    /// Shows how many holds wait; stays on the page while none does, so that it can change.
    fn hold_count(&self) -> Markup {
        html! {
            span.count id="inbox-count" data-rev=(self.n_holds) {
                @if self.n_holds > 0 { " " (self.n_holds) }
            }
        }
    }

    fn footer(&self) -> Markup {
        html! {
            footer {
                span { "agentic " (env!("CARGO_PKG_VERSION")) }
                @if let Some(command) = &self.command {
                    span { "the same as a command: " code { (visible_line(command)) } }
                }
            }
        }
    }
}

/// Says who looks: who has shown who they are, else whom git knows here.
fn who_looks(site: &WebSite, visitor: &Visitor) -> Option<String> {
    let proven = visitor.person().map(|person| person.principal);
    proven.or_else(|| principal(&site.resident.space).ok())
}

/// Says what of the process everybody should know.
fn notices(site: &WebSite) -> Vec<String> {
    let resident = &site.resident;
    let polling = (resident.gauge.mode() == WatchMode::Polling).then(|| {
        "This system watches no folders (polling): what others write is seen a little later."
            .to_owned()
    });
    let n_due = resident.gauge.timers_due(resident.space.now());
    let undriven = (n_due > 0 && !resident.upkeep.is_driven()).then(|| {
        let due = if n_due == 1 { "1 timer is".to_owned() } else { format!("{n_due} timers are") };
        format!("{due} due and nobody drives them: `agentic flow worker` does, or `agentic serve --drive`.")
    });
    let building = match resident.index.text_state() {
        IndexState::Building { n_done, n_all } if n_all > 0 => {
            Some(format!("The index is being built: {n_done} of {n_all}."))
        }
        IndexState::Building { .. } | IndexState::Ready | IndexState::Absent { .. } => None,
    };
    [polling, undriven, building].into_iter().flatten().collect()
}

/// Says why there is nothing to see.
pub fn refusal(frame: &PageFrame, refusal: &Refusal) -> Markup {
    frame.around(&html! {
        h1 { (frame.title) }
        p.refusal role="alert" { (clip::short_line(&refusal.sentence(), 2_000)) }
        p { (clip::short_line(&refusal.hint, 2_000)) }
    })
}

/// Says, without any data, where the page is to be had.
pub fn elsewhere() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "agentic" } }
            body {
                main {
                    h1 { "agentic" }
                    p { "The page is to be had by " code { "agentic serve open" } "." }
                }
            }
        }
    }
}

/// How much of what is damaged a page names.
const LEFT_OUT_MAX: usize = 20;

/// Says what a list leaves out because it cannot be read.
fn left_out(damaged: &[String]) -> Markup {
    let n_more = damaged.len().saturating_sub(LEFT_OUT_MAX);
    html! {
        @for what in damaged.iter().take(LEFT_OUT_MAX) {
            p.notice role="status" { (visible_line(what)) "; " code { "agentic doctor" } " looks for damage." }
        }
        @if n_more > 0 { p.notice role="status" { "+" (n_more) " more are left out." } }
    }
}

/// Shows an instant in UTC.
fn instant(text: &str) -> Markup {
    html! { time datetime=(text) { (text) } }
}

/// Shortens an id.
fn short(id: &str) -> &str {
    id.get(..ID_DIGITS).unwrap_or(id)
}

/// Shows how long something took.
fn duration(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{seconds}.{} s", millis % 1000 / 100),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests;
