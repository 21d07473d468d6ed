import { existsSync, mkdirSync, readFileSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";
import { ownerNotice } from "./serve.ts";

const token = "a-token-that-nobody-would-guess";
let stand: Stand;

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n");
  stand.write(".token", `${token}\n`);
});

afterAll(() => stand.remove());

const codes = (said: string): readonly string[] => said.match(/\?code=[\w-]{22}\n/g) ?? [];

/** Waits for each of these texts in turn, then stops the server. */
async function serve(words: readonly string[], turns: readonly ((said: string) => boolean)[], env = {}) {
  const stop = new AbortController();
  let next = 0;
  let said = "";
  return stand.run(["serve", "--port", "0", ...words], {
    env,
    signal: stop.signal,
    heard(text) {
      said += text;
      for (const turn of turns.slice(next)) {
        if (!turn(said)) return;
        next += 1;
      }
      stop.abort();
    },
  });
}

/** A program in place of the desktop's. */
function opener(script: string) {
  const bin = join(stand.folder, "../bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: bin };
}

describe("serve --open", () => {
  it.runIf(process.platform === "linux")(
    "opens the address that it prints, and hides the code of a token and the environment",
    async () => {
      for (const words of [[], ["--token-file", ".token"]]) {
        const opened = join(stand.folder, `../opened-${words.length}`);
        const env = {
          ...opener(
            `printf '%s' "$*" > "${opened}.new"; case "$*" in file:*) /bin/cp "\${1#file://}" "${opened}.html";; esac; /usr/bin/env > "${opened}.env"; /bin/mv "${opened}.new" "${opened}"`,
          ),
          OTHER_API_KEY: "of someone",
        };
        const stop = new AbortController();
        const watcher = watch(join(stand.folder, ".."), () => existsSync(opened) && stop.abort());
        const ran = await stand.run(["serve", "--port", "0", "--open", ...words], { env, signal: stop.signal });
        watcher.close();
        expect(ran.err).toBe("");
        expect(readFileSync(`${opened}.env`, "utf8")).not.toContain("API_KEY");
        const address = readFileSync(opened, "utf8");
        if (words.length === 0) expect(ran.out).toContain(`in a browser: ${address}\n`);
        else {
          expect(address).toMatch(/^file:.*\/open-\d+\.html$/);
          const url = /url=([^"]+)"/.exec(readFileSync(`${opened}.html`, "utf8"))?.[1];
          expect(ran.out).toContain(`in a browser: ${url}\n`);
          expect(url).toContain("?code=");
          expect(statSync(`${opened}.html`).mode & 0o077).toBe(0);
          expect(existsSync(fileURLToPath(address))).toBe(false);
        }
      }
    },
  );

  it.runIf(process.platform === "linux")("names the address again if no browser can be opened", async () => {
    for (const [env, reason] of [
      [opener("exit 3"), "xdg-open failed with exit code 3"],
      [{ PATH: stand.folder }, "the program xdg-open is not installed"],
    ] as const) {
      const { code, err } = await serve(["--open"], [(said) => said.includes("open this address")], env);
      expect(code).toBe(0);
      expect(err).toMatch(/open this address: http:\/\/127\.0\.0\.1:\d+\/\n$/);
      expect(err).toContain(`no browser was opened (${reason})`);
    }
  });

  it("is no flag of stdio", async () => {
    expect((await stand.run(["stdio", "--open"])).code).toBe(2);
  });
});

describe("serve with a token", () => {
  it("prints an address with a code, settings that refer to the token, and the token nowhere", async () => {
    for (const [words, env] of [
      [["--token-file", ".token"], {}],
      [[], { PRESSMARK_TOKEN: token }],
    ] as const) {
      const { code, out, err } = await serve(words, [(said) => said.includes("Inspector")], env);
      expect([code, err]).toEqual([0, ""]);
      expect(out).not.toContain("is the owner");
      expect(out).toMatch(/in a browser: http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]{22}\n/);
      expect(out).toContain('.mcp.json              {"mcpServers":{"pressmark":{"type":"http","url":"http');
      expect(out).toContain('"headers":{"Authorization":"Bearer ${PRESSMARK_TOKEN}"}');
      expect(out).toContain("--bearer-token-env-var PRESSMARK_TOKEN");
      expect(out).not.toContain(token);
    }
  });

  it("prints another address when it is signalled", async () => {
    const { out } = await serve(
      ["--token-file", ".token"],
      [
        (said) => said.includes("Inspector"),
        () => process.kill(process.pid, "SIGUSR2"),
        (said) => codes(said).length === 2,
      ],
    );
    expect(new Set(codes(out)).size).toBe(2);
  });

  it("does not start with a token that it cannot use", async () => {
    const { code, err } = await stand.run(["serve", "--port", "0", "--token-file", "nowhere"]);
    expect(code).toBe(2);
    expect(err).toBe('pressmark: no file "nowhere" to read the token from; check the path\n');
  });
});

describe("serve without a token", () => {
  it("refuses origins that are none", async () => {
    for (const origin of ["*", "null", "https://app.example/path"]) {
      const { code, err } = await stand.run(["serve", "--port", "0", "--allow-origin", origin]);
      expect([code, err]).toEqual([2, expect.stringContaining("takes an origin, such as https://app.example")]);
    }
  });

  it("says who is the owner, and offers a token where there are several users", async () => {
    const { out } = await serve([], [(said) => said.includes("is the owner")]);
    expect(out).toContain("No token is required: everyone on this machine who can connect is the owner.\n");
    expect(ownerNotice(1)).not.toContain("--token-file");
    expect(ownerNotice(2)).toContain("This machine has 2 users.");
    expect(ownerNotice(2)).toMatch(/^ {2}pressmark serve --token-file ~\/\.pressmark-token$/m);
    const others = await serve(["--allow-host", "docs.example"], [(said) => said.includes("Inspector")]);
    expect(others.out).not.toContain("is the owner");
  });

  it("prints the plain address", async () => {
    const { out } = await serve([], [(said) => said.includes("Inspector")]);
    expect(out).toMatch(
      /in a browser: http:\/\/127\.0\.0\.1:\d+\/\n\nAdd it to your host \(.*\):\n {2}Claude Code {2}claude mcp add/,
    );
  });
});
