//! What all requests share, and how they ask verbs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agentic_api::verb::ForeignQueries;
use agentic_api::{Caller, ProvenPerson, Refusal, Surroundings};
use agentic_model::guidance::ErrorClass;
use agentic_resident::{PageLogins, PoolRefusal, Resident, ResidentError};
use agentic_session::SessionSpace;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::sync::watch;

use crate::api::KeptAnswers;
use crate::colour::ColourDesk;
use crate::form::FormSealer;
use crate::gate::Visitor;
use crate::host::{HostNames, PageHost};
use crate::login::{LoginBook, LoginGrant, LoginRole, PageCode};
use crate::protocol::MountedProtocol;
use crate::shown_texts::ShownTexts;

/// How long a read may take.
const READ_WAIT: Duration = Duration::from_secs(10);
/// What decisions name as the way through which they came.
const CLIENT: &str = "web";

/// What all requests share.
pub struct WebSite {
    /// The process that stays.
    pub resident: Resident,
    /// Under which names requests are heard; none where there is only the socket.
    pub hosts: Option<HostNames>,
    /// Who is logged in.
    pub logins: LoginBook,
    /// Set when the process is to end: streams end then.
    pub ended: watch::Receiver<bool>,
    /// The queries of others that are being answered.
    pub queries: ForeignQueries,
    /// The answers of the API that take long, as they were given last.
    pub answers: KeptAnswers,
    /// What is served to programs beside the page.
    pub protocol: Option<MountedProtocol>,
    /// Who seals forms.
    pub sealer: FormSealer,
    /// The texts of holds that were shown lately.
    pub shown: ShownTexts,
    /// Who looks for the colours of code.
    pub colours: ColourDesk,
}

/// What a page remembers when its process replaces itself.
#[derive(Serialize, Deserialize)]
pub struct PageMemory<Logins = LoginBook, Sealer = FormSealer> {
    /// Who is logged in.
    pub logins: Logins,
    /// Who seals forms.
    pub sealer: Sealer,
}

impl PageMemory {
    /// Reads what the program before has left; without, nobody is logged in.
    ///
    /// # Errors
    /// Fails when that cannot be read, and when the system gives no random bytes.
    pub fn recall(left: Option<Json>) -> Result<PageMemory, ResidentError> {
        let memory = match left {
            Some(left) => serde_json::from_value(left).map_err(std::io::Error::other),
            None => {
                FormSealer::new().map(|sealer| PageMemory { logins: LoginBook::default(), sealer })
            }
        };
        memory.map_err(ResidentError::system("make the key of forms"))
    }
}

impl WebSite {
    /// Writes down what the page of the program that takes the place of this one is to remember.
    pub fn memory(&self) -> Json {
        let memory = PageMemory { logins: &self.logins, sealer: &self.sealer };
        serde_json::to_value(memory).expect("logins have text keys")
    }

    /// Asks a verb that only reads, as the person of this repository.
    ///
    /// # Errors
    /// Fails as the verb does, and when it takes too long or too much is asked at once.
    pub async fn read<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Caller<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.ask(None, Some(READ_WAIT), ask).await
    }

    /// Does the same as whoever is logged in.
    ///
    /// # Errors
    /// Fails as [`WebSite::read`] does.
    pub async fn read_as<T: Send + 'static>(
        &self,
        visitor: &Visitor,
        ask: impl FnOnce(&Caller<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.ask(visitor.person(), Some(READ_WAIT), ask).await
    }

    /// Asks a verb that writes, as whoever is logged in: they wait until it is done.
    ///
    /// # Errors
    /// Fails as the verb does, and when too much is asked at once.
    pub async fn write<T: Send + 'static>(
        &self,
        visitor: &Visitor,
        ask: impl FnOnce(&Caller<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        // Another repository at the same place is not written to.
        self.resident.check_place().map_err(|error| Refusal::of(&error))?;
        self.ask(visitor.person(), None, ask).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        person: Option<ProvenPerson>,
        most: Option<Duration>,
        ask: impl FnOnce(&Caller<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let folder = self.folder();
        let asked = move |space: &SessionSpace| {
            let surroundings = Surroundings { folder, person, ..Surroundings::default() };
            ask(&Caller { space, surroundings, client: CLIENT, authn: None })
        };
        self.resident.pool.ask(most, asked).await.unwrap_or_else(|refusal| Err(of_pool(refusal)))
    }

    /// Says whether somebody may decide who is logged in at the page.
    pub fn lets_logins_decide(&self) -> bool {
        logins_at(&self.resident, self.hosts.as_ref()) == PageLogins::Decide
    }

    /// Makes a code that begins a login; one that only looks where nobody may decide.
    ///
    /// # Errors
    /// Fails when the system gives no random bytes.
    pub fn issue_code(&self, grant: LoginGrant) -> std::io::Result<PageCode> {
        let role = if self.lets_logins_decide() { grant.role } else { LoginRole::Read };
        Ok(PageCode { code: self.logins.issue(LoginGrant { role, ..grant })? })
    }

    /// Returns the folder that paths start from.
    pub fn folder(&self) -> PathBuf {
        self.resident.options.folder.clone()
    }

    /// Returns what the repository is called: the last part of its folder's path.
    pub fn repository_name(&self) -> String {
        let common = self.resident.space.repository().common_dir().to_owned();
        let folder = match common.file_name() {
            Some(name) if name == ".git" => common.parent().map(PathBuf::from),
            Some(_) | None => Some(common),
        };
        let name = folder.as_deref().and_then(|folder| folder.file_name());
        name.map_or_else(|| "repository".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

/// The state that handlers share.
pub type SharedSite = Arc<WebSite>;

/// Says what logins at the page of a process may do, under the names that it has.
pub fn logins_at(resident: &Resident, names: Option<&HostNames>) -> PageLogins {
    let is_own = names.is_none_or(|names| names.kind == PageHost::Own);
    match is_own && !resident.options.is_read_only {
        true => PageLogins::Decide,
        false => PageLogins::Look,
    }
}

fn of_pool(refusal: PoolRefusal) -> Refusal {
    let hint = match refusal {
        PoolRefusal::Full | PoolRefusal::Slow => "try again in a moment, or ask for less",
        PoolRefusal::Lost => "the log of `agentic serve` says more",
    };
    Refusal::new(ErrorClass::Unreachable, &refusal.to_string(), hint)
}
