//! In whose name a program is started.

use std::path::PathBuf;

/// The variable that names the agent for whom a program runs.
pub const AGENT_VARIABLE: &str = "AGENTIC_AGENT";
/// The variable that names the request for which a program runs; its call may be repeated under it.
pub const REQUEST_VARIABLE: &str = "AGENTIC_REQUEST";
/// The variable that names this program, for what runs for a request: it may not be where programs are
/// looked for.
pub const PROGRAM_VARIABLE: &str = "AGENTIC_PROGRAM";

/// Says for whom programs are started, and where they are noted. The default is nobody, nowhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Charge {
    /// The agent.
    pub agent: Option<String>,
    /// The request.
    pub request: Option<String>,
    /// The folder of the files that tell which programs run; none where nobody can come later.
    pub folder: Option<PathBuf>,
    /// The file that was made there for the program before the request was recorded, if one was.
    pub reserved: Option<PathBuf>,
}

impl Charge {
    /// Lists what a program finds in its environment.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let agent = self.agent.as_deref().map(|agent| (AGENT_VARIABLE, agent));
        let request = self.request.as_deref().map(|request| (REQUEST_VARIABLE, request));
        agent.into_iter().chain(request)
    }
}
