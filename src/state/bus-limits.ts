/** What every bus accepts: checked before a message is sent, so that all engines refuse the same. */
import { denied, invalid, quote, type ResourceError, unavailable } from "../errors.ts";
import type { BusMessage } from "./bus.ts";

/** Of the body as JSON. Half of what NATS accepts by default. */
export const maxBodyBytes = 512 * 1024;
const maxTopicBytes = 512;
/** A publish whose outcome is not known by then is rejected. */
export const publishTimeoutMs = 10_000;

/** Returns the body as JSON. Throws "invalid" for what no bus carries. */
export function bodyText({ topic, body, fence }: BusMessage): string {
  checkTopic(topic);
  if (!Number.isSafeInteger(fence) || fence < 0) throw invalid(`the fence ${fence} is not a number from 0 on`);
  const text = JSON.stringify(body) as string | undefined;
  if (text === undefined) throw invalid(`the body for the topic ${quote(topic)} cannot be written as JSON`);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBodyBytes)
    throw invalid(
      `the body for the topic ${quote(topic)} has ${bytes} bytes; a message of the bus has at most ${maxBodyBytes}: split it, or announce that everything must be read again`,
    );
  return text;
}

export function checkTopic(topic: string): void {
  const isUsable = topic !== "" && topic.isWellFormed() && !topic.includes("\0");
  if (!isUsable || Buffer.byteLength(topic) > maxTopicBytes)
    throw invalid(
      `the topic ${quote(topic)} is not usable; a topic is a text of 1 to ${maxTopicBytes} bytes without the character U+0000`,
    );
}

/** Another instance has acquired the lease since. */
export function fenceDenied(topic: string): ResourceError {
  return denied(`the lease for the topic ${quote(topic)} has another holder; acquire it again before you publish`);
}

/** It was never sent. */
export function publishFailed(topic: string, engine: string): ResourceError {
  return unavailable(
    `a message of the topic ${quote(topic)} could not be sent to ${engine} within ${publishTimeoutMs / 1000} s; try again`,
  );
}

export function publishUnknown(topic: string, engine: string, cause?: unknown): ResourceError {
  return unavailable(
    `it is not known whether ${engine} stored a message of the topic ${quote(topic)}; try again`,
    cause,
  );
}
