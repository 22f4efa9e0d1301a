//! `#[capability]`.

use crate::{
    attributes::{self, Argument},
    states,
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Expr, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, ReturnType, Type};

const KNOWN: &str = "id, version, title, tags, status, sunset_at, successor, default_action, \
    collections, invokes, state_machines, roles, prompts, tools, consequence, \
    annotations";
const KNOWN_OF_ACTION: &str = "access, idempotent, destructive, cost_credits, emits, callers, on, \
    example, deprecated, intents, no_dry_run, by_person, consequence, person_page, annotations, \
    name";

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut block: ItemImpl = syn::parse2(item)?;
    let arguments = attributes::arguments(arguments)?;
    let machines_test = states::test(&arguments, &block.self_ty);
    let head = head(arguments, &block)?;
    let target = &block.self_ty;
    let (mut declarations, mut arms, mut subscriptions) = (Vec::new(), Vec::new(), Vec::new());
    for item in &mut block.items {
        let ImplItem::Fn(function) = item else {
            continue;
        };
        let Some(arguments) = attributes::take(&mut function.attrs, "action")? else {
            continue;
        };
        let action = action(function, arguments, target)?;
        declarations.push(action.declaration);
        arms.push(action.arm);
        subscriptions.extend(action.subscriptions);
    }
    if arms.is_empty() {
        return Err(syn::Error::new_spanned(target, "mark at least one function #[action(…)]"));
    }
    Ok(quote! {
        #block

        impl ::portolan_sdk::contract::Guest for #target {
            fn describe() -> ::portolan_sdk::contract::Descriptor {
                ::portolan_sdk::report_panics();
                let mut head = #head;
                head.subscriptions = ::std::vec![#(#subscriptions),*];
                head.build(::std::vec![#(#declarations),*])
            }
            fn call(
                caller: ::portolan_sdk::contract::Caller,
                action: ::std::string::String,
                input: ::std::string::String,
            ) -> ::core::result::Result<
                ::portolan_sdk::contract::Success,
                ::portolan_sdk::contract::Failure,
            > {
                ::portolan_sdk::report_panics();
                let call = ::portolan_sdk::Call::new(caller);
                match action.as_str() {
                    #(#arms)*
                    other => ::portolan_sdk::unknown_action(other),
                }
            }
        }

        // On other targets the capability is compiled for its unit tests and nothing is exported.
        // This constant uses it there, so that the compiler does not report it as unused.
        const _: fn() -> ::portolan_sdk::contract::Descriptor =
            <#target as ::portolan_sdk::contract::Guest>::describe;

        #[cfg(target_arch = "wasm32")]
        ::portolan_sdk::contract::export!(#target with_types_in ::portolan_sdk::contract);

        #machines_test
    })
}

/// Returns the expression of a `Head`: everything about the capability except its actions.
fn head(arguments: Vec<Argument>, block: &ItemImpl) -> syn::Result<TokenStream> {
    let doc = attributes::doc(&block.attrs);
    if doc.first.is_empty() {
        return Err(syn::Error::new_spanned(
            &block.self_ty,
            "write a doc comment on this impl block: its first paragraph is the summary in the \
             catalog, the whole of it the description",
        ));
    }
    let (summary, description) = (&doc.first, doc.whole());
    let mut id = None;
    let mut title = None;
    let mut version = quote!(env!("CARGO_PKG_VERSION"));
    let (mut rest, mut annotated) = (Vec::new(), Vec::new());
    for argument in arguments {
        let name = argument.name.clone();
        match name.to_string().as_str() {
            "id" => id = Some(argument.value()?),
            "title" => title = Some(argument.value()?),
            "version" => {
                let value = argument.value()?;
                version = quote!(#value);
            }
            "tags" | "roles" => {
                let value = argument.value()?;
                rest.push(quote!(#name: #value.into_iter().map(Into::into).collect()));
            }
            "annotations" => annotated.extend(annotations(argument)?),
            "tools" => {
                let tools = argument.value()?;
                annotated.push(quote!(::portolan_sdk::annotation(::portolan_sdk::TOOLS, &#tools)));
            }
            "consequence" => {
                let value = argument.value()?;
                annotated
                    .push(quote!(::portolan_sdk::annotation(::portolan_sdk::CONSEQUENCE, &#value)));
            }
            "collections" | "invokes" | "state_machines" | "prompts" => {
                let list = list(argument)?;
                rest.push(quote!(#name: ::std::vec![#(#list.declaration()),*]));
            }
            "status" => {
                let value = argument.value()?;
                rest.push(quote!(#name: {
                    use ::portolan_sdk::contract::description::Status::*;
                    #value
                }));
            }
            "sunset_at" | "successor" | "default_action" => {
                let value = argument.value()?;
                rest.push(quote!(#name: Some(#value.into())));
            }
            _ => return Err(argument.unknown(KNOWN)),
        }
    }
    let missing = |what| {
        syn::Error::new_spanned(&block.self_ty, format!("#[capability({what} = \"…\")] is missing"))
    };
    let id = id.ok_or_else(|| missing("id"))?;
    let title = title.ok_or_else(|| missing("title"))?;
    Ok(quote! {
        ::portolan_sdk::Head {
            id: #id.into(),
            version: #version.into(),
            title: #title.into(),
            summary: #summary.into(),
            description: #description.into(),
            annotations: ::std::vec![#(#annotated),*],
            #(#rest,)*
            ..::core::default::Default::default()
        }
    })
}

struct Action {
    /// The expression of the action's record in the descriptor.
    declaration: TokenStream,
    /// The arm of `call` that runs it.
    arm: TokenStream,
    /// The expressions of the descriptor's subscriptions that run it.
    subscriptions: Vec<TokenStream>,
}

fn action(
    function: &mut ImplItemFn,
    arguments: Vec<Argument>,
    target: &Type,
) -> syn::Result<Action> {
    let ident = function.sig.ident.clone();
    let types = Signature::read(function)?;
    let doc = attributes::doc(&function.attrs);
    if doc.first.is_empty() {
        return Err(syn::Error::new_spanned(
            &ident,
            "write a doc comment: its first paragraph is the action's title, the rest its description",
        ));
    }
    let title = doc.first.trim_end_matches('.');
    let description = if doc.rest.is_empty() { &doc.first } else { &doc.rest };
    let mut name = quote::ToTokens::to_token_stream(&syn::LitStr::new(
        ident.to_string().trim_start_matches("r#"),
        ident.span(),
    ));
    let (mut access, mut changes, mut examples) = (None, Vec::new(), Vec::new());
    let (mut event_types, mut emits, mut annotated) = (Vec::new(), Vec::new(), Vec::new());
    let input = &types.input;
    for argument in arguments {
        let argument_name = argument.name.clone();
        match argument_name.to_string().as_str() {
            "idempotent" | "destructive" => changes.push(quote!(action.#argument_name = true;)),
            "access" => access = Some(access_variant(&argument.value()?)?),
            "cost_credits" => {
                let value = argument.value()?;
                changes.push(quote!(action.cost_credits = #value;));
            }
            "emits" => emits = list(argument)?,
            "callers" => {
                let list = list(argument)?;
                changes.push(quote!(action.callers = ::std::vec![#(#list.into()),*];));
            }
            "annotations" => annotated.extend(annotations(argument)?),
            "no_dry_run" => annotated
                .push(quote!(::portolan_sdk::annotation(::portolan_sdk::NO_DRY_RUN, &true))),
            "by_person" => {
                annotated.push(quote!(::portolan_sdk::annotation(::portolan_sdk::BY_PERSON, &true)))
            }
            "consequence" => {
                let value = argument.value()?;
                annotated
                    .push(quote!(::portolan_sdk::annotation(::portolan_sdk::CONSEQUENCE, &#value)));
            }
            "intents" => {
                let texts = argument.value()?;
                annotated
                    .push(quote!(::portolan_sdk::annotation(::portolan_sdk::INTENTS, &#texts)));
            }
            "person_page" => {
                let page = argument.value()?;
                annotated
                    .push(quote!(::portolan_sdk::annotation(::portolan_sdk::PERSON_PAGE, &#page)));
            }
            "on" => event_types.push(argument.value()?),
            "deprecated" => {
                let value = argument.value()?;
                changes.push(quote!(action.deprecated = Some(#value.into());));
            }
            "name" => {
                let value = argument.value()?;
                name = quote!(#value);
            }
            "example" => {
                let value = argument.value()?;
                examples.push(match is_json(&value) {
                    true => quote!(::portolan_sdk::to_json(&#value)),
                    false => quote!(::portolan_sdk::to_json::<#input>(&#value)),
                });
            }
            _ => return Err(argument.unknown(KNOWN_OF_ACTION)),
        }
    }
    if examples.is_empty() && !types.has_input {
        examples.push(quote!("{}".into()));
    }
    let access = access.ok_or_else(|| {
        syn::Error::new_spanned(
            &ident,
            "give the access class: #[action(access = read)], or write, events, open, internal",
        )
    })?;
    if let Some(event_type) = event_types.first()
        && access != "Internal"
    {
        return Err(syn::Error::new_spanned(
            event_type,
            "only an action of access internal can subscribe to events",
        ));
    }
    let subscriptions = event_types
        .iter()
        .map(|event_type| {
            quote!(::portolan_sdk::contract::description::Subscription {
                event_type: #event_type.into(),
                action: #name.into(),
            })
        })
        .collect();
    let (output, refusals) = (&types.output, &types.refusals);
    let declaration = quote! {{
        let mut action = ::portolan_sdk::declare::<#input, #output, #refusals>(
            #name, #title, #description,
            ::portolan_sdk::contract::description::Access::#access,
            ::std::vec![#(#examples),*],
        );
        #(#changes)*
        action.annotations = ::std::vec![#(#annotated),*];
        let publishes: ::std::vec::Vec<::portolan_sdk::contract::description::Publication> =
            ::std::vec![#(#emits.publication()),*];
        action.emits = publishes.iter().map(|event| event.event_type.clone()).collect();
        ::portolan_sdk::Declared {
            action,
            errors: <#refusals as ::portolan_sdk::Refusals>::declarations(),
            publishes,
        }
    }};
    let arguments = match types.has_input {
        true => quote!(&call, input),
        false => quote!(&call),
    };
    let outcome = match types.returns_unit {
        true => quote!(.map(|()| ::portolan_sdk::NoOutput {})),
        false => quote!(),
    };
    let arm = quote! {
        #name => ::portolan_sdk::run(
            &input,
            |#[allow(unused_variables, reason = "an action may take no input")] input: #input| {
                <#target>::#ident(#arguments)#outcome
            },
        ),
    };
    Ok(Action { declaration, arm, subscriptions })
}

/// Returns whether an example is written as `json!({ … })`. The compiler does not compare such an
/// example with the input type; the host validates it.
fn is_json(example: &Expr) -> bool {
    matches!(example, Expr::Macro(call) if call.mac.path.is_ident("json"))
}

/// Returns the elements of `name = […]`; they may be of different types.
fn list(argument: Argument) -> syn::Result<Vec<Expr>> {
    match argument.value()? {
        Expr::Array(array) => Ok(array.elems.into_iter().collect()),
        other => Err(syn::Error::new_spanned(other, "write a list in brackets")),
    }
}

/// Returns the expressions of `annotations = [("key", value), …]`.
fn annotations(argument: Argument) -> syn::Result<Vec<TokenStream>> {
    let mut records = Vec::new();
    for pair in list(argument)? {
        let Expr::Tuple(pair) = &pair else {
            return Err(syn::Error::new_spanned(pair, "write a pair of key and value"));
        };
        let parts = &pair.elems;
        records.push(match (parts.len(), parts.first(), parts.last()) {
            (2, Some(key), Some(value)) => quote!(::portolan_sdk::annotation(#key, &#value)),
            _ => return Err(syn::Error::new_spanned(pair, "write a pair of key and value")),
        });
    }
    Ok(records)
}

struct Signature {
    input: Type,
    has_input: bool,
    output: Type,
    /// Whether the function returns `()`, which becomes an empty object.
    returns_unit: bool,
    refusals: Type,
}

impl Signature {
    /// Reads a signature of the form `fn(call: &Call[, input: Input]) -> Result<Output, Refusals>`.
    fn read(function: &ImplItemFn) -> syn::Result<Self> {
        let wrong = || {
            syn::Error::new_spanned(
                &function.sig,
                "an action looks like `fn name(call: &Call, input: Input) -> Result<Output, Refusals>`; \
                 without fields, leave the input out",
            )
        };
        let inputs: Vec<_> = function.sig.inputs.iter().collect();
        let (input, has_input) = match inputs.as_slice() {
            [FnArg::Typed(_)] => (syn::parse_quote!(::portolan_sdk::NoInput), false),
            [FnArg::Typed(_), FnArg::Typed(input)] => ((*input.ty).clone(), true),
            _ => return Err(wrong()),
        };
        let ReturnType::Type(_, output) = &function.sig.output else {
            return Err(wrong());
        };
        let Type::Path(path) = &**output else {
            return Err(wrong());
        };
        let last = path.path.segments.last().ok_or_else(wrong)?;
        let syn::PathArguments::AngleBracketed(generics) = &last.arguments else {
            return Err(wrong());
        };
        let types: Vec<_> = generics
            .args
            .iter()
            .filter_map(|argument| match argument {
                syn::GenericArgument::Type(found) => Some(found.clone()),
                _ => None,
            })
            .collect();
        match (last.ident == "Result", types.as_slice()) {
            (true, [output, refusals]) => {
                let returns_unit = matches!(output, Type::Tuple(tuple) if tuple.elems.is_empty());
                let output = match returns_unit {
                    true => syn::parse_quote!(::portolan_sdk::NoOutput),
                    false => output.clone(),
                };
                Ok(Self { input, has_input, output, returns_unit, refusals: refusals.clone() })
            }
            _ => Err(wrong()),
        }
    }
}

fn access_variant(value: &syn::Expr) -> syn::Result<Ident> {
    let name = match value {
        syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let variant = match name.as_deref() {
        Some("read") => "Read",
        Some("write") => "Write",
        Some("events") => "Events",
        Some("open") => "Open",
        Some("internal") => "Internal",
        _ => {
            return Err(syn::Error::new_spanned(
                value,
                "one of read, write, events, open, internal",
            ));
        }
    };
    Ok(format_ident!("{variant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: TokenStream, action: TokenStream) -> String {
        let block = quote! {
            /// Lends books.
            impl Library {
                /// Lend a book.
                #action
                fn lend(call: &Call) -> Result<Loan, Infallible> {}
            }
        };
        expand(arguments, block).unwrap_err().to_string()
    }

    #[test]
    fn only_internal_actions_subscribe() {
        assert_eq!(
            error(
                quote!(id = "library", title = "Library"),
                quote!(#[action(access = read, on = "shop.sold")])
            ),
            "only an action of access internal can subscribe to events"
        );
    }

    #[test]
    fn lists_are_lists() {
        let written = quote!(id = "library", title = "Library", collections = LOANS);
        let action = quote!(#[action(access = read)]);
        assert_eq!(error(written, action), "write a list in brackets");
        let written = quote!(id = "library", title = "Library");
        let action = quote!(#[action(access = read, emits = "library.lent")]);
        assert_eq!(error(written, action), "write a list in brackets");
    }
}
