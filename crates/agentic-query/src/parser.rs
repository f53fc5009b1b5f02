//! From tokens to what a text says. A clause that cannot be read becomes a finding, and reading
//! goes on behind its full stop.

mod body;
mod term;

use agentic_diag::{Diagnostic, Span};

use crate::ast::{
    NameText, OrderDirection, OrderText, ParamText, QueryProgram, QueryText, RuleText,
    UnreadClauses,
};
use crate::code;
use crate::lexer::lex;
use crate::token::{QueryToken, QueryTokenKind};
use crate::value::QueryType;

/// The longest text, in bytes.
pub const QUERY_BYTES_MAX: usize = 1 << 20;
/// How many rules, queries and parameters a text may have.
pub const CLAUSES_MAX: usize = 10_000;
/// How deep terms and braces may nest, and how many operators of one rank may follow each other.
pub const QUERY_NESTING_MAX: usize = 64;
/// How many goals a body and arguments an atom may have.
pub const GOALS_MAX: usize = 256;

/// Words that are no values.
pub(crate) const RESERVED: [&str; 21] = [
    "param", "use", "why", "order", "by", "limit", "offset", "count", "distinct", "sum", "min",
    "max", "avg", "list", "asc", "desc", "mod", "now", "true", "false", "null",
];

/// Says whether a word is reserved.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// The finding that ends a clause.
type Fault = Box<Diagnostic>;
/// What reading a part gives.
type ParsedQuery<T> = Result<T, Fault>;

/// Reads one text.
pub(crate) struct QueryParser {
    tokens: Vec<QueryToken>,
    at: usize,
    depth: usize,
}

/// Reads a whole text, with all that is wrong in it.
pub(crate) fn parse(text: &str) -> (QueryProgram, Vec<Diagnostic>) {
    let mut program = QueryProgram::default();
    if text.len() > QUERY_BYTES_MAX {
        let said = format!("the text has more than {QUERY_BYTES_MAX} bytes");
        let finding = Diagnostic::error(code::TOO_LARGE, Span::new(0, 0), said);
        program.unread.add_rest();
        return (program, vec![finding.hint("ask for less at once")]);
    }
    let (tokens, mut findings) = lex(text);
    let mut parser = QueryParser { tokens, at: 0, depth: 0 };
    let (n_lexed, mut n_clauses) = (findings.len(), 0);
    while !parser.is_end() && findings.len() < code::FINDINGS_MAX {
        n_clauses += 1;
        if n_clauses > CLAUSES_MAX {
            let said = format!("the text has more than {CLAUSES_MAX} clauses");
            let finding = Diagnostic::error(code::TOO_LARGE, parser.span(), said);
            findings.push(finding.hint("write rules for what these facts have in common"));
            program.unread.add_rest();
            break;
        }
        let start = parser.at;
        if let Err(finding) = parser.clause(&mut program) {
            parser.note_unread(start, &mut program.unread);
            // Where a token is a finding itself, what is expected behind it follows from that.
            let clause = parser.tokens[start].span.to(finding.span);
            let is_inside = |known: &Diagnostic| {
                known.span.start >= clause.start && known.span.start <= clause.end
            };
            if !findings[..n_lexed].iter().any(is_inside) {
                findings.push(*finding);
            }
            parser.skip_clause();
        }
    }
    (program, findings)
}

/// Reads one literal, such as the value of a parameter.
pub(crate) fn parse_literal(text: &str) -> Option<crate::ast::LiteralText> {
    let (tokens, findings) = lex(text);
    let mut parser = QueryParser { tokens, at: 0, depth: 0 };
    let (literal, _) = parser.literal().ok()?;
    (findings.is_empty() && parser.is_end()).then_some(literal)
}

impl UnreadClauses {
    /// Notes that the rest of a text is not read: anything may stand there.
    fn add_rest(&mut self) {
        (self.has_use, self.has_query) = (true, true);
    }
}

impl QueryParser {
    fn kind(&self) -> &QueryTokenKind {
        &self.tokens[self.at.min(self.tokens.len() - 1)].kind
    }

