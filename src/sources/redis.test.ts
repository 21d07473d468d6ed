/** The redis source without a server: options and detection. test/live/redis.test.ts runs its contract on a real one. */
import { describe, expect, it } from "vitest";
import type { ProjectContainer, ProjectFolder, ProjectVariable } from "../source.ts";
import { refusal } from "../testing/refusal.ts";
import definition from "./redis.ts";
import { parseTarget } from "./redis/target.ts";
import { lacksNothing, withMissingFlags } from "./redis/watch.ts";

function project(
  variables: readonly Partial<ProjectVariable>[],
  containers: readonly Partial<ProjectContainer>[] = [],
): ProjectFolder {
  return {
    path: "/project",
    entries: () => [],
    text: () => "",
    variables: variables.map((each) => ({ name: "X", file: ".env", scheme: undefined, host: undefined, ...each })),
    containers: containers.map((each) => ({
      file: "compose.yaml",
      service: "cache",
      image: "redis",
      portFor: () => undefined,
      variable: () => undefined,
      ...each,
    })),
  };
}

const detect = (...given: Parameters<typeof project>) => definition.detect!(project(...given));

describe("detection", () => {
  it.each([
    { name: "REDIS_URL" },
    { name: "VALKEY_URI" },
    { name: "CACHE", scheme: "redis", host: "localhost" },
    { name: "QUEUE", scheme: "rediss", host: "redis.example" },
  ])("finds the variable %j", (variable) => {
    expect(detect([{ name: "DATABASE_URL", scheme: "postgres" }, variable])).toEqual([
      {
        what: "Redis",
        where: `.env (${variable.name})`,
        values: { url: `\${env:${variable.name}}` },
        needs: `the environment variable ${variable.name}, which .env names, and "pressmark trust"`,
      },
    ]);
  });

  it("uses the port of a container if the variable names the container", () => {
    const container = { portFor: (port: number) => (port === 6379 ? 16_379 : undefined) };
    expect(detect([{ name: "REDIS_URL", scheme: "redis", host: "cache" }], [container])).toEqual([
      {
        what: "Redis in a container",
        where: "compose.yaml (cache)",
        values: { url: "redis://127.0.0.1:16379" },
        needs: 'the container cache of compose.yaml, and "pressmark trust"',
      },
    ]);
  });

  it.each(["redis", "valkey", "redis-stack-server"])("finds the image %s", (image) => {
    expect(detect([], [{ image }])).toHaveLength(1);
  });

  it("finds nothing in other projects", () => {
    expect(detect([{ name: "REDIS_URL", scheme: "https" }], [{ image: "redis-commander" }])).toEqual([]);
    expect(detect([])).toEqual([]);
  });
});

describe("the url", () => {
  it.each([
    ["redis://localhost", { host: "localhost", port: 6379, database: 0, isTls: false }],
    ["rediss://h:7000/5", { host: "h", port: 7000, database: 5, isTls: true }],
    ["redis://ada:p%20w@h", { username: "ada", password: "p w" }],
    ["redis://:pw@[::1]:6380", { host: "::1", port: 6380, password: "pw", username: undefined }],
    ["redis+socket:///run/redis.sock?db=2", { path: "/run/redis.sock", database: 2 }],
  ])("%s", (url, expected) => {
    expect(parseTarget(url, {})).toMatchObject(expected);
  });

  it.each([
    "http://u:secret@h",
    "redis://u:secret@h/name",
    "redis://u:secret@h/0?x=1",
    "redis://u:%secret@h",
    "secret",
    "redis://",
  ])("refuses %s without repeating it", async (url) => {
    const { message } = await refusal(
      Promise.resolve().then(() => parseTarget(url, {})),
      ["invalid"],
      "the url",
    );
    expect(message).not.toContain("secret");
  });

  it("gives way to username and password", () => {
    expect(parseTarget("redis://a:b@h", { username: "c", password: "d" })).toMatchObject({
      username: "c",
      password: "d",
    });
  });
});

describe("notifications", () => {
  it.each([
    ["", "Eg$lshzxetn"],
    ["xK", "xKEg$lshzetn"],
    ["AKE", "AKEn"],
    ["dmK", "dmKEg$lshzxetn"],
    ["g$lshzxtnE", "g$lshzxtnEe"],
  ])("%j is kept, and what is missing is added: %j", (set, completed) => {
    expect(lacksNothing(set)).toBe(false);
    expect(withMissingFlags(set)).toBe(completed);
    expect(lacksNothing(completed)).toBe(true);
  });

  it.each(["AEn", "g$lshzxetnE", "AKEnm"])("%j lacks nothing", (set) => {
    expect(lacksNothing(set)).toBe(true);
  });
});
