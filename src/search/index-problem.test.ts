import { describe, expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import { IndexLostError, IndexVersionError, isLoss, toIndexProblem } from "./index-problem.ts";

const system = (code: string) => Object.assign(new Error(`${code}: /home/me/.cache`), { code });
const sqlite = (errcode: number) => Object.assign(new Error("failed"), { code: "ERR_SQLITE_ERROR", errcode });

describe("a problem of the index", () => {
  it.each([
    [system("EROFS"), "read-only"],
    [system("EACCES"), "no-permission"],
    [system("ENOSPC"), "disk-full"],
    [system("EDQUOT"), "disk-full"],
    [system("ENOTDIR"), "blocked"],
    [system("EMFILE"), "too-many-files"],
    [system("EIO"), "failed"],
    [sqlite(8), "read-only"],
    [sqlite(1032), "replaced"],
    [sqlite(13), "disk-full"],
    [sqlite(11), "damaged"],
    [sqlite(26), "damaged"],
    [sqlite(267), "damaged"],
    [sqlite(522), "damaged"],
    [sqlite(14), "failed"],
    [new IndexLostError("replaced"), "replaced"],
    [new ResourceError("unavailable", "…", { cause: sqlite(13) }), "disk-full"],
    [new ResourceError("unavailable", "…", { cause: new IndexVersionError() }), "other-version"],
    [undefined, "failed"],
  ])("from %s is %s, with a message without a path", (cause, reason) => {
    const problem = toIndexProblem(cause);
    expect(problem).toMatchObject({ reason });
    expect(problem.message).not.toMatch(/[/\\]|ERR|E[A-Z]{3}/);
  });

  it("is a loss if files are damaged", () => {
    expect([sqlite(11), sqlite(26), sqlite(1032), sqlite(522), system("Z_DATA_ERROR")].every(isLoss)).toBe(true);
    expect([sqlite(5), sqlite(13), sqlite(10), system("EIO"), undefined].some(isLoss)).toBe(false);
  });
});
