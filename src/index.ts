/** The public API of the package. */
export { openPolicy, type Policy } from "./access/policy.ts";
export { type ConfigInput, defineConfig, type MountInput } from "./config/define-config.ts";
export { bestCounter, type CountTokens, estimate } from "./context/count-tokens.ts";
export { gather, type GatherRequest } from "./context/gather.ts";
export type { Included, PackItem, LeftOut, Pack, PackFormat, Receipt } from "./context/pack.ts";
export {
  type ErrorDetails,
  type ErrorKind,
  invalid,
  notFound,
  quote,
  ResourceError,
  toResourceError,
} from "./errors.ts";
export { type OperationMethod, type Layer, type Operation, stack, wrapSource } from "./layer.ts";
export { standardLayers } from "./layers/standard.ts";
export { defaultBudget } from "./lib/pack-budget.ts";
export { createProtocol } from "./protocol/create-protocol.ts";
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
export { createActionTools } from "./protocol/tools/action-tools.ts";
export { createRelayedTools, joinToolSets } from "./protocol/tools/relayed-tools.ts";
export {
  type ActionResult,
  type Action,
  type Annotations,
  type Body,
  type Call,
  type Caller,
  type Change,
  type ClientInput,
  type CompletionRequest,
  type Content,
  type ContentBlock,
  type Description,
  type FilteredPageRequest,
  directoryType,
  type MountFailure,
  type Freshness,
  type FrontMatter,
  type Hit,
  type Icon,
  type ListFilter,
  type Page,
  type PageRequest,
  type PromptArgument,
  type ReadResult,
  type Relayed,
  type RelayedKind,
  type RelayedName,
  type RelayedPrompt,
  type RelayedPromptResult,
  type RelayedQuestion,
  type RelayedTool,
  type RelayedToolResult,
  type Resource,
  type Resources,
  type SearchResult,
  type SearchRequest,
  type Skill,
  type SkillResult,
  type SkillFile,
  type Suggestions,
  type Template,
  type Watch,
  type UnwatchedUri,
  type WatchFilter,
} from "./resources.ts";
export { createResources } from "./router/create-resources.ts";
export type { Mount } from "./router/route.ts";
export { type Server, type OpenServerOptions, openServer } from "./server/open-server.ts";
export { createRuntime } from "./server/runtime.ts";
export {
  type SourceActionResult,
  type Address,
  type SourceCompletionRequest,
  defineSource,
  type Entry,
  innerSlash,
  type ListRequest,
  type Part,
  pathOf,
  segmentsOf,
  type ShownFiles,
  type Source,
  type SourceAction,
  type SourceActions,
  type SourceBlock,
  type SourceBrowsing,
  type SourceChange,
  type SourceDefinition,
  type SourceHit,
  type SourceIndexing,
  type IndexedChanges,
  type SourceResuming,
  type SourceListing,
  type SourceOperation,
  type SourceProblem,
  type SourceRelayed,
  type SourceRelaying,
  type SourceSearching,
  type SourceSkill,
  type SourceSkillFile,
  type SourceSkills,
  type SourceTemplate,
  type SourceTemplates,
  type SourceWatch,
  type SourceWatching,
  type Suggestion,
  type Runtime,
  type VisibleFiles,
  type VisibleFilesOf,
} from "./source.ts";
export { sources } from "./sources/index.ts";
export { createActionEndpoint, type ActionEndpoint } from "./transport/action-endpoint.ts";
export { createHttp, type Http, type HttpOptions } from "./transport/http.ts";
export { type Listening, listen, type ListenOptions } from "./transport/listen.ts";
export { serveStdio, type StdioOptions } from "./transport/stdio.ts";