    fn ahead(&self, n: usize) -> &QueryTokenKind {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].span
    }

    /// Returns the place from a start to the end of the last token.
    fn since(&self, start: Span) -> Span {
        start.to(self.tokens[self.at.saturating_sub(1)].span)
    }

    fn is_end(&self) -> bool {
        *self.kind() == QueryTokenKind::End
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.kind(), QueryTokenKind::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), QueryTokenKind::Word(found) if found == word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_here = self.is_sign(sign);
        self.at += usize::from(is_here);
        is_here
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_here = self.is_word(word);
        self.at += usize::from(is_here);
        is_here
    }

    fn expected<T>(&self, wanted: &str, hint: &str) -> ParsedQuery<T> {
        let said = format!("expected {wanted}, found {}", self.kind());
        Err(Box::new(Diagnostic::error(code::EXPECTED, self.span(), said).hint(hint)))
    }

    fn expect_sign(&mut self, sign: &str, hint: &str) -> ParsedQuery<()> {
        if self.take_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`"), hint) }
    }

    fn expect_word(&mut self, hint: &str) -> ParsedQuery<NameText> {
        let QueryTokenKind::Word(name) = self.kind() else { return self.expected("a name", hint) };
        let found = NameText { name: name.clone(), span: self.span() };
        self.at += 1;
        Ok(found)
    }

    fn expect_variable(&mut self, hint: &str) -> ParsedQuery<NameText> {
        let QueryTokenKind::Variable(name) = self.kind() else {
            return self.expected("a variable", hint);
        };
        let found = NameText { name: name.clone(), span: self.span() };
        self.at += 1;
        Ok(found)
    }

    /// Enters one level of nesting; the caller leaves it again.
    fn enter(&mut self) -> ParsedQuery<()> {
        self.depth += 1;
        if self.depth <= QUERY_NESTING_MAX {
            return Ok(());
        }
        let said = format!("this nests deeper than {QUERY_NESTING_MAX}");
        let finding = Diagnostic::error(code::NESTED_TOO_DEEP, self.span(), said);
        Err(Box::new(finding.hint("give parts of it a variable or a rule of their own")))
    }

    fn too_many<T>(&self, what: &str) -> ParsedQuery<T> {
        let said = format!("there are more than {GOALS_MAX} {what}");
        let finding = Diagnostic::error(code::TOO_LARGE, self.span(), said);
        Err(Box::new(finding.hint("give parts of it rules of their own")))
    }

    fn skip_clause(&mut self) {
        self.depth = 0;
        while !self.is_end() && *self.kind() != QueryTokenKind::Stop {
            self.at += 1;
        }
        self.at += usize::from(!self.is_end());
    }

    /// Notes what a clause that begins here would have said.
    fn note_unread(&self, start: usize, unread: &mut UnreadClauses) {
        let token = |n: usize| &self.tokens[(start + n).min(self.tokens.len() - 1)].kind;
        match (token(0), token(1), token(2)) {
            (QueryTokenKind::Sign("?"), _, _) => unread.has_query = true,
            (QueryTokenKind::Word(word), QueryTokenKind::Sign("$"), QueryTokenKind::Word(name))
                if word == "param" =>
            {
                unread.params.insert(name.clone());
            }
            (QueryTokenKind::Word(word), next, _)
                if word == "use" && *next != QueryTokenKind::Sign("(") =>
            {
                unread.has_use = true;
            }
            (QueryTokenKind::Word(word), _, _) => {
                unread.heads.insert(word.clone());
            }
            _ => {}
        }
    }

    fn clause(&mut self, program: &mut QueryProgram) -> ParsedQuery<()> {
        let start = self.span();
        let is_name = matches!(self.ahead(1), QueryTokenKind::Sign("("));
        if self.is_word("param") && !is_name {
            self.at += 1;
            program.params.push(self.param()?);
        } else if self.is_word("use") && !is_name {
            self.at += 1;
            program.uses.push(self.used_name()?);
        } else if self.take_sign("?") {
            program.queries.push(self.query(start)?);
        } else {
            program.rules.push(self.rule(start)?);
        }
        if *self.kind() != QueryTokenKind::Stop {
            return self.expected("a full stop", "every clause ends with one and a blank");
        }
        self.at += 1;
        Ok(())
    }

    fn param(&mut self) -> ParsedQuery<ParamText> {
        self.expect_sign("$", "write `param $name: type = literal.`")?;
        let name = self.expect_word("name the parameter with a word")?;
        self.expect_sign(":", "write `param $name: type.`")?;
        let kind = self.expect_word("name the type, such as `text`")?;
        let Some(kind) = QueryType::parse(&kind.name) else {
            self.at -= 1;
            let names = QueryType::ALL.map(QueryType::name).join(" ");
            return self.expected("a type", &format!("there are {names}"));
        };
        let value = if self.take_sign("=") { Some(self.literal()?) } else { None };
        Ok(ParamText { name, kind, value })
    }

    fn used_name(&mut self) -> ParsedQuery<NameText> {
        if let QueryTokenKind::Text(name) = self.kind() {
            let found = NameText { name: name.clone(), span: self.span() };
            self.at += 1;
            return Ok(found);
        }
        self.expect_word("name the rule file, such as `use audit.`")
    }

    fn rule(&mut self, start: Span) -> ParsedQuery<RuleText> {
        let head = self.atom()?;
        let body = if self.take_sign(":-") { self.body()? } else { Vec::new() };
        Ok(RuleText { head, body, span: self.since(start) })
    }

    fn query(&mut self, start: Span) -> ParsedQuery<QueryText> {
        let is_why = self.take_word("why");
        let columns = if self.has_columns() { Some(self.columns()?) } else { None };
        let body = self.body()?;
        let mut order = Vec::new();
        if self.take_word("order") {
            if !self.take_word("by") {
                return self.expected("`by`", "write `order by Variable desc`");
            }
            order.push(self.order_key()?);
            while self.take_sign(",") {
                order.push(self.order_key()?);
            }
        }
        let limit = self.count_behind("limit")?;
        let offset = self.count_behind("offset")?;
        Ok(QueryText { is_why, columns, body, order, limit, offset, span: self.since(start) })
    }

    /// Says whether variables in brackets stand here, and a goal behind them.
    fn has_columns(&self) -> bool {
        if !self.is_sign("(") {
            return false;
        }
        let mut n = 1;
        loop {
            if !matches!(self.ahead(n), QueryTokenKind::Variable(_)) {
                return false;
            }
            if matches!(self.ahead(n + 1), QueryTokenKind::Sign(",")) {
                n += 2;
            } else if matches!(self.ahead(n + 1), QueryTokenKind::Sign(")")) {
                break;
            } else {
                return false;
            }
        }
        let operators = ["=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/"];
        let next = self.ahead(n + 2);
        let is_operator = matches!(next, QueryTokenKind::Sign(sign) if operators.contains(sign))
            || matches!(next, QueryTokenKind::Word(word) if word == "mod");
        !is_operator
    }

    fn columns(&mut self) -> ParsedQuery<Vec<NameText>> {
        let mut columns = Vec::new();
        self.at += 1;
        loop {
            columns.push(self.expect_variable("list variables")?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign(")", "close the list of columns")?;
        Ok(columns)
    }

    fn order_key(&mut self) -> ParsedQuery<OrderText> {
        let name = self.expect_variable("order by a variable")?;
        let is_descending = self.take_word("desc");
        if !is_descending {
            self.take_word("asc");
        }
        let direction = match is_descending {
            true => OrderDirection::Descending,
            false => OrderDirection::Ascending,
        };
        Ok(OrderText { name, direction })
    }

    fn count_behind(&mut self, word: &str) -> ParsedQuery<Option<u64>> {
        if !self.take_word(word) {
            return Ok(None);
        }
        let QueryTokenKind::Whole(number) = *self.kind() else {
            return self.expected("a whole number", "write `limit 10`");
        };
        self.at += 1;
        Ok(Some(number))
    }
}

#[cfg(test)]
mod tests;
