//! `#[derive(States)]`, and the unit test of state machines.

use crate::{attributes::Argument, refusals::snake_case};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Expr, Fields, Type};

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Enum(data) = &item.data else {
        return Err(syn::Error::new_spanned(&item.ident, "States is for enums"));
    };
    let name = &item.ident;
    let (mut states, mut names) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(syn::Error::new_spanned(variant, "a state must not have fields"));
        }
        let ident = &variant.ident;
        let text = snake_case(ident);
        states.push(quote!(Self::#ident));
        names.push(quote!(Self::#ident => #text));
    }
    Ok(quote! {
        impl ::portolan_sdk::states::States for #name {
            const ALL: &'static [Self] = &[#(#states),*];
            fn name(self) -> &'static str {
                match self {
                    #(#names,)*
                }
            }
        }
    })
}

/// Returns the unit test that the tables of `#[capability(state_machines = […])]` are valid; `None`
/// without tables.
pub(crate) fn test(arguments: &[Argument], target: &Type) -> Option<TokenStream> {
    let tables = arguments.iter().find(|argument| argument.name == "state_machines")?;
    let tables = match &tables.value {
        Some(Expr::Array(tables)) if !tables.elems.is_empty() => tables.elems.iter(),
        _ => return None,
    };
    let mut capability = quote!(#target).to_string().to_lowercase();
    // The type may be written as a path.
    capability.retain(|letter| letter.is_alphanumeric() || letter == '_');
    let name = format_ident!("the_state_machines_of_{capability}_are_valid");
    Some(quote! {
        #[cfg(test)]
        #[test]
        fn #name() {
            let faults = [#(#tables.faults()),*].concat();
            assert_eq!(faults, ::std::vec::Vec::<::std::string::String>::new());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes;

    fn made(arguments: TokenStream) -> Option<String> {
        let arguments = attributes::arguments(arguments).unwrap();
        test(&arguments, &syn::parse_quote!(crate::Library)).map(|made| made.to_string())
    }

    #[test]
    fn only_a_capability_with_tables_gets_a_test() {
        let text = made(quote!(id = "library", state_machines = [LOAN, FINE])).unwrap();
        assert!(text.contains("the_state_machines_of_cratelibrary_are_valid"), "{text}");
        assert_eq!(text.matches("faults ()").count(), 2, "{text}");
        assert_eq!(made(quote!(id = "library")), None);
        assert_eq!(made(quote!(id = "library", state_machines = [])), None);
    }
}
