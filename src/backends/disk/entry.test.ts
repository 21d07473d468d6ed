import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diskKind } from "./disk.ts";
import { toIso, versionOf } from "./entry.ts";

describe("toIso", () => {
  it("equals Date.toISOString for every time", () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(toIso(date.getTime())).toBe(date.toISOString());
      }),
    );
  });

  it("handles a time outside the range of dates", () => {
    for (const ms of [Number.NaN, Infinity, 1e300]) expect(toIso(ms)).toBe("1970-01-01T00:00:00.000Z");
  });
});

const number = fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 });
const time = fc.nat({ max: 4_000_000_000_000_000 }).map((micros) => micros / 1000);

describe("versionOf", () => {
  it("is equal for equal facts, and differs if any of them differs", () => {
    const any = fc.record({ dev: number, ino: number, size: number, mtimeMs: time, ctimeMs: time });
    fc.assert(
      fc.property(any, fc.boolean(), (facts, isUnset) => {
        const one = isUnset ? { ...facts, mtimeMs: facts.ctimeMs } : facts;
        expect(versionOf({ ...one })).toBe(versionOf(one));
        for (const name of ["dev", "ino", "size"] as const)
          expect(versionOf({ ...one, [name]: one[name] + 1 })).not.toBe(versionOf(one));
        for (const name of ["mtimeMs", "ctimeMs"] as const)
          expect(versionOf({ ...one, [name]: one[name] + 0.001 })).not.toBe(versionOf(one));
      }),
    );
  });
});

describe("diskKind", () => {
  it("distinguishes local disks from remote ones, and from virtual file systems", () => {
    expect(diskKind(0xef53, "linux")).toBe("local");
    expect(diskKind(0x9123683e | 0, "linux")).toBe("local");
    expect(diskKind(0x6969, "linux")).toBe("remote");
    expect(diskKind(0x65735546, "linux")).toBe("remote");
    expect(diskKind(0x9fa0, "linux")).toBe("made-up");
    expect(diskKind(0x1a, "darwin")).toBe("local");
    expect(diskKind(0xef53, "win32")).toBe("remote");
  });
});
