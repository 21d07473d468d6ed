/** Drives that a test may write to: the fake, and a folder of the real service. */
import { readFileSync } from "node:fs";
import { JWT } from "google-auth-library";
import type { DriveSourceOptions } from "../../src/sources/gdrive.ts";
import { rootId, startFakeDrive } from "../../src/testing/fakes/gdrive.ts";

export interface DriveBackend {
  /** What a source is opened with to see it. */
  readonly options: Partial<DriveSourceOptions>;
  /** Everything is made in here. */
  readonly folder: string;
  makeFolder(name: string): Promise<string>;
  /** A document of Drive's own. Gives its id. */
  write(name: string, markdown: string): Promise<string>;
  upload(name: string, text: string): Promise<string>;
  edit(id: string, markdown: string): Promise<void>;
  change(id: string, more: { readonly name?: string; readonly folder?: string }): Promise<void>;
  trash(id: string): Promise<void>;
  close(): Promise<void>;
}

const documentType = "application/vnd.google-apps.document";
const folderType = "application/vnd.google-apps.folder";

export async function fakeBackend(): Promise<DriveBackend> {
  const fake = await startFakeDrive();
  let made = 0;
  const fresh = () => `made-${(made += 1)}`;
  return {
    options: { anonymous: true, rootUrl: fake.rootUrl },
    folder: rootId,
    async makeFolder(name) {
      const id = fresh();
      fake.folder(id, name);
      return id;
    },
    async write(name, markdown) {
      const id = fresh();
      fake.document(id, markdown, { name });
      return id;
    },
    async upload(name, text) {
      const id = fresh();
      fake.put(id, { name, content: text });
      return id;
    },
    edit: async (id, markdown) => fake.document(id, markdown),
    change: async (id, { name, folder }) =>
      fake.put(id, { ...(name !== undefined && { name }), ...(folder !== undefined && { parent: folder }) }),
    trash: async (id) => fake.trash(id),
    close: () => fake.close(),
  };
}

/** A service account that may write in a folder of a shared drive: it has no room of its own. */
export async function realBackend(keyFile: string, parent: string): Promise<DriveBackend> {
  const key = JSON.parse(readFileSync(keyFile, "utf8")) as { client_email: string; private_key: string };
  const client = new JWT({
    email: key.client_email,
    key: key.private_key,
    scopes: ["https://www.googleapis.com/auth/drive"],
  });

  async function ask(
    method: string,
    path: string,
    query: Record<string, string>,
    body?: string,
    type = "application/json",
  ) {
    const url = `https://www.googleapis.com/${path}?${new URLSearchParams({ supportsAllDrives: "true", fields: "id,parents", ...query })}`;
    const headers = await client.getRequestHeaders();
    if (body !== undefined) headers.set("Content-Type", type);
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
    return (await response.json()) as { readonly id: string; readonly parents?: readonly string[] };
  }

  async function make(metadata: object, content?: { readonly type: string; readonly text: string }): Promise<string> {
    if (!content) return (await ask("POST", "drive/v3/files", {}, JSON.stringify(metadata))).id;
    const edge = `edge-${crypto.randomUUID()}`;
    const body = [
      `--${edge}\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(metadata)}\r\n`,
      `--${edge}\r\nContent-Type: ${content.type}\r\n\r\n${content.text}\r\n--${edge}--\r\n`,
    ].join("");
    const query = { uploadType: "multipart" };
    return (await ask("POST", "upload/drive/v3/files", query, body, `multipart/related; boundary=${edge}`)).id;
  }

  const folder = await make({ name: `pressmark ${crypto.randomUUID()}`, mimeType: folderType, parents: [parent] });
  return {
    options: { keyFile, folders: [folder] },
    folder,
    makeFolder: (name) => make({ name, mimeType: folderType, parents: [folder] }),
    write: (name, text) => make({ name, mimeType: documentType, parents: [folder] }, { type: "text/markdown", text }),
    upload: (name, text) => make({ name, parents: [folder] }, { type: "text/plain", text }),
    async edit(id, text) {
      await ask("PATCH", `upload/drive/v3/files/${id}`, { uploadType: "media" }, text, "text/markdown");
    },
    async change(id, { name, folder: to }) {
      const { parents = [] } = await ask("GET", `drive/v3/files/${id}`, {});
      const query: Record<string, string> =
        to === undefined ? {} : { addParents: to, removeParents: parents.join(",") };
      await ask("PATCH", `drive/v3/files/${id}`, query, JSON.stringify(name === undefined ? {} : { name }));
    },
    async trash(id) {
      await ask("PATCH", `drive/v3/files/${id}`, {}, JSON.stringify({ trashed: true }));
    },
    async close() {
      await ask("PATCH", `drive/v3/files/${folder}`, {}, JSON.stringify({ trashed: true }));
    },
  };
}
