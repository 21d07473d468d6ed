/** What clients learn about this server before they have a token: its metadata (RFC 9728) and its challenges (RFC 6750). */
import type { IncomingMessage, ServerResponse } from "node:http";

interface ResourceMetadataOptions {
  /** Without a slash at the end. */
  readonly publicUrl: string;
  readonly resource: string;
  readonly issuers: () => readonly string[];
  /** Scopes that every request needs. */
  readonly scopes: readonly string[];
}

interface Challenge {
  readonly error?: "invalid_token" | "insufficient_scope";
  readonly description?: string;
  /** Default: those that every request needs. */
  readonly scopes?: readonly string[];
}

export interface ResourceMetadata {
  /** A `WWW-Authenticate`. Texts must not contain quotes. */
  challenge(of?: Challenge): string;
  /** Returns false if the path is not one of the metadata. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): boolean;
}

const wellKnown = "/.well-known/oauth-protected-resource";

export function createResourceMetadata(options: ResourceMetadataOptions): ResourceMetadata {
  const { publicUrl, resource, issuers, scopes } = options;
  const { pathname } = new URL(publicUrl);
  const prefix = pathname.replace(/(?<!\/)\/+$/, "");
  /** A proxy may or may not strip the path of the public URL. */
  const paths = new Set(
    ["", prefix].flatMap((start) => ["", "/mcp", `${prefix}/mcp`].map((end) => start + wellKnown + end)),
  );
  // Without a path this is where clients look by themselves. With one, a proxy surely passes on what is below it.
  const url = `${publicUrl}${wellKnown}${prefix === "" ? "/mcp" : ""}`;

  return {
    challenge({ error, description, scopes: needed = scopes } = {}) {
      const parameters = {
        error,
        error_description: description,
        resource_metadata: url,
        scope: needed.length > 0 ? needed.join(" ") : undefined,
      };
      const texts = Object.entries(parameters).flatMap(([name, value]) =>
        value === undefined ? [] : `${name}="${value}"`,
      );
      return `Bearer realm="pressmark", ${texts.join(", ")}`;
    },

    answer({ method }, response, path) {
      if (!paths.has(path)) return false;
      if (method !== "GET" && method !== "HEAD") return false;
      const text = JSON.stringify({
        resource,
        authorization_servers: issuers(),
        ...(scopes.length > 0 && { scopes_supported: scopes }),
        bearer_methods_supported: ["header"],
        resource_name: "Pressmark",
      });
      response.writeHead(200, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(text),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
      });
      response.end(method === "HEAD" ? undefined : text);
      return true;
    },
  };
}
