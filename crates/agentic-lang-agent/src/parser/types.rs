//! Types in the source. Aliases are replaced on the spot, so they must stand above their use.

use crate::code::{self, PhaseResult, stop};
use crate::parser::{AgentParser, Distinct};
use crate::token::AgentTokenKind;
use crate::types::{TypeId, TypeShape};

impl AgentParser<'_> {
    pub(super) fn type_id(&mut self) -> PhaseResult<TypeId> {
        let token = self.peek();
        if token.kind != AgentTokenKind::Name {
            return Err(self.unexpected(code::EXPECTED_TYPE, "a type"));
        }
        let word = &self.text[token.start as usize..token.end as usize];
        let id = match word {
            "String" => self.plain_type(TypeId::TEXT),
            "Number" => self.plain_type(TypeId::NUMBER),
            "Bool" => self.plain_type(TypeId::BOOL),
            "List" => {
                let item = self.wrapped_type()?;
                self.ast.types.intern(TypeShape::List(item))
            }
            "Option" => {
                let item = self.wrapped_type()?;
                self.ast.types.intern(TypeShape::Option(item))
            }
            "Obj" => self.object_type()?,
            _ => self.declared_type()?,
        };
        if self.ast.types.is_too_large(id) {
            let message = "the type is too large once its aliases are replaced";
            return stop(code::TYPE_TOO_LARGE, self.span_from(token.start), message);
        }
        Ok(id)
    }

    fn plain_type(&mut self, id: TypeId) -> TypeId {
        self.take();
        id
    }

    fn wrapped_type(&mut self) -> PhaseResult<TypeId> {
        self.take();
        self.expect(AgentTokenKind::BracketOpen)?;
        let item = self.nested(Self::type_id)?;
        self.expect(AgentTokenKind::BracketClose)?;
        Ok(item)
    }

    fn object_type(&mut self) -> PhaseResult<TypeId> {
        self.take();
        self.expect(AgentTokenKind::BraceOpen)?;
        let mut fields = Vec::new();
        let mut distinct = Distinct::default();
        if self.kind() != AgentTokenKind::BraceClose {
            loop {
                let name = self.name()?;
                if !distinct.add(name.symbol) {
                    return self.duplicate(code::DUPLICATE_FIELD, name, "the field");
                }
                self.expect(AgentTokenKind::Colon)?;
                fields.push((name.symbol, self.nested(Self::type_id)?));
                if !self.accept(AgentTokenKind::Comma) {
                    break;
                }
            }
        }
        self.expect(AgentTokenKind::BraceClose)?;
        Ok(self.ast.types.intern(TypeShape::Object(fields.into())))
    }

    fn declared_type(&mut self) -> PhaseResult<TypeId> {
        let token = self.peek();
        if let Some(at) = self.ast.by_name.aliases.get(token.symbol) {
            self.take();
            return Ok(self.ast.aliases[at].declared);
        }
        if self.ast.by_name.enums.get(token.symbol).is_some() {
            self.take();
            return Ok(self.ast.types.intern(TypeShape::Enum(token.symbol)));
        }
        let text = self.ast.text(token.symbol);
        Err(Box::new(
            agentic_diag::Diagnostic::error(
                code::EXPECTED_TYPE,
                token.span(),
                format!("there is no type `{text}` here"),
            )
            .because("not declared above")
            .hint("declare an alias or enum before its first use"),
        ))
    }
}
