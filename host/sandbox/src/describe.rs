//! Runs a component's `describe`, in which every import of the contract traps except the log, the last words
//! and the source.

use crate::{
    context::{CallContext, Platform},
    contract::{AnyCapabilityPre, context, description, source},
    engine::Sandbox,
    error::SandboxError,
    imports::CONTRACT,
    prepare::Prepared,
    run::INTERRUPTION,
    state::CallState,
    tape::Tape,
    trap::CallStack,
};
use portolan_vocabulary::{
    Access, ActionDescriptor, Annotation, Audience, Caller, Collection, Descriptor, Erasure,
    ErrorDeclaration, ErrorKind, Geo, Index, Invocation, Limits, Person, PersonalField, Prompt,
    PromptArgument, Publication, StateMachine, Status, Subscription, Timestamp, Transition,
};
use serde_json::Value;
use std::sync::Arc;
use wasmtime::{
    StoreContextMut,
    component::{Linker, types::ComponentItem},
};

/// The reason why a component's `describe` returned no descriptor.
#[derive(Debug, thiserror::Error)]
#[error("describe failed: {0}")]
pub struct DescribeError(#[from] SandboxError);

impl DescribeError {
    /// Returns whether the failure is the host's and not the component's.
    pub fn is_host_failure(&self) -> bool {
        matches!(self.0, SandboxError::Host(_) | SandboxError::Busy)
    }

    /// Returns whether the description is larger than a call's answer may be.
    pub fn is_too_large(&self) -> bool {
        matches!(self.0, SandboxError::OutputTooLarge(_))
    }

    /// Returns whether the component trapped and said why.
    pub fn has_last_words(&self) -> bool {
        matches!(&self.0, SandboxError::Trapped(trap) if trap.last_words.is_some())
    }
}

impl Sandbox {
    /// Runs `describe` under the limits of a call. Every import of the contract traps except the log and the
    /// last words, which tell the author why the component trapped, and the source, which an engine needs to
    /// describe its component. WASI is linked, empty, because standard libraries use it when they start.
    pub async fn describe(&self, prepared: &Prepared) -> Result<Descriptor, DescribeError> {
        let platform = Platform {
            started_at: Timestamp::from_millis(0),
            public_url: String::new(),
            catalog_version: 0,
            limits: Vec::new(),
            components: Vec::new(),
        };
        let context = CallContext::new(
            Caller::System { test_mode: false },
            Timestamp::from_millis(0),
            Arc::from("describe"),
            Arc::new(platform),
        )
        // A fixed seed, so that the same component always describes itself in the same way.
        .with_seed([0; 32]);
        let host = |error: wasmtime::Error| SandboxError::Host(format!("{error:#}"));
        let linker = self.trapping_linker(prepared).map_err(host)?;
        let pre = linker
            .instantiate_pre(&prepared.code.component)
            .and_then(AnyCapabilityPre::new)
            .map_err(host)?;
        // The default limit, so that the memory for a description does not depend on the operator's setting.
        let memory = Limits::default().call_memory_bytes as usize;
        let (mut store, computing) = self.store(
            prepared,
            Arc::from("describe"),
            Arc::new(context),
            (None, Tape::Off),
            memory,
        );
        let time = self.options.limits.call_wall_time();
        let call = async move {
            let call = async {
                let instance = pre.instantiate_async(&mut store).await?;
                instance.call_describe(&mut store).await
            };
            (tokio::time::timeout(time + INTERRUPTION, call).await, store.into_data())
        };
        let ((result, mut state), _computed) =
            self.long_calls.run(&prepared.load, computing, Box::pin(call)).await;
        state.finish_log();
        match result {
            Err(_elapsed) => Err(SandboxError::OutOfTime(CallStack::default()).into()),
            Ok(Err(error)) => Err(self.classify_error(&error, &state).into()),
            Ok(Ok(descriptor)) => Ok(descriptor.into()),
        }
    }

    fn trapping_linker(&self, prepared: &Prepared) -> wasmtime::Result<Linker<CallState>> {
        let mut linker = Linker::new(&self.engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        for (name, item) in prepared.code.component.component_type().imports(&self.engine) {
            let ComponentItem::ComponentInstance(interface) = item.ty else { continue };
            if !name.starts_with(CONTRACT) {
                continue;
            }
            let mut instance = linker.instance(name)?;
            for (function, item) in interface.exports(&self.engine) {
                match item.ty {
                    ComponentItem::ComponentFunc(_)
                        if is_interface(name, "context") && function == "log" =>
                    {
                        instance.func_wrap(function, log)?;
                    }
                    ComponentItem::ComponentFunc(_)
                        if is_interface(name, "context") && function == "last-words" =>
                    {
                        instance.func_wrap(function, last_words)?;
                    }
                    ComponentItem::ComponentFunc(_) if is_interface(name, "source") => {
                        instance.func_wrap(function, read_source)?;
                    }
                    ComponentItem::ComponentFunc(_) => {
                        let path = format!("{name}#{function}");
                        instance.func_new(function, move |_, _, _, _| {
                            wasmtime::bail!("describe must not use {path}")
                        })?;
                    }
                    _ => {}
                }
            }
        }
        Ok(linker)
    }
}

/// Whether an import has this interface of the contract, in any version.
fn is_interface(import: &str, name: &str) -> bool {
    let versioned = import.strip_prefix(CONTRACT).and_then(|own| own.strip_prefix(name));
    versioned.is_some_and(|rest| rest.starts_with('@'))
}

fn read_source(
    mut store: StoreContextMut<'_, CallState>,
    (): (),
) -> wasmtime::Result<(Option<source::Script>,)> {
    Ok((source::Host::read(store.data_mut())?,))
}

fn log(
    mut store: StoreContextMut<'_, CallState>,
    (level, message): (context::Level, String),
) -> wasmtime::Result<()> {
    context::Host::log(store.data_mut(), level, message)
}

fn last_words(
    mut store: StoreContextMut<'_, CallState>,
    (part,): (context::Words,),
) -> wasmtime::Result<()> {
    context::Host::last_words(store.data_mut(), part)
}

fn json(text: String) -> Result<Value, String> {
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Takes the annotations out of the capability, its actions and its collections, each with its place.
fn annotations(from: &mut description::Descriptor) -> Vec<Annotation> {
    let own = [(String::new(), std::mem::take(&mut from.annotations))];
    let actions = from.actions.iter_mut().map(|action| {
        (format!("actions.{}", action.name), std::mem::take(&mut action.annotations))
    });
    let collections = from.collections.iter_mut().map(|collection| {
        (format!("collections.{}", collection.name), std::mem::take(&mut collection.annotations))
    });
    let all = own.into_iter().chain(actions).chain(collections);
    all.flat_map(|(at, annotations)| {
        annotations.into_iter().map(move |from| Annotation {
            at: at.clone(),
            key: from.key,
            value: json(from.value),
        })
    })
    .collect()
}

impl From<description::Descriptor> for Descriptor {
    fn from(mut from: description::Descriptor) -> Self {
        let annotations = annotations(&mut from);
        Self {
            id: from.id,
            version: from.version,
            title: from.title,
            summary: from.summary,
            description: from.description,
            tags: from.tags,
            status: match from.status {
                description::Status::Beta => Status::Beta,
                description::Status::Stable => Status::Stable,
                description::Status::Deprecated => Status::Deprecated,
            },
            sunset_at: from.sunset_at.map(Timestamp::from_millis),
            successor: from.successor,
            actions: from.actions.into_iter().map(Into::into).collect(),
            default_action: from.default_action,
            errors: from.errors.into_iter().map(Into::into).collect(),
            collections: from.collections.into_iter().map(Into::into).collect(),
            invokes: from
                .invokes
                .into_iter()
                .map(|from| Invocation { capability: from.capability, action: from.action })
                .collect(),
            publishes: from
                .publishes
                .into_iter()
                .map(|from| Publication { event_type: from.event_type, sensitive: from.sensitive })
                .collect(),
            subscriptions: from
                .subscriptions
                .into_iter()
                .map(|from| Subscription { event_type: from.event_type, action: from.action })
                .collect(),
            state_machines: from.state_machines.into_iter().map(Into::into).collect(),
            roles: from.roles,
            prompts: from.prompts.into_iter().map(Into::into).collect(),
            annotations,
        }
    }
}

impl From<description::Prompt> for Prompt {
    fn from(from: description::Prompt) -> Self {
        let argument = |from: description::PromptArgument| PromptArgument {
            name: from.name,
            description: from.description,
            required: from.required,
        };
        Self {
            name: from.name,
            title: from.title,
            description: from.description,
            arguments: from.arguments.into_iter().map(argument).collect(),
            text: from.text,
            requires: from.requires,
        }
    }
}

impl From<description::Action> for ActionDescriptor {
    fn from(from: description::Action) -> Self {
        Self {
            name: from.name,
            title: from.title,
            description: from.description,
            access: match from.access {
                description::Access::Read => Access::Read,
                description::Access::Write => Access::Write,
                description::Access::Events => Access::Events,
                description::Access::Open => Access::Open,
                description::Access::Internal => Access::Internal,
            },
            input: json(from.input),
            output: json(from.output),
            idempotent: from.idempotent,
            destructive: from.destructive,
            cost_credits: from.cost_credits,
            errors: from.errors,
            emits: from.emits,
            callers: from.callers,
            examples: from.examples.into_iter().map(json).collect(),
            deprecated: from.deprecated,
        }
    }
}

impl From<description::Error> for ErrorDeclaration {
    fn from(from: description::Error) -> Self {
        Self {
            code: from.code,
            kind: match from.kind {
                description::ErrorKind::Invalid => ErrorKind::Invalid,
                description::ErrorKind::Unprocessable => ErrorKind::Unprocessable,
                description::ErrorKind::PaymentRequired => ErrorKind::PaymentRequired,
                description::ErrorKind::Forbidden => ErrorKind::Forbidden,
                description::ErrorKind::NotFound => ErrorKind::NotFound,
                description::ErrorKind::Conflict => ErrorKind::Conflict,
                description::ErrorKind::Gone => ErrorKind::Gone,
                description::ErrorKind::TooMany => ErrorKind::TooMany,
                description::ErrorKind::Upstream => ErrorKind::Upstream,
                description::ErrorKind::Unavailable => ErrorKind::Unavailable,
            },
            retryable: from.retryable,
            description: from.description,
        }
    }
}

impl From<description::Collection> for Collection {
    fn from(from: description::Collection) -> Self {
        let index = |from: description::Index| Index {
            name: from.name,
            paths: from.paths,
            unique: from.unique,
        };
        Self {
            name: from.name,
            indexes: from.indexes.into_iter().map(index).collect(),
            text: from.text,
            geo: from.geo.map(|geo| Geo { latitude: geo.latitude, longitude: geo.longitude }),
            version: from.version,
            people: from.people.map(|people| people.into_iter().map(Into::into).collect()),
        }
    }
}

impl From<description::Person> for Person {
    fn from(from: description::Person) -> Self {
        let field = |from: description::PersonalField| PersonalField {
            path: from.path,
            audience: match from.audience {
                description::Audience::Personal => Audience::Personal,
                description::Audience::Shared => Audience::Shared,
                description::Audience::Public => Audience::Public,
            },
        };
        Self {
            path: from.path,
            erasure: match from.erasure {
                description::Erasure::DeleteDocument => Erasure::DeleteDocument,
                description::Erasure::RemoveElement => Erasure::RemoveElement,
                description::Erasure::Redact => Erasure::Redact,
            },
            fields: from.fields.into_iter().map(field).collect(),
        }
    }
}

impl From<description::StateMachine> for StateMachine {
    fn from(from: description::StateMachine) -> Self {
        let transition = |from: description::Transition| Transition {
            action: from.action,
            from: from.from,
            to: from.to,
            role: from.role,
        };
        Self {
            name: from.name,
            states: from.states,
            transitions: from.transitions.into_iter().map(transition).collect(),
        }
    }
}
