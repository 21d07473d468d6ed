/** Resources over MCP, for hosts: also in a browser. */
export { connect, connectBy, type ConnectOptions, type RemoteHouse, type ServerFacts } from "./connect.ts";
export type { ToolSaid, ToolUse } from "./by-tool.ts";
export { createKeptAnswers, type KeptAnswers, type KeptKey, type KeptOptions } from "./kept.ts";
export { type CheckedFile, readSkill, readSkillFile } from "./read-skill.ts";
export { walkPages } from "./walk-pages.ts";
export type { Patience } from "./link.ts";
export { type ErrorKind, ResourceError } from "../errors.ts";
export * from "../resources.ts";
