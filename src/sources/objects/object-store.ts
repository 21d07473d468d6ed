/** What an object store must be able to do to be served. */

export interface StoredObject {
  readonly key: string;
  readonly size: number;
  /** Another for every content. */
  readonly version: string | undefined;
  /** ISO 8601. */
  readonly lastModified: string | undefined;
}

export interface ObjectPage {
  readonly objects: readonly StoredObject[];
  /** With the slash at their end. Only where a delimiter was asked for. */
  readonly prefixes: readonly string[];
  readonly more: boolean;
}

export interface ObjectHead {
  /** As it is stored. */
  readonly size: number;
  readonly mimeType: string | undefined;
  /** How its bytes are packed ("gzip"), where they are: whoever reads it whole gets them unpacked. */
  readonly packing: string | undefined;
  /** Another as soon as the content is: for `ObjectWhere.mark`. */
  readonly mark: string | undefined;
  /** What is known of it beside: etag, version, class, what its owner says of it. */
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface ObjectBody extends ObjectHead {
  /** Undefined where there are more than this. */
  bytes(most: number): Promise<Buffer | undefined>;
  /** For one that is not read after all. */
  cancel(): Promise<void>;
}

export interface ObjectWhere {
  readonly bucket: string;
  readonly key: string;
  /** The newest unless said. */
  readonly version?: string | undefined;
  /** Only as long as this is its mark; "unavailable" afterwards. */
  readonly mark?: string | undefined;
}

export interface ObjectListAsk {
  readonly bucket: string;
  readonly prefix: string;
  /** Whether what lies behind the next slash is said as one. */
  readonly folded: boolean;
  /** Only what comes behind this, in the order of UTF-8 bytes. */
  readonly after?: string;
  readonly limit: number;
}

/** Failures are ResourceErrors. */
export interface ObjectStore {
  /** In their order. */
  buckets(signal: AbortSignal): Promise<readonly string[]>;
  list(ask: ObjectListAsk, signal: AbortSignal): Promise<ObjectPage>;
  head(where: ObjectWhere, signal: AbortSignal): Promise<ObjectHead>;
  get(where: ObjectWhere, signal: AbortSignal): Promise<ObjectBody>;
  /** The bytes from `first` to `last`, counted from 0, both included. Nothing is unpacked. */
  slice(where: ObjectWhere, first: number, last: number, signal: AbortSignal): Promise<Buffer>;
  /** An address that a browser may fetch for a while without any other proof. */
  link?(where: ObjectWhere, seconds: number): Promise<string>;
}
