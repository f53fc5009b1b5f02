//! Playing one case in a sandbox of its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use agentic_testkit::{GroundState, Sandbox, Templates, run, write_program};

use crate::SuiteChoice;
use crate::case::{
    Case, CaseCommand, CaseStep, FileContents, FilePermission, GroundWatch, LastCheck,
};
use crate::cluster::{CaseCluster, CaseWorkers};
use crate::company::{CaseCompany, CaseServer};
use crate::suite::SuiteItem;
use crate::{check, objects};

/// What cases are played with.
pub(crate) struct CaseSurroundings<'r> {
    /// What is judged, and how.
    pub options: &'r SuiteChoice,
    /// Where their repositories come from.
    pub templates: Templates,
    /// The server that drives what runs there, if one does.
    pub cluster: Option<CaseCluster>,
}

/// What became of a case.
pub(crate) enum CaseVerdict {
    /// It passed.
    Passed { by: CaseDriver },
    /// It failed, and this is why.
    Failed(String),
    /// It was not played, for a reason: it needs something that is not there.
    Apart(String),
}

/// Who drove what runs in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseDriver {
    /// The program itself, or nobody: nothing ran.
    Itself,
    /// A server.
    Server,
}

/// Plays an item, which is the so many-th of all, and says what became of it.
pub(crate) fn judge(item: &SuiteItem, at: usize, around: &CaseSurroundings<'_>) -> CaseVerdict {
    let case = match item {
        SuiteItem::Case { case, .. } => case,
        SuiteItem::Malformed { malformed, .. } => {
            return CaseVerdict::Failed(malformed.to_string());
        }
    };
    let lacking = around.options.company.lacks();
    if let Some(reason) = lacking.iter().find_map(|need| case.needs.get(need)) {
        return CaseVerdict::Apart(reason.clone());
    }
    match play(case, at, around) {
        Ok(by) => CaseVerdict::Passed { by },
        Err(text) => CaseVerdict::Failed(text),
    }
}

/// A sandbox in the middle of a case.
pub(crate) struct CaseStage {
    sandbox: Sandbox,
    folder: PathBuf,
    environment: BTreeMap<String, String>,
    captured: BTreeMap<String, String>,
    /// Those who perform what a server drives, where one does.
    workers: Option<CaseWorkers>,
}

fn play(case: &Case, at: usize, around: &CaseSurroundings<'_>) -> Result<CaseDriver, String> {
    let CaseSurroundings { options, templates, cluster } = around;
    let sandbox = templates.sandbox(case.setup).map_err(|error| error.to_string())?;
    sandbox.install("agentic", &options.bin).map_err(|error| error.to_string())?;
    let mut stage = CaseStage {
        folder: sandbox.start().to_owned(),
        sandbox,
        environment: cluster.as_ref().map(|it| it.variables(at)).unwrap_or_default(),
        captured: BTreeMap::new(),
        workers: cluster.as_ref().map(|_| CaseWorkers::default()),
    };
    let _server = match options.company {
        CaseCompany::Nobody | CaseCompany::NobodyNear | CaseCompany::Temporal { .. } => None,
        CaseCompany::Server => CaseServer::begin(&stage.sandbox, case.setup)?,
    };
    for step in &case.steps {
        stage.play_step(step, options).map_err(|wrong| stage.with_workers(wrong))?;
    }
    // They would write while everything is read.
    stage.workers.iter_mut().for_each(CaseWorkers::end);
    match case.last_check {
        LastCheck::Whole => objects::check(&stage.sandbox)?,
        LastCheck::DamagedOnPurpose => {}
    }
    match stage.workers.as_ref().is_some_and(CaseWorkers::have_worked) {
        true => Ok(CaseDriver::Server),
        false => Ok(CaseDriver::Itself),
    }
}

