/** A conversation in 2025-11-25, word for word, with the server of `test-server.ts`. */
import { cursor, sentence, type Step, version } from "../transcript.ts";

export const opened = {
  protocolVersion: "2025-11-25",
  capabilities: { resources: { subscribe: true, listChanged: true }, completions: {} },
  serverInfo: { name: "pressmark", version },
  instructions: sentence,
};

export const transcript: readonly Step[] = [
  {
    name: "list",
    ask: { jsonrpc: "2.0", id: 2, method: "resources/list" },
    answer: {
      jsonrpc: "2.0",
      id: 2,
      result: {
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
      },
    },
  },
  {
    name: "the second page",
    ask: { jsonrpc: "2.0", id: 3, method: "resources/list", params: { cursor: cursor } },
    answer: {
      jsonrpc: "2.0",
      id: 3,
      result: {
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
      },
    },
  },
  {
    name: "a wrong cursor",
    ask: { jsonrpc: "2.0", id: 4, method: "resources/list", params: { cursor: "wrong" } },
    answer: { jsonrpc: "2.0", id: 4, error: { code: -32602, message: sentence } },
  },
  {
    name: "templates",
    ask: { jsonrpc: "2.0", id: 5, method: "resources/templates/list" },
    answer: {
      jsonrpc: "2.0",
      id: 5,
      result: {
        resourceTemplates: [
          {
            uriTemplate: "memory://house/greetings/{name}",
            name: "greeting",
            title: "Greeting",
            description: "Greets someone by name",
            mimeType: "text/plain",
          },
        ],
      },
    },
  },
  {
    name: "read a text",
    ask: { jsonrpc: "2.0", id: 6, method: "resources/read", params: { uri: "memory://house/notes.txt" } },
    answer: {
      jsonrpc: "2.0",
      id: 6,
      result: { contents: [{ uri: "memory://house/notes.txt", mimeType: "text/plain", text: "Buy ink.\n" }] },
    },
  },
  {
    name: "read bytes",
    ask: { jsonrpc: "2.0", id: 7, method: "resources/read", params: { uri: "memory://house/blob.bin" } },
    answer: {
      jsonrpc: "2.0",
      id: 7,
      result: {
        contents: [{ uri: "memory://house/blob.bin", mimeType: "application/octet-stream", blob: "AAH+/w==" }],
      },
    },
  },
  {
    name: "read a name beyond ASCII",
    ask: {
      jsonrpc: "2.0",
      id: 8,
      method: "resources/read",
      params: { uri: "memory://house/%E6%97%A5%E6%9C%AC%E8%AA%9E.md" },
    },
    answer: {
      jsonrpc: "2.0",
      id: 8,
      result: {
        contents: [
          { uri: "memory://house/%E6%97%A5%E6%9C%AC%E8%AA%9E.md", mimeType: "text/markdown", text: "こんにちは\n" },
        ],
      },
    },
  },
  {
    name: "read an expansion of the template",
    ask: { jsonrpc: "2.0", id: 9, method: "resources/read", params: { uri: "memory://house/greetings/ada" } },
    answer: {
      jsonrpc: "2.0",
      id: 9,
      result: { contents: [{ uri: "memory://house/greetings/ada", mimeType: "text/plain", text: "Hello, ada!\n" }] },
    },
  },
  {
    name: "read what is not there",
    ask: { jsonrpc: "2.0", id: 10, method: "resources/read", params: { uri: "memory://house/nothing.txt" } },
    answer: {
      jsonrpc: "2.0",
      id: 10,
      error: { code: -32002, message: sentence, data: { uri: "memory://house/nothing.txt" } },
    },
  },
  {
    name: "read without a URI",
    ask: { jsonrpc: "2.0", id: 11, method: "resources/read", params: {} },
    answer: { jsonrpc: "2.0", id: 11, error: { code: -32602, message: sentence } },
  },
  {
    name: "a method that no revision has",
    ask: { jsonrpc: "2.0", id: 12, method: "resources/write", params: { uri: "memory://house/notes.txt" } },
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
      },
    },
    answer: { jsonrpc: "2.0", id: 13, result: { completion: { values: ["ada", "alan"], total: 2, hasMore: false } } },
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
      },
    },
    answer: { jsonrpc: "2.0", id: 14, error: { code: -32602, message: sentence } },
  },
  { name: "ping", ask: { jsonrpc: "2.0", id: 15, method: "ping" }, answer: { jsonrpc: "2.0", id: 15, result: {} } },
  {
    name: "a method of a later revision",
    ask: { jsonrpc: "2.0", id: 16, method: "resources/directory/read", params: { uri: "memory://house/docs" } },
    answer: { jsonrpc: "2.0", id: 16, error: { code: -32601, message: sentence } },
  },
  {
    name: "subscribe",
    ask: { jsonrpc: "2.0", id: 17, method: "resources/subscribe", params: { uri: "memory://house/notes.txt" } },
    answer: { jsonrpc: "2.0", id: 17, result: {} },
  },
  {
    name: "subscribe to what is not there",
    ask: { jsonrpc: "2.0", id: 18, method: "resources/subscribe", params: { uri: "memory://house/nothing.txt" } },
    answer: {
      jsonrpc: "2.0",
      id: 18,
      error: { code: -32002, message: sentence, data: { uri: "memory://house/nothing.txt" } },
    },
  },
  {
    name: "an update",
    change: { path: "notes.txt", text: "Buy paper.\n" },
    hears: [{ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "memory://house/notes.txt" } }],
  },
  {
    name: "unsubscribe",
    ask: { jsonrpc: "2.0", id: 19, method: "resources/unsubscribe", params: { uri: "memory://house/notes.txt" } },
    answer: { jsonrpc: "2.0", id: 19, result: {} },
  },
  { name: "an update of what was unsubscribed", change: { path: "notes.txt", text: "Buy glue.\n" }, hears: [] },
  {
    name: "a new resource",
    change: { path: "zebra.txt", text: "Stripes.\n" },
    hears: [{ jsonrpc: "2.0", method: "notifications/resources/list_changed" }],
  },
];
