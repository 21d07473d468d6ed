/** The version of the shared index. */
import { tokenizerVersion } from "../tokens.ts";

/** The first number changes with what the rows mean, and with how texts are cut into passages and get their headings. */
export const indexVersion = `1/${tokenizerVersion}`;
