//! Names beside which secrets stand.

/// How sure a name makes it that its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameStrength {
    /// A password: anything that is no word is one.
    Password,
    /// A token, a secret, a key of a known sort.
    Secret,
    /// Credentials or a key of some sort: only what looks random is one.
    Vague,
}

/// How long a name may be.
pub(crate) const NAME_BYTES_MAX: usize = 80;
/// Ends of words that name passwords.
const PASSWORD_ENDS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "senha",
    "contrasena",
    "pwd",
    "passwrd",
];
/// Words that name passwords when they stand alone or behind others.
const PASSWORD_WORDS: [&str; 17] = [
    "pass",
    "pw",
    "dbpass",
    "userpass",
    "smtppass",
    "mailpass",
    "ftppass",
    "rootpass",
    "adminpass",
    "mysqlpass",
    "pgpass",
    "sudopass",
    "mypass",
    "authpass",
    "keypass",
    "storepass",
    "requirepass",
];
/// Ends of words that name secrets.
const SECRET_ENDS: [&str; 12] = [
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "masterkey",
    "encryptionkey",
    "clientkey",
    "secretkeybase",
];
/// What comes before `key` where the key is a secret.
const KEY_SORTS: [&str; 42] = [
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "sign",
    "signature",
    "encryption",
    "encrypt",
    "encrypted",
    "crypt",
    "crypto",
    "cipher",
    "decryption",
    "master",
    "webhook",
    "auth",
    "account",
    "service",
    "shared",
    "storage",
    "deploy",
    "ssh",
    "session",
    "jwt",
    "hmac",
    "aes",
    "client",
    "app",
    "application",
    "license",
    "admin",
    "root",
    "server",
    "consumer",
    "subscription",
    "integration",
    "write",
    "read",
    "ingest",
    "project",
    "bot",
];
/// What comes before `key` where it is none.
const PUBLIC_KEY_SORTS: [&str; 44] = [
    "primary",
    "foreign",
    "public",
    "sort",
    "partition",
    "hash",
    "cache",
    "row",
    "group",
    "object",
    "unique",
    "natural",
    "candidate",
    "composite",
    "index",
    "range",
    "map",
    "dict",
    "lookup",
    "translation",
    "hot",
    "shortcut",
    "route",
    "query",
    "item",
    "event",
    "react",
    "list",
    "column",
    "field",
    "parent",
    "sub",
    "i18n",
    "message",
    "idempotency",
    "dedupe",
    "registry",
    "config",
    "s3",
    "bucket",
    "any",
    "next",
    "prev",
    "lru",
];
/// Words behind a name that leave its meaning as it is.
const TAILS: [&str; 20] = [
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "stage",
    "test",
    "testing",
    "live",
    "old",
    "new",
    "current",
    "previous",
    "v",
    "value",
    "base64",
    "b64",
    "plain",
    "plaintext",
    "string",
];

/// Returns how sure a name is to have a secret beside it, if it is at all.
pub(crate) fn strength(name: &[u8]) -> Option<NameStrength> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return None;
    }
    let mut words = words(name);
    while words.len() > 1 && words.last().is_some_and(|word| is_tail(word)) {
        words.pop();
    }
    let last = words.last()?.as_str();
    let before = words.len().checked_sub(2).map(|at| words[at].as_str());
    let is_end = |ends: &[&str]| ends.iter().any(|end| last.ends_with(end));
    if is_end(&PASSWORD_ENDS)
        || PASSWORD_WORDS.contains(&last)
        || before == Some("pass") && last == "phrase"
    {
        return Some(NameStrength::Password);
    }
    if is_end(&SECRET_ENDS) || matches!(last, "jwt" | "bearer") {
        return Some(NameStrength::Secret);
    }
    match (last, before) {
        ("base", Some("key")) => Some(NameStrength::Secret),
        ("pat", Some(_)) => Some(NameStrength::Secret),
        ("key", Some(sort)) if KEY_SORTS.contains(&sort) => Some(NameStrength::Secret),
        ("key", Some(sort)) if !PUBLIC_KEY_SORTS.contains(&sort) => Some(NameStrength::Vague),
        ("credential" | "credentials" | "creds" | "cred" | "auth", _) => Some(NameStrength::Vague),
        _ => None,
    }
}

/// Tells whether a word behind a name leaves its meaning as it is.
fn is_tail(word: &str) -> bool {
    TAILS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes a name apart at `_`, `-`, `.` and where a capital follows a small letter.
fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut goes_on = false;
    for (at, byte) in name.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            goes_on = false;
            continue;
        }
        let before = at.checked_sub(1).map(|at| name[at]);
        let next = name.get(at + 1);
        let is_hump = byte.is_ascii_uppercase()
            && (before.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
                || before.is_some_and(|byte| byte.is_ascii_uppercase())
                    && next.is_some_and(u8::is_ascii_lowercase));
        let letter = byte.to_ascii_lowercase() as char;
        match words.last_mut() {
            Some(word) if goes_on && !is_hump => word.push(letter),
            Some(_) | None => words.push(letter.to_string()),
        }
        goes_on = true;
    }
    words
}
