//! What the client of a server may do.

use agentic_api::Refusal;
use agentic_model::AgentName;

/// What the client of a server may do.
#[derive(Debug, Clone, Default)]
pub struct McpAccess {
    /// The agent that all writes are made as.
    pub agent: Option<AgentName>,
    /// Whether it writes.
    pub writes: WriteAccess,
    /// Whether it may put holds before a person.
    pub deciding: DecidingAccess,
}

/// Whether a client writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WriteAccess {
    /// It does, as the server's own agent.
    #[default]
    Own,
    /// It only reads.
    ReadOnly,
}

/// Whether a client may put holds before a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DecidingAccess {
    /// Nothing is decided through it.
    #[default]
    Never,
    /// It shows a form, and what the person fills in decides.
    Form,
}

impl McpAccess {
    /// Returns the agent that a write is made as, whichever the client named.
    ///
    /// # Errors
    /// Fails when the client only reads, when that is another than the server's own, and when the server
    /// has none.
    pub(crate) fn writer(&self, named: Option<&str>) -> Result<AgentName, Refusal> {
        self.check_writes()?;
        let Some(own) = &self.agent else {
            return Err(Refusal::usage(
                "this server writes as no agent",
                "a person starts `agentic mcp --agent NAME`, or makes a token with `--agent NAME`",
            ));
        };
        match named {
            Some(other) if other != own.as_str() => Err(self.foreign(other)),
            Some(_) | None => Ok(own.clone()),
        }
    }

    /// Checks that the client may write at all.
    ///
    /// # Errors
    /// Fails when it only reads.
    pub(crate) fn check_writes(&self) -> Result<(), Refusal> {
        match self.writes {
            WriteAccess::Own => Ok(()),
            WriteAccess::ReadOnly => Err(Refusal::not_allowed(
                "this server only reads",
                "use a server, or a token, that was made without `--read-only`",
            )),
        }
    }

    /// Refuses to write as another agent than the server's own.
    pub(crate) fn foreign(&self, other: &str) -> Refusal {
        let own = self.agent.as_ref().map_or("nobody", AgentName::as_str);
        Refusal::not_allowed(
            &format!("this server writes as `{own}`, not as `{other}`"),
            &format!("leave `agent` out, or use a server that was started for `{other}`"),
        )
    }
}
