/** Sets over every line: prompts that embed what is in them, and resources that are read, listed and watched. */
import { describe, expect, it } from "vitest";
import { isRecord } from "../wire/json.ts";
import { recordsIn } from "./answers.ts";
import { sampleContents } from "./fixtures.ts";
import { base, legacyLegs, legs, modernLegs, openTestServer } from "./harness.ts";

const sets = [
  {
    name: "onboarding",
    title: "On boarding",
    description: "what to read first",
    resources: ["notes.txt", "rich.json", "blob.bin", "big.txt", "docs", "secrets/key.txt", "nowhere"].map(
      (path) => base + path,
    ),
  },
  { name: "secret", resources: [`${base}secrets/key.txt`] },
];
const built = { sampleContents: { ...sampleContents, "big.txt": "x".repeat(300_000) }, sets };
/** The early draft has no prompts. */
const talkingLegs = legs.filter(({ revision }) => revision >= "2024-11-05");

describe.for(legs)("a set over $transport in $revision", (leg) => {
  it("is a resource that reads as all that is in it", async () => {
    await using pressmark = await openTestServer(built);
    const line = await pressmark.line(leg);
    const contents = recordsIn(await line.result("resources/read", { uri: "set://onboarding" }), "contents");
    expect(contents.map(({ uri }) => uri)).toEqual([
      "set://onboarding",
      ...["notes.txt", "rich.json", "blob.bin", "big.txt", "docs"].map((path) => base + path),
    ]);
    expect(contents[1]?.["text"]).toBe("Buy ink.\n");
    expect(contents[3]?.["blob"]).toBe("AAH+/w==");
    const listed = recordsIn(await line.result("resources/list"), "resources").map(({ uri }) => uri);
    expect(listed.slice(0, 2)).toEqual(["set://onboarding", "zed://prompt-library"]);
    expect(listed).not.toContain("set://secret");
  });

  it("is not there for those who may see nothing of it, in the words for what is not there", async () => {
    await using pressmark = await openTestServer(built);
    const line = await pressmark.line(leg);
    const [hidden, missing] = [
      await line.error("resources/read", { uri: "set://secret" }),
      await line.error("resources/read", { uri: "set://nobody" }),
    ];
    expect(JSON.parse(JSON.stringify(hidden).replaceAll("secret", "nobody"))).toEqual(missing);
    const owner = await pressmark.line(leg, "owner");
    const contents = recordsIn(await owner.result("resources/read", { uri: "set://secret" }), "contents");
    expect(contents).toHaveLength(2);
    const library = async (of: typeof line) => {
      const [content] = recordsIn(await of.result("resources/read", { uri: "zed://prompt-library" }), "contents");
      return JSON.parse(String(content?.["text"])) as unknown;
    };
    const first = { id: "onboarding", title: "On boarding", uri: "set://onboarding" };
    expect(await library(line)).toEqual([first]);
    expect(await library(owner)).toEqual([first, { id: "secret", title: "secret", uri: "set://secret" }]);
  });
});

