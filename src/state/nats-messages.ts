/** How messages are written in NATS: the topic in the subject, fence and body in the payload; and the fences of all topics. */
import type { StreamNames } from "./nats-connection.ts";

/** Any text as one token of a subject. */
export function subjectOf({ prefix }: StreamNames, topic: string): string {
  return `${prefix}${Buffer.from(topic).toString("base64url")}`;
}

export function topicOf({ prefix }: StreamNames, subject: string): string | undefined {
  const token = subject.slice(prefix.length);
  if (!subject.startsWith(prefix) || !/^[\w-]+$/.test(token)) return undefined;
  return Buffer.from(token, "base64url").toString();
}

export function payloadOf(fence: number, text: string): string {
  return `[${fence},${text}]`;
}

export function parsePayload(payload: string): { readonly fence: number; readonly body: unknown } | undefined {
  try {
    const parsed: unknown = JSON.parse(payload);
    if (!Array.isArray(parsed) || parsed.length !== 2 || !Number.isSafeInteger(parsed[0])) return undefined;
    return { fence: parsed[0] as number, body: parsed[1] };
  } catch {
    return undefined;
  }
}

/** Topics that carry fences, with the number of their last message. */
export interface TopicFences {
  /** Returns false for a message with a lower fence than one before it. */
  accept(topic: string, fence: number, seq: number): boolean;
  /** The highest fence, and the number of the last message as far as known. */
  of(topic: string): { readonly fence: number; readonly seq: number } | undefined;
  /** The last message that the stream has; 0 and 0 if it has none of the topic. */
  learn(topic: string, fence: number, seq: number): void;
  /** The numbers are of another stream. */
  forgetPlaces(): void;
}

export function createTopicFences(): TopicFences {
  const heads = new Map<string, { fence: number; seq: number }>();
  return {
    accept(topic, fence, seq) {
      const head = heads.get(topic);
      if (!head) {
        if (fence > 0) heads.set(topic, { fence, seq });
        return true;
      }
      head.seq = Math.max(head.seq, seq);
      if (fence < head.fence) return false;
      head.fence = fence;
      return true;
    },
    of: (topic) => heads.get(topic),
    learn(topic, fence, seq) {
      heads.set(topic, { fence: Math.max(fence, heads.get(topic)?.fence ?? 0), seq });
    },
    forgetPlaces() {
      for (const head of heads.values()) head.seq = 0;
    },
  };
}
