//! Pages, as functions of views. Everything of users is text: maud escapes it.

pub mod agents;
pub mod hold;
pub mod inbox;
pub mod login;

use agentic_api::Refusal;
use maud::{DOCTYPE, Markup, html};

use crate::assets::{ICON, SCRIPT, STYLE};
use crate::gate::Visitor;
use crate::site::WebSite;

/// What every page has around it.
pub struct PageFrame {
    title: String,
    repository: String,
    is_logged_in: bool,
    is_read_only: bool,
    /// The token of the form that ends all logins.
    logout_token: String,
    /// The same as a command.
    command: Option<String>,
    /// Where the events are that the page has already.
    place: String,
    /// What changes when the page does, where that is not its text, and what is said then.
    state: Option<(String, String)>,
}

/// The pages that every page leads to, with the key that leads there after `g`.
const PLACES: [(&str, &str, &str); 2] = [("/", "Inbox", "i"), ("/agents", "Agents", "a")];

impl PageFrame {
    /// Makes the frame of a page.
    pub fn new(site: &WebSite, visitor: &Visitor, title: &str) -> PageFrame {
        PageFrame {
            title: title.to_owned(),
            repository: site.repository_name(),
            is_logged_in: visitor.may_read(),
            is_read_only: !visitor.may_decide(),
            logout_token: site.sealer.seal(visitor.form_owner(), &["logout"]),
            command: None,
            place: site.resident.events.place().to_string(),
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
        let text = || (blake3::hash(main.0.as_bytes()).to_hex()[..16].to_owned(), String::new());
        let (state, said) = self.state.clone().unwrap_or_else(text);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) " · " (self.repository) " · agentic" }
                    link rel="icon" href=(ICON.path);
                    link rel="stylesheet" href=(STYLE.path);
                    script src=(SCRIPT.path) defer {}
                }
                body data-place=(self.place) {
                    a.skip href="#main" { "Skip to the page" }
                    (self.header())
                    main id="main" tabindex="-1" data-rev=(state) data-said=[(!said.is_empty()).then_some(&said)] { (main) }
                    (self.footer())
                }
            }
        }
    }

    fn header(&self) -> Markup {
        html! {
            header {
                span.repository { (self.repository) }
                @if self.is_logged_in {
                    nav aria-label="Pages" {
                        @for (path, name, key) in PLACES {
                            a href=(path) data-key=(key) aria-current=[(name == self.title).then_some("page")] {
                                (name)
                            }
                        }
                    }
                    span.live id="live" role="status" {}
                    @if self.is_read_only { span.role { "may only look" } }
                    form method="post" action="/logout" {
                        input type="hidden" name="token" value=(self.logout_token);
                        button.quiet type="submit" { "Log out" }
                    }
                }
            }
        }
    }

    fn footer(&self) -> Markup {
        html! {
            footer {
                span { "agentic " (env!("CARGO_PKG_VERSION")) }
                @if let Some(command) = &self.command {
                    span { "the same as a command: " code { (command) } }
                }
            }
        }
    }
}

/// Says why there is nothing to see.
pub fn refusal(frame: &PageFrame, refusal: &Refusal) -> Markup {
    frame.around(&html! {
        h1 { (frame.title) }
        p.refusal role="alert" { (refusal.sentence()) }
        p { (refusal.hint) }
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

/// Shows an instant in UTC.
fn instant(text: &str) -> Markup {
    html! { time datetime=(text) { (text) } }
}
