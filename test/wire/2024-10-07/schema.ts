/**
 * 2024-10-07, the draft before the first published revision, has no official schema; this one is written from its resources page.
 * Where that page is silent (identity, capabilities, progress) the shapes are those that the first published revision kept. Cursors
 * are accepted: the draft's lists have none, and its clients ignore what they do not know. Tools, prompts and completion are not part
 * of what is served in it.
 */
import type { JsonRecord } from "../json.ts";

const text = { type: "string" };
const meta = { type: "object", additionalProperties: {} };
const open = { type: "object", additionalProperties: true };

function shape(properties: JsonRecord, required: readonly string[] = []): JsonRecord {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function result(properties: JsonRecord, required: readonly string[] = []): JsonRecord {
  return shape({ _meta: meta, ...properties }, required);
}

function listOf(name: string): JsonRecord {
  return { type: "array", items: { $ref: `#/definitions/${name}` } };
}

function request(method: string): JsonRecord {
  return shape({ method: { const: method }, params: open }, ["method"]);
}

function notification(method: string, params: JsonRecord, required: readonly string[] = []): JsonRecord {
  return shape({ method: { const: method }, params: shape(params, required) }, [
    "method",
    ...(required.length > 0 ? ["params"] : []),
  ]);
}

export const schemaOf20241007: JsonRecord = {
  $schema: "http://json-schema.org/draft-07/schema#",
  definitions: {
    RequestId: { type: ["string", "integer"] },
    ProgressToken: { type: ["string", "integer"] },
    Result: { type: "object", properties: { _meta: meta }, additionalProperties: {} },
    JSONRPCResponse: shape({ jsonrpc: { const: "2.0" }, id: { $ref: "#/definitions/RequestId" }, result: open }, [
      "jsonrpc",
      "id",
      "result",
    ]),
    JSONRPCError: shape(
      {
        jsonrpc: { const: "2.0" },
        id: { $ref: "#/definitions/RequestId" },
        error: shape({ code: { type: "integer" }, message: text, data: {} }, ["code", "message"]),
      },
      ["jsonrpc", "id", "error"],
    ),

    Implementation: shape({ name: text, version: text }, ["name", "version"]),
    ServerCapabilities: shape({
      experimental: open,
      resources: shape({ subscribe: { type: "boolean" }, listChanged: { type: "boolean" } }),
    }),
    InitializeRequest: request("initialize"),
    InitializeResult: result(
      {
        protocolVersion: text,
        capabilities: { $ref: "#/definitions/ServerCapabilities" },
        serverInfo: { $ref: "#/definitions/Implementation" },
        instructions: text,
      },
      ["protocolVersion", "capabilities", "serverInfo"],
    ),
    PingRequest: request("ping"),

    Resource: shape({ uri: { type: "string", format: "uri" }, name: text, description: text, mimeType: text }, [
      "uri",
      "name",
    ]),
    ResourceTemplate: shape(
      { uriTemplate: { type: "string", format: "uri-template" }, name: text, description: text, mimeType: text },
      ["uriTemplate", "name"],
    ),
    ListResourcesRequest: request("resources/list"),
    ListResourcesResult: result({
      resources: listOf("Resource"),
      resourceTemplates: listOf("ResourceTemplate"),
      nextCursor: text,
    }),
    ListResourceTemplatesRequest: request("resources/templates/list"),
    ListResourceTemplatesResult: result({ resourceTemplates: listOf("ResourceTemplate"), nextCursor: text }, [
      "resourceTemplates",
    ]),
    TextResourceContents: shape({ uri: { type: "string", format: "uri" }, mimeType: text, text }, ["uri", "text"]),
    BlobResourceContents: shape(
      { uri: { type: "string", format: "uri" }, mimeType: text, blob: { type: "string", format: "byte" } },
      ["uri", "blob"],
    ),
    ReadResourceRequest: request("resources/read"),
    ReadResourceResult: result(
      {
        contents: {
          type: "array",
          items: {
            anyOf: [{ $ref: "#/definitions/TextResourceContents" }, { $ref: "#/definitions/BlobResourceContents" }],
          },
        },
      },
      ["contents"],
    ),
    SubscribeRequest: request("resources/subscribe"),
    UnsubscribeRequest: request("resources/unsubscribe"),
    ResourceUpdatedNotification: notification(
      "notifications/resources/updated",
      { uri: { type: "string", format: "uri" } },
      ["uri"],
    ),
    ResourceListChangedNotification: notification("notifications/resources/list_changed", {}),
    ProgressNotification: notification(
      "notifications/progress",
      {
        progressToken: { $ref: "#/definitions/ProgressToken" },
        progress: { type: "number" },
        total: { type: "number" },
      },
      ["progressToken", "progress"],
    ),
  },
};
