// The program that the conformance suite starts as a client. It only passes the scenario on to the process of the test, which runs the
// client, because loading the client again for each scenario takes most of the time.
const [port, url] = process.argv.slice(2);
const {
  MCP_CONFORMANCE_SCENARIO: scenario,
  MCP_CONFORMANCE_CONTEXT: context,
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision,
} = process.env;
const body = JSON.stringify({ url, scenario, revision, context: JSON.parse(context ?? "{}") });
const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
process.stderr.write(await response.text());
process.exitCode = response.ok ? 0 : 1;
