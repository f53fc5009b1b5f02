//! Who may read, and who may decide: codes that are good once, and the logins they begin. Another person
//! than the one of this repository gets a code for a text that they have signed.
//!
//! All of it lives in memory, as hashes: whoever reads it learns nothing that opens the page. A process
//! that starts anew knows no login; one that replaces itself keeps them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_api::ProvenPerson;
use agentic_resident::{Whereabouts, random_bytes};
use serde::{Deserialize, Serialize};

use crate::age::AgingInstant;

/// How long a code is good.
const CODE_LIFE: Duration = Duration::from_secs(5 * 60);
/// How many codes may be open.
const CODES_MAX: usize = 64;
/// How long a challenge is good.
const CHALLENGE_LIFE: Duration = Duration::from_secs(2 * 60);
/// How many challenges may be open.
const CHALLENGES_MAX: usize = 64;
/// How many wrong codes and signatures there may be in a minute, together.
const WRONG_CODES_MAX: usize = 10;
/// How long wrong codes are counted.
const WRONG_CODES_SPAN: Duration = Duration::from_secs(60);
/// How long a login lives that nobody uses.
const IDLE_LIFE: Duration = Duration::from_secs(12 * 3600);
/// How long a login lives.
const LOGIN_LIFE: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many logins there may be.
const LOGINS_MAX: usize = 1_024;

/// What a login may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoginRole {
    /// Look.
    Read,
    /// Look, and answer holds.
    Decide,
}

/// A code that begins a login, once.
#[derive(Debug, Serialize, Deserialize)]
pub struct PageCode {
    /// The code.
    pub code: String,
}

impl PageCode {
    /// Returns the address that logs in. The code stands where no server and no log sees it.
    pub fn address(&self, at: &Whereabouts) -> String {
        format!("{}/login#{}", at.url.as_deref().unwrap_or_default(), self.code)
    }
}

/// A login, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// What forms are bound to.
    pub id: String,
    /// What it may do.
    pub role: LoginRole,
    /// Whose it is; without, that of the person of this repository.
    pub person: Option<ProvenPerson>,
}

/// What a code lets somebody do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginGrant {
    /// What the login may do.
    pub role: LoginRole,
    /// Whose it is; without, that of the person of this repository.
    pub person: Option<ProvenPerson>,
}

/// Why no login began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginRefusal {
    /// The code is wrong, was used or is too old.
    WrongCode,
    /// There were too many wrong ones.
    TooMany,
}

/// Codes and logins.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LoginBook {
    state: Mutex<LoginState>,
}

/// Everything by the hash of its secret.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LoginState {
    codes: HashMap<String, (LoginGrant, AgingInstant)>,
    /// What others were given to sign.
    challenges: HashMap<String, AgingInstant>,
    logins: HashMap<String, KnownLogin>,
    /// When wrong codes and signatures came.
    wrong: Vec<AgingInstant>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownLogin {
    login: Login,
    begun: AgingInstant,
    used: AgingInstant,
}

impl LoginBook {
    /// Makes a code that begins one login.
    ///
    /// # Errors
    /// Fails when the system gives no random bytes.
    pub fn issue(&self, grant: LoginGrant) -> std::io::Result<String> {
        let code = hex(&random_bytes::<16>()?);
        let mut state = self.state();
        state.codes.retain(|_, (_, made)| made.elapsed() < CODE_LIFE);
        if state.codes.len() >= CODES_MAX {
            state.codes.clear();
        }
        state.codes.insert(hash(&code), (grant, AgingInstant::now()));
        Ok(code)
    }

    /// Makes what somebody is to sign; nothing while there are too many already, or too many were wrong.
    pub fn challenge(&self) -> Option<String> {
        let challenge = hex(&random_bytes::<32>().ok()?);
        let mut state = self.state();
        state.challenges.retain(|_, made| made.elapsed() < CHALLENGE_LIFE);
        let has_room = !state.is_shut() && state.challenges.len() < CHALLENGES_MAX;
        has_room.then(|| {
            state.challenges.insert(hash(&challenge), AgingInstant::now());
            challenge
        })
    }

