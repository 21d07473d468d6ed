/**
 * Running calls of another server that may ask for input. A question ends the caller's request; the call waits at the other server
 * until the caller comes back with the answers.
 */
import { randomBytes } from "node:crypto";
import type { Client, ClientCapabilities } from "@modelcontextprotocol/client";
import { cancelled, invalid, quote, ResourceError, toResourceError, unavailable } from "../../errors.ts";
import { isRemoteObject } from "../../client/is-remote-object.ts";
import { type Call, callerKey, type ClientInput, type RelayedQuestion, serverCaller } from "../../resources.ts";
import type { Runtime } from "../../source.ts";

type InputRequest = RelayedQuestion["inputRequests"][string];
type Loose = Readonly<Record<string, unknown>>;

/** One call at the other server. */
export interface UpstreamCall {
  /** Aborted when the caller cancels, or after the time limit. */
  readonly signal: AbortSignal;
  /** Capabilities of the caller's client that this call may use. */
  readonly capabilities: ClientCapabilities;
  /** Restarts the time limit and tells the caller. */
  progress(done: number, total?: number, message?: string): void;
  /** The connection that carries the call from now on: questions that come there may belong to it. */
  uses(client: Client): void;
  /** Asks the caller's client. Throws "unsupported" if it cannot answer. */
  ask(requests: Readonly<Record<string, unknown>>): Promise<Loose>;
}

export interface UpstreamCalls {
  /** Declared to the other server. URL elicitation is not: what a user does there would belong to the connection, which others share. */
  readonly capabilities: ClientCapabilities;
  /** Sets the handlers of questions. */
  prepare(client: Client): void;
  /** Starts a call, or continues the one that asked. Its subject must be the same then. */
  run<T>(
    subject: string,
    input: ClientInput,
    call: Call,
    start: (upstream: UpstreamCall) => Promise<T>,
  ): Promise<T | RelayedQuestion>;
  /** Does other work for a caller at the other server: a question that comes meanwhile may belong to it. */
  meanwhile<T>(call: Pick<Call, "caller">, work: () => Promise<T>): Promise<T>;
  close(): void;
}

interface Question {
  readonly request: InputRequest;
  readonly answered: PromiseWithResolvers<Loose>;
  isSent?: true;
}

interface RunningCall {
  readonly subject: string;
  readonly callerKey: string;
  readonly stop: AbortController;
  /** Why it was stopped. */
  failure: ResourceError | undefined;
  readonly questions: Map<string, Question>;
  /** Number of questions so far. */
  count: number;
  /** While it waits for an answer: the state that the caller got. */
  state: string | undefined;
  result: Promise<unknown>;
  isDone: boolean;
  client: Client | undefined;
  capabilities: Loose;
  progress: Call["progress"];
  /** Resolves when there is a question to send. */
  asked: PromiseWithResolvers<void>;
  /** Ends the current time limit. */
  timer: AbortController | undefined;
}

/** How long a question may wait for a person. */
const answerMs = 10 * 60_000;
/** Calls that wait for an answer, for all callers and for one. */
const maxWaiting = 100;
const maxWaitingOfCaller = 10;
const maxQuestions = 10;

const methodCode = -32_601;
const declared: ClientCapabilities = { elicitation: { form: {} }, sampling: {} };
const methods = ["elicitation/create", "sampling/createMessage"] as const;

