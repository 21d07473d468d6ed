/** The interface that every object store implements. */

export interface StoredObject {
  readonly key: string;
  readonly size: number;
  /** Differs for different content. */
  readonly version: string | undefined;
  /** ISO 8601. */
  readonly lastModified: string | undefined;
}

export interface ObjectPage {
  readonly objects: readonly StoredObject[];
  /** With their final slash. Only if a delimiter was requested. */
  readonly prefixes: readonly string[];
  readonly more: boolean;
}

export interface ObjectHead {
  /** Stored size. */
  readonly size: number;
  readonly mimeType: string | undefined;
  /** Its content encoding ("gzip"), if any: a complete read returns the content unpacked. */
  readonly packing: string | undefined;
  /** Changes with the content: for `ObjectWhere.mark`. */
  readonly mark: string | undefined;
  /** Other facts: etag, version, storage class, user metadata. */
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface ObjectBody extends ObjectHead {
  /** Undefined if there are more than `most`. */
  bytes(most: number): Promise<Buffer | undefined>;
  /** For a body that is not read. */
  cancel(): Promise<void>;
}

export interface ObjectWhere {
  readonly bucket: string;
  readonly key: string;
  /** Default: the newest. */
  readonly version?: string;
  /** Only while this is its mark; "unavailable" otherwise. */
  readonly mark?: string;
}

export interface ObjectListRequest {
  readonly bucket: string;
  readonly prefix: string;
  /** Whether keys are grouped by the part before the next slash. */
  readonly folded: boolean;
  /** Only keys behind this, in the order of UTF-8 bytes. */
  readonly after?: string;
  readonly limit: number;
}

/** Failures are ResourceErrors. */
export interface ObjectStore {
  /** In order. */
  buckets(signal: AbortSignal): Promise<readonly string[]>;
  list(request: ObjectListRequest, signal: AbortSignal): Promise<ObjectPage>;
  head(where: ObjectWhere, signal: AbortSignal): Promise<ObjectHead>;
  get(where: ObjectWhere, signal: AbortSignal): Promise<ObjectBody>;
  /** The bytes from `first` to `last`, counted from 0, both included. Nothing is unpacked. */
  slice(where: ObjectWhere, first: number, last: number, signal: AbortSignal): Promise<Buffer>;
  /** A signed URL that a browser can fetch for a limited time. */
  link?(where: ObjectWhere, seconds: number): Promise<string>;
}
