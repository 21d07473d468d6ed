/** Turns texts into vectors with any endpoint compatible with OpenAI's `/embeddings`. */
import { ResourceError } from "../errors.ts";
import { takeUpTo } from "../lib/read-bounded.ts";
import type { Runtime } from "../source.ts";

export interface EmbeddingOptions {
  /** URL without `/embeddings`, as in `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  readonly apiKey?: string;
}

export interface Embeddings {
  /** Returns a vector for each text, in order. Errors are ResourceErrors that contain neither the key nor a text. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

export interface EmbeddingLimits {
  /** For one request. */
  readonly timeoutMs?: number;
  /** Number of retries after a passing error, with growing delays. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
}

/** Maximum per request. */
const maxTexts = 64;
const maxChars = 64 * 1024;
/** A passage is rarely longer, and models cut or reject longer texts. */
const maxTextChars = 6000;
const maxAnswerBytes = 64 * 1024 * 1024;
const firstDelayMs = 500;
const longestDelayMs = 30_000;

export function createEmbeddings(
  { url, model, apiKey }: EmbeddingOptions,
  runtime: Pick<Runtime, "wait">,
  { timeoutMs = 30_000, retries = 4, fetch: send = fetch }: EmbeddingLimits = {},
): Embeddings {
  const endpoint = `${url.replace(/(?<!\/)\/+$/, "")}/embeddings`;

  async function once(input: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    let response: Response;
    let text: string;
    try {
      response = await send(endpoint, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(apiKey && { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({ model, input, encoding_format: "float" }),
        // The key must not be sent to the target of a redirect.
        redirect: "error",
        signal: either,
      });
      text = await bodyOf(response);
    } catch (cause) {
      if (signal.aborted) throw new ResourceError("cancelled", "cancelled");
      if (cause instanceof ResourceError) throw cause;
      throw new ResourceError("unavailable", "the embeddings endpoint cannot be reached; check search.embeddings.url");
    }
    if (!response.ok) throw refusal(response);
    return vectorsIn(text, input.length);
  }

  async function patiently(input: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await once(input, signal);
      } catch (cause) {
        if (!(cause instanceof ResourceError) || !cause.passing || tries >= retries) throw cause;
        const retryAfterMs = Number(cause.details?.["retryAfterMs"]);
        const delayMs =
          Math.min(retryAfterMs || firstDelayMs * 2 ** tries, longestDelayMs) * (0.75 + Math.random() / 4);
        await runtime.wait(delayMs, signal);
      }
    }
  }

  return {
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (const batch of batches(texts)) vectors.push(...(await patiently(batch, signal)));
      return vectors;
    },
  };
}

function* batches(texts: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = [];
  let chars = 0;
  for (const text of texts) {
    // Most endpoints reject an empty text; a cut must not leave half a surrogate pair.
    const sent = text.trim() === "" ? "-" : text.slice(0, maxTextChars).toWellFormed();
    if (batch.length >= maxTexts || (batch.length > 0 && chars + sent.length > maxChars)) {
      yield batch;
      [batch, chars] = [[], 0];
    }
    batch.push(sent);
    chars += sent.length;
  }
  if (batch.length > 0) yield batch;
}

async function bodyOf(response: Response): Promise<string> {
  const bytes = await takeUpTo(maxAnswerBytes, response.body);
  if (!bytes) throw unintelligible();
  return bytes.toString("utf8");
}

function refusal({ status, headers }: Response): ResourceError {
  const what = `the embeddings endpoint responded with status ${status}`;
  if (status === 401 || status === 403)
    return new ResourceError("denied", `${what}; check search.embeddings.apiKey`, { passing: false });
  if (status === 429 || status >= 500) {
    const retryAfterMs = Number(headers.get("retry-after")) * 1000;
    return new ResourceError("unavailable", `${what}; it will be retried`, {
      passing: true,
      ...(retryAfterMs > 0 && { details: { retryAfterMs } }),
    });
  }
  return new ResourceError("invalid", `${what}; check search.embeddings.url and search.embeddings.model`);
}

function unintelligible(): ResourceError {
  return new ResourceError("unexpected", "the response of the embeddings endpoint contains no valid vectors");
}

function vectorsIn(text: string, count: number): readonly Float32Array[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw unintelligible();
  }
  const data = (parsed as { readonly data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count) throw unintelligible();
  const vectors = new Map<number, Float32Array>();
  for (const [at, each] of (data as readonly { readonly embedding?: unknown; readonly index?: unknown }[]).entries()) {
    const numbers = each?.embedding;
    if (!Array.isArray(numbers) || numbers.length === 0 || !numbers.every(Number.isFinite)) throw unintelligible();
    vectors.set(typeof each.index === "number" ? each.index : at, Float32Array.from(numbers as readonly number[]));
  }
  return Array.from({ length: count }, (_, at) => {
    const vector = vectors.get(at);
    if (vector?.length !== vectors.get(0)?.length || !vector) throw unintelligible();
    return vector;
  });
}
