/** Imported before everything else: the page's policy forbids making code from text, and even the attempt would be reported. */
import { config } from "zod/v4/core";

config({ jitless: true });
