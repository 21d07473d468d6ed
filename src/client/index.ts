/** Client for MCP resources, for hosts; also runs in a browser. */
export { connect, connectBy, type ConnectOptions, type RemoteServer, type RemoteServerInfo } from "./connect.ts";
export type { CallToolOptions, RemoteTool, RemoteToolResult, RemoteTools } from "./remote-tools.ts";
export type { ToolSaid, ToolUse } from "./tool-fallback.ts";
export { createAnswerCache, type AnswerCache, type CachedAnswerKey, type AnswerCacheOptions } from "./answer-cache.ts";
export { type CheckedFile, readSkill, readSkillFile } from "./read-skill.ts";
export { walkPages } from "./walk-pages.ts";
export type { Patience } from "./reconnect.ts";
export { type ErrorKind, ResourceError } from "../errors.ts";
export * from "../resources.ts";
