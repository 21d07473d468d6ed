/** Credentials for Google: a key file, or the application default credentials of the machine. */
import { packageNeeded } from "../../lib/missing-package.ts";
import { isTokenServiceAway, readGoogleKey, refusedKey } from "../../backends/google-credentials.ts";
import { denied, ResourceError, unavailable, unsupported } from "../../errors.ts";

export interface GoogleIdentity {
  /** Authorization headers for a request to this address. */
  headers(url: string): Promise<Headers>;
  email(): Promise<string>;
  /** Base64. */
  sign(text: string): Promise<string>;
}

/** Names the key file of the machine, for the library too. */
const machineKey = "GOOGLE_APPLICATION_CREDENTIALS";
const scope = "https://www.googleapis.com/auth/devstorage.read_only";

/** Loads the package and the key on first use. */
export function createGoogleIdentity(keyFile: string | undefined, env: NodeJS.ProcessEnv): GoogleIdentity {
  let loading: ReturnType<typeof load> | undefined;
  const auth = () => {
    const started = (loading ??= load(keyFile, env[machineKey]));
    // The cause of a failure may be fixed later.
    started.catch(() => loading === started && (loading = undefined));
    return started;
  };

  return {
    async headers(url) {
      try {
        return await (await auth()).getRequestHeaders(url);
      } catch (cause) {
        if (cause instanceof ResourceError) throw cause;
        if (isTokenServiceAway(cause)) throw unavailable("the token service cannot be reached");
        if (keyFile !== undefined) throw refusedKey(keyFile);
        throw denied(
          "cannot get credentials; set keyFile or GOOGLE_APPLICATION_CREDENTIALS, or run: gcloud auth application-default login",
          cause,
        );
      }
    },
    async email() {
      const { client_email: email } = await signing(async () => (await auth()).getCredentials());
      if (email === undefined) throw cannotSign();
      return email;
    },
    sign: (text) => signing(async () => (await auth()).sign(text)),
  };
}

async function signing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw cause instanceof ResourceError ? cause : cannotSign(cause);
  }
}

function cannotSign(cause?: unknown): ResourceError {
  return unsupported("cannot sign a link: this needs a service account", cause);
}

async function load(keyFile: string | undefined, machineFile: string | undefined) {
  let library: typeof import("google-auth-library");
  try {
    library = await import("google-auth-library");
  } catch (cause) {
    throw unsupported(packageNeeded("the source gcs needs", "google-auth-library"), cause);
  }
  if (keyFile !== undefined) await readGoogleKey(keyFile);
  else if (machineFile) await readGoogleKey(machineFile, machineKey);
  const auth = new library.GoogleAuth({ scopes: [scope], keyFilename: keyFile });
  // A service account signs with its own key, without requesting a token first.
  auth.useJWTAccessWithScope = true;
  return auth;
}
