//! The lines of queries: rules stay, questions are answered at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant as Moment;

use agentic_diag::SourceText;
use agentic_query::{
    QueryOutline, declared_params, defined_predicates, query_outline, without_queries,
};
use agentic_session::SessionSpace;

use super::{ReplNext, ReplOutput, ReplReply, ReplWords, TriedLanguage};
use crate::program::{NamedText, ProgramFindings};
use crate::rule_files::RuleShelf;
use crate::verb::{
    AnsweredQuery, AskQuery, QueryOutcome, QueryTextFindings, RuleShow, Verb as _, check_rules,
    query_predicates,
};
use crate::view::PredicateView;
use crate::{Caller, Refusal, Surroundings};

/// What is said first.
const BANNER: &str = "Queries; `:help` lists the commands";
/// What findings call what was typed.
const TYPED: &str = "repl";
/// The commands, with what `:help` says of each.
const COMMANDS: [(&str, &str); 13] = [
    (":help", "show this"),
    (":schema", "[P]  list what there is, or the columns of one predicate"),
    (":rules", "list the rules that have a name"),
    (":named", "NAME [K=V]…  ask rules that have a name"),
    (":param", "K=V  give a parameter its value"),
    (":load", "FILE  keep the rules of a file, and ask what it asks"),
    (":show", "[NAME]  print the rules so far, or those of a name"),
    (":why", "N  say why row N of the last answer is one"),
    (":explain", "tell how the last answer came about"),
    (":undo", "forget the last rules"),
    (":reset", "forget all rules and values"),
    (":exit", "leave (also :quit)"),
    (":quit", "leave"),
];

/// What a piece comes to.
type TakenQuery = Result<ReplReply, Refusal>;

/// How queries are tried out.
pub struct QueryReplStart {
    /// The space that is asked.
    pub space: SessionSpace,
    /// A rule file to begin with.
    pub file: Option<String>,
    /// Set by whoever wants a question to end without an answer.
    pub cancel: Arc<AtomicBool>,
}

/// Somebody asks queries line by line.
pub(super) struct QueryRepl {
    space: SessionSpace,
    cancel: Arc<AtomicBool>,
    /// Pieces that have rules, parameters and uses.
    kept: Vec<String>,
    params: BTreeMap<String, String>,
    last: Option<AskQuery>,
}

/// An answer, with the time that it took.
#[derive(Debug)]
pub struct TimedAnswer {
    /// The answer.
    pub answered: AnsweredQuery,
    /// How long it took, in milliseconds.
    pub millis: u128,
    /// What of it is to be shown.
    pub shown: AnswerPart,
}

/// What of an answer is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerPart {
    /// The rows.
    Rows,
    /// Why some rows are answers.
    Reasons,
    /// How it came about.
    Explanation,
}

impl QueryRepl {
    /// Begins, with the rules of a file if one is named.
    pub fn begin(
        start: QueryReplStart,
        here: &Surroundings,
    ) -> Result<(QueryRepl, ReplReply), Refusal> {
        let QueryReplStart { space, file, cancel } = start;
        let (kept, params, last) = (Vec::new(), BTreeMap::new(), None);
        let mut repl = QueryRepl { space, cancel, kept, params, last };
        let mut reply = ReplReply::of(ReplOutput::Said(BANNER.to_owned()));
        if let Some(file) = &file {
            let loaded = repl.load(here, file)?;
            reply.outputs.extend(loaded.outputs);
            reply.next = loaded.next;
        }
        Ok((repl, reply))
    }

