//! The browser that tests drive, and the checker of accessibility that they run in it.
//!
//! Both are kept below the target folder. The browser is Debian's: from the search path where it is
//! installed; else apt downloads what the machine lacks from the sources that the machine names, and
//! the packages are unpacked without installing them. That needs no root and changes nothing outside.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::CheckOutcome;
use crate::clients::{ClientTools, MCP};
use crate::workspace::target_folder;

/// The folder below the target folder.
const FOLDER: &str = "browser";
/// The programs, and the packages that have them.
const PROGRAMS: [(&str, &str); 2] =
    [("chromium", "usr/lib/chromium/chromium"), ("chromedriver", "usr/bin/chromedriver")];
/// What is asked of apt. Without a font the renderer dies.
const PACKAGES: [&str; 3] = ["chromium", "chromium-driver", "fonts-dejavu-core"];
/// The checker, as npm names it.
const AXE: &str = "axe-core@4.10.3";
/// What npm calls the file.
const AXE_ARCHIVE: &str = "axe-core-4.10.3.tgz";
/// The SHA-256 of the file.
const AXE_SHA256: &str = "0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292";
/// The permissions of a program.
const PROGRAM_MODE: u32 = 0o755;

/// Gets what is not there yet.
pub fn fetch() -> Result<CheckOutcome> {
    let folder = folder()?;
    fs::create_dir_all(&folder).context("cannot make the folder of the browser")?;
    if !PROGRAMS.iter().all(|(name, _)| folder.join(name).exists()) {
        fetch_programs(&folder)?;
    }
    if !folder.join("axe.js").exists() {
        // Node comes with the clients of the other suite: the machine need not have it.
        let tools = ClientTools::install(&MCP, &folder.with_file_name("mcp"))?;
        fetch_checker(&folder, &tools)?;
    }
    println!("browser: {}", folder.display());
    Ok(CheckOutcome::Good)
}

fn folder() -> Result<PathBuf> {
    Ok(target_folder()?.join(FOLDER))
}

fn fetch_programs(folder: &Path) -> Result<()> {
    let installed: Vec<Option<PathBuf>> =
        PROGRAMS.iter().map(|(name, _)| on_search_path(name)).collect();
    let is_installed = installed.iter().all(Option::is_some);
    let unpacked = folder.join("root");
    if !is_installed {
        unpack_packages(folder, &unpacked)?;
    }
    write_fonts(folder, &unpacked)?;
    for ((name, path), installed) in PROGRAMS.iter().zip(installed) {
        let program = installed.filter(|_| is_installed).unwrap_or_else(|| unpacked.join(path));
        write_starter(folder, name, &program, &unpacked)?;
    }
    Ok(())
}

/// Downloads what the machine lacks of the packages and of what they need, and unpacks it.
fn unpack_packages(folder: &Path, unpacked: &Path) -> Result<()> {
    let (debs, lists) = (folder.join("debs"), folder.join("apt"));
    fs::create_dir_all(&debs)?;
    // The lists of a fresh machine may be empty, and those that it has belong to root.
    let apt = || {
        let mut apt = Command::new("apt-get");
        let option = |name: &str, part: &str| format!("{name}={}", lists.join(part).display());
        apt.args(["-o", "Dir::State::status=/var/lib/dpkg/status"]);
        apt.args(["-o", &option("Dir::State", "state"), "-o", &option("Dir::Cache", "cache")]);
        apt
    };
    for part in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(lists.join(part))?;
    }
    let mut update = apt();
    update.args(["update", "-qq"]);
    said_by(update)?;
    let mut ask = apt();
    ask.args(["install", "--print-uris", "-qq", "--no-install-recommends"]).args(PACKAGES);
    let listed = said_by(ask).context("install `chromium` and `chromium-driver`")?;
    // A line is `'ADDRESS' NAME_VERSION_ARCHITECTURE.deb SIZE HASH`.
    let files = listed.lines().filter_map(|line| line.split(' ').nth(1));
    let names: Vec<&str> = files.filter_map(|file| file.split('_').next()).collect();
    let mut download = apt();
    download.args(["download", "-qq"]).args(&names).current_dir(&debs);
    said_by(download)?;
    for entry in fs::read_dir(&debs)? {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(entry?.path()).arg(unpacked);
        said_by(unpack)?;
    }
    fs::remove_dir_all(&debs)?;
    Ok(fs::remove_dir_all(&lists)?)
}

/// Names the fonts of the machine, and those that were unpacked.
fn write_fonts(folder: &Path, unpacked: &Path) -> Result<()> {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<fontconfig>\n<dir>/usr/share/fonts</dir>\n\
         <dir>{}/usr/share/fonts</dir>\n<cachedir>{}/fonts</cachedir>\n</fontconfig>\n",
        unpacked.display(),
        folder.display()
    );
    fs::write(folder.join("fonts.conf"), text).context("cannot write the list of fonts")
}

/// Writes the script that starts a program with the libraries that were unpacked.
fn write_starter(folder: &Path, name: &str, program: &Path, unpacked: &Path) -> Result<()> {
    let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"]
        .map(|part| unpacked.join(part).display().to_string());
    let [usr, lib] = libraries;
    let text = format!(
        "#!/bin/sh\nexport LD_LIBRARY_PATH='{usr}:{lib}:{usr}/pulseaudio'\n\
         export FONTCONFIG_FILE='{}/fonts.conf'\nexec '{}' \"$@\"\n",
        folder.display(),
        program.display()
    );
    let path = folder.join(name);
    fs::write(&path, text)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(PROGRAM_MODE))?;
    Ok(())
}

fn fetch_checker(folder: &Path, tools: &ClientTools) -> Result<()> {
    let mut pack = tools.npm();
    pack.args(["pack", "--silent", AXE]).current_dir(folder);
    said_by(pack)?;
    let mut sum = Command::new("sha256sum");
    sum.arg(AXE_ARCHIVE).current_dir(folder);
    let found = said_by(sum)?;
    ensure!(
        found.split(' ').next() == Some(AXE_SHA256),
        "`{AXE_ARCHIVE}` is not the file that is meant: {found}"
    );
    let mut unpack = Command::new("tar");
    unpack.args(["-xzOf", AXE_ARCHIVE, "package/axe.min.js"]).current_dir(folder);
    let script = said_by(unpack)?;
    fs::remove_file(folder.join(AXE_ARCHIVE))?;
    fs::write(folder.join("axe.js"), script).context("cannot write the checker")
}

fn on_search_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Runs a program and returns what it prints.
fn said_by(mut command: Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run `{name}`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{name}` failed: {}", said.trim());
    String::from_utf8(output.stdout).with_context(|| format!("`{name}` printed no text"))
}
