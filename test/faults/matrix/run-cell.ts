/** One cell of the matrix: random operations, a fault at a random moment, its end, and then what must hold. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ResourceError } from "../../../src/errors.ts";
import type { Change } from "../../../src/resources.ts";
import { collectChanges, type TestListener } from "../../../src/testing/listen.ts";
import { createRandom } from "../../client/lossy-proxy.ts";
import { createStage, type ServerProcess, type StartOptions, until } from "../stage.ts";
import type { Fault, Scene } from "./faults.ts";
import { isPaused } from "./faults.ts";
import { createModel } from "./model.ts";
import { callOf, commonWord, type Part, type PartDefinition } from "./part.ts";

export interface Cell {
  readonly part: PartDefinition;
  readonly fault: Fault;
}

/** The text of this name is watched from the start. */
const watchedName = "watched.md";
const settleMs = 30_000;

export async function runCell({ part: definition, fault }: Cell, seed: number): Promise<void> {
  const random = createRandom(seed);
  const count = (atLeast: number, atMost: number) => atLeast + Math.floor(random() * (atMost - atLeast + 1));
  const stage = createStage();
  const steps: string[] = [];
  const model = createModel();
  let server: ServerProcess | undefined;
  let part: Part | undefined;
  let written = 0;

  try {
    if (definition.folder !== undefined) mkdirSync(join(stage.root, definition.folder), { recursive: true });
    const options: StartOptions = fault.prepare?.(stage, definition) ?? {};
    part = await definition.open(stage);
    await scenario(part, options);
  } catch (cause) {
    const log = server?.log.split("\n").slice(-15).join("\n");
    throw new Error(`seed ${seed}, after ${steps.join(", ")}\n${log}`, { cause });
  } finally {
    await part?.close?.();
    await stage.close();
  }

  async function scenario(at: Part, options: StartOptions): Promise<void> {
    const isRecord = at.losesTexts === true;
    const first = ["a.md", "b.md", "c.md", watchedName];
    if (!isRecord) for (const name of first) await put(at, name);
    server = await at.start(options);
    if (isRecord) for (const name of first) await put(at, name);
    await settled(at);
    let changes = await subscribe(at);

    const scene: Scene = {
      stage,
      definition,
      part: at,
      random,
      get server() {
        return server!;
      },
      async restart(between) {
        await server!.end("SIGTERM");
        between();
        server = await at.start(options);
        changes = await subscribe(at);
      },
    };

    for (let left = count(0, 2); left > 0; left -= 1) await operate(at);
    // The fault comes in the middle of an operation.
    const underWay = [operate(at)];
    await new Promise((resolve) => setTimeout(resolve, random() * 30));
    steps.push(fault.name);
    await fault.inject(scene);
    if (fault.damagesFiles && isRecord) model.mayBeLost();
    const heardBefore = changes.heard.length;
    let isWatchedWritten = false;
    try {
      for (let left = count(1, 3); left > 0; left -= 1) {
        const operation = random() < 0.4 ? put(at, watchedName) : operate(at);
        underWay.push(operation);
        isWatchedWritten ||= await isDone(operation, watchedName);
        await askHonestly(at);
      }
    } finally {
      steps.push("lift");
      await fault.lift(scene);
    }
    await Promise.all(underWay);
    // A refused write may have left half a file, where the test itself wrote it.
    if (fault.damagesFiles || !isRecord) await at.repair?.(server);
    if (fault.damagesFiles && isRecord) model.mayBeLost();
    await answersOrEnds(at);
    const hasEnded = !server.isAlive;
    if (hasEnded) {
      steps.push("start");
      server = await at.start(options);
      changes = await subscribe(at);
    } else if (isWatchedWritten) await heard(changes, heardBefore, "what was written during the fault");

    for (let left = count(0, 2); left > 0; left -= 1) await operate(at);
    await settled(at);
    const heardSoFar = changes.heard.length;
    await put(at, watchedName, { mustSucceed: true });
    await heard(changes, heardSoFar, "what was written after the fault");
    await settled(at);
    if (!hasEnded) {
      steps.push("restart");
      await server.end("SIGTERM");
      server = await at.start(options);
      await settled(at);
    }
  }

  /** A process that ran out of memory writes a trace before it ends, and answers nothing meanwhile. */
  async function answersOrEnds(at: Part): Promise<void> {
    await until("an answer, or the end of the process", async () => {
      const answer = await at.list(server!).then(() => "an answer", String);
      return { holds: !server!.isAlive || !answer.includes("cannot be reached"), seen: answer };
    });
  }

  /** The name that was changed; undefined where that was refused. */
  async function put(at: Part, name: string, { mustSucceed = false } = {}): Promise<string | undefined> {
    written += 1;
    const text = `green ${commonWord} ${written}`;
    steps.push(`put ${name}`);
    const done = model.begin(name, text);
    try {
      await at.put(name, text);
      done();
      return name;
    } catch (cause) {
      if (mustSucceed || cause instanceof RangeError) throw cause;
      steps.push(`(${name} refused)`);
      return undefined;
    }
  }

  async function remove(at: Part, name: string): Promise<string | undefined> {
    steps.push(`remove ${name}`);
    const done = model.begin(name, undefined);
    try {
      await at.remove!(name);
      done();
      return name;
    } catch {
      return undefined;
    }
  }

  function operate(at: Part): Promise<string | undefined> {
    const names = model.names().filter((name) => name !== watchedName);
    const draw = random();
    if (at.remove && draw < 0.3 && names.length > 2) return remove(at, names[Math.floor(random() * names.length)]!);
    if (draw < 0.6 && names.length > 0) return put(at, names[Math.floor(random() * names.length)]!);
    return put(at, `new-${written}.md`);
  }

  /** An answer is right, or says that something is missing, or is an error that tells why. */
  async function askHonestly(at: Part): Promise<void> {
    if (!server!.isAlive || isPaused(server!.pid)) return;
    for (const ask of [at.list, at.search]) {
      if (!ask) continue;
      const before = model.certain();
      const answer = await ask(server!).catch((cause: unknown) => {
        if (isExplained(cause) || !server!.isAlive) return undefined;
        throw cause;
      });
      if (answer?.claimsAll) model.checkClaim(answer.names, before);
    }
  }

  async function settled(at: Part): Promise<void> {
    await until(
      `list == search == what was written (${definition.name})`,
      async () => {
        try {
          const problems: string[] = [];
          for (const ask of [at.list, at.search]) {
            if (!ask) continue;
            const answer = await ask(server!);
            if (!answer.claimsAll) problems.push(`${ask.name} says that it is incomplete`);
            problems.push(...model.differences(answer.names).map((each) => `${ask.name}: ${each}`));
          }
          const texts = new Map<string, string>();
          if (problems.length === 0)
            for (const name of (await at.list(server!)).names) texts.set(name, await at.read(server!, name));
          problems.push(...model.wrongTexts(texts));
          if (problems.length === 0) model.settle(texts);
          if (problems.length > 0 && at.search) problems.push(JSON.stringify(await server!.indexStatus()));
          return { holds: problems.length === 0, seen: problems };
        } catch (cause) {
          return { holds: false, seen: [String(cause)] };
        }
      },
      settleMs,
    );
    await at.alsoHolds?.(server!);
  }

  async function subscribe(at: Part): Promise<TestListener<Change>> {
    return collectChanges(
      await server!.pressmark.watch(at.watches(watchedName), { ...callOf(), signal: new AbortController().signal }),
    );
  }
}

/** Whether an error tells the caller more than that something went wrong. */
function isExplained(cause: unknown): boolean {
  return (
    cause instanceof ResourceError &&
    !/something went wrong|internal error|the log|the server.s log/.test(cause.message)
  );
}

/** Resolves when it was written, refused, or has not been answered for a while; the last leaves it under way. */
async function isDone(operation: Promise<string | undefined>, name: string): Promise<boolean> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 3000).unref());
  return (await Promise.race([operation, late])) === name;
}

async function heard({ heard: said }: TestListener<Change>, before: number, what: string): Promise<void> {
  await until(`an announcement of ${what}`, async () => ({ holds: said.length > before, seen: said.slice(-3) }));
}
