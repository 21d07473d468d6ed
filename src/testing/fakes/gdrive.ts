/** A fake of the read part of the Drive API, as a local server: there is no local edition of the service. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAccounts, type FakeAccounts } from "./gdrive/accounts.ts";
import { createAnswers, type FakeRefusal, refuse } from "./gdrive/answers.ts";
import { createDriveStore, type FakeFile, type FakeStore, type FakeSharedDrive } from "./gdrive/stored.ts";
import { createWebhooks, type FakeWebhooks } from "./gdrive/webhooks.ts";

export interface FakeDrive {
  readonly rootUrl: string;
  /** The account, unless a token names another. */
  readonly owner: string;
  /** "GET /drive/v3/…", oldest first. */
  readonly asked: readonly string[];
  readonly accounts: FakeAccounts;
  readonly webhooks: FakeWebhooks;
  /** Creates a file, or changes its metadata. */
  put(id: string, file: FakeFile): void;
  folder(id: string, name: string, more?: Pick<FakeFile, "parent" | "driveId">): void;
  /** A Google document with this Markdown. */
  document(id: string, markdown: string, more?: FakeFile): void;
  trash(id: string): void;
  remove(id: string): void;
  addDrive(id: string, name: string, members?: readonly string[]): void;
  removeDrive(id: string): void;
  /** The next requests whose path contains `where` fail like this. */
  fail(how: FakeRefusal, more?: { readonly times?: number; readonly where?: string }): void;
  /** The next lists report an incomplete search. */
  incomplete(times: number): void;
  /** Invalidates all page tokens of lists. */
  expireLists(): void;
  /** Larger documents are not exported. */
  exportLimit: number;
  latencyMs: number;
  /** Whether requests without a token are rejected. */
  needsToken: boolean;
  /** Whether users agree to sign in. */
  agrees: boolean;
  /** Called with each request before the response. */
  onAsk: ((requested: string) => void) | undefined;
  readonly store: FakeStore;
  close(): Promise<void>;
}

export type { FakeFile, FakeSharedDrive };

const owner = "owner@example.org";
export const rootId = "root-folder-0";

export async function startFakeDrive(): Promise<FakeDrive> {
  const requested: string[] = [];
  const webhooks = createWebhooks();
  const store = createDriveStore(owner, (log) => webhooks.changed(log));
  const accounts = createAccounts({ user: () => owner, agrees: () => drive.agrees });
  const failing: { how: FakeRefusal; left: number; where: string }[] = [];
  const answers = createAnswers({
    store,
    webhooks,
    rootId,
    origin: () => drive.rootUrl,
    exportLimit: () => drive.exportLimit,
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    const body = await bodyOf(request);
    const line = `${request.method} ${url.pathname}${url.search}`;
    requested.push(line);
    drive.onAsk?.(line);
    if (drive.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, drive.latencyMs));
    const fault = failing.find(({ left, where }) => left > 0 && url.pathname.includes(where));
    if (fault) {
      fault.left -= 1;
      return refuse(response, fault.how);
    }
    if (url.pathname === "/o/oauth2/v2/auth") {
      const to = accounts.agree(url.searchParams);
      return void (to === undefined ? response.writeHead(400) : response.writeHead(302, { Location: to })).end();
    }
    if (url.pathname === "/token") {
      const given = accounts.token(new URLSearchParams(body));
      return void response
        .writeHead(given ? 200 : 400, { "Content-Type": "application/json" })
        .end(JSON.stringify(given ?? { error: "invalid_grant" }));
    }
    if (url.pathname === "/revoke")
      return void response.writeHead(accounts.revoke(new URLSearchParams(body).get("token") ?? "") ? 200 : 400).end();
    const { authorization } = request.headers;
    const user = accounts.userOf(authorization) ?? (authorization || drive.needsToken ? undefined : owner);
    if (user === undefined) return refuse(response, 401);
    answers.answer({ method: request.method ?? "GET", url, headers: request.headers, body, user }, response);
  }

  const placeOf = (id: string, { driveId }: FakeFile) => store.files.get(id)?.parent ?? driveId ?? rootId;

  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const drive: FakeDrive = {
    rootUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    owner,
    asked: requested,
    accounts,
    webhooks,
    store,
    exportLimit: 10 * 1024 * 1024,
    latencyMs: 0,
    needsToken: false,
    agrees: true,
    onAsk: undefined,
    put: (id, file) => void store.put(id, { parent: placeOf(id, file), ...file }),
    folder: (id, name, more = {}) =>
      void store.put(id, {
        name,
        mimeType: "application/vnd.google-apps.folder",
        parent: placeOf(id, more),
        ...more,
      }),
    document: (id, markdown, more = {}) =>
      void store.put(id, {
        parent: placeOf(id, more),
        mimeType: "application/vnd.google-apps.document",
        exports: { "text/markdown": markdown, "text/plain": markdown },
        ...more,
      }),
    trash: (id) => store.trash(id),
    remove: (id) => store.remove(id),
    addDrive: (id, name, members = [owner]) => store.setDrive(id, { name, members }),
    removeDrive: (id) => store.setDrive(id, undefined),
    fail: (how, { times = 1, where = "" } = {}) => void failing.push({ how, left: times, where }),
    incomplete: (times) => answers.incomplete(times),
    expireLists: () => answers.expireLists(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return drive;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
