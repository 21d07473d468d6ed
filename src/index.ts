/** The front door: what programs that build on Pressmark may count on. */
export { openPolicy, type Policy } from "./access/policy.ts";
export { type ConfigInput, defineConfig, type MountInput } from "./config/define-config.ts";
export { bestCounter, type CountTokens, estimate } from "./context/count-tokens.ts";
export { gather, type GatherAsk } from "./context/gather.ts";
export type { Included, Item, LeftOut, Pack, PackFormat, Receipt } from "./context/pack.ts";
export {
  type ErrorDetails,
  type ErrorKind,
  invalid,
  notFound,
  quote,
  ResourceError,
  toResourceError,
} from "./errors.ts";
export { type Asked, type Layer, type Operation, stack, wrapSource } from "./layer.ts";
export { standardLayers } from "./layers/standard.ts";
export { createEdge } from "./protocol/create-edge.ts";
export type { Edge, Headers, Kind, Peer, Reply, Session, SessionPeer, Wire } from "./protocol/edge.ts";
export { createActionTools } from "./protocol/tools/action-tools.ts";
export {
  type Acted,
  type Action,
  type Annotations,
  type Body,
  type Call,
  type Caller,
  type Change,
  type Completion,
  type Content,
  type Description,
  directoryType,
  type Failure,
  type Freshness,
  type FrontMatter,
  type Hit,
  type Icon,
  type Page,
  type PageAsk,
  type ReadAnswer,
  type Resource,
  type Resources,
  type SearchAnswer,
  type SearchAsk,
  type Skill,
  type SkillAnswer,
  type SkillFile,
  type Suggestions,
  type Template,
  type Watch,
  type WatchFilter,
} from "./resources.ts";
export { createResources } from "./router/create-resources.ts";
export type { Mount } from "./router/route.ts";
export { type House, type HouseOptions, openHouse } from "./server/open-house.ts";
export { createTools } from "./server/tools.ts";
export {
  type ActionAnswer,
  type Address,
  type CompleteAsk,
  defineSource,
  type Entry,
  innerSlash,
  type ListAsk,
  type Part,
  pathOf,
  segmentsOf,
  type Source,
  type SourceAction,
  type SourceChange,
  type SourceDefinition,
  type SourceHit,
  type SourceProblem,
  type SourceSkill,
  type SourceSkillFile,
  type SourceTemplate,
  type Suggestion,
  type Tools,
} from "./source.ts";
export { sources } from "./sources/index.ts";
export { createActionDoor, type PostDoor } from "./transport/action-door.ts";
export { createHttp, type Http, type HttpOptions } from "./transport/http.ts";
export { type Listening, listen, type ListenOptions } from "./transport/listen.ts";
export { serveStdio, type StdioOptions } from "./transport/stdio.ts";
