import { expect, it } from "vitest";
import { definedNames } from "./defined-names.ts";
import { textFormatOf } from "./format.ts";

const cases: Readonly<Record<string, readonly [text: string, names: string]>> = {
  "pool.ts": [
    `import { a } from "./a.ts";
export const limit = 3;
export type Size = { readonly width: number };
interface Options<T> {
  open(name: string): T;
  close?: () => void;
}
@injectable()
export abstract class Pool<T extends object> {
  #size = 0;
  constructor(private readonly options: Options<T>) {
    if (options) this.open();
    for (const one of list(options)) {
      use(one);
    }
  }
  async #open(): Promise<void> {
    await this.run(\`
function inTemplate() {
\`);
  }
  static of<T extends object>(
    name: string,
    options: { readonly a: number },
  ): Pool<T> {
    return create(name);
  }
  get size(): number { return this.#size; }
  delete = async (name: string) => {};
}
export const createPool = async <T>(name: string): Promise<T> => {
  const inner = () => 1;
  const local = 2;
  return { list() { return 1; },
    read() {
      return [/\`/.test(name)];
    },
  };
};
export default function* walk() {}
enum Color { red }
exports.close = function () {};
`,
    "limit Size Options open close Pool constructor #open of size delete createPool inner read walk Color close",
  ],
  "server.py": [
    `"""
def example():
    pass
"""
TIMEOUT: float = 3.0
@cache
async def fetch(
    url: str,
) -> str:
    result = 1
    def inner(): ...
class Client(Base):
    name = "x"
    # 接続を閉じる
    def close(self) -> None: ...
`,
    "TIMEOUT fetch inner Client close",
  ],
  "server.go": [
    `type Handler interface {
	Serve(w Writer) error
}
const (
	First = iota
	Second
)
var pool = newPool()
func (s *Server[T]) Listen(addr string) error {
	text := \`
func inText() {
\`
	run(func() {})
}
func Map[K any, V any](
	m map[K]V,
) {}
`,
    "Handler Serve First Second pool Listen Map",
  ],
  "lib.rs": [
    `#[derive(Debug)]
pub(crate) struct Pool<'a> { name: &'a str }
impl<'a> fmt::Display for Pool<'a> {
    fn fmt(&self) -> Result { Ok(()) }
    pub const fn limit() -> usize { 3 }
}
pub unsafe extern "C" fn open<T>(
    name: T,
) where T: Into<String> {}
macro_rules! retry { () => {} }
pub const MAX: usize = 3;
`,
    "Pool fmt limit open retry MAX",
  ],
  "Pool.java": [
    `package a.b;
public final class Pool<T> extends Base {
    private final Map<String, List<T>> all = new HashMap<>();
    public Pool(int size) {
        super(size);
    }
    @Override
    public @Nullable <R> List<R> find(String name,
            int max) throws IOException {
        return list(name);
    }
    /* package */ static void close() {}
    abstract int size();
    @interface Marked {
        String value() default "";
    }
    enum Color { RED(1), GREEN(2); }
}
record Point(int x, int y) {}
`,
    "Pool Pool find close size Marked value Color Point",
  ],
  "pool.c": [
    `#include <stdio.h>
#define POOL_MAX 3
typedef struct pool {
  int size;
} pool_t;
typedef int (*compare)(const void *a, const void *b);
struct item;
static int
pool_open(const char *name,
          int size)
{
  if (size > 3) {
    run(name);
  }
out:
  return pool_close(name);
}
API_EXPORT(int) pool_close(pool_t *pool);
extern char *pool_name (pool_t *) __THROW;
`,
    "POOL_MAX pool pool_t compare pool_open pool_close pool_name",
  ],
  "pool.cpp": [
    `namespace app {
template <typename T>
class Pool final : public Base {
public:
  Pool(int size) : size_(size) {}
  ~Pool() override;
  const std::string& name() const noexcept { return name_; }
private:
  int size_;
};
using Names = std::vector<std::string>;
const Item &Pool::find(const std::string &name)
{
  return std::find(name);
}
Pool::Pool() : size_(0) {}
}
`,
    "Pool Pool ~Pool name Names find Pool",
  ],
  "Pool.cs": [
    `namespace App.Data
{
    [Serializable]
    public sealed class Pool<T> : IPool where T : class
    {
        public int Size { get; private set; }
        public string Name => name;
        public Pool(int size)
        {
            Size = size;
        }
        public static async Task<T> FindAsync<TKey>(TKey key)
            where TKey : struct
        {
            return await Run(key);
        }
        void IDisposable.Dispose() => Close();
    }
    public delegate void Changed(object sender);
}
`,
    "Pool Size Name Pool FindAsync Dispose Changed",
  ],
  "pool.rb": [
    `module App
  class Pool < Base
    LIMIT = 3
    class << self
      def open!(name) = new(name)
    end
    def self.find(name)
      text = <<~EOS
        def in_text
      EOS
      text
    end
    private def closed?
      @closed == true
    end
  end
end
`,
    "App Pool LIMIT open! find closed?",
  ],
  "pool.php": [
    `<?php
namespace App;
define('LIMIT', 3);
#[Attribute]
abstract class Pool implements Countable {
    const MAX = 3;
    public static function &open(string $name): self {
        return new self($name);
    }
}
trait Closes {}
function helper() {}
`,
    "LIMIT Pool MAX open Closes helper",
  ],
  "Pool.kt": [
    `@Serializable
data class Point(val x: Int)
sealed interface Shape
object Registry {
  private const val LIMIT = 3
  override suspend fun <T> open(
    name: String,
  ): T {
    val local = 1
    return create(name)
  }
  companion object {
    fun of() = Registry
  }
}
fun String.toPool(): Pool = Pool(this)
typealias Names = List<String>
`,
    "Point Shape Registry LIMIT open of toPool Names",
  ],
  "Pool.swift": [
    `public final class Pool<T>: Base {
  init?(size: Int) {
    guard let first = list.first else { return nil }
  }
  @objc private func open(_ name: String) throws -> T { run(name) }
  class func make() -> Pool { Pool() }
}
extension Pool: Closes {
  func close() {}
}
protocol Closes { func close() }
`,
    "Pool init open make close Closes",
  ],
  "run.sh": [
    `#!/bin/sh
open_pool() {
  cat <<EOF
not_this() {
EOF
}
function close-pool {
  open_pool "$1"
}
`,
    "open_pool close-pool",
  ],
  "schema.sql": [
    `-- create table never (id int);
CREATE TABLE IF NOT EXISTS "app"."user data" (id int);
create or replace function app.find_user(id int) returns int as $$
begin
  return 1;
end $$ language plpgsql;
create unique index concurrently users_by_name on app.users (name);
create materialized view \`totals\` as select 1;
alter table app.users add column age int;
`,
    "user data|find_user|users_by_name|totals",
  ],
  "compose.yaml": ["# 設定\nservices:\n  web:\n    image: a\nvolumes: {}\n", "services volumes"],
  "package.json": ['{\n  "name": "a",\n  "scripts": {\n    "test": "b"\n  }\n}\n', "name scripts"],
  "Cargo.toml": ['[package]\nname = "a"\n\n[[bin]]\npath = "b"\n', "package name bin path"],
  "設計.md": ["# 設計\n\n本文\n\n```sh\n# 注釈\n```\n\n決済\n----\n", "設計 決済"],
};

