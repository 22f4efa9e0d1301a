//! `#[derive(Refusals)]`.

use crate::attributes;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, Ident};

const KNOWN: &str = "a kind (invalid, unprocessable, payment_required, forbidden, not_found, \
    conflict, gone, too_many, upstream, unavailable), retryable, keep_writes, code = …, \
    next = …, conflict_detail = …; or transparent, for a variant that holds a Refusal";

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Enum(data) = &item.data else {
        return Err(syn::Error::new_spanned(&item.ident, "Refusals is for enums"));
    };
    let name = &item.ident;
    let (mut declarations, mut arms, mut conversions) = (Vec::new(), Vec::new(), Vec::new());
    let mut inherited = Vec::new();
    for variant in &data.variants {
        let mut attributes = variant.attrs.clone();
        let arguments = attributes::take(&mut attributes, "refusal")?.unwrap_or_default();
        if arguments.iter().any(|argument| argument.name == "transparent") {
            let carried = carried(variant)?;
            let variant_name = &variant.ident;
            arms.push(quote!(#name::#variant_name(refusal) => refusal.into()));
            inherited.push(quote!(<#carried as ::portolan_sdk::Refusals>::declarations()));
            conversions.push(quote! {
                impl ::core::convert::From<#carried> for #name {
                    fn from(refusal: #carried) -> Self {
                        Self::#variant_name(refusal)
                    }
                }
            });
            // Only a variant that holds a `Refusal` can hold an error of the host.
            if !is_refusal(carried) {
                continue;
            }
            conversions.push(quote! {
                impl ::core::convert::From<::portolan_sdk::HostError> for #name {
                    fn from(error: ::portolan_sdk::HostError) -> Self {
                        Self::#variant_name(::portolan_sdk::Refusal::from(error))
                    }
                }
            });
            continue;
        }
        let doc = attributes::doc(&attributes);
        if doc.first.is_empty() {
            return Err(syn::Error::new_spanned(
                &variant.ident,
                "write a doc comment: its first paragraph is the message that callers read",
            ));
        }
        let (mut kind, mut retryable, mut keep_writes) = (None, false, false);
        let snake = snake_case(&variant.ident);
        let mut code = quote!(#snake);
        let (mut next, mut conflict) = (quote!(None), quote!(None));
        for argument in arguments {
            match argument.name.to_string().as_str() {
                "retryable" => retryable = true,
                "keep_writes" => keep_writes = true,
                "code" => {
                    let value = argument.value()?;
                    code = quote!(#value);
                }
                "next" => {
                    let value = argument.value()?;
                    next = quote!(Some(::std::boxed::Box::new(::portolan_sdk::Next::from(#value))));
                }
                "conflict_detail" => {
                    let value = argument.value()?;
                    conflict =
                        quote!(Some(::std::boxed::Box::new(::portolan_sdk::to_value(&#value))));
                }
                _ if argument.value.is_none() => match kind_variant(&argument.name) {
                    Some(found) => kind = Some(found),
                    None => return Err(argument.unknown(KNOWN)),
                },
                _ => return Err(argument.unknown(KNOWN)),
            }
        }
        let kind = kind.ok_or_else(|| {
            syn::Error::new_spanned(&variant.ident, format!("say #[refusal(…)] with {KNOWN}"))
        })?;
        let (variant_name, message, description) = (&variant.ident, &doc.first, doc.whole());
        declarations.push(quote! {
            ::portolan_sdk::contract::description::Error {
                code: #code.into(),
                kind: ::portolan_sdk::contract::description::ErrorKind::#kind,
                retryable: #retryable,
                description: #description.into(),
            }
        });
        let pattern = match &variant.fields {
            Fields::Unit => quote!(#name::#variant_name),
            Fields::Named(fields) => {
                let fields = fields.named.iter().map(|field| &field.ident);
                quote!(#name::#variant_name { #(#fields),* })
            }
            Fields::Unnamed(fields) => {
                return Err(syn::Error::new_spanned(fields, "give the fields names"));
            }
        };
        arms.push(quote! {
            #[allow(unused_variables, reason = "a field may be used by `next` or `conflict_detail` only")]
            #pattern => ::portolan_sdk::Refusal {
                code: #code.into(),
                message: #message.into(),
                conflict: #conflict,
                next: #next,
                keep_writes: #keep_writes,
            }
        });
    }
    Ok(quote! {
        impl ::portolan_sdk::Refusals for #name {
            fn declarations() -> ::std::vec::Vec<::portolan_sdk::contract::description::Error> {
                #[allow(unused_mut, reason = "there may be no transparent variant")]
                let mut declared = ::std::vec![#(#declarations),*];
                #(declared.extend(#inherited);)*
                declared
            }
        }
        impl ::core::convert::From<#name> for ::portolan_sdk::Refusal {
            fn from(refusal: #name) -> Self {
                match refusal { #(#arms),* }
            }
        }
        #(#conversions)*
    })
}

/// Returns the type of the content of a transparent variant.
fn carried(variant: &syn::Variant) -> syn::Result<&syn::Type> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            fields.unnamed.first().map(|field| &field.ty)
        }
        _ => None,
    }
    .ok_or_else(|| {
        syn::Error::new_spanned(variant, "a transparent variant must hold exactly one Refusal")
    })
}

fn is_refusal(carried: &syn::Type) -> bool {
    let syn::Type::Path(path) = carried else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Refusal")
}

fn kind_variant(name: &Ident) -> Option<Ident> {
    let variant = match name.to_string().as_str() {
        "invalid" => "Invalid",
        "unprocessable" => "Unprocessable",
        "payment_required" => "PaymentRequired",
        "forbidden" => "Forbidden",
        "not_found" => "NotFound",
        "conflict" => "Conflict",
        "gone" => "Gone",
        "too_many" => "TooMany",
        "upstream" => "Upstream",
        "unavailable" => "Unavailable",
        _ => return None,
    };
    Some(Ident::new(variant, name.span()))
}

pub(crate) fn snake_case(name: &Ident) -> String {
    let mut snake = String::new();
    for character in name.to_string().chars() {
        if character.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}
