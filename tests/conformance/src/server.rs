//! The wrapper of the host's MCP server, with the fixtures.
#![expect(deprecated, reason = "the suite tests deprecated parts of the protocol too")]

use crate::{
    documents,
    elicitation::answer_round,
    fixture::{self, Fixture},
    tools,
};
use portolan_mcp::Server;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        DiscoverResult, GetPromptRequestParams, GetPromptResponse, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext, SubscriptionSink},
};
use std::borrow::Cow;
use tokio::sync::watch;

/// Counters of changes, by which clients are notified.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    pub(crate) tools: watch::Sender<u64>,
    pub(crate) prompts: watch::Sender<u64>,
}

/// The host's server and the fixtures.
#[derive(Debug, Clone)]
pub(crate) struct Fixtures {
    host: Server,
    changes: Changes,
}

impl Fixtures {
    pub(crate) fn wrap(host: Server, changes: Changes) -> Self {
        Self { host, changes }
    }

    async fn notify(&self, sink: SubscriptionSink) {
        let (mut tools, mut prompts) =
            (self.changes.tools.subscribe(), self.changes.prompts.subscribe());
        loop {
            let sent = tokio::select! {
                Ok(()) = tools.changed() => match sink.accepted().tools_list_changed {
                    Some(true) => sink.notify_tool_list_changed().await,
                    _ => Ok(()),
                },
                Ok(()) = prompts.changed() => match sink.accepted().prompts_list_changed {
                    Some(true) => sink.notify_prompt_list_changed().await,
                    _ => Ok(()),
                },
            };
            if sent.is_err() {
                return std::future::pending().await;
            }
        }
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.host.get_info();
        info.capabilities.logging = Some(JsonObject::new());
        if let Some(resources) = &mut info.capabilities.resources {
            resources.subscribe = Some(true);
        }
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.host.supported_protocol_versions()
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.host.discover(context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.host.list_tools(request, context).await?;
        listed.tools.extend(fixture::all().iter().map(Fixture::tool));
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match fixture::find(&request.name) {
            Some(fixture) => tools::call(fixture, request, context, &self.changes).await,
            None => self.host.call_tool(request, context).await,
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        fixture::find(name).map(Fixture::tool)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.host.list_resources(request, context).await?;
        listed.resources.extend(documents::resources());
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self.host.list_resource_templates(request, context).await?;
        listed.resource_templates.push(documents::template());
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match documents::read(&request.uri) {
            Some(document) => Ok(document.into()),
            None => self.host.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut listed = self.host.list_prompts(request, context).await?;
        listed.prompts.extend(documents::prompts());
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == documents::ASKING_PROMPT {
            let capabilities = context.client_capabilities();
            let (state, responses) =
                (request.request_state.as_deref(), request.input_responses.as_ref());
            let asking = fixture::prompt();
            let round = answer_round(asking, capabilities.as_ref(), state, responses)?;
            return Ok(documents::prompt_response(round));
        }
        match documents::prompt(&request.name, &request.arguments.clone().unwrap_or_default()) {
            Some(prompt) => Ok(prompt.into()),
            None => self.host.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.host.complete(request, context).await
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        wanted: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.host.accepted_subscription_filter(wanted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = subscription.sink().clone();
        tokio::select! {
            ended = self.host.listen(subscription) => ended,
            () = self.notify(sink) => Ok(()),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.host.on_initialized(context).await;
    }
}
