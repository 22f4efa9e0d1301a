//! `#[input]`, `#[output]`, `#[message]`, `#[document]`, `#[choice]` and `#[id]`: the derives and serde attributes
//! that each of these shapes always has.

use crate::attributes;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Expr, Field, Fields, GenericArgument, ItemEnum, ItemStruct, Path, PathArguments,
    Token, Type, parse::Parser, punctuated::Punctuated,
};

/// The shape of a struct.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Input,
    Message,
    Output,
    Document,
}

impl Shape {
    fn derives(self) -> TokenStream {
        match self {
            Self::Input => quote!(
                Debug,
                ::portolan_sdk::prelude::Serialize,
                ::portolan_sdk::prelude::Deserialize,
                ::portolan_sdk::prelude::JsonSchema
            ),
            Self::Message => quote!(
                Debug,
                Clone,
                ::portolan_sdk::prelude::Serialize,
                ::portolan_sdk::prelude::Deserialize,
                ::portolan_sdk::prelude::JsonSchema
            ),
            Self::Output => quote!(
                Debug,
                ::portolan_sdk::prelude::Serialize,
                ::portolan_sdk::prelude::JsonSchema
            ),
            Self::Document => quote!(
                Debug,
                Clone,
                ::portolan_sdk::prelude::Serialize,
                ::portolan_sdk::prelude::Deserialize
            ),
        }
    }

    /// Returns the serde attributes of an optional field. A struct that is also read needs a
    /// default. An `Option<Option<_>>` of an input distinguishes a field that was left out from one
    /// that is null.
    fn absent(self, value: &Type) -> Attribute {
        match self {
            Self::Input if optional(value).is_some() => syn::parse_quote!(
                #[serde(
                    default,
                    deserialize_with = "::portolan_sdk::given",
                    skip_serializing_if = "Option::is_none"
                )]
            ),
            Self::Output => syn::parse_quote!(#[serde(skip_serializing_if = "Option::is_none")]),
            Self::Input | Self::Message | Self::Document => {
                syn::parse_quote!(#[serde(default, skip_serializing_if = "Option::is_none")])
            }
        }
    }
}

pub(crate) fn structure(
    shape: Shape,
    arguments: TokenStream,
    item: TokenStream,
) -> syn::Result<TokenStream> {
    let mut item: ItemStruct = syn::parse2(item)?;
    let more = paths(arguments)?;
    for field in &mut item.fields {
        let is_nullable = take_flag(&mut field.attrs, "nullable");
        if let Some(value) = optional(&field.ty)
            && !is_nullable
            && !decides_absence(field)
        {
            let absent = shape.absent(value);
            field.attrs.push(absent);
        }
    }
    let derives = shape.derives();
    Ok(quote! {
        #[derive(#derives #(, #more)*)]
        #item
    })
}

pub(crate) fn choice(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let item: ItemEnum = syn::parse2(item)?;
    let more = paths(arguments)?;
    Ok(quote! {
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq,
            ::portolan_sdk::prelude::Serialize, ::portolan_sdk::prelude::Deserialize,
            ::portolan_sdk::prelude::JsonSchema
            #(, #more)*
        )]
        #[serde(rename_all = "snake_case")]
        #item
    })
}

pub(crate) fn id(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut item: ItemStruct = syn::parse2(item)?;
    let (mut pattern, mut example) = (None, None);
    for argument in attributes::arguments(arguments)? {
        match argument.name.to_string().as_str() {
            "pattern" => pattern = Some(argument.value()?),
            "example" => example = Some(argument.value()?),
            _ => return Err(argument.unknown("pattern, example")),
        }
    }
    let Fields::Unnamed(fields) = &mut item.fields else {
        return Err(syn::Error::new_spanned(&item, "write `struct ThingId(String);`"));
    };
    let Some(text) = fields.unnamed.first_mut() else {
        return Err(syn::Error::new_spanned(&item, "write `struct ThingId(String);`"));
    };
    text.attrs.push(match pattern {
        Some(pattern) => syn::parse_quote!(#[schemars(regex(pattern = #pattern))]),
        None => syn::parse_quote!(#[schemars(length(min = 1, max = 40))]),
    });
    let name = &item.ident;
    let example = example.map(|example: Expr| {
        quote! {
            impl #name {
                /// Returns an id for the examples of actions.
                pub(crate) fn example() -> Self {
                    Self(#example.into())
                }
            }
        }
    });
    Ok(quote! {
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord,
            ::portolan_sdk::prelude::Serialize, ::portolan_sdk::prelude::Deserialize,
            ::portolan_sdk::prelude::JsonSchema
        )]
        #[serde(transparent)]
        #item

        #example

        impl ::core::ops::Deref for #name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }
        impl ::core::convert::From<::std::string::String> for #name {
            fn from(id: ::std::string::String) -> Self {
                Self(id)
            }
        }
        impl ::core::convert::From<&str> for #name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }
        impl ::core::convert::From<#name> for ::std::string::String {
            fn from(id: #name) -> Self {
                id.0
            }
        }
    })
}

fn paths(arguments: TokenStream) -> syn::Result<Vec<Path>> {
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(arguments)?;
    Ok(paths.into_iter().collect())
}

/// Returns the `T` of an `Option<T>`; `None` for any other type.
fn optional(of: &Type) -> Option<&Type> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(value) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

fn take_flag(attributes: &mut Vec<Attribute>, name: &str) -> bool {
    let before = attributes.len();
    attributes.retain(|attribute| !attribute.path().is_ident(name));
    attributes.len() < before
}

/// Returns whether a serde attribute of the field already handles a missing value.
fn decides_absence(field: &Field) -> bool {
    field.attrs.iter().filter(|attribute| attribute.path().is_ident("serde")).any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        ["skip_serializing_if", "flatten", "default"].iter().any(|word| text.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(shape: Shape, item: TokenStream) -> String {
        structure(shape, quote!(Default), item).unwrap().to_string()
    }

    #[test]
    fn only_options_that_are_not_nullable_are_left_out() {
        let item = quote! {
            struct Change {
                id: String,
                text: Option<String>,
                #[nullable]
                until: Option<u64>,
                #[serde(flatten)]
                page: Option<Page>,
                note: Option<Option<String>>,
            }
        };
        let input = expanded(Shape::Input, item.clone());
        assert_eq!(input.matches("skip_serializing_if").count(), 2);
        assert_eq!(input.matches("portolan_sdk::given").count(), 1);
        assert!(input.contains("default , skip_serializing_if") && input.contains(", Default"));
        assert!(!input.contains("nullable"));
        let output = expanded(Shape::Output, item);
        assert!(!output.contains("Deserialize") && !output.contains("default ,"));
    }

    #[test]
    fn an_id_has_one_unnamed_field() {
        let error = id(
            quote!(),
            quote!(
                struct LoanId {
                    id: String,
                }
            ),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), "write `struct ThingId(String);`");
        let error = id(
            quote!(prefix = "loan"),
            quote!(
                struct LoanId(String);
            ),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), "unknown; known here: pattern, example");
    }
}
