//! Tokens to syntax. The first error is the only one.

use agentic_diag::Span;
use agentic_plan::{Backend, RESERVED_WORDS, ResolutionMode};

use crate::ast::{
    BuiltinCall, Literal, NamedArgument, PipelineBlock, PipelineNode, PipelineSource, Site,
    WrittenValue,
};
use crate::finding::{FindingKind, PipelineFinding, PipelineFindings};
use crate::lexer::PipelineLexer;
use crate::token::{PipelineToken, PipelineTokenKind};

/// The longest source, in bytes: 1 MiB.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;
/// How deep groups may nest, and lists.
pub const NESTING_MAX: usize = 64;

/// Words that are kept free for later and may stand nowhere.
const KEPT_WORDS: [&str; 2] = ["as", "with"];

/// Parses a source.
///
/// # Errors
/// Returns the first thing that is wrong.
pub fn parse(text: &str) -> Result<PipelineSource, PipelineFindings> {
    parse_script(text).map_err(|finding| vec![finding])
}

/// Parses the body of a block, as `dynamic` nodes carry it: a pipeline, or several with `<*>`
/// between them.
///
/// # Errors
/// Returns the first thing that is wrong.
pub fn parse_program(text: &str) -> Result<PipelineNode, PipelineFindings> {
    let parse = || {
        let mut parser = PipelineParser::new(text)?;
        let body = parser.branches(0)?;
        if matches!(parser.token.kind, PipelineTokenKind::End) {
            Ok(body)
        } else {
            Err(parser.unexpected(&["`>=>`", "`<*>`", "the end"]))
        }
    };
    parse().map_err(|finding| vec![finding])
}

fn parse_script(text: &str) -> Result<PipelineSource, PipelineFinding> {
    let mut parser = PipelineParser::new(text)?;
    if parser.token.kind == PipelineTokenKind::End {
        let message = "there is no block in this source";
        return Err(PipelineFinding::new(FindingKind::EmptyScript, Span::new(0, 0), message)
            .hint("write, for instance, `memory static ( echo \"hello\" )`"));
    }
    let mut blocks = Vec::new();
    while parser.token.kind != PipelineTokenKind::End {
        blocks.push(parser.block()?);
    }
    Ok(PipelineSource { blocks })
}

struct PipelineParser<'a> {
    text: &'a str,
    lexer: PipelineLexer<'a>,
    token: PipelineToken<'a>,
    /// The brackets that are open, innermost last.
    open: Vec<Span>,
    n_groups: usize,
}

impl<'a> PipelineParser<'a> {
    fn new(text: &'a str) -> Result<PipelineParser<'a>, PipelineFinding> {
        if text.len() > SOURCE_BYTES_MAX {
            let message =
                format!("the source has {} bytes, {SOURCE_BYTES_MAX} is the limit", text.len());
            return Err(PipelineFinding::new(FindingKind::TooLarge, Span::new(0, 0), message));
        }
        let mut lexer = PipelineLexer::new(text);
        let token = lexer.next()?;
        Ok(PipelineParser { text, lexer, token, open: Vec::new(), n_groups: 0 })
    }

    /// Goes on to the next token and returns the one before.
    fn advance(&mut self) -> Result<PipelineToken<'a>, PipelineFinding> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn block(&mut self) -> Result<PipelineBlock, PipelineFinding> {
        let start = self.token.span;
        let Some(backend) = self.keyword(Backend::parse) else {
            return Err(self.unexpected(&["`memory`", "`temporal`"]));
        };
        self.advance()?;
        let Some(mode) = self.keyword(ResolutionMode::parse) else {
            return Err(self.unexpected(&["`static`", "`dynamic`"]).hint(
                "both annotations are needed, as in `memory static ( … )`; there is no default",
            ));
        };
        let head = start.to(self.advance()?.span);
        if self.token.kind != PipelineTokenKind::Open {
            return Err(self.unexpected(&["`(`"]));
        }
        let (body, group) = self.group()?;
        let site = Site(start.to(group));
        Ok(PipelineBlock { backend, mode, body, site, head: Site(head) })
    }

