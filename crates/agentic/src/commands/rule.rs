//! `agentic rule …`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{RuleAdd, RuleAddOutcome, RuleList, RuleLog, RuleRemove, RuleShow};
use agentic_api::view::{RuleChangeView, RuleShowView, RuleVersionView, RuleView};
use clap::Subcommand;

use super::VerbOutcome;
use super::query::{checked, refuse};
use crate::context::Context;
use crate::output::{Format, talk, warn_of};
use crate::program::show;

/// Store rules of queries under names, and look at those that there are
#[derive(Debug, Subcommand)]
pub enum RuleVerb {
    /// Store rules under a name, or move a name to other rules
    ///
    /// They are checked first. What they use by name is pinned to what that name means now. An agent
    /// may not move a name that a person set.
    ///
    /// Example: agentic rule add fresh fresh.dl -m "For the morning"
    #[command(verbatim_doc_comment)]
    Add {
        /// The name
        name: String,
        /// The rules, or - for standard input
        file: String,
        /// Why
        #[arg(short, long, value_name = "TEXT", default_value = "")]
        message: String,
        /// Fail unless the name means this object until now
        #[arg(long, value_name = "CID")]
        expect: Option<String>,
        /// Choose these rules where another clone changed the name, too
        #[arg(long)]
        resolve: bool,
    },
    /// List the rules that have a name, those that come with the program last
    ///
    /// Example: agentic rule list
    #[command(verbatim_doc_comment)]
    List,
    /// Print rules, and what is known of them as comments before them
    ///
    /// Example: agentic rule show stuck
    #[command(verbatim_doc_comment)]
    Show {
        /// The name, or REMOTE/NAME
        name: String,
    },
    /// List the changes of a name, newest first
    ///
    /// Example: agentic rule log fresh
    #[command(verbatim_doc_comment)]
    Log {
        /// The name, or REMOTE/NAME
        name: String,
    },
    /// Take a name away; what it meant stays stored
    ///
    /// Example: agentic rule remove fresh -m "Nobody asks for it"
    #[command(verbatim_doc_comment)]
    Remove {
        /// The name
        name: String,
        /// Why
        #[arg(short, long, value_name = "TEXT", default_value = "")]
        message: String,
        /// Fail unless the name means this object until now
        #[arg(long, value_name = "CID")]
        expect: Option<String>,
        /// Remove it where another clone changed the name, too
        #[arg(long)]
        resolve: bool,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: RuleVerb) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    match verb {
        RuleVerb::Add { name, file, message, expect, resolve } => {
            let source = context.named_text(&file)?.read(&context.surroundings())?;
            let file = Some(file);
            let add = RuleAdd { name, source, file, why: message, expect, resolve };
            match add.store(&caller)? {
                RuleAddOutcome::Refused(findings) => {
                    return refuse(context, &findings, findings.refusal_of("the rules have"));
                }
                RuleAddOutcome::Stored { reply, warnings } => {
                    show(&checked(&warnings));
                    warn_of(&reply.notices);
                    if !reply.answer.changed {
                        talk("nothing changed");
                    }
                    context.format.answer(&reply.answer, |view| {
                        format!("{} {}", view.name, view.cid.as_deref().unwrap_or_default())
                    });
                }
            }
        }
        RuleVerb::List => {
            let reply = RuleList {}.run(&caller)?;
            warn_of(&reply.notices);
            context
                .format
                .answer(reply.answer.as_slice(), |views| views.iter().map(line).collect());
        }
        RuleVerb::Show { name } => {
            let view = RuleShow { name }.run(&caller)?.answer;
            // From a pipe it is a rule file again, with the same meaning.
            context.format.answer(&view, shown);
        }
        RuleVerb::Log { name } => {
            let changes = RuleLog { name }.run(&caller)?.answer;
            context
                .format
                .answer(changes.as_slice(), |changes| changes.iter().map(change).collect());
        }
        RuleVerb::Remove { name, message, expect, resolve } => {
            let reply = RuleRemove { name, why: message, expect, resolve }.run(&caller)?;
            warn_of(&reply.notices);
            if context.format == Format::Json {
                context.format.answer(&reply.answer, |_| String::new());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(view: &RuleView) -> String {
    let what = match (&view.damaged, &view.version, &view.contested) {
        (Some(why), _, _) => format!("damaged: {why}"),
        (None, None, Some(_)) => "removed here".to_owned(),
        (None, _, _) => view.purpose.clone(),
    };
    let by = view.version.as_ref().map_or(view.origin.as_str(), |version| version.by.as_str());
    let mut text = format!("{:24} {by:16} {what}", view.name).trim_end().to_owned() + "\n";
    if let Some(there) = &view.contested {
        text += &format!("  contested: {} by {} at {}\n", there.cid, there.by, there.at);
    }
    text
}

fn shown(view: &RuleShowView) -> String {
    let version = |what: &str, version: &RuleVersionView| {
        format!("// {what}{} by {} at {}\n", version.cid, version.by, version.at)
    };
    let mut text = format!("// {} ({})\n", view.rule.name, view.rule.origin);
    text += &view.rule.version.as_ref().map_or_else(String::new, |found| version("", found));
    for (name, cid) in &view.uses {
        text += &format!("// uses {name} {cid}\n");
    }
    let ended = |source: &str| format!("{}\n", source.trim_end_matches('\n'));
    text += &view.source.as_deref().map_or_else(|| "// removed here\n".to_owned(), ended);
    if let (Some(there), Some(source)) = (&view.rule.contested, &view.contested_source) {
        text += &version("contested: ", there);
        text += &source.lines().map(|line| format!("// | {line}\n")).collect::<String>();
    }
    text
}

fn change(change: &RuleChangeView) -> String {
    let what = change.cid.as_deref().unwrap_or("removed");
    let signed = if change.signed { " (signed)" } else { "" };
    let mut text = format!("{} {} {}{signed}\n", change.at, change.by, what);
    text += &change.why.lines().map(|line| format!("    {line}\n")).collect::<String>();
    text
}
