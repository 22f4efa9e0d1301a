//! The macros of `portolan-sdk`; their documentation is in that crate.

mod attributes;
mod capability;
mod refusals;
mod states;

use proc_macro::TokenStream;

/// Makes an `impl` block of functions a capability. See `portolan_sdk`.
#[proc_macro_attribute]
pub fn capability(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(capability::expand(arguments.into(), item.into()))
}

/// Makes an enum the declaration of an action's error codes. See `portolan_sdk`.
#[proc_macro_derive(Refusals, attributes(refusal))]
pub fn refusals(item: TokenStream) -> TokenStream {
    expand(refusals::expand(item.into()))
}

/// Makes an enum the states of a thing. See `portolan_sdk::states`.
#[proc_macro_derive(States)]
pub fn states(item: TokenStream) -> TokenStream {
    expand(states::expand(item.into()))
}

fn expand(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.to_compile_error()).into()
}
