import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eachLabel, quotedParts, typedAt } from "./promql.ts";

function labelsOf(promql: string): string[] {
  const found: string[] = [];
  eachLabel(promql, (label) => found.push(label));
  return found;
}

describe("the labels in a query", () => {
  it.each([
    ["up", []],
    ['up{job="node"}', ["job"]],
    ['up{job=\'no"de\',a=~`x,b="y"`}', ["job", "a"]],
    ['{__name__="up", client_ip!~"10\\\\..*"}', ["__name__", "client_ip"]],
    ["sum by (a, b) (up)", ["a", "b"]],
    ["sum(up) BY(client_ip)", ["client_ip"]],
    ["sum without # (nothing)\n (client_ip) (up)", ["client_ip"]],
    ["a * on(x) group_left(y) b", ["x", "y"]],
    ["a / ignoring(x) Group_Right (y) b", ["x", "y"]],
    ['label_replace(up, "to", "$1", "client_ip", "(.*)")', ["to", "client_ip"]],
    ['label_join(up, "to", "-", "a", "client_ip")', ["to", "a", "client_ip"]],
    ['count_values("v", up)', ["v"]],
    ['sort_by_label(up, "client_ip")', ["client_ip"]],
    // Only known functions take plain texts; others may take label names.
    ['Label_Replace(up, "to", "$1", "client_ip", "(.*)")', ["to", "$1", "client_ip", "(.*)"]],
    ['label_copy(up, "client_ip", "x")', ["client_ip", "x"]],
    ['{"my.metric", "client.ip"="x"}', ["client.ip"]],
    ['sum by ("client.ip") (up)', ["client.ip"]],
    ['{job="a" or client_ip="b"}', ["job", "client_ip"]],
    ["rate(up[5m:1m] offset 1d) > bool 0x1F + .5e3 @ start()", []],
    ["max_over_time((rate(a_b:c[1h30m]))[1d:5m])", []],
  ])("%s", (promql, expected) => {
    expect(labelsOf(promql)).toEqual(expected);
  });

  it.each([
    ["", /missing query/],
    ["  ", /missing query/],
    ["up{", /unclosed "{"/],
    ["sum(up))", /unmatched/],
    ["(up]", /unmatched/],
    ['up{a="x}', /not closed/],
    ["up{a='x\n'}", /not closed/],
    ["by (client\\_ip)", /is not valid PromQL/],
    ['label_replace(up, "x", "$1", "client\\x5fip", "(.*)")', /without a backslash/],
    ['sum by ("client\\u005fip") (up)', /without a backslash/],
    ["up; up", /is not valid PromQL/],
    [`up + ${"1".repeat(9000)}`, /at most 8000 characters/],
  ])("%s is rejected", (promql, message) => {
    expect(() => labelsOf(promql)).toThrow(message);
  });

  it("are never part of a string literal, whatever it contains", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."\"\\\n{}[]()`'#,=~ a日") }), (text) => {
        expect(labelsOf(`up{job=${quotedParts(text)}} + sum by (x) (up)`)).toEqual(["job", "x"]);
      }),
    );
  });

  it("are found in time proportional to the query", () => {
    for (const piece of ['"', "{", "a,", "(", "\\", "`", "#"])
      try {
        labelsOf(piece.repeat(7000 / piece.length));
      } catch (cause) {
        expect(cause).toMatchObject({ kind: "invalid" });
      }
  });
});

describe("the incomplete token", () => {
  it.each([
    ["up", { wants: "metric", typed: "up", start: 0 }],
    ["sum(rate(no", { wants: "metric", typed: "no", start: 9 }],
    ["a + ", { wants: "metric", typed: "", start: 4 }],
    ["up{j", { wants: "label", typed: "j", start: 3, metric: "up" }],
    ['up{job="node", in', { wants: "label", typed: "in", start: 15, metric: "up" }],
    ["sum by (mo", { wants: "label", typed: "mo", start: 8, metric: "" }],
    ['up{job="no', { wants: "value", typed: "no", start: 8, metric: "up", label: "job" }],
    ['{job=~"', { wants: "value", typed: "", start: 7, metric: "", label: "job" }],
    ["up{job=", undefined],
    ["up[5", undefined],
    ["up offset", undefined],
    ['label_replace(up, "x', undefined],
  ])("%s", (promql, expected) => {
    expect(typedAt(promql)).toEqual(expected);
  });
});