    fn caller<'s>(&'s self, here: &Surroundings) -> Caller<'s> {
        Caller { surroundings: here.clone(), ..Caller::new(&self.space, &here.folder) }
    }

    /// Returns a piece with all rules so far. What was typed stands first, so that its places stay.
    fn whole(&self, piece: &str) -> String {
        let kept: String = self.kept.iter().map(|piece| format!("\n{piece}")).collect();
        format!("{piece}{kept}")
    }

    fn piece(&mut self, here: &Surroundings, piece: &str) -> TakenQuery {
        match query_outline(piece) {
            QueryOutline::Nothing => Ok(ReplReply::default()),
            QueryOutline::Rules => self.keep(here, piece),
            // Its end is missing: the finding says so.
            QueryOutline::Open | QueryOutline::Asks => {
                let text = self.whole(piece);
                let (name, params) = (Some(TYPED.to_owned()), self.known_params(&text));
                let query = AskQuery { text, name, params, ..AskQuery::default() };
                let reply = self.ask(here, query)?;
                let rules = without_queries(piece);
                if reply.next == ReplNext::GoOn && !rules.is_empty() {
                    self.kept.push(rules);
                }
                Ok(reply)
            }
        }
    }

    /// Keeps rules unless something is wrong with them.
    fn keep(&mut self, here: &Surroundings, piece: &str) -> TakenQuery {
        let text = self.whole(piece);
        let used = RuleShelf::new(&self.space).used_by(&text)?;
        let checked = check_rules(&self.caller(here), SourceText::new(TYPED, text), &used);
        match checked {
            Ok(warnings) => {
                self.kept.push(piece.to_owned());
                Ok(ReplReply::of(ReplOutput::Findings(shown(&warnings))))
            }
            Err(findings) => Ok(ReplReply::faulty(shown(&findings))),
        }
    }

    fn known_params(&self, text: &str) -> BTreeMap<String, String> {
        let declared = declared_params(text);
        let is_declared = |name: &&String| declared.iter().any(|param| param.name == **name);
        let names = self.params.keys().filter(is_declared);
        names.map(|name| (name.clone(), self.params[name].clone())).collect()
    }

    fn ask(&mut self, here: &Surroundings, query: AskQuery) -> TakenQuery {
        self.last = Some(query.clone());
        self.show(here, &query, AnswerPart::Rows)
    }

    fn show(&self, here: &Surroundings, query: &AskQuery, part: AnswerPart) -> TakenQuery {
        let started = Moment::now();
        match query.ask(&self.caller(here), &self.cancel)? {
            QueryOutcome::Answered(answered) => {
                let millis = started.elapsed().as_millis();
                let answer = TimedAnswer { answered, millis, shown: part };
                Ok(ReplReply::of(ReplOutput::Answer(Box::new(answer))))
            }
            QueryOutcome::Refused(findings) => Ok(ReplReply::faulty(shown(&findings))),
        }
    }

    fn command(&mut self, here: &Surroundings, name: &str, rest: &str) -> TakenQuery {
        match name {
            "help" => Ok(ReplReply::text(help())),
            "schema" => self.schema(here, rest),
            "rules" => {
                let names = RuleShelf::new(&self.space).names()?;
                Ok(ReplReply::text(names.join("\n")))
            }
            "named" => self.named(here, rest),
            "param" => {
                let (name, value) = given(rest)?;
                self.params.insert(name, value);
                Ok(ReplReply::default())
            }
            "load" => self.load(here, rest),
            "show" if rest.is_empty() => Ok(ReplReply::text(self.kept.concat())),
            "show" => {
                let shown = RuleShow { name: rest.to_owned() }.run(&self.caller(here))?.answer;
                Ok(ReplReply::text(shown.source.unwrap_or_default()))
            }
            "why" => self.why(here, rest),
            "explain" => {
                let query = self.last.clone().ok_or_else(nothing_asked)?;
                self.show(here, &query, AnswerPart::Explanation)
            }
            "undo" => {
                self.kept.pop();
                Ok(ReplReply::default())
            }
            "reset" => {
                (self.kept, self.params, self.last) = (Vec::new(), BTreeMap::new(), None);
                Ok(ReplReply::default())
            }
            "exit" | "quit" => Ok(ReplReply::leave()),
            _ => {
                let message = format!("there is no command `:{name}`");
                Err(Refusal::usage(&message, "`:help` lists the commands"))
            }
        }
    }

    fn schema(&self, here: &Surroundings, name: &str) -> TakenQuery {
        let all = query_predicates(&self.caller(here));
        let mut views: Vec<PredicateView> = all.iter().map(PredicateView::from).collect();
        views.sort_by(|left, right| left.name.cmp(&right.name));
        if name.is_empty() {
            return Ok(ReplReply::text(views.iter().map(PredicateView::line).collect::<String>()));
        }
        match views.iter().find(|view| view.name == name) {
            Some(view) => Ok(ReplReply::text(view.whole())),
            None => {
                let message = format!("there is no predicate `{name}`");
                Err(Refusal::refused(&message, "`:schema` lists all of them"))
            }
        }
    }

    fn named(&mut self, here: &Surroundings, rest: &str) -> TakenQuery {
        let mut words = rest.split_whitespace();
        let Some(name) = words.next() else {
            return Err(Refusal::usage("no rules are named", "`:rules` lists their names"));
        };
        let params = words.map(given).collect::<Result<BTreeMap<_, _>, _>>()?;
        let named = Some(name.to_owned());
        self.ask(here, AskQuery { named, params, ..AskQuery::default() })
    }

    fn load(&mut self, here: &Surroundings, file: &str) -> TakenQuery {
        if file.is_empty() {
            return Err(Refusal::usage("no file is named", "`:load FILE` keeps its rules"));
        }
        let text = NamedText::file(file).read(here)?;
        self.piece(here, &text)
    }

    fn why(&self, here: &Surroundings, rest: &str) -> TakenQuery {
        let query = self.last.clone().ok_or_else(nothing_asked)?;
        let row = rest
            .parse()
            .map_err(|_| Refusal::usage("no row is named", "`:why 1` asks about the first one"))?;
        self.show(here, &AskQuery { why: vec![row], ..query }, AnswerPart::Reasons)
    }
}

