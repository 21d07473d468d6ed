/** The token that callers must send: from a file, from the environment, or from the config, and never from the command line. */
import { invalid, quote } from "../errors.ts";

export interface TokenPlaces {
  /** A file that holds it, as the person named it. */
  readonly file?: string | undefined;
  /** Where the person stands. */
  readonly from: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the config says, its references resolved. */
  readonly configured?: string | undefined;
}

export const tokenVariable = "PRESSMARK_TOKEN";
const minLength = 16;
const maxLength = 1024;
const maxFileBytes = 64 * 1024;
const advice = "make one with: openssl rand -hex 32";

/** The first of the three that is said. Undefined where none is; a token that no header could carry, or that could be guessed, throws "invalid". */
export async function findToken({ file, from, env, configured }: TokenPlaces): Promise<string | undefined> {
  if (file !== undefined) return checked(await readToken(file, from), `the token in ${quote(file)}`);
  const said = env[tokenVariable];
  if (said !== undefined && said !== "") return checked(said, tokenVariable);
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
        throw invalid(`there is no file ${quote(file)} to read the token from; check the spelling`);
      case "EISDIR":
        throw invalid(`${quote(file)} is a folder; name the file that holds the token`);
      case "EACCES":
      case "EPERM":
        throw invalid(`the system does not let you read ${quote(file)}; check its permissions`);
      default:
        throw cause;
    }
  }
}

/** Never repeats the token. */
function checked(token: string, what: string): string {
  if (!/^[A-Za-z0-9._~+/=-]*$/.test(token))
    throw invalid(
      `${what} has characters that no token may have (letters, digits and . _ ~ + / = - are fine); ${advice}`,
    );
  if (token.length < minLength) throw invalid(`${what} is shorter than ${minLength} characters; ${advice}`);
  if (token.length > maxLength) throw invalid(`${what} is longer than ${maxLength} characters; ${advice}`);
  return token;
}
