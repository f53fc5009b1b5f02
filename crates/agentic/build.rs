//! How the binary is linked.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What unwinds the stack after a panic, as a part of the binary.
const UNWINDER: &str = "libgcc_eh.a";

/// A command is over in a few milliseconds, so what the system does before it begins counts.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    if !target.ends_with("linux-gnu") {
        return;
    }
    resolve_addresses();
    if std::env::var("HOST").is_ok_and(|host| host == target) {
        take_unwinder_in();
    }
}

/// Lets the addresses in the binary be resolved when it is linked rather than each time it starts:
/// there are more than forty thousand, which take as long as the rest of the start. Nothing in it
/// is worth hiding behind random addresses: there is no unsafe code of ours, and stack, heap and
/// libraries stay where the system puts them.
fn resolve_addresses() {
    println!("cargo::rustc-link-arg-bins=-no-pie");
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
