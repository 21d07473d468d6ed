/** Passwords of callers: stored as scrypt hashes, compared in constant time. */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { invalid } from "../../errors.ts";

/** One hash with its own cost, so that the cost can be raised for new passwords. */
export interface PasswordHash {
  readonly salt: string;
  readonly hash: string;
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

/** https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt: 32 MiB, about 0.2 s. */
const effort = { cost: 2 ** 15, blockSize: 8, parallelization: 3 };
const hashBytes = 32;
const minLength = 10;
const maxLength = 1024;

/** Throws "invalid" if the password is too short or too long; the message does not contain it. */
export async function hashPassword(password: string): Promise<PasswordHash> {
  if ([...password].length < minLength) throw invalid(`a password needs at least ${minLength} characters`);
  if (password.length > maxLength) throw invalid(`a password may have ${maxLength} characters at most`);
  const salt = randomBytes(16).toString("base64url");
  const hash = await derive(password, { salt, ...effort });
  return { salt, hash: hash.toString("base64url"), ...effort };
}

/** Takes as long for a caller without a password: the answer does not reveal who has one. */
export async function isPassword(given: string, stored: PasswordHash | undefined): Promise<boolean> {
  const derived = await derive(given.slice(0, maxLength), stored ?? { salt: "none", ...effort });
  const expected = Buffer.from(stored?.hash ?? "", "base64url");
  return expected.length === derived.length && timingSafeEqual(expected, derived) && stored !== undefined;
}

function derive(
  password: string,
  { salt, cost, blockSize, parallelization }: Omit<PasswordHash, "hash">,
): Promise<Buffer> {
  // Composed and decomposed accents look the same to a person.
  const normalized = password.normalize("NFKC");
  const options = { cost, blockSize, parallelization, maxmem: 2 * 128 * cost * blockSize };
  return new Promise((resolve, reject) => {
    scrypt(normalized, salt, hashBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
