//! What looks like a secret and is none: placeholders, references, ids, digests, public keys.

/// Parts of placeholders, in lower case; [`has_placeholder_part`] knows with which bytes they begin.
const PLACEHOLDER_PARTS: [&str; 20] = [
    "...",
    "your-",
    "your_",
    "your ",
    "yourapi",
    "yourkey",
    "yourtoken",
    "yoursecret",
    "yourpass",
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "replaceme",
    "replace-me",
    "replace_me",
    "xxxx",
    "dummy",
    "redacted",
];
/// How references to values that stand elsewhere begin, in lower case.
const REFERENCE_STARTS: [&str; 27] = [
    "process.env",
    "os.environ",
    "os.getenv",
    "getenv",
    "import.meta",
    "env:",
    "env.",
    "env[",
    "env(",
    "op://",
    "vault:",
    "secrets.",
    "secret://",
    "ref+",
    "!ref",
    "!secret",
    "!sub",
    "!vault",
    "file:",
    "arn:",
    "ssm:",
    "keyring:",
    "keychain:",
    "var.",
    "local.",
    "data.",
    "base64:%",
];
/// How digests begin, in lower case.
const DIGEST_STARTS: [&str; 14] = [
    "sha1-", "sha1:", "sha224:", "sha256-", "sha256:", "sha384-", "sha384:", "sha512-", "sha512:",
    "h1:", "md5:", "md5-", "blake3:", "blake3-",
];
/// How ids of vendors begin that stand in transcripts.
const VENDOR_ID_STARTS: [&str; 36] = [
    "toolu_",
    "srvtoolu_",
    "mcptoolu_",
    "msg_",
    "call_",
    "req_",
    "resp_",
    "rs_",
    "fc_",
    "fco_",
    "chatcmpl-",
    "chatcmpl_",
    "cmpl-",
    "gen-",
    "prt_",
    "part_",
    "ses_",
    "session_",
    "run_",
    "thread_",
    "asst_",
    "step_",
    "evt_",
    "item_",
    "ws_",
    "ctc_",
    "conv_",
    "batch_",
    "exec_",
    "turn_",
    "file-",
    "msgbatch_",
    "tool_",
    "agent_",
    "ig_",
    "lsh_",
];
/// How long a number in hex is that is an id, in bytes.
const SHORT_ID_BYTES_MAX: usize = 17;
/// How the bytes of public keys begin in base64.
const PUBLIC_KEY_STARTS: [&str; 5] =
    ["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNrLX", "AAAAInNrLW"];

/// Tells whether a value is none of those that are no secrets wherever they stand.
pub(crate) fn is_exempt(value: &[u8]) -> bool {
    is_placeholder(value) || is_reference(value) || is_identity(value)
}

/// Tells whether a value only stands for one.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let Some((first, rest)) = value.split_first() else { return true };
    let wrapped = |start: &[u8], end: &[u8]| value.starts_with(start) && value.ends_with(end);
    if value.len() >= 4 && rest.iter().all(|byte| byte == first) {
        return true;
    }
    let opens: [&[u8]; 7] = [b"${", b"$(", b"{{", b"#{", b"%(", b"<%", b"$[["];
    opens.iter().any(|open| value.starts_with(open))
        || wrapped(b"<", b">")
        || wrapped(b"{", b"}")
        || wrapped(b"[", b"]")
        || wrapped(b"%", b"%")
        || wrapped(b"@", b"@")
        || value.starts_with(b"<") && value.len() < 40
        || value.windows(3).any(|part| part == "…".as_bytes())
        || has_placeholder_part(value)
}

fn has_placeholder_part(value: &[u8]) -> bool {
    let begins = |byte: u8| b".yepcrxd".contains(&byte.to_ascii_lowercase());
    let mut begun = value.iter().enumerate().filter(|(_, byte)| begins(**byte));
    begun.any(|(at, _)| starts_with_any(&value[at..], &PLACEHOLDER_PARTS))
}

/// Tells whether a value names a place where the secret stands.
pub(crate) fn is_reference(value: &[u8]) -> bool {
    is_variable(value) || starts_with_any(value, &REFERENCE_STARTS)
}

/// Tells whether a value is a variable of a shell: `$NAME`, and nothing else.
fn is_variable(value: &[u8]) -> bool {
    let Some(name) = value.strip_prefix(b"$") else { return false };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    name.first().is_some_and(|byte| !byte.is_ascii_digit()) && name.iter().all(is_name)
}

/// Tells whether a value names something, as a digest or an id, or is public.
pub(crate) fn is_identity(value: &[u8]) -> bool {
    is_uuid(value)
        || is_content_id(value)
        || is_vendor_id(value)
        || is_ulid(value)
        || starts_with_any(value, &DIGEST_STARTS)
        || PUBLIC_KEY_STARTS.iter().any(|start| value.starts_with(start.as_bytes()))
}

/// Tells whether a value looks like an id that a vendor gives to messages, calls and sessions.
pub(crate) fn is_vendor_id(value: &[u8]) -> bool {
    let is_id = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    VENDOR_ID_STARTS.iter().any(|start| value.starts_with(start.as_bytes()))
        && value.len() <= 80
        && value.iter().all(is_id)
}

/// Tells whether a value is a UUID.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Tells whether a name is an id that nobody has to look at: a UUID, an id as vendors give it, a short
/// number in hex.
pub fn is_plain_id(name: &str) -> bool {
    let bytes = name.as_bytes();
    let is_short = bytes.len() <= SHORT_ID_BYTES_MAX;
    is_uuid(bytes) || is_vendor_id(bytes) || is_short && bytes.iter().all(u8::is_ascii_hexdigit)
}

/// Tells whether a value is a content id, in base 32 or of version 0.
fn is_content_id(value: &[u8]) -> bool {
    let base32 = |byte: &u8| matches!(byte, b'a'..=b'z' | b'2'..=b'7');
    let new = value.starts_with(b"ba") && (50..=120).contains(&value.len());
    let old = value.starts_with(b"Qm") && value.len() == 46;
    new && value.iter().all(base32) || old && value.iter().all(u8::is_ascii_alphanumeric)
}

/// Tells whether a value is a ULID.
fn is_ulid(value: &[u8]) -> bool {
    let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'H' | b'J' | b'K' | b'M' | b'N' | b'P'..=b'T' | b'V'..=b'Z');
    value.len() == 26 && matches!(value[0], b'0'..=b'7') && value.iter().all(digit)
}

/// Tells whether a value is made of hex digits of one case.
pub(crate) fn is_hex(value: &[u8]) -> bool {
    let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let upper = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    value.iter().all(lower) || value.iter().all(upper)
}

fn starts_with_any(value: &[u8], starts: &[&str]) -> bool {
    starts.iter().any(|start| {
        value.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
    })
}

/// Tells whether a part stands in a value, in either case.
pub(crate) fn contains_ignoring_case(value: &[u8], part: &str) -> bool {
    value.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}
