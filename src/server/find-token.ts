/** Finds the token that callers must send: in a file, the environment or the config, never on the command line. */
import { invalid, quote } from "../errors.ts";

interface TokenPlaces {
  /** File with the token, as the user wrote it. */
  readonly file?: string;
  /** The current folder. */
  readonly from: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The config's token, with references resolved. */
  readonly configured?: string;
}

export const tokenVariable = "PRESSMARK_TOKEN";
const minLength = 16;
const maxLength = 1024;
const maxFileBytes = 64 * 1024;
const advice = "make one with: openssl rand -hex 32";

/** The first of the three that is set; undefined if none is. Throws "invalid" if it does not fit a header or is too short. */
export async function findToken({ file, from, env, configured }: TokenPlaces): Promise<string | undefined> {
  if (file !== undefined) return checked(await readToken(file, from), `the token in ${quote(file)}`);
  const fromEnv = env[tokenVariable];
  if (fromEnv !== undefined && fromEnv !== "") return checked(fromEnv, tokenVariable);
  return configured === undefined ? undefined : checked(configured, "server.token");
}

async function readToken(file: string, from: string): Promise<string> {
  const [{ readFileSync, statSync }, { resolve }] = await Promise.all([import("node:fs"), import("node:path")]);
  const path = resolve(from, file);
  try {
    const { size } = statSync(path);
    if (size > maxFileBytes) throw invalid(`${quote(file)} is too large to be a token; write the token alone into it`);
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (cause) {
    switch ((cause as NodeJS.ErrnoException).code) {
      case "ENOENT":
      case "ENOTDIR":
        throw invalid(`no file ${quote(file)} to read the token from; check the path`);
      case "EISDIR":
        throw invalid(`${quote(file)} is a folder; name the file with the token`);
      case "EACCES":
      case "EPERM":
        throw invalid(`no permission to read ${quote(file)}; check its permissions`);
      default:
        throw cause;
    }
  }
}

/** Errors never contain the token. */
function checked(token: string, what: string): string {
  if (!/^[A-Za-z0-9._~+/=-]*$/.test(token))
    throw invalid(
      `${what} has characters that are not allowed in a token (allowed: letters, digits and . _ ~ + / = -); ${advice}`,
    );
  if (token.length < minLength) throw invalid(`${what} is shorter than ${minLength} characters; ${advice}`);
  if (token.length > maxLength) throw invalid(`${what} is longer than ${maxLength} characters; ${advice}`);
  return token;
}
