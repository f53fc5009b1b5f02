//! A secret of this space: what was handed out with its seal is recognised when it comes back.
//!
//! It is made when it is first needed, from the system's randomness, and readable by its owner
//! alone. Losing it costs nothing but that what was sealed before has to be handed out again.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::{Error, Layout, Result, file};

/// How many bytes the secret has.
const SECRET_BYTES: usize = 32;

/// Seals a text that is handed out and comes back: 64 hexadecimal digits that only this space can make, a
/// dot, and the text in such digits. It needs no quoting anywhere, and everybody can read it.
///
/// # Errors
/// Fails when the secret can be neither read nor made.
pub fn seal(layout: &Layout, text: &str) -> Result<String> {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}.{digits}", seal_of(layout, text)?.to_hex()))
}

/// Opens what was sealed here; nothing, if it was not, or is spelled another way. It takes the same time for
/// every wrong seal.
///
/// # Errors
/// Fails when the secret can be neither read nor made.
pub fn open(layout: &Layout, sealed: &str) -> Result<Option<String>> {
    if sealed.bytes().any(|digit| digit.is_ascii_uppercase()) {
        return Ok(None);
    }
    let Some((seal, digits)) = sealed.split_once('.') else { return Ok(None) };
    let (Ok(seal), Some(text)) = (blake3::Hash::from_hex(seal), of_digits(digits)) else {
        return Ok(None);
    };
    Ok((seal_of(layout, &text)? == seal).then_some(text))
}

fn seal_of(layout: &Layout, text: &str) -> Result<blake3::Hash> {
    let secret = key(layout, &layout.root().join("secret"))?;
    Ok(blake3::keyed_hash(&secret, text.as_bytes()))
}

fn of_digits(digits: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

/// Returns the key in a file of this space, which is made when it is first asked for: random bytes that
/// its owner alone can read. Of two processes that make it at once, both get the same.
///
/// # Errors
/// Fails when it can be neither read nor made, such as in a repository that is gone.
pub fn key(layout: &Layout, path: &Path) -> Result<[u8; SECRET_BYTES]> {
    if let Some(secret) = load(path)? {
        return Ok(secret);
    }
    let git_dir = layout.root().parent().expect("the folder is one of git's");
    // The folders below are made where they are missing. That of git is not ours to make.
    std::fs::metadata(git_dir).map_err(Error::io("read", git_dir))?;
    let mut secret = [0; SECRET_BYTES];
    fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut secret))
        .map_err(Error::io("read", Path::new("/dev/urandom")))?;
    let fresh = path.with_extension(format!("{}", std::process::id()));
    let folder = path.parent().expect("the secret lies in a folder");
    let written = fs::create_dir_all(folder).and_then(|()| {
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&secret)?;
        // Of two processes that make it at once, one is first.
        fs::hard_link(&fresh, path)
    });
    // Whatever became of it, its own name is of no use any more.
    let _ = fs::remove_file(&fresh);
    match written {
        Ok(()) => Ok(secret),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => load(path)?
            .ok_or_else(|| Error::corrupt("the secret of this space", "it has no proper length")),
        Err(error) => Err(Error::io("write", path)(error)),
    }
}

/// Reads the secret; nothing, if there is none or a crash left it short.
fn load(path: &Path) -> Result<Option<[u8; SECRET_BYTES]>> {
    match file::read_small(path, SECRET_BYTES as u64 + 1) {
        Ok(bytes) => match <[u8; SECRET_BYTES]>::try_from(bytes) {
            Ok(secret) => Ok(Some(secret)),
            Err(_) => {
                fs::remove_file(path).map_err(Error::io("remove", path))?;
                Ok(None)
            }
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}
