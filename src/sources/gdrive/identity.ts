/** Credentials for Drive: a key file, a signed-in account, or the application default credentials of the machine. */
import type { AuthClient, OAuth2Client } from "google-auth-library";
import { denied, ResourceError, unavailable, unsupported } from "../../errors.ts";
import { type GoogleKey, isTokenServiceAway, readGoogleKey, refusedKey } from "../../backends/google-credentials.ts";
import { isPackageMissing, packageNeeded } from "../../lib/missing-package.ts";
import { textIn } from "./drive-objects.ts";
import type { StoredLogin } from "./stored-login.ts";

export interface DriveIdentity {
  /** Authorization headers. */
  headers(): Promise<Headers>;
  /** Makes the next call request a new token. */
  renew(): void;
}

interface IdentityOptions {
  /** Of a service account, or of a signed-in user. */
  readonly keyFile: string | undefined;
  /** The user that a service account acts for. */
  readonly subject: string | undefined;
  /** Undefined if no account is signed in here. */
  login(): Promise<StoredLogin | undefined>;
}

export const driveScope = "https://www.googleapis.com/auth/drive.readonly";

/** Loads the package and the secret on first use. */
export function createDriveIdentity(options: IdentityOptions): DriveIdentity {
  let loading: Promise<AuthClient> | undefined;
  const client = (): Promise<AuthClient> => {
    const started = (loading ??= load(options));
    // The cause of a failure may be fixed later.
    started.catch(() => loading === started && (loading = undefined));
    return started;
  };
  return {
    async headers() {
      try {
        return await (await client()).getRequestHeaders();
      } catch (cause) {
        throw toRefusal(cause, options.keyFile);
      }
    },
    renew() {
      loading = undefined;
    },
  };
}

async function load({ keyFile, subject, login }: IdentityOptions): Promise<AuthClient> {
  if (keyFile !== undefined) return fromKey(await readGoogleKey(keyFile), subject);
  const stored = await login();
  if (stored) return signedIn(stored);
  const { GoogleAuth } = await library();
  return new GoogleAuth({
    scopes: [driveScope],
    ...(subject !== undefined && { clientOptions: { subject } }),
  }).getClient();
}

async function fromKey(key: GoogleKey, subject: string | undefined): Promise<AuthClient> {
  const field = (name: string) => textIn(key, name);
  if (field("type") === "authorized_user") {
    const [clientId = "", clientSecret, refreshToken = ""] = ["client_id", "client_secret", "refresh_token"].map(field);
    return signedIn({ email: "", clientId, refreshToken, clientSecret });
  }
  const { JWT } = await library();
  const [email, privateKey, keyId] = ["client_email", "private_key", "private_key_id"].map(field);
  if (email === undefined || privateKey === undefined)
    throw denied("keyFile must name the key of a service account, or of a signed-in user");
  const client = new JWT({
    email,
    key: privateKey,
    scopes: [driveScope],
    keyId,
    subject,
  });
  // A service account signs with its own key, without requesting a token first; but not when it acts for a user.
  client.useJWTAccessWithScope = subject === undefined;
  return client;
}

async function signedIn({ clientId, clientSecret, refreshToken, rootUrl }: StoredLogin): Promise<OAuth2Client> {
  const { OAuth2Client: Client } = await library();
  const client = new Client({
    clientId,
    clientSecret,
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
    throw unsupported(packageNeeded("the source gdrive needs", "google-auth-library"), cause);
  }
}

/** Reports only that it failed: errors of the library contain the request, and thus secrets. */
function toRefusal(cause: unknown, keyFile: string | undefined): ResourceError {
  if (cause instanceof ResourceError) return cause;
  if (isTokenServiceAway(cause)) return unavailable("the token service cannot be reached");
  if (keyFile !== undefined) return refusedKey(keyFile);
  return denied(
    "cannot get credentials; run: pressmark drive login, or set a keyFile, or run: gcloud auth application-default login --scopes=https://www.googleapis.com/auth/drive.readonly,https://www.googleapis.com/auth/cloud-platform",
  );
}
