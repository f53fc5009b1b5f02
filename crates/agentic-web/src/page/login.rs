//! The page on which a login begins.

use maud::{Markup, html};

use super::PageFrame;
use crate::login::LoginRefusal;

/// Asks for a code.
pub fn page(frame: &PageFrame, refusal: Option<LoginRefusal>) -> Markup {
    let said = refusal.map(|refusal| match refusal {
        LoginRefusal::WrongCode => {
            "This code is wrong, was used already or is older than five minutes."
        }
        LoginRefusal::TooMany => "There were too many wrong codes. Wait a minute.",
    });
    frame.around(&html! {
        h1 { "Log in" }
        p { "Run " code { "agentic serve open" } " in the repository: it opens this page with a code." }
        p { "Another person runs " code { "agentic serve login" } " with the address of this page: it prints one with a code." }
        @if let Some(said) = said { p.refusal role="alert" { (said) } }
        form #login method="post" action="/login" {
            label for="code" { "Code" }
            input id="code" name="code" required autocomplete="off" spellcheck="false" size="40";
            button type="submit" { "Log in" }
        }
    })
}
