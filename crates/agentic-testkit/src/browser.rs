//! A real browser that a test drives as a person would.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::Error;
use crate::webdriver::{WebDriver, wishes};

/// How long is waited for what should come to be.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(20);
/// What WebDriver calls the id of an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The control key.
const CONTROL_KEY: &str = "\u{e009}";
/// The tab key, as WebDriver names it.
pub const TAB_KEY: &str = "\u{e004}";
/// The enter key.
pub const ENTER_KEY: &str = "\u{e007}";
/// The space bar.
pub const SPACE_KEY: &str = " ";

/// A browser with one tab. Dropping it ends the browser.
#[derive(Debug)]
pub struct Browser {
    driver: WebDriver,
    session: String,
    tools: PathBuf,
    _home: tempfile::TempDir,
}

impl Browser {
    /// Opens a browser of those that `cargo xtask browser` keeps in the folder.
    ///
    /// # Errors
    /// Fails when there is none, or when it does not start.
    pub fn open(tools: &Path) -> Result<Browser, Error> {
        let home = tempfile::Builder::new().prefix("agentic-browser-").tempdir();
        let home = home.map_err(Error::file("make a folder for the browser"))?;
        let mut command = Command::new(tools.join("chromedriver"));
        command.env("HOME", home.path()).env("TMPDIR", home.path());
        let driver = WebDriver::start(command)?;
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let wished = wishes(&path(tools.join("chromium")), &path(home.path().join("profile")));
        let begun = driver.ask("POST", "/session", &wished)?;
        let id = begun["sessionId"].as_str().unwrap_or_default();
        let session = format!("/session/{id}");
        Ok(Browser { driver, session, tools: tools.to_owned(), _home: home })
    }

    /// Asks something of the session.
    fn ask(&self, method: &str, path: &str, body: &Json) -> Result<Json, Error> {
        self.driver.ask(method, &format!("{}{path}", self.session), body)
    }

    /// Opens a page.
    ///
    /// # Errors
    /// Fails, as all that follow, when the browser does not do it.
    pub fn go(&self, address: &str) -> Result<(), Error> {
        self.ask("POST", "/url", &json!({ "url": address })).map(drop)
    }

    /// Returns the page's address.
    ///
    /// # Errors
    /// Fails when the browser does not answer.
    pub fn address(&self) -> Result<String, Error> {
        Ok(self.ask("GET", "/url", &Json::Null)?.as_str().unwrap_or_default().to_owned())
    }