impl TriedLanguage for QueryRepl {
    fn take(&mut self, here: &Surroundings, piece: &str) -> TakenQuery {
        if let Some(command) = piece.trim().strip_prefix(':') {
            let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
            return self.command(here, name, rest.trim());
        }
        self.piece(here, piece)
    }

    fn is_whole(&self, piece: &str) -> bool {
        piece.trim_start().starts_with(':') || query_outline(piece) != QueryOutline::Open
    }

    fn forgives(&self) -> bool {
        false
    }

    fn words(&self) -> ReplWords {
        let caller = Caller::new(&self.space, std::path::Path::new(""));
        let columns = query_predicates(&caller).into_iter().map(|predicate| {
            let columns = predicate.columns.iter().map(|column| column.name.to_owned());
            (predicate.name.to_owned(), columns.collect())
        });
        let mut predicates: BTreeMap<String, Vec<String>> = columns.collect();
        let text = self.whole("");
        let own = defined_predicates(&text).into_iter().map(|name| (name, Vec::new()));
        predicates.extend(own);
        let params = declared_params(&text).into_iter().map(|param| param.name).collect();
        // A library that cannot be read offers nothing; whoever asks for it is told.
        let rules = RuleShelf::new(&self.space).names().unwrap_or_default();
        let commands = COMMANDS.iter().map(|(name, _)| *name).collect();
        ReplWords { predicates, rules, params, commands }
    }
}

fn help() -> String {
    let line = |(name, what): &(&str, &str)| format!("{name:10}{what}\n");
    let commands: String = COMMANDS.iter().map(line).collect();
    format!("rule.     keep a rule, a parameter, or what is used\n? goals.  ask\n{commands}")
}

fn given(text: &str) -> Result<(String, String), Refusal> {
    let hint = "a parameter is given as NAME=VALUE";
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Refusal::usage(&format!("`{text}` gives no value"), hint))?;
    Ok((name.trim().trim_start_matches('$').to_owned(), value.trim().to_owned()))
}

fn nothing_asked() -> Refusal {
    Refusal::usage("nothing was asked yet", "ask something, such as `? agent(name: A).`")
}

fn shown(findings: &QueryTextFindings) -> ProgramFindings {
    let found = findings.findings.iter();
    ProgramFindings {
        sources: findings.sources.clone(),
        findings: found.map(|finding| (finding.file, finding.diagnostic.clone())).collect(),
    }
}
