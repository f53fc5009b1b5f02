//! How the binary is linked.

/// Lets the addresses in the binary be resolved when it is linked rather than each time it starts:
/// there are more than forty thousand, which take as long as the rest of the start. A command is
/// over in a few milliseconds, and nothing in it is worth hiding behind random addresses: there is
/// no unsafe code of ours, and stack, heap and libraries stay where the system puts them.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    if target.ends_with("linux-gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
