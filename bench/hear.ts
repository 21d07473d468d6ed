/** One listen for many URIs that says which was updated, and when. */
import { request } from "node:http";
import { listen, message, modernHeaders } from "./questions.ts";

export interface Hearing {
  close(): void;
}

/** Resolves when the listen is acknowledged for all of them. */
export function hear(
  port: number,
  path: string,
  uris: readonly string[],
  heard: (uri: string, at: bigint) => void,
): Promise<Hearing> {
  const question = listen(...uris);
  const body = message("modern", 1, question);
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port, path, method: "POST", agent: false, headers: modernHeaders(question) },
      (response) => {
        let rest = "";
        response.setEncoding("utf8");
        response.on("error", () => {});
        response.on("data", (chunk: string) => {
          const at = process.hrtime.bigint();
          const lines = (rest + chunk).split("\n");
          rest = lines.pop()!;
          for (const line of lines) if (line.startsWith("data: {")) take(JSON.parse(line.slice(6)) as Said, at);
        });
        response.on("end", () =>
          reject(new Error(`the listen ended with ${response.statusCode}: ${rest.slice(0, 500)}`)),
        );
      },
    );
    function take({ method, params, error }: Said, at: bigint): void {
      if (method === "notifications/resources/updated") return heard(params!.uri!, at);
      if (error) return reject(new Error(`the listen was refused: ${JSON.stringify(error)}`));
      if (method !== "notifications/subscriptions/acknowledged") return;
      const agreed = params!.notifications?.resourceSubscriptions?.length ?? 0;
      if (agreed !== uris.length) reject(new Error(`only ${agreed} of ${uris.length} are listened for`));
      resolve({ close: () => asked.destroy() });
    }
    // It is hung up on when it is closed, which is no failure.
    asked.on("error", reject);
    asked.end(body);
  });
}

interface Said {
  readonly method?: string;
  readonly error?: unknown;
  readonly params?: {
    readonly uri?: string;
    readonly notifications?: { readonly resourceSubscriptions?: readonly string[] };
  };
}