    /// Takes back what was given to somebody to sign, within two minutes; it is good once, whoever brings
    /// it. They count as wrong until their signature is found to be right: many may come at once.
    ///
    /// # Errors
    /// Fails when it was given to nobody, and for a while when many were wrong.
    pub fn take_challenge(&self, challenge: &str) -> Result<(), LoginRefusal> {
        let mut state = self.state();
        if state.is_shut() {
            return Err(LoginRefusal::TooMany);
        }
        state.wrong.push(AgingInstant::now());
        let made = state.challenges.remove(&hash(challenge));
        let is_good = made.is_some_and(|made| made.elapsed() < CHALLENGE_LIFE);
        if is_good { Ok(()) } else { Err(LoginRefusal::WrongCode) }
    }

    /// Notes that what was signed is right, so that one less counts as wrong.
    pub fn note_right(&self) {
        self.state().wrong.pop();
    }

    /// Begins a login, and returns its secret.
    ///
    /// # Errors
    /// Fails when the code is wrong, and for a while when many were.
    pub fn begin(&self, code: &str) -> Result<String, LoginRefusal> {
        let mut state = self.state();
        if state.is_shut() {
            return Err(LoginRefusal::TooMany);
        }
        let found = state.codes.remove(&hash(code));
        let Some((grant, _)) = found.filter(|(_, made)| made.elapsed() < CODE_LIFE) else {
            state.wrong.push(AgingInstant::now());
            return Err(LoginRefusal::WrongCode);
        };
        // Without randomness there is no login, as with a wrong code.
        let bytes = random_bytes::<40>().map_err(|_| LoginRefusal::WrongCode)?;
        let (secret, id) = (hex(&bytes[..32]), hex(&bytes[32..]));
        state.logins.retain(|_, known| known.is_good());
        if state.logins.len() >= LOGINS_MAX {
            state.logins.clear();
        }
        let (now, LoginGrant { role, person }) = (AgingInstant::now(), grant);
        let known = KnownLogin { login: Login { id, role, person }, begun: now, used: now };
        state.logins.insert(hash(&secret), known);
        Ok(secret)
    }

    /// Returns the login of a secret, if there is one.
    pub fn find(&self, secret: &str) -> Option<Login> {
        let mut state = self.state();
        let known = state.logins.get_mut(&hash(secret)).filter(|known| known.is_good())?;
        known.used = AgingInstant::now();
        Some(known.login.clone())
    }

    /// Tells whether a login has not ended. Asking does not make it longer.
    pub fn is_open(&self, id: &str) -> bool {
        self.state().logins.values().any(|known| known.login.id == id && known.is_good())
    }

    /// Ends a login.
    pub fn end(&self, id: &str) {
        self.state().logins.retain(|_, known| known.login.id != id);
    }

    /// Ends all logins and forgets all codes. How many were wrong is remembered.
    pub fn end_all(&self) {
        let mut state = self.state();
        let wrong = std::mem::take(&mut state.wrong);
        *state = LoginState { wrong, ..LoginState::default() };
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole state.
    fn state(&self) -> MutexGuard<'_, LoginState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoginState {
    /// Says whether so many were wrong within a minute that nobody is heard.
    fn is_shut(&mut self) -> bool {
        self.wrong.retain(|when| when.elapsed() < WRONG_CODES_SPAN);
        self.wrong.len() >= WRONG_CODES_MAX
    }
}

impl LoginGrant {
    /// Grants something to the person of this repository.
    pub fn own(role: LoginRole) -> LoginGrant {
        LoginGrant { role, person: None }
    }
}

impl KnownLogin {
    fn is_good(&self) -> bool {
        self.used.elapsed() < IDLE_LIFE && self.begun.elapsed() < LOGIN_LIFE
    }
}

/// Secrets are found by their hash: how long that takes tells nothing of them.
fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{CHALLENGES_MAX, LoginBook, LoginGrant, LoginRefusal, LoginRole, WRONG_CODES_MAX};

    #[test]
    fn a_code_is_good_once() {
        let book = LoginBook::default();
        let code = book.issue(LoginGrant::own(LoginRole::Decide)).expect("random bytes");
        let secret = book.begin(&code).expect("a good code");
        assert_eq!(book.find(&secret).expect("a login").role, LoginRole::Decide);
        assert_eq!(book.begin(&code), Err(LoginRefusal::WrongCode));
        book.end_all();
        assert_eq!(book.find(&secret), None);
    }

