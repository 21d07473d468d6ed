/** Parses the headers Accept and Content-Type. */

export interface Accepts {
  readonly json: boolean;
  readonly events: boolean;
}

const both: Accepts = { json: true, events: true };

/** A missing header accepts everything. */
export function parseAccept(header: string | undefined): Accepts {
  if (header === undefined || header === "application/json, text/event-stream") return both;
  let json = false;
  let events = false;
  for (const range of header.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (parameters.some(isZeroWeight)) continue;
    json ||= type === "application/json" || type === "application/*" || type === "*/*";
    events ||= type === "text/event-stream" || type === "text/*" || type === "*/*";
  }
  return { json, events };
}

function isZeroWeight(parameter: string): boolean {
  return parameter.startsWith("q=") && Number(parameter.slice(2)) === 0;
}

export function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}
