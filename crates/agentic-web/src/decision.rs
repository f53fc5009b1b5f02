//! What a person decides about: a hold as it was shown, bound to the login that it was shown to.

use agentic_api::Refusal;
use agentic_api::view::QuestionView;
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
}

impl<'f> ShownForm<'f> {
    /// Takes it from what is shown.
    pub fn of(question: &'f QuestionView) -> ShownForm<'f> {
        ShownForm {
            request: &question.hold.request,
            request_hash: &question.hold.request_hash,
            shown: &question.shown,
            at: &question.at,
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

    fn fields(self) -> [&'f str; 5] {
        ["decide", self.request, self.request_hash, self.shown, self.at]
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
