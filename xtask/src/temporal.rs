//! A Temporal server to try things with, and for tests: installed below the target folder, by a pinned
//! list with hashes, with the package tools that Python brings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentic_testkit::{LeftServer, TemporalServer};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value as Json, json};

use crate::CheckOutcome;
use crate::clients::done;
use crate::workspace::{root, target_folder};

/// The list of what is installed.
const LIST: &str = "xtask/temporal/requirements.txt";
/// The folder below the target folder.
const FOLDER: &str = "temporal";

/// Installs the server's program where it is not yet, and says where it is.
pub fn install() -> Result<CheckOutcome> {
    println!("{}", program()?.display());
    Ok(CheckOutcome::Good)
}

/// Starts a server, unless one that was started so still runs, and says its address.
pub fn start() -> Result<CheckOutcome> {
    let folder = folder()?;
    let left = match left(&folder) {
        Some(left) => left,
        None => {
            let server = TemporalServer::begin(&program()?, &folder.join("server"))?;
            let left = server.leave().context("it has ended already")?;
            let LeftServer { address, pid, began } = &left;
            let text = json!({ "address": address, "pid": pid, "began": began }).to_string();
            fs::write(state(&folder), text).context("cannot write which server was started")?;
            left
        }
    };
    println!("{}", left.address);
    Ok(CheckOutcome::Good)
}

/// Ends the server that was started so, if it still runs.
pub fn stop() -> Result<CheckOutcome> {
    let folder = folder()?;
    match left(&folder) {
        None => println!("none runs"),
        Some(left) => {
            left.end();
            println!("{} has ended", left.address);
        }
    }
    let _nothing_was_started = fs::remove_file(state(&folder));
    Ok(CheckOutcome::Good)
}

fn folder() -> Result<PathBuf> {
    Ok(target_folder()?.join(FOLDER))
}

fn state(folder: &Path) -> PathBuf {
    folder.join("server.json")
}

/// Finds the server that was left running.
fn left(folder: &Path) -> Option<LeftServer> {
    let said: Json = serde_json::from_slice(&fs::read(state(folder)).ok()?).ok()?;
    let pid = u32::try_from(said["pid"].as_u64()?).ok()?;
    let (address, began) = (said["address"].as_str()?.to_owned(), said["began"].as_u64()?);
    Some(LeftServer { address, pid, began }).filter(LeftServer::is_running)
}

/// Says whether the server is installed.
pub fn is_installed() -> Result<bool> {
    let wanted = fs::read_to_string(root().join(LIST)).context("cannot read what is installed")?;
    let stamp = folder()?.join("installed");
    Ok(fs::read_to_string(stamp).is_ok_and(|installed| installed == wanted))
}

/// Returns the server's program, after it is installed.
pub fn program() -> Result<PathBuf> {
    let folder = folder()?;
    let list = root().join(LIST);
    let wanted = fs::read_to_string(&list).context("cannot read what is installed")?;
    let (venv, stamp) = (folder.join("venv"), folder.join("installed"));
    let program = venv.join("bin").join("temporal");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(program);
    }
    let _nothing_was_installed = fs::remove_dir_all(&venv);
    fs::create_dir_all(&folder).context("cannot make the folder of the server")?;
    done(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let pip = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r"];
    done(Command::new(venv.join("bin").join("python")).args(pip).arg(&list))?;
    ensure!(program.exists(), "the package has no program of the server");
    fs::write(&stamp, wanted)?;
    Ok(program)
}
