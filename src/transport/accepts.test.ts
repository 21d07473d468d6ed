import { expect, it } from "vitest";
import { isJson, parseAccept } from "./accepts.ts";

it.each([
  [undefined, true, true],
  ["application/json, text/event-stream", true, true],
  ["text/event-stream,application/json;q=0.5", true, true],
  ["*/*", true, true],
  ["text/html, */*;q=0.8", true, true],
  ["application/json", true, false],
  ["Application/JSON; charset=utf-8", true, false],
  ["application/*", true, false],
  ["text/event-stream", false, true],
  ["text/*", false, true],
  ["application/json;q=0, text/event-stream", false, true],
  ["text/html", false, false],
  ["", false, false],
])("accepting %s takes JSON: %s, events: %s", (header, json, events) => {
  expect(parseAccept(header)).toEqual({ json, events });
});

it.each([
  ["application/json", true],
  ["Application/JSON; charset=utf-8", true],
  ["application/json;x", true],
  ["application/jsonp", false],
  ["text/plain", false],
  ["", false],
  [undefined, false],
])("%s is JSON: %s", (type, expected) => {
  expect(isJson(type)).toBe(expected);
});
