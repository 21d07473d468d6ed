/** Results that no revision's own schema knows: the skills extension, whose directory listing serves any resource. */
import type { JsonRecord } from "./json.ts";

/** Definitions to stand beside those of 2026-07-28, under its `$defs`. */
export const extensionDefinitions: JsonRecord = {
  ReadDirectoryRequest: { properties: { method: { const: "resources/directory/read" } } },
  ReadDirectoryResult: {
    type: "object",
    properties: {
      _meta: { $ref: "#/$defs/ResultMetaObject" },
      resultType: { const: "complete" },
      resources: { type: "array", items: { $ref: "#/$defs/Resource" } },
      nextCursor: { type: "string" },
      // The text of the extension names no hints; its official clients refuse an answer without them.
      ttlMs: { type: "integer", minimum: 0 },
      cacheScope: { enum: ["private", "public"] },
    },
    required: ["resultType", "resources", "ttlMs", "cacheScope"],
  },
  Skill: {
    type: "object",
    properties: {
      uri: { type: "string", format: "uri", pattern: "/SKILL\\.md$" },
      frontmatter: {
        type: "object",
        properties: { name: { type: "string" }, description: { type: "string" } },
        required: ["name", "description"],
        additionalProperties: true,
      },
      resources: {
        anyOf: [
          { const: "dynamic" },
          {
            type: "array",
            items: {
              type: "object",
              properties: {
                uri: { type: "string", format: "uri" },
                digest: { type: "string", pattern: "^sha256:[0-9a-f]{64}$" },
                size: { type: "integer", minimum: 0 },
              },
              required: ["uri", "digest", "size"],
            },
          },
        ],
      },
    },
    required: ["uri", "frontmatter", "resources"],
  },
  ListSkillsRequest: { properties: { method: { const: "skills/list" } } },
  ListSkillsResult: {
    type: "object",
    properties: {
      _meta: { $ref: "#/$defs/ResultMetaObject" },
      resultType: { const: "complete" },
      skills: { type: "array", items: { $ref: "#/$defs/Skill" } },
      nextCursor: { type: "string" },
      ttlMs: { type: "integer", minimum: 0 },
      cacheScope: { enum: ["private", "public"] },
    },
    required: ["resultType", "skills", "ttlMs", "cacheScope"],
  },
  GetSkillRequest: { properties: { method: { const: "skills/get" } } },
  GetSkillResult: {
    type: "object",
    properties: {
      _meta: { $ref: "#/$defs/ResultMetaObject" },
      resultType: { const: "complete" },
      skill: { $ref: "#/$defs/Skill" },
      ttlMs: { type: "integer", minimum: 0 },
      cacheScope: { enum: ["private", "public"] },
    },
    required: ["resultType", "skill", "ttlMs", "cacheScope"],
  },
};
