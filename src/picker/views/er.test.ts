import { describe, expect, it } from "vitest";
import { type Diagram, isErDiagram, parseErDiagram } from "./er.ts";
import { type Box, layOut } from "./er-layout.ts";

const shop = `%% a remark
erDiagram
  direction LR
  customers {
    INTEGER id PK
    TEXT name
    TEXT t1 UK "電子メール"
  }
  t1["注文 2026"] {
    INTEGER id PK, FK
  }
  "line item"
  customers ||--o{ t1 : "customer_id"
  t1 ||..|{ "line item" : contains
  style customers fill:#f00,stroke:url(http://127.0.0.1:9/x)
  click customers href "javascript:alert(1)"
`;

describe("diagrams of entities", () => {
  it("are parsed with their columns, keys and relations, and without any active content", () => {
    expect(parseErDiagram(shop)).toEqual({
      entities: [
        {
          id: "customers",
          label: "customers",
          attributes: [
            { type: "INTEGER", name: "id", keys: ["PK"] },
            { type: "TEXT", name: "name", keys: [] },
            { type: "TEXT", name: "t1", keys: ["UK"], comment: "電子メール" },
          ],
        },
        { id: "t1", label: "注文 2026", attributes: [{ type: "INTEGER", name: "id", keys: ["PK", "FK"] }] },
        { id: "line item", label: "line item", attributes: [] },
      ],
      relations: [
        { from: "customers", to: "t1", fromEnd: "one", toEnd: "any", label: "customer_id", isFirm: true },
        { from: "t1", to: "line item", fromEnd: "one", toEnd: "one or more", label: "contains", isFirm: false },
      ],
    });
  });

  it.each([
    ["erDiagram\n  A ||--o{ B : x", true],
    ["---\ntitle: T\n---\nerDiagram\n", true],
    ["%% x\n\nerDiagram", true],
    ["graph TD\n A --> B", false],
    ["erDiagrams\n", false],
    ["x\nerDiagram\n", false],
    ["", false],
  ])("%j is one: %s", (text, is) => {
    expect(isErDiagram(text)).toBe(is);
  });

  it("are not drawn if they are empty, or far too large", () => {
    expect(parseErDiagram("erDiagram\n")).toBeUndefined();
    const many = Array.from({ length: 400 }, (_, index) => `  E${index}`).join("\n");
    expect(parseErDiagram(`erDiagram\n${many}`)).toBeUndefined();
  });

  it("take linear time for hostile texts", () => {
    for (const piece of ["PK  ", "---\n\n", "[ ", '"', "A||--o{", "a b PK,", "{\n", "}\n", "%%\n", " "])
      expect(() => parseErDiagram(`erDiagram\nA {\n${piece.repeat(60_000)}\n}\n${piece.repeat(60_000)}`)).not.toThrow();
  });
});

const chain = (pairs: readonly (readonly [string, string])[], alone: readonly string[] = []): Diagram => ({
  entities: [...new Set([...pairs.flat(), ...alone])].map((id) => ({ id, label: id, attributes: [] })),
  relations: pairs.map(([from, to]) => ({ from, to, fromEnd: "one", toEnd: "any", label: "", isFirm: true })),
});
const overlap = (one: Box, other: Box): boolean =>
  one !== other &&
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

describe("the layout of a diagram", () => {
  it.each([
    [
      "a chain",
      chain([
        ["a", "b"],
        ["b", "c"],
        ["a", "c"],
      ]),
    ],
    [
      "a ring",
      chain([
        ["a", "b"],
        ["b", "c"],
        ["c", "a"],
      ]),
    ],
    ["one that refers to itself", chain([["a", "a"]])],
    ["a star of many", chain(Array.from({ length: 120 }, (_, index) => ["hub", `leaf ${index}`] as const))],
    [
      "two that stand apart, and some alone",
      chain(
        [
          ["a", "b"],
          ["c", "d"],
        ],
        ["e", "f", "g"],
      ),
    ],
    ["a very long chain", chain(Array.from({ length: 290 }, (_, index) => [`n${index}`, `n${index + 1}`] as const))],
  ])("%s: no box on another, all within the picture, every line at its boxes", (_name, diagram) => {
    const { boxes, lines, width, height } = layOut(diagram);
    expect(boxes.length).toBe(diagram.entities.length);
    expect(lines.length).toBe(diagram.relations.length);
    expect(boxes.filter((box) => boxes.some((other) => overlap(box, other)))).toEqual([]);
    for (const box of boxes) {
      expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height).toBe(true);
    }
    for (const { relation, ends } of lines)
      for (const [end, id] of [
        [ends[0], relation.from],
        [ends[1], relation.to],
      ] as const) {
        const box = boxes.find(({ entity }) => entity.id === id);
        expect(box && [box.x, box.x + box.width]).toContain(end.x);
        expect(box && end.y > box.y && end.y < box.y + box.height).toBe(true);
      }
  });

  it("a line over several columns runs between the boxes there, not through them", () => {
    const { boxes, lines } = layOut(
      chain([
        ["a", "b"],
        ["b", "c"],
        ["c", "d"],
        ["a", "d"],
        ["a", "c"],
      ]),
    );
    for (const { relation, path } of lines) {
      // The horizontal stretches: from the end of a curve to the start of the next.
      for (const [, x, y, to] of path.matchAll(/ ([\d.]+) ([\d.]+)H([\d.]+)/g)) {
        const [left = 0, right = 0] = [Number(x), Number(to)].toSorted((one, other) => one - other);
        const crossed = boxes.filter(
          (box) => box.x < right && left < box.x + box.width && box.y < Number(y) && Number(y) < box.y + box.height,
        );
        expect(
          crossed.map(({ entity }) => entity.id),
          `${relation.from} to ${relation.to}`,
        ).toEqual([]);
      }
    }
    expect(lines.filter(({ path }) => path.includes("H")).length).toBe(2);
  });

  it("referenced entities are left of those that refer to them", () => {
    const { boxes } = layOut(
      chain([
        ["b", "c"],
        ["a", "b"],
      ]),
    );
    const x = (id: string): number => boxes.find(({ entity }) => entity.id === id)?.x ?? 0;
    expect([x("a") < x("b"), x("b") < x("c")]).toEqual([true, true]);
  });
});
