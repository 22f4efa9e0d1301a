//! `#[derive(States)]`.

use crate::refusals::snake_case;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields};

pub(crate) fn expand(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Enum(data) = &item.data else {
        return Err(syn::Error::new_spanned(&item.ident, "States is for enums"));
    };
    let name = &item.ident;
    let (mut states, mut names) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(syn::Error::new_spanned(variant, "a state has no fields"));
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
