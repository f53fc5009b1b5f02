//! `agentic serve`

mod browser;
mod detach;
mod login;
mod token;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use agentic_api::Refusal;
use agentic_api::view::{
    IndexStateView, ServeAddressView, ServeDoneView, ServeStatusView, ServeStopView,
};
use agentic_resident::{
    Inheritance, Resident, ResidentClient, ResidentOptions, ServeFolder, Whereabouts,
};
use agentic_session::SessionSpace;
use agentic_web::{PageCode, PageHost, ServeOptions};
use clap::Subcommand;

use self::browser::{OpenedPage, show_page};
use self::login::LoginArgs;
use self::token::TokenArgs;
use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// How long an answer of the process may take.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
/// How long the process may take to end.
const END_WAIT: Duration = Duration::from_secs(10);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// Stay with the repository: a page where people look and decide, on this machine alone
///
/// No other command waits for it. `agentic serve open` opens the page in a browser.
///
/// Example: agentic serve --open
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub struct ServeArgs {
    /// Listen on this port; else on one of the repository's own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "no_tcp")]
    port: Option<u16>,
    /// Have the page at 127.0.0.1, to look only: for browsers that know no names below localhost
    #[arg(long, conflicts_with = "no_tcp")]
    plain_host: bool,
    /// Only the socket: no page, for commands alone
    #[arg(long)]
    no_tcp: bool,
    /// Let nobody decide through the page
    #[arg(long)]
    read_only: bool,
    /// Serve the Model Context Protocol to programs with a token, at `/mcp`
    #[arg(long)]
    mcp: bool,
    /// Drive durable runs too, as `agentic flow worker` does
    #[arg(long)]
    drive: bool,
    /// Open the page in a browser
    #[arg(long, conflicts_with = "no_tcp")]
    open: bool,
    /// Go on in the background, once the page can be had
    #[arg(long)]
    detach: bool,
    /// Take over from the program before, of which this process was; said by nobody else
    #[arg(long, hide = true, conflicts_with = "detach")]
    again: bool,
    /// What it says goes to its log, where no address stands that logs in; said by `--detach` alone
    #[arg(long, hide = true, conflicts_with = "detach")]
    logged: bool,
    /// What to do with the process that stays
    #[command(subcommand)]
    verb: Option<ServeVerb>,
}

/// What can be done with the process that stays.
#[derive(Debug, Subcommand)]
enum ServeVerb {
    /// Open the page in a browser, logged in
    ///
    /// Example: agentic serve open
    #[command(verbatim_doc_comment)]
    Open(OpenArgs),
    /// Say whether a process serves this repository, and how it is
    ///
    /// Exits with 1 when none does.
    ///
    /// Example: agentic serve status --json
    #[command(verbatim_doc_comment)]
    Status,
    /// End the process that serves this repository
    ///
    /// Example: agentic serve stop
    #[command(verbatim_doc_comment)]
    Stop,
    /// Make the index anew, from which searches are answered
    ///
    /// It holds nothing that the repository does not have.
    ///
    /// Example: agentic serve rebuild
    #[command(verbatim_doc_comment)]
    Rebuild,
    /// Make a token with which a program may speak to the page's `/mcp`
    ///
    /// It is printed once. One of the same name is replaced.
    ///
    /// Example: agentic serve token editor --read-only
    #[command(verbatim_doc_comment)]
    Token(TokenArgs),
    /// Log in at the page of a repository that another person serves, by a key of SSH
    ///
    /// The repository names the key as yours in `agentic.deciders`. Where it is on another machine a
    /// tunnel leads to it: `ssh -L PORT:127.0.0.1:PORT MACHINE`, with the port of its page. Prints an
    /// address that is good once.
    ///
    /// Example: agentic serve login http://a-bcdefghijklmnopqrstuvwxyz2.localhost:42001 || true
    #[command(verbatim_doc_comment)]
    Login(LoginArgs),
    /// End all logins
    ///
    /// Example: agentic serve logout
    #[command(verbatim_doc_comment)]
    Logout,
}

/// How the page is opened.
#[derive(Debug, clap::Args)]
struct OpenArgs {
    /// Print the address with its code, which is good once, and open nothing
    #[arg(long)]
    print: bool,
    /// Log in to look only
    #[arg(long)]
    read: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: ServeArgs) -> VerbOutcome {
    match args.verb {
        None => serve(context, &args),
        Some(ServeVerb::Open(open_args)) => open(context, &open_args),
        Some(ServeVerb::Status) => status(context),
        Some(ServeVerb::Stop) => stop(context),
        Some(ServeVerb::Token(token_args)) => token::run(context, token_args),
        Some(ServeVerb::Login(login_args)) => login::run(context, login_args),
        Some(ServeVerb::Logout) => log_out(context),
        Some(ServeVerb::Rebuild) => rebuild(context),
    }
}

