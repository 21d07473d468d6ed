/** A conversation in 2026-07-28, word for word, with the server of `test-server.ts`. */
import { cursor, sentence, type Step, version } from "../transcript.ts";

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "line", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const server = { "io.modelcontextprotocol/serverInfo": { name: "pressmark", version } };
const tag = { "io.modelcontextprotocol/subscriptionId": 18 };
const tagServer = { ...server, ...tag };
const capabilities = {
  resources: { subscribe: true, listChanged: true },
  completions: {},
  extensions: {
    "io.modelcontextprotocol/skills": { directoryRead: true },
    "pressmark/conditional-reads": {},
    "pressmark/list-filters": { supported: ["namePatterns", "uriPatterns"] },
  },
};
const listTtl = 0;
const readTtl = 0;
const scope = "private";

export const transcript: readonly Step[] = [
  {
    name: "discover",
    ask: { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } },
    answer: {
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"],
        capabilities: capabilities,
        instructions: sentence,
        ttlMs: 3_600_000,
        cacheScope: "public",
        _meta: server,
      },
    },
  },
  {
    name: "list",
    ask: { jsonrpc: "2.0", id: 2, method: "resources/list", params: { _meta: meta } },
    answer: {
      jsonrpc: "2.0",
      id: 2,
      result: {
        resultType: "complete",
        resources: [
          {
            uri: "memory://house/blob.bin",
            name: "blob.bin",
            title: "blob.bin",
            mimeType: "application/octet-stream",
            size: 4,
          },
          {
            uri: "memory://house/docs/guide.md",
            name: "guide.md",
            title: "docs/guide.md",
            mimeType: "text/markdown",
            size: 8,
          },
          { uri: "memory://house/notes.txt", name: "notes.txt", title: "notes.txt", mimeType: "text/plain", size: 9 },
        ],
        nextCursor: cursor,
        ttlMs: listTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "the second page",
    ask: { jsonrpc: "2.0", id: 3, method: "resources/list", params: { cursor: cursor, _meta: meta } },
    answer: {
      jsonrpc: "2.0",
      id: 3,
      result: {
        resultType: "complete",
        resources: [
          {
            uri: "memory://house/rich.json",
            name: "rich.json",
            title: "Everything that can be said",
            description: "A resource with every field",
            mimeType: "application/json",
            annotations: { audience: ["user"], priority: 0.8, lastModified: "2026-01-02T03:04:05Z" },
            size: 10,
            icons: [{ src: "https://example.com/rich.png", mimeType: "image/png", sizes: ["48x48"], theme: "light" }],
            _meta: { "example.com/shelf": 3 },
          },
          {
            uri: "memory://house/%E6%97%A5%E6%9C%AC%E8%AA%9E.md",
            name: "日本語.md",
            title: "日本語.md",
            mimeType: "text/markdown",
            size: 16,
          },
        ],
        ttlMs: listTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "a wrong cursor",
    ask: { jsonrpc: "2.0", id: 4, method: "resources/list", params: { cursor: "wrong", _meta: meta } },
    answer: { jsonrpc: "2.0", id: 4, error: { code: -32602, message: sentence } },
  },
  {
    name: "templates",
    ask: { jsonrpc: "2.0", id: 5, method: "resources/templates/list", params: { _meta: meta } },
    answer: {
      jsonrpc: "2.0",
      id: 5,
      result: {
        resultType: "complete",
        resourceTemplates: [
          {
            uriTemplate: "memory://house/greetings/{name}",
            name: "greeting",
            title: "Greeting",
            description: "Greets someone by name",
            mimeType: "text/plain",
          },
        ],
        ttlMs: listTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "read a text",
    ask: { jsonrpc: "2.0", id: 6, method: "resources/read", params: { uri: "memory://house/notes.txt", _meta: meta } },
    answer: {
      jsonrpc: "2.0",
      id: 6,
      result: {
        resultType: "complete",
        contents: [{ uri: "memory://house/notes.txt", mimeType: "text/plain", text: "Buy ink.\n" }],
        ttlMs: readTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "read bytes",
    ask: { jsonrpc: "2.0", id: 7, method: "resources/read", params: { uri: "memory://house/blob.bin", _meta: meta } },
    answer: {
      jsonrpc: "2.0",
      id: 7,
      result: {
        resultType: "complete",
        contents: [{ uri: "memory://house/blob.bin", mimeType: "application/octet-stream", blob: "AAH+/w==" }],
        ttlMs: readTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "read a name beyond ASCII",
    ask: {
      jsonrpc: "2.0",
      id: 8,
      method: "resources/read",
      params: { uri: "memory://house/%E6%97%A5%E6%9C%AC%E8%AA%9E.md", _meta: meta },
    },
    answer: {
      jsonrpc: "2.0",
      id: 8,
      result: {
        resultType: "complete",
        contents: [
          { uri: "memory://house/%E6%97%A5%E6%9C%AC%E8%AA%9E.md", mimeType: "text/markdown", text: "こんにちは\n" },
        ],
        ttlMs: readTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "read an expansion of the template",
    ask: {
      jsonrpc: "2.0",
      id: 9,
      method: "resources/read",
      params: { uri: "memory://house/greetings/ada", _meta: meta },
    },
    answer: {
      jsonrpc: "2.0",
      id: 9,
      result: {
        resultType: "complete",
        contents: [{ uri: "memory://house/greetings/ada", mimeType: "text/plain", text: "Hello, ada!\n" }],
        ttlMs: readTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "read what is not there",
    ask: {
      jsonrpc: "2.0",
      id: 10,
      method: "resources/read",
      params: { uri: "memory://house/nothing.txt", _meta: meta },
    },
    answer: {
      jsonrpc: "2.0",
      id: 10,
      error: { code: -32602, message: sentence, data: { uri: "memory://house/nothing.txt" } },
    },
  },
  {
    name: "read without a URI",
    ask: { jsonrpc: "2.0", id: 11, method: "resources/read", params: { _meta: meta } },
    answer: { jsonrpc: "2.0", id: 11, error: { code: -32602, message: sentence } },
  },
  {
    name: "a method that no revision has",
    ask: {
      jsonrpc: "2.0",
      id: 12,
      method: "resources/write",
      params: { uri: "memory://house/notes.txt", _meta: meta },
    },
    answer: { jsonrpc: "2.0", id: 12, error: { code: -32601, message: sentence } },
  },
  {
    name: "completion",
    ask: {
      jsonrpc: "2.0",
      id: 13,
      method: "completion/complete",
      params: {
        ref: { type: "ref/resource", uri: "memory://house/greetings/{name}" },
        argument: { name: "name", value: "a" },
        _meta: meta,
      },
    },
    answer: {
      jsonrpc: "2.0",
      id: 13,
      result: {
        resultType: "complete",
        completion: { values: ["ada", "alan"], total: 2, hasMore: false },
        _meta: server,
      },
    },
  },
  {
    name: "completion of an unknown template",
    ask: {
      jsonrpc: "2.0",
      id: 14,
      method: "completion/complete",
      params: {
        ref: { type: "ref/resource", uri: "memory://house/nowhere/{name}" },
        argument: { name: "name", value: "" },
        _meta: meta,
      },
    },
    answer: { jsonrpc: "2.0", id: 14, error: { code: -32602, message: sentence } },
  },
  {
    name: "a directory",
    ask: {
      jsonrpc: "2.0",
      id: 15,
      method: "resources/directory/read",
      params: { uri: "memory://house/docs", _meta: meta },
    },
    answer: {
      jsonrpc: "2.0",
      id: 15,
      result: {
        resultType: "complete",
        resources: [
          {
            uri: "memory://house/docs/guide.md",
            name: "guide.md",
            title: "docs/guide.md",
            mimeType: "text/markdown",
            size: 8,
          },
        ],
        ttlMs: listTtl,
        cacheScope: scope,
        _meta: server,
      },
    },
  },
  {
    name: "a directory that is none",
    ask: {
      jsonrpc: "2.0",
      id: 16,
      method: "resources/directory/read",
      params: { uri: "memory://house/notes.txt", _meta: meta },
    },
    answer: {
      jsonrpc: "2.0",
      id: 16,
      error: { code: -32602, message: sentence, data: { uri: "memory://house/notes.txt" } },
    },
  },
  {
    name: "a method of earlier revisions",
    ask: { jsonrpc: "2.0", id: 17, method: "ping", params: { _meta: meta } },
    answer: { jsonrpc: "2.0", id: 17, error: { code: -32601, message: sentence } },
  },
  {
    name: "listen",
    begin: {
      jsonrpc: "2.0",
      id: 18,
      method: "subscriptions/listen",
      params: {
        notifications: {
          resourcesListChanged: true,
          promptsListChanged: true,
          resourceSubscriptions: ["memory://house/notes.txt", "memory://house/nothing.txt"],
        },
        _meta: meta,
      },
    },
    hears: [
      {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: {
          _meta: tag,
          notifications: { resourcesListChanged: true, resourceSubscriptions: ["memory://house/notes.txt"] },
        },
      },
    ],
  },
  {
    name: "an update",
    change: { path: "notes.txt", text: "Buy paper.\n" },
    hears: [
      {
        jsonrpc: "2.0",
        method: "notifications/resources/updated",
        params: { _meta: tag, uri: "memory://house/notes.txt" },
      },
    ],
  },
  {
    name: "a new resource",
    change: { path: "zebra.txt", text: "Stripes.\n" },
    hears: [{ jsonrpc: "2.0", method: "notifications/resources/list_changed", params: { _meta: tag } }],
  },
  {
    name: "the end",
    close: true,
    hears: [{ jsonrpc: "2.0", id: 18, result: { resultType: "complete", _meta: tagServer } }],
  },
];
