import { describe, expect, it } from "vitest";
import type { Matrix, SampleSeries } from "./matrix.ts";
import { toSvg } from "./plot.ts";
import { matrixToCsv, toJson } from "./render.ts";

const end = 1_700_000_000;
const step = 60;

/** Values from the oldest to the newest, one per minute; undefined for a gap. */
function series(metric: SampleSeries["metric"], values: readonly (string | undefined)[]): SampleSeries {
  const points = values.flatMap((value, index) =>
    value === undefined ? [] : [[end - (values.length - 1 - index) * step, value] as const],
  );
  return { metric, values: points };
}

function matrix(...all: SampleSeries[]): Matrix {
  const span = { startMs: (end - 600) * 1000, endMs: end * 1000, isMoving: true };
  return { series: all, span, stepMs: step * 1000, points: 0, expression: "", warnings: [], infos: [] };
}

describe("a table", () => {
  it("has a row for each time, a column for each series, and empty cells for gaps", () => {
    const csv = matrixToCsv(
      matrix(
        series({ __name__: "up", job: "a" }, ["1", undefined, "NaN"]),
        series({ __name__: "up", job: "b" }, ["+Inf"]),
      ),
    );
    expect(csv).toBe(
      [
        'time,"up{job=""a""}","up{job=""b""}"',
        "2023-11-14T22:11:20.000Z,1,",
        "2023-11-14T22:13:20.000Z,NaN,+Inf",
        "",
      ].join("\n"),
    );
  });

  it("distinguishes series with equal labels, and contains only numbers", () => {
    const odd = series({ __name__: "=cmd()" }, ["1\n2", '=HYPERLINK("x")', "2,3"]);
    const csv = matrixToCsv(matrix(odd, series({ __name__: "=cmd()" }, ["4"])));
    expect(csv).toBe("time,'=cmd(),'=cmd() #2\n2023-11-14T22:13:20.000Z,,4\n");
  });

  it("without series is only its heading", () => {
    expect(matrixToCsv(matrix())).toBe("time\n");
  });
});

it("JSON is the response of the API, with our notes", () => {
  const reported = { ...matrix(series({ a: "b" }, ["1"])), warnings: ["partial"] };
  expect(JSON.parse(toJson(reported, ["note"]))).toEqual({
    status: "success",
    data: { resultType: "matrix", result: [{ metric: { a: "b" }, values: [[end, "1"]] }] },
    warnings: ["partial"],
    infos: ["note"],
  });
});

const pathsIn = (svg: string) => [...svg.matchAll(/<path class="line c\d"[^>]* d="([^"]*)"/g)].map(([, path]) => path!);

describe("a plot", () => {
  it("is one picture that loads and runs nothing, whatever the names contain", () => {
    const hostile = `</text><script>alert(1)</script><image href="http://evil.example/x"/>&"'\u0000\ud800`;
    const svg = toSvg(matrix(series({ __name__: hostile, [hostile]: hostile }, ["1", "2"])), hostile, hostile);
    expect(svg).not.toMatch(/<(?:script|image|foreignObject|a|use|iframe)\b|\son\w+=|javascript:/i);
    const drawn = svg.replaceAll(/<(title|desc|text)[^>]*>.*?<\/\1>/gs, "");
    expect(drawn).not.toMatch(/href|url\(|@import|<!/);
    expect([...svg.matchAll(/<([a-z]+)/gi)].map(([, tag]) => tag)).toSatisfy((tags: string[]) =>
      tags.every((tag) => ["svg", "title", "desc", "style", "rect", "text", "path"].includes(tag)),
    );
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(svg).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(svg.isWellFormed()).toBe(true);
  });

  it("is readable on light and dark backgrounds", () => {
    const svg = toSvg(matrix(series({}, ["1"])), "up", undefined);
    expect(svg).toContain("@media (prefers-color-scheme:dark)");
    expect(svg).toContain('<rect class="back"');
  });

  it("interrupts the line at gaps, and draws a dot for an isolated point", () => {
    const [path, alone] = pathsIn(
      toSvg(matrix(series({}, ["1", "2", undefined, "3", "NaN", "4"]), series({}, ["7"])), "x", undefined),
    );
    expect(path!.split("M").slice(1)).toHaveLength(3);
    expect(alone).toMatch(/^M\d+ [\d.]+h0$/);
  });

  it("stays in its frame whatever the values", () => {
    for (const values of [
      ["1e308", "-1e308"],
      ["5e-324", "0"],
      ["0", "0"],
      ["-5", "-5"],
      ["Infinity", "+Inf"],
      ["1e299", "1"],
    ]) {
      const svg = toSvg(matrix(series({}, values)), "x", undefined);
      expect(svg, values.join()).not.toMatch(/NaN|Infinity/);
      for (const [, y] of svg.matchAll(/[ML]\d+ (-?[\d.e+]+)/g)) {
        expect(Number(y)).toBeGreaterThanOrEqual(30);
        expect(Number(y)).toBeLessThanOrEqual(500);
      }
    }
  });

  it("says so if there is no data", () => {
    expect(toSvg(matrix(), "up", undefined)).toContain("no data in this range");
    expect(toSvg(matrix(series({}, ["NaN"])), "up", undefined)).toContain("no data in this range");
  });

  it("names some of many series, and draws all of them, at pixel resolution", () => {
    const many = Array.from({ length: 40 }, (_, index) => series({ i: String(index) }, ["1", "2", "3"]));
    const svg = toSvg(matrix(...many), "x", undefined);
    expect(svg).toContain("and 28 more");
    expect(pathsIn(svg)).toHaveLength(40 + 12);
    const dense: SampleSeries = {
      metric: {},
      values: Array.from({ length: 100_000 }, (_, index) => [end - 600 + index * 0.006, String(index % 7)] as const),
    };
    const fine = toSvg({ ...matrix(dense), stepMs: 6 }, "x", undefined);
    expect(fine.length).toBeLessThan(50_000);
  });
});