    fn keyword<T>(&self, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let PipelineTokenKind::Name(name) = self.token.kind { parse(name) } else { None }
    }

    /// Parses a group, whose parenthesis is the current token; returns its span too.
    fn group(&mut self) -> Result<(PipelineNode, Span), PipelineFinding> {
        let open = self.token.span;
        if self.n_groups == NESTING_MAX {
            return Err(too_deep(open, "groups"));
        }
        self.n_groups += 1;
        self.open.push(open);
        self.advance()?;
        if self.token.kind == PipelineTokenKind::Close {
            return Err(PipelineFinding::new(
                FindingKind::EmptyGroup,
                open,
                "a group without a stage",
            )
            .because("nothing stands in these parentheses"));
        }
        let mut body = self.branches(open.start)?;
        if self.token.kind != PipelineTokenKind::Close {
            return Err(self.unexpected(&["`>=>`", "`<*>`", "`)`"]));
        }
        let span = open.to(self.close()?);
        self.n_groups -= 1;
        if let PipelineNode::Parallel(_, site) = &mut body
            && site.0.start == open.start
        {
            site.0 = span;
        }
        Ok((body, span))
    }

    /// Takes the closing bracket that is the current token.
    fn close(&mut self) -> Result<Span, PipelineFinding> {
        self.open.pop();
        Ok(self.advance()?.span)
    }

    /// Parses one pipeline or more; one leaves no trace of the group around it.
    fn branches(&mut self, start: usize) -> Result<PipelineNode, PipelineFinding> {
        let first = self.pipeline()?;
        if self.token.kind != PipelineTokenKind::Beside {
            return Ok(first);
        }
        let mut branches = vec![first];
        while self.token.kind == PipelineTokenKind::Beside {
            self.advance()?;
            branches.push(self.pipeline()?);
        }
        let end = branches.last().map_or(start, |branch| branch.span().end);
        Ok(PipelineNode::Parallel(branches, Site(Span::new(start, end))))
    }

    fn pipeline(&mut self) -> Result<PipelineNode, PipelineFinding> {
        let mut stages = Vec::new();
        loop {
            match self.stage()? {
                // A pipeline in parentheses is the same as its stages without them.
                PipelineNode::Pipeline(inner, _) => stages.extend(inner),
                stage @ (PipelineNode::Parallel(..)
                | PipelineNode::Call(_)
                | PipelineNode::Nested(_)) => stages.push(stage),
            }
            if self.token.kind != PipelineTokenKind::Then {
                break;
            }
            self.advance()?;
        }
        if stages.len() == 1 {
            return Ok(stages.remove(0));
        }
        let span = stages[0].span().to(stages[stages.len() - 1].span());
        Ok(PipelineNode::Pipeline(stages, Site(span)))
    }

    fn stage(&mut self) -> Result<PipelineNode, PipelineFinding> {
        match self.token.kind {
            PipelineTokenKind::Open => Ok(self.group()?.0),
            PipelineTokenKind::Name(name) if Backend::parse(name).is_some() => {
                Ok(PipelineNode::Nested(Box::new(self.block()?)))
            }
            PipelineTokenKind::Name(name) if RESERVED_WORDS.contains(&name) => {
                Err(self.reserved(name))
            }
            PipelineTokenKind::Name(_) => self.call().map(PipelineNode::Call),
            PipelineTokenKind::Then
            | PipelineTokenKind::Beside
            | PipelineTokenKind::Close
            | PipelineTokenKind::ListOpen
            | PipelineTokenKind::ListClose
            | PipelineTokenKind::Colon
            | PipelineTokenKind::Comma
            | PipelineTokenKind::Text(_)
            | PipelineTokenKind::Int(_)
            | PipelineTokenKind::Float(_)
            | PipelineTokenKind::End => {
                Err(self.unexpected(&["a call", "`(`", "`memory`", "`temporal`"]))
            }
        }
    }

