/** Addresses of results within their mount, and the query parameters allowed there. */
import { invalid, notFound, quote } from "../../errors.ts";
import { nearest } from "../../lib/nearest.ts";
import type { Address, SourceTemplate } from "../../source.ts";
import type { ResultSection } from "./markdown.ts";
import { type TaskType, taskTypes } from "./question.ts";

export const sections: readonly ResultSection[] = ["consensus", "votes", "flow", "events"];
export const analysisFormats = ["json", "markdown"] as const;
export type AnalysisFormat = (typeof analysisFormats)[number];

export type AnalysisAddress =
  | { readonly kind: "mount" }
  | { readonly kind: "results" }
  | { readonly kind: "statistics"; readonly format: AnalysisFormat }
  | {
      readonly kind: "recent";
      readonly task?: TaskType;
      readonly after?: readonly [stored: number, id: string];
      readonly limit: number;
      readonly format: AnalysisFormat;
    }
  | { readonly kind: "result"; readonly id: string; readonly format: AnalysisFormat }
  | { readonly kind: "section"; readonly id: string; readonly section: ResultSection; readonly format: AnalysisFormat };

const idPattern = /^[0-9a-f]{44}$/;
const mostRecent = 100;

/** Throws "not-found" for an address that no resource can have. */
export function parseAnalysisAddress({ path, query = {} }: Address): AnalysisAddress {
  const names = Object.keys(query);
  const only = (...known: readonly string[]): void => {
    if (names.some((name) => !known.includes(name))) throw notFound(path);
  };
  if (path === "" || (path === "results" && names.length === 0)) {
    only();
    return { kind: path === "" ? "mount" : "results" };
  }
  if (path === "results") {
    only("task", "after", "limit", "format");
    return { kind: "recent", ...recentOf(query), format: formatOf(query) };
  }
  if (path === "statistics") {
    only("format");
    return { kind: "statistics", format: formatOf(query) };
  }
  const [first, id = "", section, ...more] = path.split("/");
  if (first !== "results" || !idPattern.test(id) || more.length > 0) throw notFound(path);
  only("format");
  if (section === undefined) return { kind: "result", id, format: formatOf(query) };
  const known = sections.find((each) => each === section);
  if (known === undefined) throw notFound(path);
  return { kind: "section", id, section: known, format: formatOf(query) };
}

/** The `after` that continues behind this result. */
export function formatAfter({ stored, id }: { readonly stored: number; readonly id: string }): string {
  return `${stored}-${id}`;
}

function recentOf({ task, after, limit }: Readonly<Record<string, string>>) {
  const known = taskTypes.find((each) => each === task);
  if (task !== undefined && known === undefined) {
    const intended = nearest(task, taskTypes);
    throw invalid(`"task" is one of ${taskTypes.join(", ")}${intended ? `; did you mean ${quote(intended)}?` : ""}`);
  }
  const mark = after === undefined ? undefined : /^(\d{1,15})-([0-9a-f]{44})$/.exec(after);
  if (mark === null) throw invalid('"after" was not returned by an earlier page; copy it unchanged');
  const count = limit === undefined ? mostRecent : /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > mostRecent) throw invalid(`"limit" is a whole number from 1 to ${mostRecent}`);
  return {
    task: known,
    ...(mark && { after: [Number(mark[1]), mark[2] ?? ""] as const }),
    limit: count,
  };
}

function formatOf({ format = "json" }: Readonly<Record<string, string>>): AnalysisFormat {
  const known = analysisFormats.find((each) => each === format);
  if (known === undefined) throw invalid(`"format" is one of ${analysisFormats.join(", ")}`);
  return known;
}

export function analysisTypeOf(format: AnalysisFormat): string {
  return format === "json" ? "application/json" : "text/markdown";
}

export const analysisTemplates: readonly SourceTemplate[] = [
  {
    template: "results{?task,after,limit,format}",
    name: "Results",
    description: `The results stored last, up to ${mostRecent} per page, of all tasks or of one type; after continues behind a page`,
    mimeType: "application/json",
  },
  {
    template: "results/{id}{?format}",
    name: "Result",
    description: "Result of several models: consensus, votes, agreement and cost; format=markdown for people",
    mimeType: "application/json",
  },
  {
    template: "results/{id}/{section}{?format}",
    name: "Section of a result",
    description: "One of consensus, votes, flow and events; format=markdown for people",
    mimeType: "application/json",
  },
  {
    template: "statistics{?format}",
    name: "Statistics",
    description: "How often a stored result was reused, and what that saved; format=markdown for people",
    mimeType: "application/json",
  },
];
