//! `#[entity]`.

use crate::attributes;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ItemStruct, Path};

const KNOWN: &str = "kind, collection, owner, not_found, subjects";

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let item: ItemStruct = syn::parse2(item)?;
    let (mut kind, mut collection, mut owner) = (None, None, None);
    let (mut not_found, mut subjects) = (None, None);
    for argument in attributes::arguments(arguments)? {
        match argument.name.to_string().as_str() {
            "kind" => kind = Some(argument.value()?),
            "collection" => collection = Some(argument.value()?),
            "owner" => owner = Some(argument.value()?),
            "not_found" => not_found = Some(argument.value()?),
            "subjects" => subjects = Some(argument.value()?),
            _ => return Err(argument.unknown(KNOWN)),
        }
    }
    let missing = |what: &str| {
        syn::Error::new_spanned(&item.ident, format!("#[entity({what} = …)] is missing"))
    };
    let kind = kind.ok_or_else(|| missing("kind"))?;
    let collection = collection.ok_or_else(|| missing("collection"))?;
    let not_found = not_found.ok_or_else(|| missing("not_found"))?;
    let refusal = refusal_type(&not_found)?;
    let state = item
        .fields
        .iter()
        .find(|field| field.ident.as_ref().is_some_and(|name| name == "state"))
        .map(|field| &field.ty)
        .ok_or_else(|| {
            syn::Error::new_spanned(&item.ident, "an entity must have a field `state`")
        })?;
    let name = &item.ident;
    let visible = owner.map(|owner| {
        quote! {
            impl ::portolan_sdk::entity::Visible for #name {
                fn is_visible_to(&self, owner_id: &str) -> bool {
                    self.#owner == owner_id
                }
            }

            impl ::portolan_sdk::entity::Owned for #name {
                fn owner_id(&self) -> &str {
                    &self.#owner
                }
            }
        }
    });
    let subjects = subjects.map(|subjects| quote!(const SUBJECTS: &'static str = #subjects;));
    Ok(quote! {
        #item

        impl ::portolan_sdk::entity::Entity for #name {
            type State = #state;
            type Refusal = #refusal;
            const KIND: &'static str = #kind;
            const COLLECTION: ::portolan_sdk::documents::Collection<Self> = #collection;
            #subjects
            fn state(&self) -> #state {
                self.state
            }
            fn set_state(&mut self, state: #state) {
                self.state = state;
            }
            fn not_found() -> #refusal {
                #not_found
            }
        }

        #visible
    })
}

/// Returns the enum of a variant, or the type of an associated function: the path without its last name.
fn refusal_type(refusal: &Expr) -> syn::Result<Path> {
    let path = match refusal {
        Expr::Path(path) => Some(&path.path),
        Expr::Struct(value) => Some(&value.path),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => Some(&path.path),
            _ => None,
        },
        _ => None,
    };
    let mut path = path.filter(|path| path.segments.len() > 1).cloned().ok_or_else(|| {
        syn::Error::new_spanned(refusal, "write `not_found = ShopError::BookNotFound`")
    })?;
    path.segments.pop();
    path.segments.pop_punct();
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: TokenStream, item: TokenStream) -> String {
        expand(arguments, item).unwrap_err().to_string()
    }

    #[test]
    fn an_entity_names_its_refusal_and_has_a_state() {
        let loan = quote!(
            struct Loan {
                state: State,
            }
        );
        assert_eq!(
            error(quote!(kind = "loan", collection = LOANS), loan.clone()),
            "#[entity(not_found = …)] is missing"
        );
        assert_eq!(
            error(quote!(kind = "loan", collection = LOANS, not_found = refused()), loan),
            "write `not_found = ShopError::BookNotFound`"
        );
        assert_eq!(
            error(
                quote!(kind = "loan", collection = LOANS, not_found = ShopError::NotFound),
                quote!(
                    struct Loan {
                        book: String,
                    }
                )
            ),
            "an entity must have a field `state`"
        );
    }
}
