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

/** Each language with its other names. */
export const grammars = {
  bash: [bash, "x-shellscript x-sh sh shell zsh fish ksh console x-batch dos bat cmd"],
  c: [c, "x-c h"],
  cpp: [cpp, "x-c++ c++ cc cxx hpp x-objective-c objc objectivec"],
  csharp: [csharp, "x-csharp cs c#"],
  clojure: [clojure, "x-clojure clj edn"],
  css: [css, ""],
  dart: [dart, "x-dart"],
  diff: [diff, "x-diff patch"],
  dockerfile: [dockerfile, "x-dockerfile docker containerfile"],
  elixir: [elixir, "x-elixir ex exs"],
  erlang: [erlang, "x-erlang erl"],
  fsharp: [fsharp, "x-fsharp fs f#"],
  go: [go, "x-go golang"],
  graphql: [graphql, "gql"],
  groovy: [groovy, "x-groovy gradle"],
  haskell: [haskell, "x-haskell hs"],
  ini: [ini, "x-ini toml cfg conf properties x-hcl hcl tf terraform editorconfig"],
  java: [java, "x-java"],
  javascript: [javascript, "js jsx mjs cjs ecmascript x-javascript"],
  json: [json, "json5 jsonc jsonl ndjson"],
  julia: [julia, "x-julia jl"],
  kotlin: [kotlin, "x-kotlin kt kts"],
  latex: [latex, "x-tex tex"],
  less: [less, "x-less"],
  lisp: [lisp, "x-lisp scheme elisp"],
  lua: [lua, "x-lua"],
  makefile: [makefile, "x-makefile make mk x-cmake cmake"],
  markdown: [markdown, "md mdx"],
  nginx: [nginx, ""],
  nix: [nix, "x-nix"],
  ocaml: [ocaml, "x-ocaml ml"],
  perl: [perl, "x-perl pl"],
  php: [php, "x-php"],
  powershell: [powershell, "x-powershell ps1 pwsh"],
  protobuf: [protobuf, "x-protobuf proto"],
  python: [python, "x-python py py3 x-bazel bzl starlark"],
  r: [r, "x-r"],
  ruby: [ruby, "x-ruby rb"],
  rust: [rust, "x-rust rs"],
  scala: [scala, "x-scala sc"],
  scss: [scss, "x-scss sass x-sass"],
  sql: [sql, "psql postgresql sqlite mysql ddl"],
  swift: [swift, "x-swift"],
  typescript: [typescript, "ts tsx mts cts"],
  verilog: [verilog, "x-verilog systemverilog sv"],
  vhdl: [vhdl, "x-vhdl"],
  xml: [xml, "html xhtml svg rss atom plist xsl xsd x-vue vue x-svelte svelte x-astro"],
  yaml: [yaml, "yml x-yaml"],
} as const;

const known = new Map(
  Object.entries(grammars).flatMap(([language, [, others]]) =>
    [language, ...others.split(" ").filter(Boolean)].map((name) => [name, language]),
  ),
);

/** By a MIME type or a name; undefined if unknown. */
export function grammarOf(name: string): string | undefined {
  const word = name.toLowerCase().replace(/^(?:text|application|image)\//, "");
  return known.get(word) ?? known.get(word.replace(/^.*\+/, ""));
}
