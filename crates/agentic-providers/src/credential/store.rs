//! The store of tokens: one sealed file for each identity and provider.
//!
//! A file is a version, a nonce and what AES-256-GCM makes of the tokens; its name is part of what
//! is authenticated, so a file cannot pose as another. There is no plain mode. A file is replaced
//! as a whole: a crash leaves the old one or the new one.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use agentic_model::{Cid, Map, Value, json};
use agentic_plan::CredentialSecret;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

use super::oauth::GrantedTokens;
use super::settings::Settings;
use super::{Error, Result};

/// The first byte of every file.
const VERSION: u8 = 1;
/// The longest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// How the files are called behind the dot.
const EXTENSION: &str = "token";

/// The tokens of somebody at a provider.
#[derive(Debug, Clone)]
pub(super) struct SealedTokens {
    pub identity: String,
    pub provider: String,
    pub tokens: GrantedTokens,
}

/// The store.
pub(super) struct TokenStore {
    folder: PathBuf,
    key: LessSafeKey,
}

impl TokenStore {
    pub fn open(settings: &Settings) -> Result<TokenStore> {
        let key = UnboundKey::new(&AES_256_GCM, &settings.key()?)
            .expect("the key has the length that the cipher takes");
        Ok(TokenStore { folder: settings.store()?, key: LessSafeKey::new(key) })
    }

    pub fn get(&self, identity: &str, provider: &str) -> Result<Option<SealedTokens>> {
        let name = file_name(identity, provider);
        let Some(sealed) = self.read(&name)? else { return Ok(None) };
        // Two pairs have two names; a name that two share would be a fault of the hash.
        let is_it = sealed.identity == identity && sealed.provider == provider;
        Ok(Some(sealed).filter(|_| is_it))
    }

    pub fn put(&self, sealed: &SealedTokens) -> Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|error| failed(&error))?;
        let name = file_name(&sealed.identity, &sealed.provider);
        let bytes = self.seal(&name, sealed)?;
        let fresh = self.folder.join(format!("{name}.{}.new", std::process::id()));
        let write = || -> std::io::Result<()> {
            let options =
                fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
            let mut file = options.open(&fresh)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&fresh, self.folder.join(&name))?;
            fs::File::open(&self.folder)?.sync_all()
        };
        write().map_err(|error| failed(&error))
    }

    pub fn delete(&self, identity: &str, provider: &str) -> Result<bool> {
        match fs::remove_file(self.folder.join(file_name(identity, provider))) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(&error)),
        }
    }

    pub fn list(&self) -> Result<Vec<(String, String)>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&error)),
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.ends_with(&format!(".{EXTENSION}")) {
                continue;
            }
            if let Some(sealed) = self.read(&name)? {
                found.push((sealed.identity, sealed.provider));
            }
        }
        found.sort();
        Ok(found)
    }

    fn read(&self, name: &str) -> Result<Option<SealedTokens>> {
        let path = self.folder.join(name);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.len() > FILE_BYTES_MAX => return Err(damaged(name)),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&error)),
        }
        let bytes = fs::read(&path).map_err(|error| failed(&error))?;
        self.unseal(name, &bytes).map(Some)
    }

    fn seal(&self, name: &str, sealed: &SealedTokens) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new()
            .fill(&mut nonce)
            .map_err(|_| Error::Store { reason: "the system gives no randomness".to_owned() })?;
        let mut bytes = json::to_text(&sealed.to_value()).into_bytes();
        let (unique, aad) = (Nonce::assume_unique_for_key(nonce), Aad::from(name.as_bytes()));
        self.key
            .seal_in_place_append_tag(unique, aad, &mut bytes)
            .map_err(|_| Error::Store { reason: "the tokens are too long".to_owned() })?;
        Ok([&[VERSION][..], &nonce, &bytes].concat())
    }

    fn unseal(&self, name: &str, bytes: &[u8]) -> Result<SealedTokens> {
        let damaged = || damaged(name);
        let (version, rest) = bytes.split_first().ok_or_else(damaged)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN).ok_or_else(damaged)?;
        if *version != VERSION {
            return Err(damaged());
        }
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| damaged())?;
        let mut sealed = sealed.to_vec();
        let opened = self.key.open_in_place(nonce, Aad::from(name.as_bytes()), &mut sealed);
        let opened = opened.map_err(|_| damaged())?;
        let text = std::str::from_utf8(opened).map_err(|_| damaged())?;
        let value = json::from_text(text).map_err(|_| damaged())?;
        SealedTokens::of_value(&value).ok_or_else(damaged)
    }
}

impl SealedTokens {
    fn to_value(&self) -> Value {
        let mut map = Map::from([
            ("identity".to_owned(), Value::text(&self.identity)),
            ("provider".to_owned(), Value::text(&self.provider)),
            ("access".to_owned(), Value::text(self.tokens.access.expose())),
        ]);
        if let Some(refresh) = &self.tokens.refresh {
            map.insert("refresh".to_owned(), Value::text(refresh.expose()));
        }
        if let Some(at) = self.tokens.ends_at {
            map.insert("ends_at".to_owned(), Value::Int(at));
        }
        Value::Map(map)
    }

    fn of_value(value: &Value) -> Option<SealedTokens> {
        let text = |key: &str| value.get(key).and_then(Value::as_text);
        Some(SealedTokens {
            identity: text("identity")?.to_owned(),
            provider: text("provider")?.to_owned(),
            tokens: GrantedTokens {
                access: CredentialSecret::new(text("access")?),
                refresh: text("refresh").map(CredentialSecret::new),
                ends_at: value.get("ends_at").and_then(Value::as_int),
            },
        })
    }
}

/// Returns a name that tells nobody whose tokens a file has.
fn file_name(identity: &str, provider: &str) -> String {
    let text = format!("{}:{identity}{}:{provider}", identity.len(), provider.len());
    let digest = Cid::of(text.as_bytes());
    let hex: String = digest.digest()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hex}.{EXTENSION}")
}

fn failed(error: &std::io::Error) -> Error {
    Error::Store { reason: error.to_string() }
}

fn damaged(name: &str) -> Error {
    Error::Store { reason: format!("`{name}` is damaged, or sealed with another key") }
}
