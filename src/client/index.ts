/** Client for MCP resources, for hosts; also runs in a browser. */
export type { ConnectOptions, RemoteServer, RemoteServerInfo } from "./connect.ts";
export { connect, connectBy } from "./connect-on-demand.ts";
export type { CallToolOptions, RemoteTool, RemoteToolResult, RemoteTools } from "./remote-tools.ts";
export type { ToolSaid, ToolUse } from "./tool-fallback.ts";
export {
  type AnswerCache,
  type AnswerCacheOptions,
  type CacheableAnswer,
  type CachedAnswerKey,
  createAnswerCache,
} from "./answer-cache.ts";
export { type CheckedFile, readSkill, readSkillFile } from "./read-skill.ts";
export { walkPages } from "./walk-pages.ts";
export type { ClientConnection, Patience, RemoteRequest } from "./reconnect.ts";
export type { Fetch } from "./own-headers.ts";
export { type ErrorDetails, type ErrorKind, ResourceError } from "../errors.ts";
export * from "../resources.ts";
