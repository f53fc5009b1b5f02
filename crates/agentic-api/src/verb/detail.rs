//! One commit, with the agent, the session and the request that it belongs to.

use agentic_model::commit::Claims;
use agentic_session::CommitHome;
use agentic_session::log::NamedRecord;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb};
use crate::view::{CommitDetailView, CommitRequestView, LogView};
use crate::{Caller, Refusal};

/// Show a commit with what it belongs to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitDetail {
    /// The commit.
    pub commit: String,
}

impl Verb for CommitDetail {
    type Answer = CommitDetailView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<CommitDetailView>, Refusal> {
        let oid = caller.space.repository().resolve_commit(&self.commit)?;
        let NamedRecord::Commit(logged) = caller.space.show(&oid.to_string())? else {
            let message = format!("`{oid}` is no commit");
            return Err(Refusal::refused(&message, "the page of an agent lists its commits"));
        };
        let claims = Claims::read(&logged.info.message);
        let own = logged.home.as_ref().map(|home| match home {
            CommitHome::Branch(branch) => branch.to_string(),
            CommitHome::Archive(archived) => archived.agent.to_string(),
        });
        let view = CommitDetailView {
            commit: LogView::new(&logged, own),
            archived: matches!(logged.home, Some(CommitHome::Archive(_))),
            made_by: claims.agent.as_ref().map(ToString::to_string),
            request: request_of(caller, &claims),
            session: claims.session,
            behaviour: claims.behaviour.map(|cid| cid.to_string()),
            briefing: claims.briefing.map(|cid| cid.to_string()),
            waited_ms: None,
        };
        Ok(Reply::plain(view.with_wait()))
    }
}

/// Finds the request that a commit names in the records of the session that it names. Trailers are
/// claims: what is not there is not shown.
fn request_of(caller: &Caller<'_>, claims: &Claims) -> Option<CommitRequestView> {
    let (session, request) = (claims.session.as_deref()?, claims.request.as_deref()?);
    let session = caller.space.find_session(session).ok()?;
    let summary = caller.space.session(&session).ok()?;
    let asked = summary.asked.iter().find(|asked| asked.id.to_string() == request)?;
    Some(CommitRequestView {
        request: session.short_request(&asked.id),
        path: asked.path.to_string(),
        kind: asked.kind.clone(),
        seq: asked.seq,
    })
}
