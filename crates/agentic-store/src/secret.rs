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

/// Seals a text: 64 hexadecimal digits that only this space can make.
///
/// # Errors
/// Fails when the secret can be neither read nor made.
pub fn seal(layout: &Layout, text: &str) -> Result<String> {
    let secret = key(layout, &layout.root().join("secret"))?;
    Ok(blake3::keyed_hash(&secret, text.as_bytes()).to_hex().to_string())
}

/// Tells whether a seal is that of a text, as we write it: one has one spelling. It takes the same time for every wrong seal.
///
/// # Errors
/// Fails when the secret can be neither read nor made.
pub fn is_sealed(layout: &Layout, text: &str, seal: &str) -> Result<bool> {
    let secret = key(layout, &layout.root().join("secret"))?;
    let is_lower = !seal.bytes().any(|digit| digit.is_ascii_uppercase());
    let given = blake3::Hash::from_hex(seal).ok().filter(|_| is_lower);
    let Some(given) = given else { return Ok(false) };
    Ok(blake3::keyed_hash(&secret, text.as_bytes()) == given)
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
