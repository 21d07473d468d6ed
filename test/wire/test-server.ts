/** The fixed little server that the transcripts were written for. Pure data: whoever plays a transcript puts it together. */

export interface Room {
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: {
    readonly audience: readonly ("user" | "assistant")[];
    readonly priority: number;
    readonly lastModified: string;
  };
  readonly icons?: readonly { src: string; mimeType: string; sizes: readonly string[]; theme: "light" | "dark" }[];
  readonly meta?: Readonly<Record<string, unknown>>;
}

export const base = "memory://house/";

/** Three to a page, so that every list has two. */
export const pageSize = 3;

/** Path → what is there. */
export const sampleContents: Readonly<Record<string, Room>> = {
  "blob.bin": { bytes: Uint8Array.of(0x00, 0x01, 0xfe, 0xff), mimeType: "application/octet-stream" },
  "docs/guide.md": { text: "# Guide\n", mimeType: "text/markdown" },
  "notes.txt": { text: "Buy ink.\n", mimeType: "text/plain" },
  "rich.json": {
    text: '{"ink":1}\n',
    title: "Everything that can be said",
    description: "A resource with every field",
    mimeType: "application/json",
    annotations: { audience: ["user"], priority: 0.8, lastModified: "2026-01-02T03:04:05Z" },
    icons: [{ src: "https://example.com/rich.png", mimeType: "image/png", sizes: ["48x48"], theme: "light" }],
    meta: { "example.com/shelf": 3 },
  },
  "日本語.md": { text: "こんにちは\n", mimeType: "text/markdown" },
};

export const greeting = {
  template: "greetings/{name}",
  name: "greeting",
  title: "Greeting",
  description: "Greets someone by name",
  mimeType: "text/plain",
  read: (name: string): string => `Hello, ${name}!\n`,
  names: ["ada", "alan", "grace"],
} as const;
