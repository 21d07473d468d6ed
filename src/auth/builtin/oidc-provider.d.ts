/** The part of `oidc-provider` that the embedded authorization server uses; the package has no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  type Payload = Record<string, unknown>;

  export interface Adapter {
    upsert(id: string, payload: Payload, expiresInSeconds?: number): Promise<void>;
    find(id: string): Promise<Payload | undefined>;
    findByUid(uid: string): Promise<Payload | undefined>;
    findByUserCode(userCode: string): Promise<Payload | undefined>;
    /** Throws if it was consumed before. */
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    /** Whether its metadata comes from the URL that is its id. */
    readonly clientIdMetadataDocument?: boolean;
    grantTypeAllowed(type: string): boolean;
  }

  export interface Grant {
    readonly jti?: string;
    addResourceScope(resource: string, scope: string): void;
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  export interface Interaction {
    readonly uid: string;
    readonly prompt: { readonly name: string; readonly details: Readonly<Record<string, unknown>> };
    readonly params: Readonly<Record<string, unknown>>;
    readonly session?: { readonly accountId: string; readonly uid: string; readonly amr?: readonly string[] };
    readonly grantId?: string;
  }

  /** The context of one request. */
  export interface Context {
    readonly req: IncomingMessage;
    readonly path: string;
    query: Record<string, unknown>;
    status: number;
    type: string;
    body: unknown;
    set(headers: Record<string, string>): void;
    get(header: string): string;
    readonly oidc: {
      readonly client?: Client;
      readonly account?: { readonly accountId: string };
      readonly session?: { readonly amr?: readonly string[] };
      readonly result?: { readonly consent?: { readonly grantId?: string } };
      readonly provider: Provider;
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly request: object;
    readonly Client: { find(id: string): Promise<Client | undefined> };
    readonly Grant: {
      new (properties: { accountId: string; clientId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
    };
    readonly Session: { findByUid(uid: string): Promise<{ destroy(): Promise<void> } | undefined> };
    callback(): RequestListener;
    use(middleware: (context: Context, next: () => Promise<void>) => unknown): this;
    on(event: string, listener: (...given: never[]) => void): this;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Readonly<Record<string, unknown>>,
      options?: { readonly mergeWithLastSubmission?: boolean },
    ): Promise<void>;
  }

  export default Provider;

  type ErrorClass = new (message: string, detail?: string) => Error;

  export const errors: {
    readonly InvalidGrant: ErrorClass;
    readonly InvalidTarget: ErrorClass;
    readonly InvalidClientMetadata: ErrorClass;
    readonly SessionNotFound: ErrorClass;
  };
}