    fn call(&mut self) -> Result<BuiltinCall, PipelineFinding> {
        let token = self.advance()?;
        let PipelineTokenKind::Name(name) = token.kind else {
            unreachable!("BUG: a call begins with a name")
        };
        let mut span = token.span;
        let mut positional = Vec::new();
        while let Some(argument) = self.literal()? {
            span = span.to(argument.site.0);
            positional.push(argument);
        }
        let mut named = None;
        if self.token.kind == PipelineTokenKind::Open {
            let (arguments, close) = self.named()?;
            span = span.to(close);
            named = Some(arguments);
        }
        let (name_site, site) = (Site(token.span), Site(span));
        Ok(BuiltinCall { name: name.to_owned(), name_site, positional, named, site })
    }

    /// Parses a literal, if one stands here.
    fn literal(&mut self) -> Result<Option<WrittenValue>, PipelineFinding> {
        let literal = match &mut self.token.kind {
            PipelineTokenKind::Text(text) => Literal::Text(std::mem::take(text)),
            PipelineTokenKind::Int(number) => Literal::Int(*number),
            PipelineTokenKind::Float(number) => Literal::Float(*number),
            PipelineTokenKind::Name("true") => Literal::Bool(true),
            PipelineTokenKind::Name("false") => Literal::Bool(false),
            PipelineTokenKind::Then
            | PipelineTokenKind::Beside
            | PipelineTokenKind::Open
            | PipelineTokenKind::Close
            | PipelineTokenKind::ListOpen
            | PipelineTokenKind::ListClose
            | PipelineTokenKind::Colon
            | PipelineTokenKind::Comma
            | PipelineTokenKind::Name(_)
            | PipelineTokenKind::End => return Ok(None),
        };
        let site = Site(self.advance()?.span);
        Ok(Some(WrittenValue { literal, site }))
    }

