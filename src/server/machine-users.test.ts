import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { countUsers } from "./machine-users.ts";

it("counts the accounts of people, and none where there is no such file", () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-users-"));
  const file = join(folder, "passwd");
  const lines = [
    "root:x:0:0:root:/root:/bin/bash",
    "daemon:x:1:1::/:/usr/sbin/nologin",
    "aki:x:1000:1000:Aki:/home/aki:/bin/bash",
    "bo:x:1001:1001::/home/bo:/usr/bin/zsh",
    "build:x:1002:1002::/var/build:/usr/sbin/nologin",
    "old:x:1003:1003::/home/old:/bin/false",
    "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin",
    "# a comment",
    "",
  ];
  try {
    writeFileSync(file, lines.join("\n"));
    expect(countUsers(file)).toBe(2);
    expect(countUsers(join(folder, "none"))).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