describe.for(talkingLegs)("the prompt of a set over $transport in $revision", (leg) => {
  it("embeds what is in it, and links to what is too large (LEG-12, LEG-14, LEG-15, MOD-29)", async () => {
    await using pressmark = await openTestServer(built);
    const line = await pressmark.line(leg);
    const { revision } = leg;
    const hasLinks = revision >= "2025-06-18";
    const { messages } = await line.result("prompts/get", { name: "onboarding" });
    const annotations = {
      audience: ["user", "assistant"],
      priority: 0.8,
      ...(hasLinks && { lastModified: "2026-01-02T03:04:05Z" }),
    };
    const contents = Array.isArray(messages) ? messages.map((each: unknown) => isRecord(each) && each["content"]) : [];
    expect(contents).toEqual([
      { type: "text", text: 'The resources of the set "On boarding" follow: what to read first' },
      { type: "resource", resource: { uri: `${base}notes.txt`, mimeType: "text/plain", text: "Buy ink.\n" } },
      {
        type: "resource",
        resource: expect.objectContaining({
          uri: `${base}rich.json`,
          mimeType: "application/json",
          text: '{"ink":1}\n',
        }),
        annotations,
      },
      {
        type: "resource",
        resource: { uri: `${base}blob.bin`, mimeType: "application/octet-stream", blob: "AAH+/w==" },
      },
      hasLinks
        ? expect.objectContaining({ type: "resource_link", uri: `${base}big.txt`, name: "big.txt", size: 300_000 })
        : { type: "text", text: `big.txt: ${base}big.txt` },
      hasLinks
        ? expect.objectContaining({ type: "resource_link", uri: `${base}docs` })
        : { type: "text", text: `docs: ${base}docs` },
    ]);
  });

  it("is listed to those who may see something of it (LEG-16)", async () => {
    await using pressmark = await openTestServer(built);
    const names = async (caller: string) =>
      recordsIn(await (await pressmark.line(leg, caller)).result("prompts/list"), "prompts").map(({ name }) => name);
    expect(await names("reader")).toEqual(["onboarding"]);
    expect(await names("owner")).toEqual(["onboarding", "secret"]);
    const line = await pressmark.line(leg);
    expect(recordsIn(await line.result("prompts/list"), "prompts")).toEqual([
      {
        name: "onboarding",
        description: "what to read first",
        ...(leg.revision >= "2025-06-18" && { title: "On boarding" }),
      },
    ]);
    const hidden = await line.error("prompts/get", { name: "secret" });
    expect(JSON.stringify(hidden).replaceAll("secret", "nobody")).toBe(
      JSON.stringify(await line.error("prompts/get", { name: "nobody" })),
    );
  });
});

describe.for(legacyLegs)("a set that changes over $transport in $revision", (leg) => {
  it("is announced to who subscribed, and its prompt to everyone", async () => {
    await using pressmark = await openTestServer(built);
    const line = await pressmark.line(leg);
    await line.result("resources/list");
    const hasPrompts = leg.revision >= "2024-11-05";
    if (hasPrompts) await line.result("prompts/list");
    await line.result("resources/subscribe", { uri: "set://onboarding" });
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await line.unasked.next()).toEqual({
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri: "set://onboarding" },
    });
    pressmark.configure([...sets, { name: "more", resources: [`${base}notes.txt`] }]);
    const methods = [await line.unasked.next(), ...(hasPrompts ? [await line.unasked.next()] : [])];
    expect(methods.map(({ method }) => method).toSorted()).toEqual([
      ...(hasPrompts ? ["notifications/prompts/list_changed"] : []),
      "notifications/resources/list_changed",
    ]);
  });
});

describe.for(modernLegs)("a set that changes over $transport", (leg) => {
  it("is announced to who listens, and so is its prompt (MOD-33)", async () => {
    await using pressmark = await openTestServer(built);
    const line = await pressmark.line(leg);
    const notifications = { promptsListChanged: true, resourceSubscriptions: ["set://onboarding", "set://secret"] };
    const asked = await line.start("subscriptions/listen", { notifications }, { id: 7 });
    const acknowledged = await asked.said.next();
    const { params } = acknowledged;
    expect(isRecord(params) && params["notifications"]).toEqual({
      promptsListChanged: true,
      resourceSubscriptions: ["set://onboarding"],
    });
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await asked.said.next()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "set://onboarding" },
    });
    pressmark.configure([...sets, { name: "more", resources: [`${base}notes.txt`] }]);
    expect(await asked.said.next()).toMatchObject({ method: "notifications/prompts/list_changed" });
  });

  it("is declared: prompts may change", async () => {
    await using pressmark = await openTestServer(built);
    const { capabilities } = (await pressmark.line(leg)).opened;
    expect(isRecord(capabilities) && capabilities["prompts"]).toEqual({ listChanged: true });
  });
});
