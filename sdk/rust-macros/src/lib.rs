//! The macros of `portolan-sdk`; their documentation is in that crate.

mod attributes;
mod capability;
mod entity;
mod refusals;
mod shapes;
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

/// Makes an enum the states of a state machine. See `portolan_sdk::states`.
#[proc_macro_derive(States)]
pub fn states(item: TokenStream) -> TokenStream {
    expand(states::expand(item.into()))
}

/// Makes a struct the input of an action: it derives `Debug`, `Serialize`, `Deserialize`, `JsonSchema`
/// and the derives in parentheses. An `Option` may be left out. See `portolan_sdk::prelude`.
#[proc_macro_attribute]
pub fn input(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(shapes::structure(shapes::Shape::Input, arguments.into(), item.into()))
}

/// Makes a struct the output of an action: it derives `Debug`, `Serialize`, `JsonSchema` and the
/// derives in parentheses. An `Option` without a value is left out; one that is `#[nullable]` is null.
#[proc_macro_attribute]
pub fn output(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(shapes::structure(shapes::Shape::Output, arguments.into(), item.into()))
}

/// Makes a struct a message between two capabilities, the input or output of an action of access
/// `internal`: it derives `Debug`, `Clone`, `Serialize`, `Deserialize`, `JsonSchema` and the derives in
/// parentheses. An `Option` without a value is left out.
#[proc_macro_attribute]
pub fn message(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(shapes::structure(shapes::Shape::Message, arguments.into(), item.into()))
}

/// Makes a struct a stored document: it derives `Debug`, `Clone`, `Serialize`, `Deserialize` and the
/// derives in parentheses. An `Option` without a value is left out; one that is `#[nullable]` is null.
#[proc_macro_attribute]
pub fn document(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(shapes::structure(shapes::Shape::Document, arguments.into(), item.into()))
}

/// Makes an enum a set of words in `snake_case`, for inputs, outputs and documents: it derives
/// `Debug`, `Clone`, `Copy`, `PartialEq`, `Eq`, `Serialize`, `Deserialize`, `JsonSchema` and the
/// derives in parentheses, such as `States`.
#[proc_macro_attribute]
pub fn choice(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(shapes::choice(arguments.into(), item.into()))
}

/// Makes `struct ThingId(String);` the type of an id: a text of 1 to 40 characters, or of the given
/// `pattern`. The struct's doc comment describes every field of this type. With `example = …`,
/// `ThingId::example()` is an id for the examples of actions.
#[proc_macro_attribute]
pub fn id(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(shapes::id(arguments.into(), item.into()))
}

/// Makes the struct of a document with a field `state` an `Entity`. See `portolan_sdk::entity`.
///
/// - `kind`: the entity's name in events,
/// - `collection`: the constant of its collection,
/// - `not_found`: the refusal for an entity that does not exist, such as `ShopError::BookNotFound`,
/// - `owner`: the field with the id of the one person who owns the entity. Without it, implement
///   `Visible` and `Owned` by hand where they are needed,
/// - `subjects`: what the subjects of its events begin with, if not with the collection's name.
#[proc_macro_attribute]
pub fn entity(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(entity::expand(arguments.into(), item.into()))
}

fn expand(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.to_compile_error()).into()
}
