/** The permission to use a config at all: needed if it is a program, or belongs to another user. */
import { statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { programFiles, UnboundProgram } from "./program-files.ts";
import { realPath } from "../lib/real-path.ts";
import { type Facts, type Grant, isGranted, type Permission, sha256, whyOutdated } from "./trust.ts";

/** Undefined if no permission is needed. */
export function wholePermission(file: string, bytes: Uint8Array, grant: Grant): Permission | undefined {
  const whole = { part: "config", settings: [], shown: [], found: {} };
  try {
    const { reasons, written } = fileReasons(file, bytes, dirname(resolve(file)));
    if (reasons.length === 0) return undefined;
    const permission = { ...whole, reasons, written, isGranted: isGranted(grant, { ...whole, written }) };
    const outdated = permission.isGranted ? undefined : whyOutdated(grant, permission);
    return { ...permission, outdated };
  } catch (cause) {
    if (!(cause instanceof UnboundProgram)) throw cause;
    const reasons = [`runs ${basename(file)} as a program`];
    return { ...whole, reasons, written: {}, isGranted: false, refused: cause.message };
  }
}

function fileReasons(
  file: string,
  bytes: Uint8Array,
  folder: string,
): { readonly reasons: readonly string[]; readonly written: Facts } {
  const me = process.getuid?.();
  const { uid } = statSync(file);
  const isStranger = me !== undefined && uid !== me && uid !== 0;
  const files = extname(file) === ".ts" ? programFiles(file, bytes, folder) : {};
  const [program, ...imported] = Object.keys(files);
  const real = realPath(file);
  const isLink = program !== undefined && real !== join(realPath(dirname(file)), basename(file));
  const more = imported.length === 0 ? "" : `, with ${imported.join(", ")}, which it imports`;
  return {
    reasons: [
      ...(isStranger ? ["belongs to another user of this machine"] : []),
      ...(program === undefined ? [] : [`runs ${basename(file)} as a program, as it is now${more}`]),
    ],
    written: {
      ...files,
      ...(isLink && { "where it leads": sha256(real) }),
      ...(isStranger && { "its owner": String(uid) }),
    },
  };
}