const inOtherScripts: Readonly<Record<string, readonly [text: string, names: string]>> = {
  "calc.ts": [
    `export const 合計 = (値: 数) => 値;
class Größe<型> {
  計算する(値: 数): 数 {
    return 値;
  }
}
interface 顧客 { 名前: string }
type Café = 顧客;
function e\u0301tat() {}
const 𠮷野 = 1;
`,
    "合計 Größe 計算する 顧客 Café e\u0301tat 𠮷野",
  ],
  "calc.py": [
    "上限: int = 3\nclass 顧客:\n    def 計算する(self, 値): ...\ndef café_total(): ...\n",
    "上限 顧客 計算する café_total",
  ],
  "calc.go": [
    "type 顧客 struct {\n}\nconst (\n\t上限 = 1\n)\nfunc (c *顧客) 計算(値 int) int {\n}\nvar größe = 1\n",
    "顧客 上限 計算 größe",
  ],
  "calc.rs": [
    "pub struct 顧客;\nimpl 顧客 {\n    fn 計算(&self) {}\n}\nconst 上限: usize = 3;\nfn café() {}\n",
    "顧客 計算 上限 café",
  ],
  "Calc.java": [
    "class 顧客 {\n  顧客(int 値) {\n  }\n  private 数<値> 計算する(数 値) {\n  }\n  int größe();\n}\n",
    "顧客 顧客 計算する größe",
  ],
  "calc.cpp": ["struct 顧客 {\n  int größe() const;\n};\n数 顧客::計算(数 値)\n{\n}\n", "顧客 größe 計算"],
  "Calc.cs": [
    "class 顧客\n{\n    public 数 合計 { get; }\n    public string Größe => 名;\n    public 数 計算する(数 値)\n    {\n    }\n}\n",
    "顧客 合計 Größe 計算する",
  ],
  "calc.kt": [
    "class 顧客\nval größe = 1\nfun 顧客.計算する(値: 数) = 値\ntypealias 合計 = 数\n",
    "顧客 größe 計算する 合計",
  ],
  "calc.php": [
    "<?php\nclass 顧客 {\n  const 上限 = 3;\n  function 計算する($値) {}\n}\nfunction café() {}\n",
    "顧客 上限 計算する café",
  ],
  "calc.rb": ["class 顧客\n  Élan = 1\n  def 計算する?(値)\n  end\n  def +(値)\n  end\nend\n", "顧客 Élan 計算する? +"],
  "calc.swift": [
    "class 顧客 {\n  func 計算して返す(値: Int) {}\n  static func == (a: A) {}\n}\n",
    "顧客 計算して返す ==",
  ],
  "calc.sh": [
    "計算() {\n  cat <<終わり\nnot_this() {\n終わり\n}\nfunction café_total {\n  計算\n}\n",
    "計算 café_total",
  ],
  "calc.sql": [
    "create table 顧客 (番号 int);\ncreate view 会社.合計 as select 1;\ncreate index größe on 顧客 (番号);\n",
    "顧客 合計 größe",
  ],
  "calc.yaml": ["顧客:\n  名前: a\nGröße: 1\n'合計': 2\n", "顧客 Größe 合計"],
  "calc.toml": ['"合計" = 1\n[顧客.名前]\n', "合計 顧客.名前"],
  "calc.scala": ["class 顧客 {\n}\ndef 計算(値: 数) = 値\nval größe = 1\n", "顧客 計算 größe"],
  "calc.lua": ["function 顧客.計算(値)\nend\n", "顧客.計算"],
  "calc.tf": ['variable "合計" {\n}\n', "合計"],
};

it.each(Object.entries({ ...cases, ...inOtherScripts }))("names the definitions in %s", (path, [text, names]) => {
  expect(definedNames(text, textFormatOf(path))).toEqual(names.split(names.includes("|") ? "|" : " "));
});

it("names all methods of a passage, which begins after the indent of its first line", () => {
  const passage = `open(name: string): void {
    run(name);
  }

  close(): void {
    stop();
  }`;
  expect(definedNames(passage, "script")).toEqual(["open", "close"]);
});

it("reads a language without patterns of its own", () => {
  const text = "export class Pool {\n  close(): void {\n    stop();\n  }\n}\n\nfunction stop(): void {}\n";
  expect(definedNames(text, "braces")).toEqual(["Pool", "close", "stop"]);
});