export function createUpstreamCalls(
  timeoutMs: number,
  { wait, mount }: Pick<Runtime, "wait" | "mount">,
): UpstreamCalls {
  const running = new Set<RunningCall>();
  /** Calls that wait for an answer, by the state that the caller got. */
  const waiting = new Map<string, RunningCall>();
  /** Callers of other work at the other server: of reads, lists, searches. */
  const others = new Set<Pick<RunningCall, "callerKey">>();
  /** Callers whose calls ended here, while the other server may still work on them and ask. */
  const cut = new WeakMap<Client, Set<Pick<RunningCall, "callerKey">>>();
  const closing = new AbortController();

  function end(one: RunningCall, failure: ResourceError): void {
    one.failure ??= failure;
    one.stop.abort();
  }

  /** Nobody will answer its questions any more. */
  function drop({ questions }: RunningCall): void {
    for (const { answered } of questions.values()) answered.reject(cancelled());
  }

  function limitTime(one: RunningCall, ms: number): void {
    one.timer?.abort();
    const timer = (one.timer = new AbortController());
    wait(ms, timer.signal).then(
      () => end(one, unavailable(`no response within ${ms} ms; try again later, or raise "timeoutMs"`)),
      () => undefined,
    );
  }

  /** Asks all or nothing. Returns the answers under the same names. */
  async function ask(one: RunningCall, requests: Readonly<Record<string, InputRequest>>): Promise<Loose> {
    if (Object.keys(requests).length === 0) return {};
    const ofCaller = [...waiting.values()].filter((other) => other.callerKey === one.callerKey).length;
    const entries = Object.entries(requests);
    if (
      waiting.size >= maxWaiting ||
      ofCaller >= maxWaitingOfCaller ||
      one.questions.size + entries.length > maxQuestions
    )
      throw new ResourceError("busy", "too many questions wait for an answer");
    const impossible = entries.find(([, request]) => !canAnswer(one.capabilities, request));
    if (impossible) throw unanswerable(impossible[1].method);
    const answers = entries.map(async ([name, request]) => {
      const answered = Promise.withResolvers<Loose>();
      one.questions.set(String((one.count += 1)), { request, answered });
      return [name, await answered.promise] as const;
    });
    one.asked.resolve();
    return Object.fromEntries(await Promise.all(answers));
  }

  /** Adds the name of the mount: the person must know who asks. */
  function toRequest(method: InputRequest["method"], { _meta, task: _task, ...params }: Loose): InputRequest {
    const { message } = params;
    return {
      method,
      params: typeof message === "string" && mount ? { ...params, message: `${mount}: ${message}` } : params,
    };
  }

  /** A question of the older era names no call: it is for a caller only if all that the other server may be doing is for them. */
  function callFor(client: Client): RunningCall | undefined {
    const candidates = [...running].filter((one) => one.client === client);
    const possible = [...candidates, ...others, ...(cut.get(client) ?? [])];
    if (new Set(possible.map((one) => one.callerKey)).size !== 1) return undefined;
    return candidates.find(({ questions }) => questions.size === 0) ?? candidates[0];
  }

  /** The other server is told that a call was cancelled, but may go on with it. */
  function rememberCut({ client, callerKey: key }: RunningCall): void {
    if (!client) return;
    const entry = { callerKey: key };
    const entries = cut.get(client) ?? new Set();
    cut.set(client, entries.add(entry));
    wait(answerMs, closing.signal).then(
      () => entries.delete(entry),
      () => undefined,
    );
  }

  function begin(
    subject: string,
    { caller }: Call,
    start: (upstream: UpstreamCall) => Promise<unknown>,
    capabilities: Loose,
  ): RunningCall {
    const stop = new AbortController();
    const one: RunningCall = {
      subject,
      callerKey: callerKey(caller),
      stop,
      failure: undefined,
      questions: new Map(),
      count: 0,
      state: undefined,
      result: Promise.resolve(),
      isDone: false,
      client: undefined,
      capabilities,
      progress: undefined,
      asked: Promise.withResolvers(),
      timer: undefined,
    };
    stop.signal.addEventListener("abort", () => {
      if (one.state !== undefined) waiting.delete(one.state);
      one.timer?.abort();
      drop(one);
    });
    const leave = () => end(one, cancelled());
    caller.ended?.addEventListener("abort", leave, { once: true });
    running.add(one);
    one.result = start({
      signal: stop.signal,
      capabilities: shared(capabilities),
      progress(...done) {
        if (one.questions.size === 0) limitTime(one, timeoutMs);
        one.progress?.(...done);
      },
      uses: (client) => void (one.client = client),
      async ask(requests) {
        const parsed = Object.entries(requests).map(
          ([name, request]) => [name, toRequest(...parseRequest(request))] as const,
        );
        return ask(one, Object.fromEntries(parsed));
      },
    })
      .catch((cause: unknown) => {
        throw one.failure ?? cause;
      })
      .finally(() => {
        one.isDone = true;
        running.delete(one);
        if (stop.signal.aborted) rememberCut(one);
        caller.ended?.removeEventListener("abort", leave);
        drop(one);
      });
    one.result.catch(() => undefined);
    return one;
  }

  /** A state that was not given to this caller, or was used, is like one that never existed. */
  function resume(state: string, subject: string, { caller }: Call, responses: Loose = {}): RunningCall {
    const one = waiting.get(state);
    if (!one || one.callerKey !== callerKey(caller) || one.subject !== subject)
      throw invalid("this request state is not valid, or no longer; call again without it");
    waiting.delete(state);
    one.state = undefined;
    one.asked = Promise.withResolvers();
    for (const [id, { answered, isSent }] of one.questions) {
      if (!isSent) {
        one.asked.resolve();
        continue;
      }
      one.questions.delete(id);
      const response = responses[id];
      if (isRemoteObject(response)) answered.resolve(response);
      else answered.reject(new ResourceError("invalid", "the client did not answer"));
    }
    return one;
  }

  function hold(one: RunningCall): RelayedQuestion {
    const requestState = randomBytes(32).toString("base64url");
    one.state = requestState;
    waiting.set(requestState, one);
    limitTime(one, answerMs);
    for (const question of one.questions.values()) question.isSent = true;
    const requests = [...one.questions].map(([id, { request }]) => [id, request] as const);
    return { inputRequests: Object.fromEntries(requests), requestState };
  }

  return {
    capabilities: declared,

    prepare(client) {
      for (const method of methods)
        client.setRequestHandler(method, async ({ params }) => {
          // In the newer era the other server asks in its results.
          const one = client.getProtocolEra() === "modern" ? undefined : callFor(client);
          if (!one) throw refused(`it is not known who should answer ${method}`);
          try {
            const { answer } = await ask(one, { answer: toRequest(method, params as Loose) });
            return answer as never;
          } catch (cause) {
            throw refused(toResourceError(cause).message);
          }
        });
    },

    async run<T>(subject: string, input: ClientInput, call: Call, start: (upstream: UpstreamCall) => Promise<T>) {
      const { requestState, inputResponses, clientCapabilities } = input;
      const one =
        requestState === undefined
          ? begin(subject, call, start, clientCapabilities)
          : resume(requestState, subject, call, inputResponses);
      one.capabilities = clientCapabilities;
      one.progress = call.progress;
      const leave = (): void => end(one, cancelled(call.signal.reason));
      if (call.signal.aborted) leave();
      call.signal.addEventListener("abort", leave, { once: true });
      limitTime(one, timeoutMs);
      try {
        await Promise.race([one.result.catch(() => undefined), one.asked.promise]);
        return one.isDone || one.stop.signal.aborted ? ((await one.result) as T) : hold(one);
      } finally {
        if (one.isDone) one.timer?.abort();
        one.progress = undefined;
        call.signal.removeEventListener("abort", leave);
      }
    },

    async meanwhile({ caller }, work) {
      // The server's own work goes on all the time.
      if (caller.id === serverCaller.id) return work();
      const entry = { callerKey: callerKey(caller) };
      others.add(entry);
      try {
        return await work();
      } finally {
        others.delete(entry);
      }
    },

    close() {
      closing.abort();
      for (const one of running) end(one, cancelled());
    },
  };
}