fn serve(context: &Context, args: &ServeArgs) -> VerbOutcome {
    if args.detach {
        return detach::begin(context, args);
    }
    // Before there is any child of this program.
    let inheritance = args.again.then(Inheritance::take).transpose();
    let inheritance = inheritance.map_err(|error| Refusal::of(&error))?;
    let (own, page) = inheritance.map(|left| (left.process, left.page)).unzip();
    let space = context.space()?;
    space.repository().follow_configuration();
    let caller = context.caller(&space);
    // What an agent began, nobody decides through.
    let is_read_only = args.read_only || caller.require_person("serve").is_err();
    let stop = context.listen()?;
    let folder = context.directory.clone();
    let options = ResidentOptions { folder, is_read_only, drives: args.drive, stop };
    let space = of_repository(context, space)?;
    let resident = Resident::begin(space, options, own).map_err(|error| Refusal::of(&error))?;
    let protocol = match args.mcp {
        true => Some(token::protocol(context, &resident)?),
        false => None,
    };
    let host = if args.plain_host { PageHost::Plain } else { PageHost::Own };
    let (port, is_socket_only) = (args.port, args.no_tcp);
    let serving = ServeOptions { port, host, is_socket_only, protocol, inheritance: page };
    let is_opened = args.open && !args.again;
    let ready = |at: &Whereabouts, code: &dyn Fn() -> Option<PageCode>| {
        match &at.url {
            Some(url) => talk(&format!("serving {url}\nhint: `agentic serve open` opens the page")),
            None => talk("serving on the socket alone"),
        }
        if args.plain_host {
            talk("hint: logins there may only look; `agentic decide` answers in a terminal");
        }
        let Some(code) = is_opened.then(code).flatten() else { return };
        let address = code.address(at);
        let otherwise = match args.logged {
            true => "hint: `agentic serve open --print` prints an address that logs in".to_owned(),
            false => address.clone(),
        };
        let fail = move |error: &std::io::Error| {
            warn_unopened(error);
            talk(&otherwise);
        };
        match show_page(&address) {
            Ok(opened) => drop(std::thread::spawn(move || {
                if let Err(error) = opened.wait() {
                    fail(&error);
                }
            })),
            Err(error) => fail(&error),
        }
    };
    agentic_web::serve(resident, serving, ready).map_err(|error| Refusal::of(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the repository itself where the command runs in a linked worktree, which may be removed with its own
/// git directory while this process stays.
fn of_repository(context: &Context, space: SessionSpace) -> Result<SessionSpace, CommandFailure> {
    let repository = space.repository();
    let common_dir = repository.common_dir();
    let is_linked = std::fs::canonicalize(repository.git_dir()).is_ok_and(|own| own != common_dir);
    if !is_linked || std::env::var_os("GIT_DIR").is_some() {
        return Ok(space);
    }
    let main = repository.main_worktree().map(|main| main.path);
    let lasting = context.at(main.unwrap_or_else(|| common_dir.to_owned())).space_as_is()?;
    lasting.repository().follow_configuration();
    Ok(lasting)
}

fn warn_unopened(error: &std::io::Error) {
    talk(&format!("warning: no browser could be opened: {error}"));
}

/// Finds the process that serves the repository.
fn client(space: &SessionSpace) -> Result<ResidentClient, CommandFailure> {
    let layout = space.repository().layout();
    ResidentClient::find(layout).ok_or_else(|| match ServeFolder::of(layout).is_locked() {
        true => CommandFailure::refused(
            "a process serves this repository and does not answer",
            "it may be starting, ending or stopped: `agentic serve stop` ends it",
        ),
        false => CommandFailure::refused(
            "nothing serves this repository",
            "`agentic serve` does, in a terminal of its own, or `agentic serve --detach`",
        ),
    })
}

fn open(context: &Context, args: &OpenArgs) -> VerbOutcome {
    let space = context.space_as_is()?;
    context.caller(&space).require_person("open the page")?;
    let client = client(&space)?;
    if client.at.url.is_none() {
        return Err(CommandFailure::refused(
            "this process has no page",
            "start it without `--no-tcp`",
        ));
    }
    let body = serde_json::json!({ "read_only": args.read });
    let reply = client.post("/control/codes", &body, ANSWER_WAIT);
    let reply = reply.map_err(|error| CommandFailure::io("ask for a login", &error))?;
    let code: Option<PageCode> =
        (reply.status == 200).then(|| serde_json::from_slice(&reply.body).ok()).flatten();
    let Some(code) = code else {
        let said = String::from_utf8_lossy(&reply.body);
        return Err(CommandFailure::refused(
            &format!("no login was given: {}", said.trim()),
            "`agentic serve status` shows how the process is",
        ));
    };
    let address = code.address(&client.at);
    if !args.print {
        match show_page(&address).and_then(OpenedPage::wait) {
            Ok(()) => return Ok(ExitCode::SUCCESS),
            Err(error) => warn_unopened(&error),
        }
    }
    context.format.answer(&ServeAddressView { address }, |view| view.address.clone());
    Ok(ExitCode::SUCCESS)
}

fn status(context: &Context) -> VerbOutcome {
    let space = context.space_as_is()?;
    let client = client(&space)?;
    let reply = client.get("/api/v1/health", ANSWER_WAIT);
    let reply = reply.map_err(|error| CommandFailure::io("ask how the process is", &error))?;
    let view: ServeStatusView = serde_json::from_slice(&reply.body).map_err(|error| {
        let hint = "end it with `agentic serve stop`, and start it anew";
        CommandFailure::refused(&format!("the process speaks another language: {error}"), hint)
    })?;
    context.format.answer(&view, status_text);
    Ok(ExitCode::SUCCESS)
}

fn status_text(view: &ServeStatusView) -> String {
    let mut lines = vec![
        format!("process {} of version {}", view.pid, view.version),
        format!("since {}", view.since),
        format!("serves {}", view.repository),
    ];
    lines.extend(view.url.as_ref().map(|url| format!("page {url}")));
    lines.push(format!("watch {}", view.watch));
    lines.push(format!("index of agents {}", index_text(&view.index.main)));
    lines.push(format!("index of texts {}", index_text(&view.index.text)));
    lines.push(format!("events {}, listeners {}", view.n, view.streams));
    lines.push(match (view.driven, view.timers_due) {
        (true, _) => "a worker drives runs".to_owned(),
        (false, 0) => "nobody drives runs here".to_owned(),
        (false, due) => format!("{due} timers are due, and nobody drives them here"),
    });
    if view.read_only {
        lines.push("read-only".to_owned());
    }
    lines.join("\n")
}

fn index_text(index: &IndexStateView) -> String {
    match (index.done, index.of, &index.why) {
        (Some(done), Some(of), _) => format!("{}, {done} of {of}", index.state),
        (_, _, Some(why)) => format!("{}: {why}", index.state),
        (_, _, None) => index.state.clone(),
    }
}

fn rebuild(context: &Context) -> VerbOutcome {
    let space = context.space_as_is()?;
    context.caller(&space).require_person("make the index anew")?;
    let layout = space.repository().layout();
    if !ServeFolder::of(layout).is_locked() {
        // Whoever serves the repository next makes one.
        match std::fs::remove_dir_all(layout.index()) {
            Ok(()) => talk("the next `agentic serve` makes the index anew"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                talk("there is no index; `agentic serve` makes one");
            }
            Err(error) => return Err(CommandFailure::io("remove the index", &error)),
        }
        context.format.answer_told(&ServeDoneView {});
        return Ok(ExitCode::SUCCESS);
    }
    tell(&client(&space)?, "/control/rebuild", "make the index anew")?;
    talk("the index is being made anew");
    context.format.answer_told(&ServeDoneView {});
    Ok(ExitCode::SUCCESS)
}

/// Has the process do something that needs no more than its name.
fn tell(client: &ResidentClient, path: &str, doing: &str) -> Result<(), CommandFailure> {
    let reply = client.post(path, &serde_json::json!({}), ANSWER_WAIT);
    let reply = reply.map_err(|error| CommandFailure::io(doing, &error))?;
    match reply.status {
        200 => Ok(()),
        _ => Err(CommandFailure::refused(
            String::from_utf8_lossy(&reply.body).trim(),
            "`agentic serve status` shows how the process is",
        )),
    }
}

fn stop(context: &Context) -> VerbOutcome {
    let space = context.space_as_is()?;
    context.caller(&space).require_person("end the process that serves")?;
    let folder = ServeFolder::of(space.repository().layout());
    let said = folder.whereabouts().map(|at| at.process);
    let said = said.filter(|process| folder.is_locked() && process.is_alive());
    let Some(process) = said.or_else(|| folder.holder()) else {
        return Err(CommandFailure::refused(
            "nothing serves this repository",
            "`agentic serve` does",
        ));
    };
    if !process.ask_to_end() {
        let hint = "end it yourself, by its number";
        let message = format!("process {} cannot be asked to end", process.pid);
        return Err(CommandFailure::refused(&message, hint));
    }
    let begun = Instant::now();
    while folder.is_locked() && process.is_alive() {
        if begun.elapsed() > END_WAIT {
            return Err(CommandFailure::refused(
                &format!("process {} was asked to end and has not", process.pid),
                "it may be stopped, or busy: look at it, or end it by its number",
            ));
        }
        std::thread::sleep(LOOK);
    }
    talk(&format!("ended process {}", process.pid));
    context.format.answer_told(&ServeStopView { pid: process.pid });
    Ok(ExitCode::SUCCESS)
}

fn log_out(context: &Context) -> VerbOutcome {
    let space = context.space_as_is()?;
    context.caller(&space).require_person("end logins")?;
    let client = client(&space)?;
    tell(&client, "/control/logout", "end all logins")?;
    talk("ended all logins");
    context.format.answer_told(&ServeDoneView {});
    Ok(ExitCode::SUCCESS)
}
