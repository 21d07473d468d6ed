/** The type of a file by its name. Registries call `.ts` a video and lack most code, so we have our own table. */

export { isTextType } from "./is-text-type.ts";

/** A Jupyter notebook. */
export const notebookType = "application/x-ipynb+json";

/** One line per type, with its extensions and, after `=`, whole names. */
const table = `
text/plain txt text log =license =copying =authors =contributors =changelog =readme =notice =todo =version =codeowners
text/markdown md markdown mdown mkd mdx
text/html html htm xhtml
text/css css
text/x-scss scss
text/x-sass sass
text/x-less less
text/csv csv
text/tab-separated-values tsv tab
text/calendar ics ical
text/vcard vcf
text/vtt vtt
text/javascript js mjs cjs
text/jsx jsx
text/typescript ts mts cts
text/tsx tsx
text/x-vue vue
text/x-svelte svelte
text/x-astro astro
text/x-python py pyi pyw
text/x-ruby rb rake gemspec =rakefile =gemfile =podfile =vagrantfile =brewfile
text/x-perl pl pm
text/x-php php phtml
text/x-go go
text/x-rust rs
text/x-c c h
text/x-c++ cc cpp cxx hh hpp hxx ipp
text/x-csharp cs csx
text/x-fsharp fs fsx fsi
text/x-java java
text/x-kotlin kt kts
text/x-scala scala sc sbt
text/x-groovy groovy gradle =jenkinsfile
text/x-swift swift
text/x-objective-c m mm
text/x-dart dart
text/x-elixir ex exs
text/x-erlang erl hrl
text/x-haskell hs lhs
text/x-ocaml ml mli
text/x-clojure clj cljs cljc edn
text/x-lisp lisp el scm rkt
text/x-lua lua
text/x-r r rmd
text/x-julia jl
text/x-zig zig
text/x-nim nim
text/x-crystal cr
text/x-solidity sol
text/x-verilog v sv svh
text/x-vhdl vhd vhdl
text/x-asm asm s
text/x-fortran f f90 f95 f03 for
text/x-cobol cob cbl
text/x-pascal pas
text/x-shellscript sh bash zsh fish ksh
text/vnd.mermaid mmd mermaid
text/x-powershell ps1 psm1 psd1
text/x-batch bat cmd
text/x-makefile mk mak =makefile =gnumakefile
text/x-cmake cmake =cmakelists.txt
text/x-dockerfile =dockerfile =containerfile
text/x-meson =meson.build
text/x-bazel bzl bazel =build.bazel
text/x-nix nix
text/x-hcl hcl tf tfvars
text/x-protobuf proto
text/x-thrift thrift
text/x-diff diff patch
text/x-rst rst
text/x-asciidoc adoc asciidoc
text/x-org org
text/x-tex tex sty cls bib
text/x-typst typ
text/x-ini ini cfg conf properties editorconfig gitattributes gitignore dockerignore npmignore service
text/x-go-mod =go.mod =go.sum =go.work
application/json json geojson webmanifest code-workspace map avsc har sarif
${notebookType} ipynb
application/json5 json5
application/jsonc jsonc
application/jsonl jsonl ndjson
application/ld+json jsonld
application/yaml yaml yml
application/toml toml =cargo.lock =poetry.lock =pipfile
application/xml xml xsd xsl xslt plist csproj fsproj vbproj props targets resx pom wsdl
application/rss+xml rss
application/atom+xml atom
application/sql sql
application/graphql graphql gql
application/x-sh command
application/rtf rtf
message/rfc822 eml
image/svg+xml svg
image/png png
image/jpeg jpg jpeg jpe jfif
image/gif gif
image/webp webp
image/avif avif
image/heic heic heif
image/bmp bmp dib
image/tiff tif tiff
image/vnd.microsoft.icon ico
image/vnd.adobe.photoshop psd
audio/mpeg mp3
audio/mp4 m4a
audio/wav wav
audio/flac flac
audio/ogg ogg oga opus
audio/aac aac
audio/midi mid midi
video/mp4 mp4 m4v
video/webm webm
video/quicktime mov
video/x-matroska mkv
video/x-msvideo avi
video/mpeg mpg mpeg
video/ogg ogv
font/ttf ttf
font/otf otf
font/woff woff
font/woff2 woff2
font/collection ttc
application/pdf pdf
application/postscript ps eps
application/epub+zip epub
application/msword doc dot
application/vnd.ms-excel xls
application/vnd.ms-powerpoint ppt
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.oasis.opendocument.text odt
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.presentation odp
application/zip zip
application/java-archive jar war
application/gzip gz tgz
application/x-bzip2 bz2
application/x-xz xz
application/zstd zst
application/x-7z-compressed 7z
application/vnd.rar rar
application/x-tar tar
application/wasm wasm
application/vnd.sqlite3 sqlite sqlite3 db db3
application/vnd.apache.parquet parquet
application/vnd.apache.arrow.file arrow feather
application/avro avro
application/x-ndarray npy npz
application/java-vm class
application/x-python-bytecode pyc pyo
application/x-sharedlib so dylib
application/vnd.microsoft.portable-executable exe dll
application/x-object o a
application/octet-stream bin dat iso img dmg
`;

const byEnding = new Map<string, string>();
const byName = new Map<string, string>();
for (const line of table.trim().split("\n")) {
  const [type = "", ...names] = line.split(" ");
  for (const name of names) {
    if (name.startsWith("=")) byName.set(name.slice(1), type);
    else byEnding.set(name, type);
  }
}

/** The type of a file name, if known. Case does not matter. */
export function mimeOfName(name: string): string | undefined {
  const folded = name.toLowerCase();
  // A whole name counts more than its extension: CMakeLists.txt, Cargo.lock.
  const whole = byName.get(folded);
  if (whole !== undefined) return whole;
  const dot = folded.lastIndexOf(".");
  if (dot < 0) return undefined;
  // Dockerfile.dev, README.ja
  return byEnding.get(folded.slice(dot + 1)) ?? byName.get(folded.slice(0, folded.indexOf(".")));
}
