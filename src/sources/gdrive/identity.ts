/** Who we are to Drive: a key file, someone who signed in here, or what the machine is signed in as. */
import { readFile } from "node:fs/promises";
import type { AuthClient, OAuth2Client } from "google-auth-library";
import { ResourceError } from "../../errors.ts";
import { isPackageMissing } from "../../lib/missing-package.ts";
import { isDriveObject, textIn } from "./drive-objects.ts";
import type { StoredLogin } from "./stored-login.ts";

export interface DriveIdentity {
  /** What proves a question. */
  headers(): Promise<Headers>;
  /** Has the proof made anew when it is next needed. */
  renew(): void;
}

export interface IdentityOptions {
  /** Of a service account, or of someone who signed in. */
  readonly keyFile: string | undefined;
  /** Whom a service account acts for. */
  readonly subject: string | undefined;
  /** Undefined where no one has signed in here. */
  login(): Promise<StoredLogin | undefined>;
}

export const driveScope = "https://www.googleapis.com/auth/drive.readonly";

/** The package is loaded, and what is secret is read, when it is first needed. */
export function createDriveIdentity(options: IdentityOptions): DriveIdentity {
  let loading: Promise<AuthClient> | undefined;
  const client = (): Promise<AuthClient> => {
    const started = (loading ??= load(options));
    // What failed may be put right meanwhile.
    started.catch(() => loading === started && (loading = undefined));
    return started;
  };
  return {
    async headers() {
      try {
        return await (await client()).getRequestHeaders();
      } catch (cause) {
        throw toRefusal(cause);
      }
    },
    renew() {
      loading = undefined;
    },
  };
}

async function load({ keyFile, subject, login }: IdentityOptions): Promise<AuthClient> {
  if (keyFile !== undefined) return fromKey(await readFile(keyFile, "utf8"), subject);
  const kept = await login();
  if (kept) return signedIn(kept);
  const { GoogleAuth } = await library();
  return new GoogleAuth({
    scopes: [driveScope],
    ...(subject !== undefined && { clientOptions: { subject } }),
  }).getClient();
}

async function fromKey(text: string, subject: string | undefined): Promise<AuthClient> {
  const key: unknown = JSON.parse(text);
  const said = (name: string) => (isDriveObject(key) ? textIn(key, name) : undefined);
  if (said("type") === "authorized_user") {
    const [clientId = "", clientSecret, refreshToken = ""] = ["client_id", "client_secret", "refresh_token"].map(said);
    return signedIn({ email: "", clientId, refreshToken, ...(clientSecret !== undefined && { clientSecret }) });
  }
  const { JWT } = await library();
  const [email, privateKey, keyId] = ["client_email", "private_key", "private_key_id"].map(said);
  if (email === undefined || privateKey === undefined) throw new TypeError("no key of a service account");
  const client = new JWT({
    email,
    key: privateKey,
    scopes: [driveScope],
    ...(keyId !== undefined && { keyId }),
    ...(subject !== undefined && { subject }),
  });
  // A service account proves itself by its own key, without asking for a token first; but not when it acts for someone.
  client.useJWTAccessWithScope = subject === undefined;
  return client;
}

async function signedIn({ clientId, clientSecret, refreshToken, rootUrl }: StoredLogin): Promise<OAuth2Client> {
  const { OAuth2Client: Client } = await library();
  const client = new Client({
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(rootUrl !== undefined && { endpoints: { oauth2TokenUrl: new URL("/token", rootUrl).href } }),
  });
  client.setCredentials({ refresh_token: refreshToken });
  return client;
}

export async function library(): Promise<typeof import("google-auth-library")> {
  try {
    return await import("google-auth-library");
  } catch (cause) {
    if (!isPackageMissing(cause, "google-auth-library")) throw cause;
    throw new ResourceError(
      "unsupported",
      "the source gdrive needs a package that is not there; run: npm install google-auth-library",
      { cause },
    );
  }
}

/** What a key file that cannot be read fails with; anything else of its kind comes from the network. */
const ofFiles = new Set(["ENOENT", "EACCES", "EPERM", "EISDIR", "ENOTDIR"]);

/** Only that it failed is said: what the library throws holds the request, and with it what is secret. */
function toRefusal(cause: unknown): ResourceError {
  if (cause instanceof ResourceError) return cause;
  const { status, code } = cause as { readonly status?: unknown; readonly code?: unknown };
  const isAway = /^(?:E(?!RR_)[A-Z_]+|UND_ERR_\w+)$/.test(String(code)) && !ofFiles.has(String(code));
  if (isAway || (typeof status === "number" && (status >= 500 || status === 429)))
    return new ResourceError("unavailable", "the service that gives out credentials cannot be reached");
  return new ResourceError(
    "denied",
    "no credentials could be had; run: pressmark drive login, or name a keyFile, or run: gcloud auth application-default login --scopes=https://www.googleapis.com/auth/drive.readonly,https://www.googleapis.com/auth/cloud-platform",
  );
}
