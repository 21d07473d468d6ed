import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diskKind } from "./disk.ts";
import { toIso } from "./entry.ts";

describe("toIso", () => {
  it("says what a date says, for every moment", () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(toIso(date.getTime())).toBe(date.toISOString());
      }),
    );
  });

  it("says something of a moment that no date can hold", () => {
    for (const ms of [Number.NaN, Infinity, 1e300]) expect(toIso(ms)).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("diskKind", () => {
  it("knows this machine's own disks from others, and from what the kernel makes up", () => {
    expect(diskKind(0xef53, "linux")).toBe("local");
    expect(diskKind(0x9123683e | 0, "linux")).toBe("local");
    expect(diskKind(0x6969, "linux")).toBe("remote");
    expect(diskKind(0x65735546, "linux")).toBe("remote");
    expect(diskKind(0x9fa0, "linux")).toBe("made-up");
    expect(diskKind(0x1a, "darwin")).toBe("local");
    expect(diskKind(0xef53, "win32")).toBe("remote");
  });
});