    #[test]
    fn what_is_written_down_goes_on_in_another_book() {
        let book = LoginBook::default();
        let issue = |book: &LoginBook| book.issue(LoginGrant::own(LoginRole::Decide));
        let secret = book.begin(&issue(&book).expect("random bytes")).expect("a good code");
        let (code, challenge) = (issue(&book).expect("random bytes"), book.challenge());
        let challenge = challenge.expect("there is room");
        assert_eq!(book.begin("no code"), Err(LoginRefusal::WrongCode));
        let written = serde_json::to_string(&book).expect("text keys");
        assert!(![&secret, &code, &challenge].iter().any(|known| written.contains(*known)));
        let heir: LoginBook = serde_json::from_str(&written).expect("it reads as it is written");
        assert_eq!(heir.find(&secret), book.find(&secret));
        assert!(heir.begin(&code).is_ok() && heir.take_challenge(&challenge).is_ok());
        heir.note_right();
        for _ in 1..WRONG_CODES_MAX {
            assert_eq!(heir.begin("no code"), Err(LoginRefusal::WrongCode));
        }
        assert_eq!(heir.begin("no code"), Err(LoginRefusal::TooMany), "wrong ones count on");
    }

    #[test]
    fn too_many_wrong_codes_keep_even_a_good_one_out() {
        let book = LoginBook::default();
        for _ in 0..WRONG_CODES_MAX {
            assert_eq!(book.begin("no code"), Err(LoginRefusal::WrongCode));
        }
        let code = book.issue(LoginGrant::own(LoginRole::Read)).expect("random bytes");
        assert_eq!(book.begin(&code), Err(LoginRefusal::TooMany));
        assert_eq!(book.challenge(), None);
        book.end_all();
        let code = book.issue(LoginGrant::own(LoginRole::Read)).expect("random bytes");
        assert_eq!(book.begin(&code), Err(LoginRefusal::TooMany), "a logout forgives nobody");
    }

    #[test]
    fn wrong_codes_and_wrong_signatures_count_together() {
        let book = LoginBook::default();
        let issued = book.challenge().expect("there is room");
        let code = book.issue(LoginGrant::own(LoginRole::Read)).expect("random bytes");
        for _ in 0..WRONG_CODES_MAX / 2 {
            assert_eq!(book.begin("no code"), Err(LoginRefusal::WrongCode));
            assert_eq!(book.take_challenge("nobody's"), Err(LoginRefusal::WrongCode));
        }
        for _ in 0..2 {
            assert_eq!(book.take_challenge("nobody's"), Err(LoginRefusal::TooMany));
        }
        assert_eq!(book.take_challenge(&issued), Err(LoginRefusal::TooMany), "a good one too");
        assert_eq!(book.begin(&code), Err(LoginRefusal::TooMany));
        assert_eq!(book.state().wrong.len(), WRONG_CODES_MAX, "no more are kept");
    }

    #[test]
    fn who_signs_rightly_is_never_wrong() {
        let book = LoginBook::default();
        for _ in 0..2 * WRONG_CODES_MAX {
            let challenge = book.challenge().expect("there is room");
            assert_eq!(book.take_challenge(&challenge), Ok(()));
            book.note_right();
        }
        // Of those whose signatures are looked at no more are let in at once than may be wrong.
        let issue = || book.challenge().expect("there is room");
        let all: Vec<String> = std::iter::repeat_with(issue).take(2 * WRONG_CODES_MAX).collect();
        let taken = all.iter().filter(|challenge| book.take_challenge(challenge).is_ok());
        assert_eq!(taken.count(), WRONG_CODES_MAX);
    }

    #[test]
    fn a_challenge_is_good_once_and_there_are_not_many() {
        let book = LoginBook::default();
        let challenge = book.challenge().expect("there is room");
        assert_eq!(book.take_challenge("another"), Err(LoginRefusal::WrongCode));
        assert_eq!(book.take_challenge(&challenge), Ok(()));
        assert_eq!(book.take_challenge(&challenge), Err(LoginRefusal::WrongCode));
        for _ in 0..CHALLENGES_MAX {
            assert!(book.challenge().is_some());
        }
        assert_eq!(book.challenge(), None);
    }
}
