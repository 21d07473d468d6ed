/** Packages whose code is part of `dist`: users need not install them, and Node need not search for them. */
export const bundledPackages: readonly string[] = [
  "@std-uritemplate/std-uritemplate",
  "@modelcontextprotocol/client",
  "aws4fetch",
  "smol-toml",
];
