/** A source of one's own: the days of a year, each a resource. */
import { defineSource, hasQuery, notFound } from "pressmark/source";

interface Options {
  readonly year: number;
}

export default defineSource<Options>({
  name: "almanac",
  summary: "The days of a year",
  scheme: "almanac",
  options: (z) => z.object({ year: z.int().min(1583).max(9999).describe("The year to show") }),

  async open({ year }) {
    const days: string[] = [];
    for (const day = new Date(Date.UTC(year, 0)); day.getUTCFullYear() === year; day.setUTCDate(day.getUTCDate() + 1))
      days.push(day.toISOString().slice(5, 10));
    const describe = (day: string, language: string) =>
      new Date(`${year}-${day}`).toLocaleDateString(language, { dateStyle: "full", timeZone: "UTC" });

    return {
      async list({ cursor, limit }) {
        const rest = days.filter((day) => cursor === undefined || day > cursor);
        const items = rest
          .slice(0, limit)
          .map((path) => ({ path, title: describe(path, "en"), mimeType: "text/plain" }));
        return { items, ...(rest.length > limit && { next: items.at(-1)!.path }) };
      },
      async read(at) {
        const { path } = at;
        // A variable that the source does not know makes the address a missing one.
        if (!days.includes(path) || hasQuery(at)) throw notFound(path);
        return [{ body: { text: `${describe(path, "en")} / ${describe(path, "ja")}\n` }, mimeType: "text/plain" }];
      },
    };
  },
});
