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
    if std::env::var("HOST").is_ok_and(|host| host == target) {
        link_at_a_fixed_address();
        take_unwinder_in();
    }
}

/// Links the program at a fixed address. At any address, the loader has to put right some fifty
/// thousand words of it at each start, even packed: that is more than a quarter of all instructions
/// of `agentic trace add`. What is given away is that nobody knows where code and constants of the
/// program lie; libraries, stack and heap still lie anywhere, and `unsafe` is denied in the program.
fn link_at_a_fixed_address() {
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
