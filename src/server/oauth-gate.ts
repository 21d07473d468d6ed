/** Admits callers with access tokens, and tells clients where to get one and which scopes it needs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { OAuthCallers } from "../auth/oauth-callers.ts";
import { createRefusalLog } from "../auth/refusal-log.ts";
import type { ResourceMetadata } from "../auth/resource-metadata.ts";
import type { Scopes } from "../auth/scopes.ts";
import { TokenRefusal, type TokenVerifier } from "../auth/token-verifier.ts";
import { retryAfterOf, toResourceError } from "../errors.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../runtime.ts";
import type { GateRefusal, NodeHandlerOptions } from "../transport/node-handler.ts";
import type { AuditLog } from "./audit-log.ts";
import type { WriteCheck } from "./write-check.ts";
import { tokenPrefix } from "./token-store.ts";

interface OAuthGateOptions {
  readonly callers: Pick<OAuthCallers, "find" | "admit">;
  readonly answer: TokenVerifier["answer"];
  readonly metadata: ResourceMetadata;
  readonly scopes: Scopes;
  readonly runtime: Pick<Runtime, "monotonicMs" | "log">;
  readonly audit?: Pick<AuditLog, "write">;
}

export interface OAuthGate {
  /** The caller of a token that was verified before, or why the caller is not served. */
  find(token: string): Caller | GateRefusal | undefined;
  /** The same for any other token. Never rejects. */
  verify(token: string): Promise<Caller | GateRefusal>;
  /** Answers requests that need no token. Returns false if this is none of them. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): boolean;
  /** Refuses what changes something to callers who lack a scope for it. Messages of the others are not looked at. */
  authorize(writes: WriteCheck): NonNullable<NodeHandlerOptions["authorize"]>;
}

/** Time after which to try again if the issuer cannot be reached. */
const retrySeconds = 5;

export function createOAuthGate(options: OAuthGateOptions): OAuthGate {
  const { callers, answer, metadata, scopes, runtime, audit } = options;
  const logRefusal = createRefusalLog({
    runtime,
    report: (detail) => audit?.write({ what: "sign-in", outcome: "denied", detail }),
  });

  function refuseScopes({ id }: Caller, needed: readonly string[]): GateRefusal {
    logRefusal(`the token of ${id} lacks a scope (needed: ${needed.join(" ")})`);
    const message = `the token lacks a scope; needed: ${needed.join(" ")}`;
    const challenge = metadata.challenge({ error: "insufficient_scope", description: message, scopes: needed });
    return { status: 403, message, headers: { "WWW-Authenticate": challenge } };
  }

  function readable(caller: Caller): Caller | GateRefusal {
    return has(caller, scopes.read) ? caller : refuseScopes(caller, scopes.read);
  }

  function refusalFor(cause: unknown): GateRefusal {
    if (cause instanceof TokenRefusal) {
      logRefusal(cause.reason);
      const challenge = metadata.challenge({ error: "invalid_token", description: cause.message });
      return { status: 401, message: cause.message, headers: { "WWW-Authenticate": challenge } };
    }
    // The token may be valid, so the client must keep it.
    const { message } = toResourceError(cause);
    logRefusal(`a token cannot be verified: ${message}`);
    const seconds = Math.ceil((retryAfterOf(cause) ?? retrySeconds * 1000) / 1000);
    return {
      status: 503,
      message: "the token cannot be verified at the moment; try again soon",
      headers: { "Retry-After": seconds },
    };
  }

  return {
    find(token) {
      const caller = callers.find(token);
      return caller && readable(caller);
    },

    async verify(token) {
      try {
        // Such a token was revoked or belongs to another server: no issuer may see it.
        if (token.startsWith(tokenPrefix)) throw new TokenRefusal("the token was revoked, has expired or is unknown");
        return readable(await callers.admit(token));
      } catch (cause) {
        return refusalFor(cause);
      }
    },

    answer: (request, response, path) =>
      metadata.answer(request, response, path) || (answer?.(request, response, path) ?? false),

    authorize: (writes) => (caller, body, actionPath) => {
      if (has(caller, scopes.write)) return undefined;
      return writes(caller, body, actionPath)?.then((isWrite) =>
        isWrite ? refuseScopes(caller, scopes.write) : undefined,
      );
    },
  };
}

/** Callers without scopes have a token of this server. */
function has({ scopes }: Caller, needed: readonly string[]): boolean {
  return scopes === undefined || needed.every((scope) => scopes.includes(scope));
}
