/** Credentials for the store, in the order of the AWS tools: the config, the environment, the shared files, then the SDK's chain. */
import { installAdvice } from "../../lib/missing-package.ts";
import { cutAt } from "../../lib/cut-at.ts";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { denied, quote } from "../../errors.ts";

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** They are requested again from then on. */
  readonly expiration?: Date;
}

interface CredentialOptions {
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
  readonly profile?: string;
}

export interface CredentialSource {
  get(): Promise<Credentials>;
  /** They were rejected: the next request looks for others. */
  forget(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

const earlyMs = 5 * 60 * 1000;

/** Looked up on first use, and again before they expire. */
export function createCredentials(options: CredentialOptions, env: Environment, now: () => number): CredentialSource {
  let known: Promise<Credentials> | undefined;
  let until = Infinity;
  return {
    get() {
      if (known && now() < until) return known;
      const found = find(options, env);
      known = found;
      until = Infinity;
      found.then(
        ({ expiration }) => {
          if (known === found && expiration) until = expiration.getTime() - earlyMs;
        },
        () => {
          if (known === found) known = undefined;
        },
      );
      return found;
    },
    forget() {
      known = undefined;
    },
  };
}

async function find(options: CredentialOptions, env: Environment): Promise<Credentials> {
  const { accessKeyId, secretAccessKey, sessionToken, profile } = options;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw denied("accessKeyId and secretAccessKey belong together; set both, or neither");
  if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey, sessionToken };
  const [id, secret] = [env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]];
  if (profile === undefined && id && secret)
    return { accessKeyId: id, secretAccessKey: secret, sessionToken: env["AWS_SESSION_TOKEN"] };
  const shared = fromFiles(profile ?? env["AWS_PROFILE"] ?? "default", env);
  const named = profile === undefined ? "AWS_PROFILE" : "profile";
  if (shared.isMissing && (profile ?? env["AWS_PROFILE"]) !== undefined)
    throw denied(
      `no profile ${quote(shared.profile)} in ${shared.files.map((file) => quote(file)).join(" or ")}; check ${named}`,
    );
  return shared.credentials ?? fromPackage(profile);
}

function fromFiles(profile: string, env: Environment) {
  const home = env["HOME"] ?? homedir();
  const credentialsFile = env["AWS_SHARED_CREDENTIALS_FILE"] ?? join(home, ".aws", "credentials");
  const configFile = env["AWS_CONFIG_FILE"] ?? join(home, ".aws", "config");
  const stored = section(credentialsFile, [profile]);
  const config = section(configFile, [profile, `profile ${profile}`]);
  const found = { ...config, ...stored };
  const [accessKeyId, secretAccessKey] = [found["aws_access_key_id"], found["aws_secret_access_key"]];
  const credentials: Credentials | undefined =
    accessKeyId && secretAccessKey
      ? { accessKeyId, secretAccessKey, sessionToken: found["aws_session_token"] }
      : undefined;
  return { profile, files: [credentialsFile, configFile], isMissing: !stored && !config, credentials };
}

/** The settings in the sections of these names; undefined if there is none. */
function section(file: string, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw denied(`${quote(file)} cannot be read (${code ?? "unknown"}); check its permissions`);
  }
  let found: Record<string, string> | undefined;
  let isMeant = false;
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\s*\[([^\]]+)\]/.exec(line)?.[1];
    if (heading !== undefined) isMeant = names.includes(heading.trim());
    if (!isMeant) continue;
    found ??= {};
    const equals = line.indexOf("=");
    if (equals > 0 && !/^\s*[#;]/.test(line))
      found[line.slice(0, equals).trim().toLowerCase()] = cutAt(line.slice(equals + 1), /\s[#;]/).trim();
  }
  return found;
}

/** Roles, single sign-on and machine metadata are left to the AWS package. */
const chainPackage = "@aws-sdk/credential-providers";

async function fromPackage(profile: string | undefined): Promise<Credentials> {
  let chain: (options: object) => () => Promise<Credentials>;
  try {
    ({ fromNodeProviderChain: chain } = (await import(chainPackage)) as { fromNodeProviderChain: typeof chain });
  } catch (cause) {
    throw denied(
      "no credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, set a profile, or, for roles and single sign-on, " +
        installAdvice(chainPackage),
      cause,
    );
  }
  try {
    return await chain(profile === undefined ? {} : { profile })();
  } catch (cause) {
    throw denied("cannot get credentials; sign in again, or check the profile", cause);
  }
}
