//! What a person decides about: a hold as it was shown, bound to the login that it was shown to.

use agentic_api::verb::ShowDecider;
use agentic_api::view::{DeciderView, QuestionView};
use agentic_api::{Caller, Refusal, Verb as _};
use agentic_model::guidance::ErrorClass;

use crate::form::FormSealer;
use crate::site::WebSite;

/// What of a form of a decision may not be changed.
#[derive(Debug, Clone, Copy)]
pub struct ShownForm<'f> {
    /// The request.
    pub request: &'f str,
    /// The hash of what is asked.
    pub request_hash: &'f str,
    /// The hash of the text that was shown.
    pub shown: &'f str,
    /// When it was shown.
    pub at: &'f str,
    /// Who was said to decide, as [`mark_of`] has it; nothing where nobody was.
    pub who: &'f str,
}

/// How many digits say who decides.
const MARK_DIGITS: usize = 32;

/// Says in short who decides, and by which key and address.
pub fn mark_of(decider: &DeciderView) -> String {
    let text = serde_json::to_vec(decider).expect("a decider has text keys");
    blake3::hash(&text).to_hex()[..MARK_DIGITS].to_owned()
}

/// Checks that it is still the person who decides whom the page has named.
pub fn check_decider(caller: &Caller<'_>, request: &str, who: &str) -> Result<(), Refusal> {
    // What else is wrong with the request, the verb says.
    let found = ShowDecider { request: request.to_owned() }.run(caller);
    let Some(now) = found.ok().and_then(|reply| reply.answer) else { return Ok(()) };
    if mark_of(&now) == who {
        return Ok(());
    }
    Err(Refusal::conflict(
        &format!(
            "{} <{}> would decide this now, not whom the page named",
            now.principal, now.address
        ),
        "look who decides, and send it again",
    ))
}

impl<'f> ShownForm<'f> {
    /// Takes it from what is shown.
    pub fn of(question: &'f QuestionView, who: &'f str) -> ShownForm<'f> {
        ShownForm {
            request: &question.hold.request,
            request_hash: &question.hold.request_hash,
            shown: &question.shown,
            at: &question.at,
            who,
        }
    }

    /// Seals it for a login.
    pub fn seal(self, sealer: &FormSealer, login: &str) -> String {
        sealer.seal(login, &self.fields())
    }

    /// Tells whether a seal is that of this form, for this login, within the hour.
    pub fn is_sealed(self, sealer: &FormSealer, login: &str, seal: &str) -> bool {
        sealer.is_sealed(seal, login, &self.fields())
    }

    fn fields(self) -> [&'f str; 6] {
        ["decide", self.request, self.request_hash, self.shown, self.at, self.who]
    }
}

/// Has a session record that its hold expired, where an answer found that: this process runs no program.
pub fn after_expiry(site: &WebSite, request: &str, refusal: &Refusal) {
    if refusal.class == ErrorClass::Expired
        && let Some((session, _)) = request.split_once('.')
    {
        site.resident.resume(session);
    }
}
