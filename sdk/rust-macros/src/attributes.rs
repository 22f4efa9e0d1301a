//! Parses lists of `name` and `name = expression`, and doc comments.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Expr, Ident, Lit, Meta, Token,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// `name` or `name = expression`.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) value: Option<Expr>,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { name, value })
    }
}

impl Argument {
    pub(crate) fn value(self) -> syn::Result<Expr> {
        self.value
            .ok_or_else(|| syn::Error::new(self.name.span(), format!("write `{} = …`", self.name)))
    }

    pub(crate) fn unknown(&self, known: &str) -> syn::Error {
        syn::Error::new(self.name.span(), format!("unknown; known here: {known}"))
    }
}

/// Parses a comma-separated list of arguments.
pub(crate) fn arguments(tokens: TokenStream) -> syn::Result<Vec<Argument>> {
    let list =
        syn::parse::Parser::parse2(Punctuated::<Argument, Token![,]>::parse_terminated, tokens)?;
    Ok(list.into_iter().collect())
}

/// Takes the attribute of this name out of the list and reads its arguments.
pub(crate) fn take(
    attributes: &mut Vec<Attribute>,
    name: &str,
) -> syn::Result<Option<Vec<Argument>>> {
    let Some(index) = attributes.iter().position(|attribute| attribute.path().is_ident(name))
    else {
        return Ok(None);
    };
    match attributes.remove(index).meta {
        Meta::Path(_) => Ok(Some(Vec::new())),
        Meta::List(list) => arguments(list.tokens).map(Some),
        Meta::NameValue(pair) => Err(syn::Error::new_spanned(pair, "write a list in parentheses")),
    }
}

/// A doc comment: its first paragraph on one line, and the rest.
pub(crate) struct Doc {
    pub(crate) first: String,
    pub(crate) rest: String,
}

impl Doc {
    pub(crate) fn whole(&self) -> String {
        if self.rest.is_empty() {
            self.first.clone()
        } else {
            format!("{}\n\n{}", self.first, self.rest)
        }
    }
}

pub(crate) fn doc(attributes: &[Attribute]) -> Doc {
    let text = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(line) => {
                        let line = line.value();
                        Some(line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned())
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
        .collect::<Vec<_>>()
        .join("\n");
    let (first, rest) = text.trim().split_once("\n\n").unwrap_or((text.trim(), ""));
    Doc { first: first.replace('\n', " "), rest: rest.trim().to_owned() }
}