    /// Finds the first element that a selector names, and waits for it.
    fn find(&self, selector: &str) -> Result<String, Error> {
        let wanted = json!({ "using": "css selector", "value": selector });
        let begun = Instant::now();
        loop {
            match self.ask("POST", "/element", &wanted) {
                Ok(found) => return Ok(found[ELEMENT].as_str().unwrap_or_default().to_owned()),
                Err(error) if begun.elapsed() > PATIENCE => return Err(error),
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    /// Clicks on an element.
    ///
    /// # Errors
    /// Fails when there is none, or when something lies over it.
    pub fn click(&self, selector: &str) -> Result<(), Error> {
        let element = self.find(selector)?;
        self.ask("POST", &format!("/element/{element}/click"), &json!({})).map(drop)
    }

    /// Types into an element.
    ///
    /// # Errors
    /// Fails when there is none that can be typed into.
    pub fn type_into(&self, selector: &str, text: &str) -> Result<(), Error> {
        let element = self.find(selector)?;
        let path = format!("/element/{element}/value");
        self.ask("POST", &path, &json!({ "text": text })).map(drop)
    }

    /// Presses keys one after the other, wherever the focus is.
    ///
    /// # Errors
    /// Fails when the browser does not take them.
    pub fn press(&self, keys: &str) -> Result<(), Error> {
        let strokes = keys.chars().flat_map(|key| {
            ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
        });
        let strokes: Vec<Json> = strokes.collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes });
        self.ask("POST", "/actions", &json!({ "actions": [keyboard] })).map(drop)
    }

    /// Presses a key while the control key is held.
    ///
    /// # Errors
    /// Fails when the browser does not take it.
    pub fn press_with_control(&self, key: &str) -> Result<(), Error> {
        let stroke = |kind: &str, key: &str| json!({ "type": kind, "value": key });
        let strokes = [
            stroke("keyDown", CONTROL_KEY),
            stroke("keyDown", key),
            stroke("keyUp", key),
            stroke("keyUp", CONTROL_KEY),
        ];
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes });
        self.ask("POST", "/actions", &json!({ "actions": [keyboard] })).map(drop)
    }

    /// Presses the tab key until an element has the focus.
    ///
    /// # Errors
    /// Fails when it never has.
    pub fn tab_to(&self, selector: &str) -> Result<(), Error> {
        let script = "return !!document.activeElement?.matches(arguments[0])";
        for _ in 0..100 {
            self.press(TAB_KEY)?;
            if self.run(script, &[json!(selector)])? == Json::Bool(true) {
                return Ok(());
            }
        }
        Err(Error::Browser { said: format!("no tab key leads to `{selector}`") })
    }

    /// Runs a script in the page, and returns what it returns.
    ///
    /// # Errors
    /// Fails when the script throws.
    pub fn run(&self, script: &str, arguments: &[Json]) -> Result<Json, Error> {
        self.ask("POST", "/execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Runs a script that says by its last argument, a function, what it found.
    ///
    /// # Errors
    /// Fails when the script throws, or never says anything.
    pub fn run_long(&self, script: &str, arguments: &[Json]) -> Result<Json, Error> {
        self.ask("POST", "/execute/async", &json!({ "script": script, "args": arguments }))
    }

    /// Waits until a script returns something that is true, and says how long that took.
    ///
    /// # Errors
    /// Fails when it does not come to be, with what the script returned last.
    pub fn wait_until(&self, script: &str, arguments: &[Json]) -> Result<Duration, Error> {
        let begun = Instant::now();
        loop {
            let found = self.run(script, arguments)?;
            if found == Json::Bool(true) {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > PATIENCE {
                return Err(Error::Browser { said: format!("`{script}` returns {found}") });
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Opens another tab, and returns the name of the one before, which [`Browser::enter_tab`] takes.
    ///
    /// # Errors
    /// Fails when the browser does not.
    pub fn open_tab(&self) -> Result<String, Error> {
        let before = self.ask("GET", "/window", &Json::Null)?;
        let opened = self.ask("POST", "/window/new", &json!({ "type": "tab" }))?;
        self.enter_tab(opened["handle"].as_str().unwrap_or_default())?;
        Ok(before.as_str().unwrap_or_default().to_owned())
    }

    /// Turns to a tab.
    ///
    /// # Errors
    /// Fails when there is no such tab.
    pub fn enter_tab(&self, tab: &str) -> Result<(), Error> {
        self.ask("POST", "/window", &json!({ "handle": tab })).map(drop)
    }

    /// Turns to the first frame of the page, whatever page stands in it.
    ///
    /// # Errors
    /// Fails when there is none.
    pub fn enter_frame(&self) -> Result<(), Error> {
        self.ask("POST", "/frame", &json!({ "id": 0 })).map(drop)
    }

    /// Turns from a frame to the page that it stands in.
    ///
    /// # Errors
    /// Fails when the browser does not.
    pub fn leave_frame(&self) -> Result<(), Error> {
        self.ask("POST", "/frame", &json!({ "id": null })).map(drop)
    }

    /// Waits until an element's text has some words.
    ///
    /// # Errors
    /// Fails when it does not come to have them.
    pub fn wait_for(&self, selector: &str, words: &str) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            let said = self.text(selector);
            if said.as_ref().is_ok_and(|said| said.contains(words)) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                let said = format!("no `{words}` in `{selector}`, which says {said:?}");
                return Err(Error::Browser { said });
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Returns the text of an element as it stands in the page, whether it is seen or not.
    ///
    /// # Errors
    /// Fails when there is no such element.
    pub fn text(&self, selector: &str) -> Result<String, Error> {
        let script = "return document.querySelector(arguments[0]).textContent";
        Ok(self.run(script, &[json!(selector)])?.as_str().unwrap_or_default().to_owned())
    }

    /// Forbids pages their script.
    ///
    /// # Errors
    /// Fails when the browser does not.
    pub fn forbid_scripts(&self) -> Result<(), Error> {
        self.command("Emulation.setScriptExecutionDisabled", &json!({ "value": true }))
    }

    /// Tells pages that the person likes `light` or `dark`.
    ///
    /// # Errors
    /// Fails when the browser does not.
    pub fn prefer(&self, scheme: &str) -> Result<(), Error> {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.command("Emulation.setEmulatedMedia", &json!({ "features": [feature] }))
    }

    /// Makes the page so many pixels wide.
    ///
    /// # Errors
    /// Fails when the browser does not.
    pub fn be_wide(&self, width: u32) -> Result<(), Error> {
        let size =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", &size)
    }

    fn command(&self, name: &str, parameters: &Json) -> Result<(), Error> {
        let body = json!({ "cmd": name, "params": parameters });
        self.ask("POST", "/goog/cdp/execute", &body).map(drop)
    }

    /// Returns a picture of what is seen, as PNG.
    ///
    /// # Errors
    /// Fails when the browser gives none.
    pub fn picture(&self) -> Result<Vec<u8>, Error> {
        let picture = self.ask("GET", "/screenshot", &Json::Null)?;
        let bytes = STANDARD.decode(picture.as_str().unwrap_or_default());
        bytes.map_err(|error| Error::Browser { said: format!("the picture is broken: {error}") })
    }

    /// Returns what the console said since it was asked last.
    ///
    /// # Errors
    /// Fails when the browser does not tell.
    pub fn console(&self) -> Result<Vec<String>, Error> {
        let entries = self.ask("POST", "/se/log", &json!({ "type": "browser" }))?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let text = |entry: &Json| entry["message"].as_str().unwrap_or_default().to_owned();
        Ok(entries.iter().map(text).collect())
    }

    /// Looks for what keeps people out, and returns it: the rule, and the elements that break it.
    ///
    /// # Errors
    /// Fails when the checker does not run.
    pub fn barriers(&self) -> Result<Vec<String>, Error> {
        let checker = std::fs::read_to_string(self.tools.join("axe.js"));
        let checker = checker.map_err(Error::file("read the checker of `cargo xtask browser`"))?;
        let done = "const done = arguments[arguments.length - 1];
            axe.run().then(found => done(found.violations.map(rule =>
              rule.id + ': ' + rule.nodes.map(node => node.html).join(' '))), error => done([String(error)]))";
        self.run(&checker, &[])?;
        let found = self.run_long(done, &[])?;
        let found = found.as_array().cloned().unwrap_or_default();
        Ok(found.iter().map(|rule| rule.as_str().unwrap_or_default().to_owned()).collect())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Else its processes would be ended in the middle of writing.
        let _ended_already = self.ask("DELETE", "", &Json::Null);
    }
}