    fn named(&mut self) -> Result<(Vec<NamedArgument>, Span), PipelineFinding> {
        self.open.push(self.token.span);
        self.advance()?;
        let mut arguments = Vec::new();
        loop {
            let name = match self.token.kind {
                PipelineTokenKind::Close => return Ok((arguments, self.close()?)),
                PipelineTokenKind::Name(name) if RESERVED_WORDS.contains(&name) => {
                    return Err(self.reserved(name));
                }
                PipelineTokenKind::Name(name) => name,
                PipelineTokenKind::Then
                | PipelineTokenKind::Beside
                | PipelineTokenKind::Open
                | PipelineTokenKind::ListOpen
                | PipelineTokenKind::ListClose
                | PipelineTokenKind::Colon
                | PipelineTokenKind::Comma
                | PipelineTokenKind::Text(_)
                | PipelineTokenKind::Int(_)
                | PipelineTokenKind::Float(_)
                | PipelineTokenKind::End => {
                    return Err(self.unexpected(&["the name of an argument", "`)`"]));
                }
            };
            let name_site = Site(self.advance()?.span);
            if self.token.kind != PipelineTokenKind::Colon {
                return Err(self.unexpected(&["`:`"]));
            }
            self.advance()?;
            let argument = self.value(0)?;
            arguments.push(NamedArgument { name: name.to_owned(), name_site, argument });
            if self.token.kind == PipelineTokenKind::Comma {
                self.advance()?;
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<WrittenValue, PipelineFinding> {
        if let Some(argument) = self.literal()? {
            return Ok(argument);
        }
        match self.token.kind {
            PipelineTokenKind::ListOpen => self.list(depth),
            PipelineTokenKind::Name(name) if !RESERVED_WORDS.contains(&name) => {
                let site = Site(self.advance()?.span);
                Ok(WrittenValue { literal: Literal::Ref(name.to_owned()), site })
            }
            PipelineTokenKind::Then
            | PipelineTokenKind::Beside
            | PipelineTokenKind::Open
            | PipelineTokenKind::Close
            | PipelineTokenKind::ListClose
            | PipelineTokenKind::Colon
            | PipelineTokenKind::Comma
            | PipelineTokenKind::Name(_)
            | PipelineTokenKind::Text(_)
            | PipelineTokenKind::Int(_)
            | PipelineTokenKind::Float(_)
            | PipelineTokenKind::End => Err(self.unexpected(&["a value"])),
        }
    }

    fn list(&mut self, depth: usize) -> Result<WrittenValue, PipelineFinding> {
        let open = self.token.span;
        if depth == NESTING_MAX {
            return Err(too_deep(open, "lists"));
        }
        self.open.push(open);
        self.advance()?;
        let mut items = Vec::new();
        while self.token.kind != PipelineTokenKind::ListClose {
            items.push(self.value(depth + 1)?);
            match self.token.kind {
                PipelineTokenKind::Comma => drop(self.advance()?),
                PipelineTokenKind::ListClose => {}
                PipelineTokenKind::Then
                | PipelineTokenKind::Beside
                | PipelineTokenKind::Open
                | PipelineTokenKind::Close
                | PipelineTokenKind::ListOpen
                | PipelineTokenKind::Colon
                | PipelineTokenKind::Name(_)
                | PipelineTokenKind::Text(_)
                | PipelineTokenKind::Int(_)
                | PipelineTokenKind::Float(_)
                | PipelineTokenKind::End => return Err(self.unexpected(&["`,`", "`]`"])),
            }
        }
        let site = Site(open.to(self.close()?));
        Ok(WrittenValue { literal: Literal::List(items), site })
    }

    /// Says that the current token cannot stand here.
    fn unexpected(&self, expected: &[&str]) -> PipelineFinding {
        match self.token.kind {
            PipelineTokenKind::Name(name) if KEPT_WORDS.contains(&name) => self.reserved(name),
            PipelineTokenKind::End => self.ended(expected),
            PipelineTokenKind::Then
            | PipelineTokenKind::Beside
            | PipelineTokenKind::Open
            | PipelineTokenKind::Close
            | PipelineTokenKind::ListOpen
            | PipelineTokenKind::ListClose
            | PipelineTokenKind::Colon
            | PipelineTokenKind::Comma
            | PipelineTokenKind::Name(_)
            | PipelineTokenKind::Text(_)
            | PipelineTokenKind::Int(_)
            | PipelineTokenKind::Float(_) => {
                let found = self.token.kind.in_words();
                let message = format!("{found} cannot stand here");
                PipelineFinding::new(FindingKind::UnexpectedToken, self.token.span, message)
                    .because(format!("expected {}", one_of(expected)))
                    .expecting(expected)
            }
        }
    }

    fn ended(&self, expected: &[&str]) -> PipelineFinding {
        let end = Span::new(self.text.len(), self.text.len());
        let finding =
            PipelineFinding::new(FindingKind::UnexpectedEof, end, "the source ends too early")
                .because(format!("expected {}", one_of(expected)))
                .expecting(expected);
        match self.open.last() {
            Some(open) => finding.see(*open, "this is never closed"),
            None => finding,
        }
    }

    fn reserved(&self, name: &str) -> PipelineFinding {
        let message = format!("`{name}` is a reserved word");
        PipelineFinding::new(FindingKind::ReservedWord, self.token.span, message)
            .because("cannot be a name")
            .about(name)
    }
}

fn too_deep(at: Span, what: &str) -> PipelineFinding {
    let message = format!("{what} nest deeper than {NESTING_MAX} levels");
    PipelineFinding::new(FindingKind::TooDeep, at, message).because("one level too many")
}

fn one_of(expected: &[&str]) -> String {
    match expected {
        [] => "something else".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
