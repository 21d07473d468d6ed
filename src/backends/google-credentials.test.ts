import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createDriveIdentity } from "../sources/gdrive/identity.ts";
import { createGoogleIdentity } from "../sources/gcs/identity.ts";

const folder = mkdtempSync(join(tmpdir(), "pressmark-google-key-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "folder"));

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" });
const account = { type: "service_account", client_email: "reader@example.iam.gserviceaccount.com", private_key: pem };

const cases: readonly [name: string, content: unknown, message: string][] = [
  ["none.json", undefined, "no key file FILE; check OPTION"],
  ["folder", undefined, "the key file FILE is not a file; check OPTION"],
  ["text.json", "-secret-content-", "the key file FILE is not the JSON key of a service account; check OPTION"],
  [
    "cut.json",
    JSON.stringify(account).slice(0, -9),
    "the key file FILE is not the JSON key of a service account; check OPTION",
  ],
  [
    "other.json",
    { installed: { client_secret: "-secret-content-" } },
    "the key file FILE is not the JSON key of a service account; check OPTION",
  ],
  ["lacks.json", { ...account, private_key: undefined }, 'the key file FILE lacks "private_key"; check OPTION'],
  [
    "pem.json",
    { ...account, private_key: "-secret-content-" },
    'the key file FILE has a "private_key" that is not in PEM format; check OPTION',
  ],
  [
    "user.json",
    { type: "authorized_user", client_secret: "-secret-content-" },
    'the key file FILE lacks "client_id" and "refresh_token"; check OPTION',
  ],
];

const identities = {
  gdrive: (keyFile: string) =>
    createDriveIdentity({ keyFile, subject: undefined, login: () => Promise.resolve(undefined) }).headers(),
  gcs: (keyFile: string) => createGoogleIdentity(keyFile, {}).headers("https://storage.googleapis.com/"),
};

it.each(cases)("%s is reported as what it is, without its content", async (name, content, message) => {
  const file = join(folder, name);
  if (content !== undefined) writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  for (const headers of Object.values(identities)) {
    const error: unknown = await headers(file).catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      kind: "denied",
      message: message.replace("FILE", JSON.stringify(file)).replace("OPTION", "keyFile"),
    });
    expect((error as Error).cause).toBeUndefined();
  }
});

it("names the variable that names the file", async () => {
  const file = join(folder, "none.json");
  const identity = createGoogleIdentity(undefined, { GOOGLE_APPLICATION_CREDENTIALS: file });
  await expect(identity.headers("https://storage.googleapis.com/")).rejects.toThrow(
    `no key file ${JSON.stringify(file)}; check GOOGLE_APPLICATION_CREDENTIALS`,
  );
});

it("a key file that is written later is used", async () => {
  const file = join(folder, "later.json");
  const drive = createDriveIdentity({ keyFile: file, subject: undefined, login: () => Promise.resolve(undefined) });
  const storage = createGoogleIdentity(file, {});
  const headers = () => Promise.all([drive.headers(), storage.headers("https://storage.googleapis.com/")]);
  await expect(headers()).rejects.toThrow("no key file");
  await expect(storage.headers("https://storage.googleapis.com/")).rejects.toThrow("no key file");
  writeFileSync(file, JSON.stringify(account));
  for (const each of await headers()) expect(each.get("authorization")).toMatch(/^Bearer /);
});
