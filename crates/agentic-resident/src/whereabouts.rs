//! Where a process that stays can be reached: a file that says so, without any secret.

use agentic_providers::process::ProcessIdentity;
use serde::{Deserialize, Serialize};

/// What the requests and answers on the socket look like; a client of another one is none.
pub const API_VERSION: u32 = 1;

/// Who serves a repository, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// The process.
    #[serde(flatten)]
    pub process: ProcessIdentity,
    /// The version of the program.
    pub version: String,
    /// What it speaks.
    pub api: u32,
    /// The address of its page, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What logins at that page may do.
    #[serde(default)]
    pub logins: PageLogins,
    /// Since when it runs, in RFC 3339.
    pub since: String,
}

/// What logins at a page may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageLogins {
    /// Those of people who may decide do so there.
    #[default]
    Decide,
    /// All of them only look.
    Look,
}

impl Whereabouts {
    /// Returns the address of the page where people decide, if there is one.
    pub fn deciding_url(&self) -> Option<&str> {
        match self.logins {
            PageLogins::Decide => self.url.as_deref(),
            PageLogins::Look => None,
        }
    }
}