function parseRequest(request: unknown): [InputRequest["method"], Loose] {
  const { method, params = {} } = isRemoteObject(request) ? request : {};
  const known = methods.find((each) => each === method);
  if (!known || !isRemoteObject(params)) throw unanswerable(String(method));
  return [known, params];
}

function canAnswer({ elicitation, sampling }: Loose, { method, params }: InputRequest): boolean {
  if (method === "sampling/createMessage")
    return isRemoteObject(sampling) && (params["tools"] === undefined || isRemoteObject(sampling["tools"]));
  return hasForms(elicitation) && (params["mode"] ?? "form") === "form";
}

/** Without modes, it has forms: the first revision had no others. */
function hasForms(elicitation: unknown): boolean {
  return isRemoteObject(elicitation) && ("form" in elicitation || Object.keys(elicitation).length === 0);
}

function shared({ elicitation, sampling }: Loose): ClientCapabilities {
  return {
    ...(hasForms(elicitation) && { elicitation: { form: {} } }),
    ...(isRemoteObject(sampling) && { sampling }),
  };
}

function unanswerable(method: string): ResourceError {
  return new ResourceError(
    "unsupported",
    `this needs an answer to ${quote(method, 100)}, which your client cannot give`,
  );
}

/** As a client without the capability answers. */
function refused(message: string): Error {
  return Object.assign(new Error(message), { code: methodCode });
}
