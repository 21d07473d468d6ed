/** Import this first: the page's policy forbids creating code from text, and even an attempt would be reported. */
import { config } from "zod/v4/core";

config({ jitless: true });
