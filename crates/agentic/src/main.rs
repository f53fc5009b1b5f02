//! The `agentic` command: arguments, text and colours, one file for each verb.

mod alias;
mod cli;
mod commands;
mod context;
mod engine;
mod failure;
mod follower;
mod grace;
mod language;
mod line_writer;
mod live;
mod logging;
mod output;
mod program;
mod screen;
mod text;

use std::process::ExitCode;

fn main() -> ExitCode {
    agentic_providers::process::serve();
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return answered(code, false),
    };
    cli.color.apply();
    let json = cli.json;
    let code = match logging::begin(cli.verbose).and_then(|()| commands::run(cli)) {
        Ok(code) => code,
        Err(failure) => {
            failure.report(json);
            ExitCode::from(failure.code())
        }
    };
    answered(code, json)
}

/// Returns the exit code of a command: nobody takes an answer that is not there for success.
fn answered(code: ExitCode, json: bool) -> ExitCode {
    let Some(error) = output::loss() else { return code };
    let failure = failure::CommandFailure::unwritten(error);
    failure.report(json);
    // What else there is to say, such as that a human is waited for, is still so.
    if code == ExitCode::SUCCESS { ExitCode::from(failure.code()) } else { code }
}
