/** Lays out the boxes and lines of a diagram: referenced entities on the left, referring ones on the right. */
import type { Attribute, Diagram, Entity, Relation } from "./er.ts";

export interface Box {
  readonly entity: Entity;
  readonly attributes: readonly Attribute[];
  /** Number of attributes that are not shown. */
  readonly hidden: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface LayoutLine {
  readonly relation: Relation;
  readonly path: string;
  /** Start and end, and their directions: 1 is to the right. */
  readonly ends: readonly [LineEnd, LineEnd];
  readonly middle: readonly [x: number, y: number];
}

export interface LineEnd {
  readonly x: number;
  readonly y: number;
  readonly side: 1 | -1;
}

interface Layout {
  readonly boxes: readonly Box[];
  readonly lines: readonly LayoutLine[];
  readonly width: number;
  readonly height: number;
}

export const rowHeight = 20;
export const headHeight = 28;
const letterWidth = 7.3;
const maxAttributes = 24;
const gap = { x: 110, y: 28, margin: 16 };
/** A higher column is split in two. */
const maxColumnHeight = 1500;
/** Unrelated entities are placed below, in rows of about this width. */
const rowWidth = 1100;

type Sized = Omit<Box, "x" | "y">;

/** An item in a column: a box, or a line that passes. */
interface Slot {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly box?: Sized;
}

/** A horizontal stretch of a line between the boxes of a column. */
interface Passage {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

const passageHeight = 6;
/** With more lines than this, they may run behind boxes. */
const maxPassages = 3000;

export function layOut({ entities, relations }: Diagram): Layout {
  const ids = new Set(entities.map(({ id }) => id));
  const drawn = relations.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const related = new Set(drawn.flatMap(({ from, to }) => (from === to ? [] : [from, to])));
  const sized = new Map(entities.map((entity) => [entity.id, sizeOf(entity)]));
  const { layers, ways } = withPassages(layersOf([...related], drawn), drawn);
  const columns = ordered(layers, ways).flatMap((layer) => columnsOf(layer.map((id) => slotOf(id, sized.get(id)))));
  const tallest = Math.max(0, ...columns.map(heightOf));
  const boxes: Box[] = [];
  const passages = new Map<string, Passage>();
  let x = gap.margin;
  for (const column of columns) {
    const width = Math.max(...column.map((slot) => slot.width));
    let y = gap.margin + (tallest - heightOf(column)) / 2;
    for (const { id, height, box } of column) {
      if (box) boxes.push({ ...box, x, y });
      else passages.set(id, { left: x, right: x + width, y: y + height / 2 });
      y += height + gap.y;
    }
    x += width + gap.x;
  }
  const alone = entities.flatMap(({ id }) => (related.has(id) ? [] : (sized.get(id) ?? [])));
  boxes.push(...inRows(alone, boxes.length === 0 ? gap.margin : tallest + gap.margin + 2 * gap.y));
  const placed = new Map(boxes.map((box) => [box.entity.id, box]));
  return {
    boxes,
    lines: linesOf(drawn, placed, (line) => (ways[line] ?? []).flatMap((id) => passages.get(id) ?? [])),
    // Extra space for lines that turn back.
    width: Math.max(0, ...boxes.map((box) => box.x + box.width)) + gap.margin + 60,
    height: Math.max(0, ...boxes.map((box) => box.y + box.height)) + gap.margin,
  };
}

function slotOf(id: string, box: Sized | undefined): Slot {
  return box ? { id, width: box.width, height: box.height, box } : { id, width: 0, height: passageHeight };
}

/** A line over several columns gets its own slot in each column that it passes. Paths begin and end with the related entities. */
function withPassages(layers: readonly (readonly string[])[], relations: readonly Relation[]) {
  const depth = new Map(layers.flatMap((layer, index) => layer.map((id) => [id, index] as const)));
  const filled = layers.map((layer) => [...layer]);
  const spans = relations.map(({ from, to }) => Math.abs((depth.get(from) ?? 0) - (depth.get(to) ?? 0)));
  const isTooMuch = spans.reduce((sum, span) => sum + span, 0) > maxPassages;
  const ways = relations.map(({ from, to }, line) => {
    const [first, last] = [depth.get(from) ?? 0, depth.get(to) ?? 0];
    const count = isTooMuch ? 0 : Math.max(0, Math.abs(last - first) - 1);
    const passed = Array.from({ length: count }, (_, index) => {
      const at = first + Math.sign(last - first) * (index + 1);
      const id = `${line}\n${at}`;
      filled[at]?.push(id);
      return id;
    });
    return [from, ...passed, to];
  });
  return { layers: filled, ways };
}

function sizeOf(entity: Entity): Sized {
  const attributes = entity.attributes.slice(0, maxAttributes);
  const hidden = entity.attributes.length - attributes.length;
  const rows = attributes.map(
    (each) => textWidth(each.type) + textWidth(attributeText(each)) + each.keys.length * 3 + 4,
  );
  const width = Math.max(textWidth(entity.label) + 2, ...rows) * letterWidth + 12;
  return {
    entity,
    attributes,
    hidden,
    width: Math.round(Math.min(360, Math.max(110, width))),
    height: headHeight + (attributes.length + (hidden > 0 ? 1 : 0)) * rowHeight + (attributes.length > 0 ? 6 : 0),
  };
}

/** The name of an attribute, followed by its comment. */
export function attributeText({ name, comment = "" }: Attribute): string {
  return comment === "" ? name : `${name} (${comment.slice(0, 40)})`;
}

/** Letters of most other scripts are twice as wide. */
export function textWidth(text: string): number {
  let width = 0;
  for (let at = 0; at < text.length; at += 1) width += text.charCodeAt(at) >= 0x1100 ? 1.9 : 1;
  return width;
}

/** Puts each entity as far to the right as the longest path to it; cycles are cut. */
function layersOf(ids: readonly string[], relations: readonly Relation[]): readonly (readonly string[])[] {
  const next = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { from, to } of relations) if (from !== to) next.get(from)?.push(to);
  const state = new Map<string, "open" | "done">();
  const backwards: string[] = [];
  const cut = new Set<string>();
  for (const start of ids) {
    const way: { id: string; at: number }[] = state.has(start) ? [] : [{ id: start, at: 0 }];
    state.set(start, state.get(start) ?? "open");
    while (way.length > 0) {
      const top = way[way.length - 1] as { id: string; at: number };
      const to = next.get(top.id)?.[top.at++];
      if (to === undefined) {
        state.set(top.id, "done");
        backwards.push(top.id);
        way.pop();
      } else if (state.get(to) === "open") cut.add(`${top.id} ${to}`);
      else if (!state.has(to)) {
        state.set(to, "open");
        way.push({ id: to, at: 0 });
      }
    }
  }
  const depth = new Map<string, number>();
  for (const id of backwards.toReversed())
    for (const to of next.get(id) ?? [])
      if (!cut.has(`${id} ${to}`)) depth.set(to, Math.max(depth.get(to) ?? 0, (depth.get(id) ?? 0) + 1));
  const layers: string[][] = [];
  for (const id of ids) (layers[depth.get(id) ?? 0] ??= []).push(id);
  return layers;
}

/** Moves each entity near those it is related to, in a few passes. */
function ordered(
  layers: readonly (readonly string[])[],
  ways: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const near = new Map<string, string[]>();
  const relate = (one: string, other: string): void => {
    const known = near.get(one);
    if (known) known.push(other);
    else near.set(one, [other]);
  };
  for (const way of ways)
    for (const [index, id] of way.slice(1).entries()) {
      relate(way[index] ?? "", id);
      relate(id, way[index] ?? "");
    }
  let now = layers;
  for (let round = 0; round < 6; round += 1) {
    const places = new Map(now.flatMap((layer) => layer.map((id, index) => [id, index / layer.length] as const)));
    now = now.map((layer) => {
      const wanted = new Map(
        layer.map((id) => [id, middleOf((near.get(id) ?? []).map((other) => places.get(other) ?? 0.5))]),
      );
      return layer.toSorted((one, other) => (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0));
    });
  }
  return now;
}

function middleOf(places: readonly number[]): number {
  return places.reduce((sum, place) => sum + place, 0) / Math.max(1, places.length);
}

function columnsOf(layer: readonly Slot[]): readonly (readonly Slot[])[] {
  const count = Math.max(1, Math.ceil(heightOf(layer) / maxColumnHeight));
  const each = Math.ceil(layer.length / count);
  return Array.from({ length: Math.ceil(layer.length / each) }, (_, index) =>
    layer.slice(index * each, (index + 1) * each),
  );
}

function heightOf(column: readonly Slot[]): number {
  return column.reduce((sum, { height }) => sum + height + gap.y, -gap.y);
}

function inRows(alone: readonly Sized[], top: number): readonly Box[] {
  const boxes: Box[] = [];
  let [x, y, lowest] = [gap.margin, top, 0];
  for (const box of alone) {
    if (x > gap.margin && x + box.width > rowWidth) [x, y, lowest] = [gap.margin, y + lowest + gap.y, 0];
    boxes.push({ ...box, x, y });
    x += box.width + gap.y;
    lowest = Math.max(lowest, box.height);
  }
  return boxes;
}

function linesOf(
  relations: readonly Relation[],
  boxes: ReadonlyMap<string, Box>,
  passagesOf: (line: number) => readonly Passage[],
): readonly LayoutLine[] {
  const sides = relations.map(({ from, to }) => sidesOf(boxes.get(from), boxes.get(to)));
  /** Lines at one side of a box are spread over its height, in the order of their other ends. */
  const ports = new Map<string, { readonly line: number; readonly end: 0 | 1; readonly otherY: number }[]>();
  for (const [line, { from, to }] of relations.entries()) {
    const passages = passagesOf(line);
    for (const [end, id, other, passage] of [
      [0, from, to, passages[0]],
      [1, to, from, passages.at(-1)],
    ] as const) {
      const key = `${sides[line]?.[end]} ${id}`;
      const otherBox = boxes.get(other);
      const port = { line, end, otherY: passage?.y ?? (otherBox ? otherBox.y + otherBox.height / 2 : 0) };
      const known = ports.get(key);
      if (known) known.push(port);
      else ports.set(key, [port]);
    }
  }
  const places = new Map<string, number>();
  for (const [key, all] of ports) {
    const box = boxes.get(key.slice(key.indexOf(" ") + 1));
    const inOrder = all.toSorted((one, other) => one.otherY - other.otherY);
    for (const [index, { line, end }] of inOrder.entries())
      places.set(`${line} ${end}`, (box?.y ?? 0) + ((index + 1) / (inOrder.length + 1)) * (box?.height ?? 0));
  }
  return relations.map((relation, line) => {
    const at = (end: 0 | 1, id: string): LineEnd => {
      const box = boxes.get(id);
      const side = sides[line]?.[end] ?? 1;
      return { side, x: (box?.x ?? 0) + (side === 1 ? (box?.width ?? 0) : 0), y: places.get(`${line} ${end}`) ?? 0 };
    };
    return lineOf(relation, at(0, relation.from), at(1, relation.to), passagesOf(line));
  });
}

function sidesOf(from: Box | undefined, to: Box | undefined): readonly [1 | -1, 1 | -1] {
  if (!from || !to) return [1, -1];
  if (from.x + from.width < to.x) return [1, -1];
  return to.x + to.width < from.x ? [-1, 1] : [1, 1];
}

function lineOf(relation: Relation, from: LineEnd, to: LineEnd, passages: readonly Passage[]): LayoutLine {
  let path = `M${from.x} ${from.y}`;
  let [x, y, side] = [from.x, from.y, from.side];
  let middle: LayoutLine["middle"] | undefined;
  const curve = (toX: number, toY: number, toSide: 1 | -1): void => {
    const reach = side === toSide ? 56 : Math.max(30, Math.abs(toX - x) / 2);
    const [near, far] = [x + side * reach, toX + toSide * reach];
    path += `C${near} ${y} ${far} ${toY} ${toX} ${toY}`;
    // The middle of the first curve, where there is no box.
    middle ??= [(x + 3 * near + 3 * far + toX) / 8, (y + toY) / 2];
    [x, y] = [toX, toY];
  };
  for (const passage of passages) {
    const [enter, leave] = from.side === 1 ? [passage.left, passage.right] : [passage.right, passage.left];
    curve(enter, passage.y, from.side === 1 ? -1 : 1);
    path += `H${leave}`;
    [x, side] = [leave, from.side];
  }
  curve(to.x, to.y, to.side);
  return { relation, ends: [from, to], path, middle: middle ?? [from.x, from.y] };
}
