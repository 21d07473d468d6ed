/** Ways to ask a running contestant, the same over HTTP and stdio: a lane carries one question at a time. */
import { openHttpLine } from "./http-line.ts";
import type { Running } from "./launch.ts";
import { message, opened, opening, requestHead, type Era, type Question } from "./questions.ts";

export interface Answer {
  readonly bytes: number;
  /** The answer's JSON, where it was asked for. */
  readonly body: string;
}

export interface Lane {
  ask(question: Question, keep?: boolean): Promise<Answer>;
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  close(): void;
}

/** Ids have one length throughout, and none is ever used twice. */
let lastId = 100_000;

export async function openLanes(running: Running, era: Era, count: number): Promise<Lanes> {
  return running.http ? openHttpLanes(running, era, count) : openStdioLanes(running, era, count);
}

async function openHttpLanes({ http, contestant, token }: Running, era: Era, count: number): Promise<Lanes> {
  const { port, path } = http!;
  const lines = await Promise.all(Array.from({ length: count }, () => openHttpLine(port)));
  let session: string | undefined;
  if (era === "legacy") {
    const [first] = lines;
    const answer = await first!.ask(
      requestHead(era, path, opening, undefined, token),
      message(era, ++lastId, opening),
      true,
    );
    if (answer.status !== 200) throw new Error(`${contestant.name} refused a session: ${answer.status} ${answer.body}`);
    session = /\r\nmcp-session-id: (\S+)/i.exec(answer.head)?.[1];
    await first!.ask(requestHead(era, path, undefined, session, token), opened);
  }
  const lanes = lines.map((line): Lane => {
    let last: Question | undefined;
    let head = "";
    return {
      async ask(question, keep) {
        if (question !== last) {
          head = requestHead(era, path, question, session, token);
          last = question;
        }
        const answer = await line.ask(head, message(era, ++lastId, question), keep);
        if (answer.status !== 200) throw new Error(`${contestant.name} answered ${answer.status} ${answer.body}`);
        return answer;
      },
    };
  });
  return { lanes, close: () => lines.forEach((line) => line.close()) };
}

interface Pipe {
  send(id: number, text: string): Promise<string>;
  tell(text: string): void;
}

/** A process has one pipe for its whole life. */
const pipes = new WeakMap<Running["child"], Pipe>();

async function openStdioLanes({ child, contestant }: Running, era: Era, count: number): Promise<Lanes> {
  let pipe = pipes.get(child);
  if (!pipe) {
    pipe = openPipe(child, contestant.name);
    pipes.set(child, pipe);
    if (era === "legacy") {
      const id = ++lastId;
      await pipe.send(id, message(era, id, opening));
      pipe.tell(opened);
    }
  }
  const { send } = pipe;
  const lane: Lane = {
    async ask(question) {
      const id = ++lastId;
      const body = await send(id, message(era, id, question));
      return { bytes: body.length, body };
    },
  };
  return { lanes: Array.from({ length: count }, () => lane), close: () => {} };
}

function openPipe(child: Running["child"], name: string): Pipe {
  const waiting = new Map<number, { resolve(line: string): void; reject(error: Error): void }>();
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      // Inside a text the quotes would be escaped, so that this can only be the message's own id.
      const at = line.indexOf('"id":');
      const id = Number.parseInt(line.slice(at + 5, at + 20), 10);
      waiting.get(id)?.resolve(line);
      waiting.delete(id);
    }
  });
  child.once("close", () => {
    for (const { reject } of waiting.values()) reject(new Error(`${name} ended before it answered`));
  });
  return {
    send: (id, text) =>
      new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.stdin.write(`${text}\n`);
      }),
    tell: (text) => void child.stdin.write(`${text}\n`),
  };
}
