//! Decisions across spaces as JSON.

use agentic_federation::key::PeerKey;
use agentic_federation::reply::ArrivedReply;
use agentic_model::Oid;
use agentic_session::decide::Decision;
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::visible_line;

/// A decision that a peer sent for a hold here, or one of ours for a hold of theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PeerReplyView {
    /// The space that sent it, or the agent that it was made for.
    pub peer: String,
    /// `decided`, `waiting`, `unverified`, `late` or `sent`.
    pub result: String,
    /// Its commit.
    pub commit: String,
    /// The agent that asks.
    pub agent: String,
    /// The request that it answers, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// What it says is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Who it says decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// For whom, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// The key that signed it, if it is one by which that peer decides now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The commit by which it decides here: its own, or one that accepts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Why nobody has to believe it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl PeerReplyView {
    /// Shows one that counts once a person accepts it.
    pub fn waiting(reply: &ArrivedReply) -> PeerReplyView {
        PeerReplyView::arrived(reply, "waiting")
    }

    /// Shows one that does not count, and why.
    pub fn unverified(reply: &ArrivedReply, why: String) -> PeerReplyView {
        PeerReplyView { reason: Some(why), ..PeerReplyView::arrived(reply, "unverified") }
    }

    /// Shows one that somebody was faster than.
    pub fn late(reply: &ArrivedReply) -> PeerReplyView {
        PeerReplyView::arrived(reply, "late")
    }

    /// Shows one that decides by a commit.
    pub fn decided(reply: &ArrivedReply, decision: String) -> PeerReplyView {
        PeerReplyView { decision: Some(decision), ..PeerReplyView::arrived(reply, "decided") }
    }

    /// Shows one of ours.
    pub fn sent(agent: &str, commit: Oid, decision: &Decision) -> PeerReplyView {
        PeerReplyView {
            peer: agent.to_owned(),
            result: "sent".to_owned(),
            commit: commit.to_string(),
            agent: agent.to_owned(),
            ..PeerReplyView::default()
        }
        .saying(decision)
    }

    /// Adds the key that signed it.
    #[must_use]
    pub fn signed_by(self, key: Option<&PeerKey>) -> PeerReplyView {
        PeerReplyView { key: key.map(PeerKey::to_string), ..self }
    }

    /// Says in one line who decided what of a hold, by which key, and what became of that and why. Every
    /// surface says it so.
    pub fn sentence(&self) -> String {
        let part = |before: &str, text: &Option<String>| {
            text.as_ref().map(|text| format!("{before}{text}")).unwrap_or_default()
        };
        let PeerReplyView { peer, result, action, .. } = self;
        let said = [
            format!("{result}: {}", action.as_deref().unwrap_or("nothing")),
            part(" by ", &self.principal),
            part(" for ", &self.on_behalf_of),
            format!(", {peer}"),
            part(", signed by ", &self.key),
            part(", in force by ", &self.decision),
            part(": ", &self.reason),
        ];
        visible_line(&said.concat())
    }

    /// Tells whether a person here may make it count.
    pub fn is_acceptable(&self) -> bool {
        matches!(self.result.as_str(), "waiting" | "unverified")
    }

    fn arrived(reply: &ArrivedReply, result: &str) -> PeerReplyView {
        let view = PeerReplyView {
            peer: reply.label.clone(),
            result: result.to_owned(),
            commit: reply.commit.to_string(),
            agent: reply.to.agent.to_string(),
            ..PeerReplyView::default()
        };
        match &reply.decision {
            None => view,
            Some(made) => {
                let request = made.session.short_request(&made.decision.request);
                PeerReplyView { request: Some(request), ..view.saying(&made.decision) }
            }
        }
    }

    fn saying(self, decision: &Decision) -> PeerReplyView {
        let for_whom = Some(decision.person()).filter(|person| *person != decision.principal);
        PeerReplyView {
            action: Some(decision.action.name().to_owned()),
            principal: Some(decision.principal.clone()),
            on_behalf_of: for_whom.map(str::to_owned),
            ..self
        }
    }
}
