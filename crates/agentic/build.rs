//! How the binary is linked.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What unwinds the stack after a panic, as a part of the binary.
const UNWINDER: &str = "libgcc_eh.a";
/// The first GNU C library whose loader knows packed relative relocations.
const PACKED_RELOCATIONS_SINCE: (u32, u32) = (2, 36);

/// A command is over in a few milliseconds, so what the system does before it begins counts.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    if !target.ends_with("linux-gnu") {
        return;
    }
    if std::env::var("HOST").is_ok_and(|host| host == target) {
        pack_relocations();
        take_unwinder_in();
    }
}

/// Packs the relative relocations of the binary, of which a position-independent one has more than
/// forty thousand: packed, the loader does them in a fraction of the time. Loaders of older systems
/// do not know the packed form, so it is left where the C library of this one does not.
fn pack_relocations() {
    if c_library().is_some_and(|version| version >= PACKED_RELOCATIONS_SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Reads the version of the GNU C library.
fn c_library() -> Option<(u32, u32)> {
    let answer = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Takes in what unwinds the stack, where the compiler for C has it: otherwise it is a library of
/// its own, to be found, mapped, linked and set up at each start. Where it is not found, or the
/// linker takes the library nevertheless, the binary is as right.
fn take_unwinder_in() {
    let asked = Command::new("cc").arg(format!("-print-file-name={UNWINDER}")).output();
    let Ok(answer) = asked else { return };
    let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    if let (true, Some(folder)) = (path.is_file(), path.parent().map(Path::display)) {
        println!("cargo::rustc-link-search=native={folder}");
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}
