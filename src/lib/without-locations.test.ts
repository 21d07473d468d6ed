import { expect, it } from "vitest";
import { withoutPlaces } from "./without-locations.ts";

it.each([
  ["dial tcp 10.11.12.13:8443: connect: connection refused", "dial tcp …: connect: connection refused"],
  ["connect ECONNREFUSED ::1:5432", "connect ECONNREFUSED …"],
  ["connect ECONNREFUSED [fe80::1%eth0]:5432 now", "connect ECONNREFUSED … now"],
  ["no route to fe80::1:2:3", "no route to …"],
  ["lookup db.zqx.internal: no such host", "lookup …: no such host"],
  ["lookup db.internal on 127.0.0.53:53: no such host", "lookup … on …: no such host"],
  ["rpc error from thanos-store:10901", "rpc error from …"],
  ["getaddrinfo ENOTFOUND a.b.svc.cluster.local", "getaddrinfo ENOTFOUND …"],
  ['Get "http://user:x@db:5432/path?q=1": EOF', 'Get "…": EOF'],
  ["failed to connect to `host=db:5432 user=x`", "failed to connect to `host=… user=x`"],
  ["open /srv/data/x.db: permission denied", "open …: permission denied"],
  ["ENOENT: no such file or directory, open 'C:\\data\\x.db'", "ENOENT: no such file or directory, open '…'"],
])("%s", (given, shown) => {
  expect(withoutPlaces(given)).toBe(shown);
});

it.each([
  'invalid parameter "query": 1:5: parse error: unexpected <by>',
  'unknown function with name "foo"; did you mean rate(http_requests_total[5m]) / 2?',
  "job:http_errors:rate5m has 3.5 samples at 2026-11-15T10:00:00Z",
  'found duplicate series for the match group {a="b"} on the left-hand side',
  "the table public.users has no column x",
])("leaves unchanged: %s", (given) => {
  expect(withoutPlaces(given)).toBe(given);
});