impl CaseStage {
    fn play_step(&mut self, step: &CaseStep, options: &SuiteChoice) -> Result<(), String> {
        match step {
            CaseStep::File { path, content, mode } => self.write_file(path, content, *mode),
            CaseStep::Link { path, target } => {
                let path = self.folder.join(path);
                symlink(target, &path).map_err(|error| format!("link {}: {error}", path.display()))
            }
            CaseStep::Folder { path } => {
                self.folder = self.folder.join(self.fill(path)?);
                if self.folder.is_dir() {
                    Ok(())
                } else {
                    Err(format!("cd {path}: no such folder"))
                }
            }
            CaseStep::Variable { name, value } => {
                let value = self.fill(value)?;
                self.environment.insert(name.clone(), value);
                // Who works has the environment of the commands.
                self.workers.iter_mut().for_each(CaseWorkers::end);
                Ok(())
            }
            CaseStep::Command(command) => self
                .play_command(command, options)
                .map_err(|text| format!("line {}: $ {}\n{text}", command.line, command.script)),
        }
    }

    fn write_file(
        &self,
        path: &str,
        content: &FileContents,
        mode: FilePermission,
    ) -> Result<(), String> {
        let path = self.folder.join(path);
        let bytes = match content {
            FileContents::Text(text) => self.fill(text)?.into_bytes(),
            FileContents::Bytes(bytes) => bytes.clone(),
        };
        let parent = path.parent().expect("a file is inside a folder");
        fs::create_dir_all(parent)
            .and_then(|()| match mode {
                FilePermission::Plain => {
                    fs::write(&path, bytes)?;
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o644))
                }
                FilePermission::Executable => write_program(&path, &bytes),
            })
            .map_err(|error| format!("write {}: {error}", path.display()))
    }

    fn play_command(&mut self, command: &CaseCommand, options: &SuiteChoice) -> Result<(), String> {
        let before = self.watched_state(command.watch)?;
        let mut shell = self.sandbox.command("sh", &self.folder);
        shell.args(["-e", "-u", "-c", &command.script]);
        shell.envs(&self.environment).envs(&self.captured);
        let stdin = self.fill(&command.stdin)?;
        let act = || run(shell, stdin.as_bytes(), options.command_limit);
        let finished = match &mut self.workers {
            Some(workers) => workers.beside(&self.sandbox, &self.environment, act),
            None => act(),
        };
        let finished = finished.map_err(|error| error.to_string())?;
        check::command(command, &finished, self)
            .map_err(|wrong| format!("{wrong}\n{}", check::streams_text(&finished)))?;
        let Some(before) = before else { return Ok(()) };
        let after = GroundState::read(&self.sandbox).map_err(|error| error.to_string())?;
        let difference = before.difference(&after);
        if difference.is_empty() {
            return Ok(());
        }
        Err(format!("must change nothing, but:\n  {}", difference.join("\n  ")))
    }

    /// Adds to what is wrong what workers said.
    fn with_workers(&self, wrong: String) -> String {
        match CaseWorkers::said(&self.sandbox) {
            said if said.is_empty() => wrong,
            said => format!("{wrong}\nworkers:\n{said}"),
        }
    }

    fn watched_state(&self, watch: GroundWatch) -> Result<Option<GroundState>, String> {
        match watch {
            GroundWatch::MayChange => Ok(None),
            GroundWatch::MustNotChange => {
                GroundState::read(&self.sandbox).map(Some).map_err(|error| error.to_string())
            }
        }
    }

    /// Replaces `${name}` by what was captured under that name.
    pub fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) =
                after.split_once('}').ok_or(format!("`${{` without `}}` in `{text}`"))?;
            let value = self.captured.get(name).ok_or(format!("nothing is called `{name}`"))?;
            filled.push_str(before);
            filled.push_str(value);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// Lets a name stand for a value from now on, in expectations and in commands.
    pub fn capture(&mut self, name: &str, value: String) {
        self.captured.insert(name.to_owned(), value);
    }
}
