/** The error for a program that connects without the official client. */
import { ResourceError } from "../errors.ts";
import { isPackageMissing } from "../lib/is-package-missing.ts";

const neededPackage = "@modelcontextprotocol/client";

/** Throws the cause, or an error that says what to install if the official client is missing. */
export function explainMissing(cause: unknown): never {
  if (!isPackageMissing(cause, neededPackage)) throw cause;
  const message = `pressmark/client needs the package "${neededPackage}"; run in the project: npm install ${neededPackage}`;
  throw new ResourceError("unsupported", message, { cause });
}
