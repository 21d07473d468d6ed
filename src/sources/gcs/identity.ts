/** Who we are to Google: a key file, or what the machine is signed in as. */
import { ResourceError } from "../../errors.ts";

export interface GoogleIdentity {
  /** What proves a question to this address. */
  headers(url: string): Promise<Headers>;
  email(): Promise<string>;
  /** Base64. */
  sign(text: string): Promise<string>;
}

const scope = "https://www.googleapis.com/auth/devstorage.read_only";

/** The package is loaded, and the key read, when they are first needed. */
export function createGoogleIdentity(keyFile: string | undefined): GoogleIdentity {
  let loading: ReturnType<typeof load> | undefined;
  const auth = () => (loading ??= load(keyFile));

  return {
    async headers(url) {
      try {
        return await (await auth()).getRequestHeaders(url);
      } catch (cause) {
        if (cause instanceof ResourceError) throw cause;
        throw new ResourceError(
          "denied",
          "no credentials could be had; name a keyFile, set GOOGLE_APPLICATION_CREDENTIALS, or run: gcloud auth application-default login",
          { cause },
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
  return new ResourceError("unsupported", "no link can be signed: only a service account can", { cause });
}

async function load(keyFile: string | undefined) {
  let library: typeof import("google-auth-library");
  try {
    library = await import("google-auth-library");
  } catch (cause) {
    throw new ResourceError(
      "unsupported",
      "the source gcs needs a package that is not there; run: npm install google-auth-library",
      { cause },
    );
  }
  const auth = new library.GoogleAuth({ scopes: [scope], ...(keyFile !== undefined && { keyFilename: keyFile }) });
  // A service account proves itself by its own key, without asking for a token first.
  auth.useJWTAccessWithScope = true;
  return auth;
}
