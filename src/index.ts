/** `pressmark`: the public API for programs, which includes that for authors of sources. */
export * from "./source-kit.ts";
export { type AccessDecision, openPolicy, type Policy } from "./access/policy.ts";
export {
  type BuiltInSources,
  type CommonMountInput,
  type ConfigInput,
  defineConfig,
  type MountInput,
  type SourceOptionsInput,
} from "./config/define-config.ts";
export type { Limits, RuleSettings, SearchSettings, ServerSettings } from "./config/schema.ts";
export { bestCounter, type CountTokens, estimate } from "./context/count-tokens.ts";
export { gather, type GatherRequest } from "./context/gather.ts";
export type { Included, PackItem, LeftOut, Pack, PackFormat, Receipt } from "./context/pack.ts";
export {
  type DefinedAddress,
  type DefinedBlock,
  embed,
  type EmbeddedFrom,
  link,
  type LinkTo,
} from "./define/blocks.ts";
export type { DefinedBody, DefinedContent } from "./define/content.ts";
export {
  type ComputedText,
  type DefinedResources,
  defineResources,
  type DefinedText,
  type ReadText,
  type ResourceDefinitions,
  type TextMetadata,
} from "./define/define-resources.ts";
export {
  type ArgumentValues,
  type DefinedArgument,
  type DefinedMessage,
  type DefinedPrompt,
  type DescribedArgument,
  prompt,
  type PromptDefinition,
  type PromptOutput,
} from "./define/prompt.ts";
export { type DefinedSuggestions, type DefinedTemplate, template, type TemplateDefinition } from "./define/template.ts";
export type { TemplateVariableName, TemplateVariables } from "./define/template-variables.ts";
export { type DefinedTool, tool, type ToolDefinition, type ToolOutput } from "./define/tool.ts";
export { QuotaError } from "./errors.ts";
export { type OperationMethod, type Layer, type Operation, stack, wrapSource } from "./layer.ts";
export type { CacheOptions } from "./layers/cache.ts";
export type { LimitOptions } from "./layers/limit.ts";
export type { RetryOptions } from "./layers/retry.ts";
export { type StandardOptions, standardLayers } from "./layers/standard.ts";
export type { TimeoutOptions } from "./layers/timeout.ts";
export { defaultBudget } from "./lib/pack-budget.ts";
export type { CallerQuotas, MeteredRequest } from "./protocol/caller-quotas.ts";
export type { ServerInfo } from "./protocol/client-request.ts";
export { createProtocol, type ProtocolOptions } from "./protocol/create-protocol.ts";
export type { InputRequest, InputRequired } from "./protocol/input-required.ts";
export type { RequestParams } from "./protocol/message.ts";
export type { ChangingSet } from "./protocol/notices.ts";
export type { Prompt, PromptMessage, PromptResult, PromptSet } from "./protocol/prompts.ts";
export type {
  Protocol,
  HeaderLookup,
  MessageEra,
  Peer,
  Reply,
  ProtocolSession,
  SessionPeer,
  WireBytes,
} from "./protocol/protocol.ts";
export { withRelayedPrompts } from "./protocol/relayed-prompts.ts";
export type { Tool, ToolCall, ToolResult, ToolSet } from "./protocol/tools.ts";
export { createActionTools } from "./protocol/tools/action-tools.ts";
export { createRelayedTools, joinToolSets } from "./protocol/tools/relayed-tools.ts";
export type { WatchQuota } from "./protocol/watch-quota.ts";
export {
  type ActionResult,
  type Action,
  type Change,
  type Content,
  type Description,
  type FilteredPageRequest,
  type MountFailure,
  type ListFilter,
  type PageRequest,
  type PromptArgument,
  type ReadResult,
  type Relayed,
  type RelayedName,
  type Resources,
  type SearchResult,
  type SearchRequest,
  type Skill,
  type SkillResult,
  type SkillFile,
  type Template,
  type Watch,
  type UnwatchedUri,
  type WatchFilter,
} from "./resources.ts";
export type { ClientInfo, Given, RequestObserver, RequestOutcome } from "./protocol/request-observer.ts";
export { createResources, type LocalResources, type LocalResourcesOptions } from "./router/create-resources.ts";
export type { Mount } from "./router/route.ts";
export { type App, type AppOptions, createApp } from "./server/create-app.ts";
export { type Server, type OpenServerOptions, openServer } from "./server/open-server.ts";
export type { ProgramConfigOptions, ProgramMount, ProgramMountOptions } from "./server/program-config.ts";
export { createRuntime } from "./server/runtime.ts";
export {
  serve,
  type ServeOptions,
  type ServeStdioOptions,
  type ServeTransports,
  type Serving,
  type ServingStdio,
} from "./server/serve.ts";
export { type SourceLoaders, type SourceModule, sources } from "./sources/index.ts";
export { type ActionEndpoint, type ActionResponse, createActionEndpoint } from "./transport/action-endpoint.ts";
export type { EventLogLimits } from "./transport/event-log.ts";
export type { EventStreamOptions } from "./transport/event-stream.ts";
export { createFetchHandler, type FetchHandler, type FetchHandlerOptions } from "./transport/fetch-handler.ts";
export type { ForwardedReader } from "./transport/forwarded.ts";
export type { HandlerOptions } from "./transport/handler-options.ts";
export {
  createNodeHandler,
  type GateDecision,
  type GateRefusal,
  type HandleContext,
  type NodeHandler,
  type NodeHandlerOptions,
  type NextHandler,
  type PublicDocument,
  type RequestGate,
} from "./transport/node-handler.ts";
export type { RequestContext } from "./transport/incoming-request.ts";
export type { LegacySessionOptions } from "./transport/legacy-sessions.ts";
export { type CertificatePair, type Listening, listen, type ListenOptions } from "./transport/listen.ts";
export type { ServedApp } from "./transport/served-app.ts";
export { serveStdio, type StdioOptions } from "./transport/stdio.ts";
export type { FetchContext } from "./transport/web-request.ts";
