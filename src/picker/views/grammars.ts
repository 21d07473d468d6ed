/** Languages for highlighting, and their names in MIME types and in fences of Markdown. */
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import clojure from "highlight.js/lib/languages/clojure";
import css from "highlight.js/lib/languages/css";
import dart from "highlight.js/lib/languages/dart";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import elixir from "highlight.js/lib/languages/elixir";
import erlang from "highlight.js/lib/languages/erlang";
import fsharp from "highlight.js/lib/languages/fsharp";
import go from "highlight.js/lib/languages/go";
import graphql from "highlight.js/lib/languages/graphql";
import groovy from "highlight.js/lib/languages/groovy";
import haskell from "highlight.js/lib/languages/haskell";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import julia from "highlight.js/lib/languages/julia";
import kotlin from "highlight.js/lib/languages/kotlin";
import latex from "highlight.js/lib/languages/latex";
import less from "highlight.js/lib/languages/less";
import lisp from "highlight.js/lib/languages/lisp";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import nginx from "highlight.js/lib/languages/nginx";
import nix from "highlight.js/lib/languages/nix";
import ocaml from "highlight.js/lib/languages/ocaml";
import perl from "highlight.js/lib/languages/perl";
import php from "highlight.js/lib/languages/php";
import powershell from "highlight.js/lib/languages/powershell";
import protobuf from "highlight.js/lib/languages/protobuf";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scala from "highlight.js/lib/languages/scala";
import scss from "highlight.js/lib/languages/scss";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import verilog from "highlight.js/lib/languages/verilog";
import vhdl from "highlight.js/lib/languages/vhdl";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

export const grammars = {
  bash,
  c,
  cpp,
  csharp,
  clojure,
  css,
  dart,
  diff,
  dockerfile,
  elixir,
  erlang,
  fsharp,
  go,
  graphql,
  groovy,
  haskell,
  ini,
  java,
  javascript,
  json,
  julia,
  kotlin,
  latex,
  less,
  lisp,
  lua,
  makefile,
  markdown,
  nginx,
  nix,
  ocaml,
  perl,
  php,
  powershell,
  protobuf,
  python,
  r,
  ruby,
  rust,
  scala,
  scss,
  sql,
  swift,
  typescript,
  verilog,
  vhdl,
  xml,
  yaml,
};

/** Additional names. */
const names: Readonly<Record<keyof typeof grammars, string>> = {
  bash: "x-shellscript x-sh sh shell zsh fish ksh console x-batch dos bat cmd",
  c: "x-c h",
  cpp: "x-c++ c++ cc cxx hpp x-objective-c objc objectivec",
  csharp: "x-csharp cs c#",
  clojure: "x-clojure clj edn",
  css: "",
  dart: "x-dart",
  diff: "x-diff patch",
  dockerfile: "x-dockerfile docker containerfile",
  elixir: "x-elixir ex exs",
  erlang: "x-erlang erl",
  fsharp: "x-fsharp fs f#",
  go: "x-go golang",
  graphql: "gql",
  groovy: "x-groovy gradle",
  haskell: "x-haskell hs",
  ini: "x-ini toml cfg conf properties x-hcl hcl tf terraform editorconfig",
  java: "x-java",
  javascript: "js jsx mjs cjs ecmascript x-javascript",
  json: "json5 jsonc jsonl ndjson",
  julia: "x-julia jl",
  kotlin: "x-kotlin kt kts",
  latex: "x-tex tex",
  less: "x-less",
  lisp: "x-lisp scheme elisp",
  lua: "x-lua",
  makefile: "x-makefile make mk x-cmake cmake",
  markdown: "md mdx",
  nginx: "",
  nix: "x-nix",
  ocaml: "x-ocaml ml",
  perl: "x-perl pl",
  php: "x-php",
  powershell: "x-powershell ps1 pwsh",
  protobuf: "x-protobuf proto",
  python: "x-python py py3 x-bazel bzl starlark",
  r: "x-r",
  ruby: "x-ruby rb",
  rust: "x-rust rs",
  scala: "x-scala sc",
  scss: "x-scss sass x-sass",
  sql: "psql postgresql sqlite mysql ddl",
  swift: "x-swift",
  typescript: "ts tsx mts cts",
  verilog: "x-verilog systemverilog sv",
  vhdl: "x-vhdl",
  xml: "html xhtml svg rss atom plist xsl xsd x-vue vue x-svelte svelte x-astro",
  yaml: "yml x-yaml",
};

const known = new Map(
  Object.entries(names).flatMap(([language, others]) =>
    [language, ...others.split(" ").filter(Boolean)].map((name) => [name, language]),
  ),
);

/** By a MIME type or a name; undefined if unknown. */
export function grammarOf(name: string): string | undefined {
  const word = name.toLowerCase().replace(/^(?:text|application|image)\//, "");
  return known.get(word) ?? known.get(word.replace(/^.*\+/, ""));
}
