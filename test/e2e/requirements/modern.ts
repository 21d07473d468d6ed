/** 2026-07-28. number | level | party | revisions | transports | page | sentence | later */
export const modern = `
1 | MUST | both | 26 | stdio http | basic#messages | speaks JSON-RPC 2.0 in UTF-8, with ids that are strings or integers
2 | MUST | server | 26 | stdio http | basic#result-responses | every result has a resultType
3 | MUST | client | 26 | stdio http | basic#result-responses | takes a missing resultType as complete and an unknown one as invalid | the client is not there yet
4 | MUST | both | 26 | stdio http | basic#result-responses | a resultType is one of the core or of an agreed extension
5 | MUST | client | 26 | stdio http | basic#meta | every request names its version and capabilities | the client is not there yet
6 | MUST | server | 26 | stdio http | basic#meta | answers -32602 where these are missing, and does not ask for clientInfo
7 | MUST NOT | server | 26 | stdio http | basic/versioning#capability-negotiation | relies on no capability that the request does not declare
8 | SHOULD | server | 26 | stdio http | basic#meta | says who it is in every result
9 | MUST NOT | server | 26 | stdio http | basic#statelessness | relies on no earlier request
10 | MUST NOT | both | 26 | stdio http | basic#messages | a server asks nothing, a client answers nothing
11 | MUST NOT | server | 26 | stdio http | basic#error-codes | sends no error code that the specification reserves or has withdrawn
12 | MUST | both | 26 | stdio http | basic#meta | trace context and _meta keys keep their format
13 | MUST | server | 26 | stdio http | basic/versioning#protocol-version-negotiation | answers -32022 for a version it does not speak, with those it does
14 | SHOULD | client | 26 | stdio http | basic/versioning#protocol-version-negotiation | picks from the versions it was told | the client is not there yet
15 | MUST | server | 26 | stdio http | server/discover | implements server/discover, with cache hints
16 | MUST | both | 26 | stdio http | basic/versioning#extension-negotiation | does without an extension that the other side lacks
17 | SHOULD | client | 26 | stdio http | basic/versioning#backward-compatibility | remembers which era a server speaks | the client is not there yet
18 | SHOULD | server | 26 | stdio http | basic/versioning#backward-compatibility | a modern-only server names its versions to initialize | this server speaks every revision, so initialize succeeds
19 | MUST | server | 26 | stdio http | server/resources#capabilities | declares the resources capability
20 | MUST | server | 26 | stdio http | server/resources#listing-resources | lists what is there for the caller
21 | MUST NOT | server | 26 | stdio http | server/resources#listing-resources | the list depends on no connection and on no other request
22 | SHOULD | server | 26 | stdio http | server/resources#list-changed-notification | tells listeners that the list changed
23 | MAY | server | 26 | stdio http | server/resources#reading-resources | gives several contents for one read
24 | MAY | client | 26 | stdio http | server/resources#https | fetches https URIs itself | the client is not there yet
25 | MUST | server | 26 | stdio http | server/resources#error-handling | answers -32602 for a missing resource and -32603 for a fault of its own
26 | MUST NOT | server | 26 | stdio http | server/resources#error-handling | gives no empty contents for a missing resource
27 | MUST | server | 26 | stdio http | server/resources#security-considerations | validates URIs, encodes binary data, and keeps file paths inside their folder
28 | MUST | server | 26 | stdio http | server/resources#custom-uri-schemes | spells custom schemes by RFC 3986
29 | SHOULD | server | 26 | stdio http | server/tools#embedded-resources | whoever embeds or links resources serves them too
30 | MUST | host | 26 | stdio http | index#security-and-trust-%26-safety | asks the user before data leaves | the host is not ours
31 | MUST NOT | server | 26 | stdio http | basic/patterns/subscriptions | sends no kind of notification that was not asked for
32 | MUST | server | 26 | stdio http | basic/patterns/subscriptions | acknowledges a subscription before anything else on it
33 | MUST | both | 26 | stdio http | basic/patterns/subscriptions | the acknowledgement names what is honoured and leaves out the rest
34 | MUST | server | 26 | stdio http | basic/patterns/subscriptions | every notification carries the id of its subscription as it was sent
35 | MAY | client | 26 | stdio http | basic/patterns/subscriptions | holds several subscriptions at once | the client is not there yet
36 | SHOULD | server | 26 | stdio http | basic/patterns/subscriptions | ends a subscription with a result when it closes
37 | MUST | client | 26 | stdio http | basic/patterns/subscriptions | listens again after a reconnect | the client is not there yet
38 | MUST NOT | server | 26 | stdio http | basic/patterns/subscriptions | sends neither log messages nor progress on a subscription
39 | MUST | server | 26 | stdio http | basic/patterns/subscriptions | serves subscriptions/listen where it declares listChanged or subscribe
40 | MUST | server | 26 | stdio http | server/utilities/caching | gives ttlMs and cacheScope with every cacheable result
41 | MUST | server | 26 | stdio http | server/utilities/caching | all pages of a list have one cacheScope, and access is judged for each caller
42 | MUST NOT | client | 26 | stdio http | server/utilities/caching | answers no other question from its cache | the client is not there yet
43 | SHOULD | client | 26 | stdio http | server/utilities/caching | asks again for what is stale | the client is not there yet
44 | MUST | client | 26 | stdio http | server/utilities/caching | drops what a notification names | the client is not there yet
45 | SHOULD | both | 26 | stdio http | server/utilities/pagination | cursors are opaque and stable; a wrong one answers -32602; an empty one is no end
46 | MUST | server | 26 | stdio http | server/utilities/completion | declares completions and gives at most 100 suggestions
47 | MUST NOT | server | 26 | stdio http | basic/patterns/mrtr | asks for input on nothing but tools/call, prompts/get and resources/read
48 | MUST | server | 26 | stdio http | basic/patterns/mrtr | an input_required result has requests or a state, and asks nothing that the client did not declare
49 | MUST | server | 26 | stdio http | basic/patterns/mrtr | trusts no state that comes back from a client | no tool of ours keeps a state yet
50 | MUST NOT | server | 26 | stdio http | basic/patterns/mrtr | expects no retry, and ignores what it did not ask for
51 | MUST | client | 26 | stdio http | basic/patterns/mrtr | retries with the exact state and a new id | the client is not there yet
52 | MUST | both | 26 | stdio | basic/transports/stdio | one message is one line, and nothing else is on stdout
53 | MUST | both | 26 | stdio | basic/transports/stdio#cancellation | a request withdrawn by notification is stopped, and nothing more is sent for it
54 | SHOULD | both | 26 | stdio | basic/transports/stdio#shutdown | exits soon after its stdin ends
55 | MUST | server | 26 | http | basic/transports/streamable-http#security-warning | one endpoint takes POST; a foreign Origin gets 403
56 | MUST | client | 26 | http | basic/transports/streamable-http#sending-messages | posts single requests with their headers | the client is not there yet
57 | MUST | server | 26 | http | basic/transports/streamable-http#sending-messages | answers a notification with 202 and a request with JSON or an event stream
58 | MUST | server | 26 | http | basic/transports/streamable-http#sending-messages | a stream carries what belongs to its request and ends with the response
59 | SHOULD | server | 26 | http | basic/transports/streamable-http#sending-messages | asks proxies not to hold event streams back
60 | MUST | server | 26 | http | basic/transports/streamable-http#cancellation | a closed stream withdraws its request
61 | MUST | both | 26 | http | basic/transports/streamable-http#protocol-version-header | the version header matches the body; a mismatch gets 400 and -32020
62 | MUST | server | 26 | http | basic/transports/streamable-http#protocol-version-header | an unknown version gets 400 and -32022, an unknown method 404 and -32601
63 | MUST | both | 26 | http | basic/transports/streamable-http#standard-request-headers | Mcp-Method and Mcp-Name match the body, decoded where they are encoded; otherwise 400 and -32020
64 | MUST | both | 26 | http | basic/transports/streamable-http#case-sensitivity | header names are read without regard to case, values with it
65 | SHOULD | server | 26 | http | basic/transports/streamable-http#backward-compatibility | ignores the session and resumption headers of earlier revisions
66 | SHOULD | intermediary | 26 | http | basic/transports/streamable-http | trusts mirrored headers only with a modern version | we are no intermediary
67 | MUST | server | 26 | http | basic/transports/streamable-http | errors carry the id of their request
68 | MUST | both | 26 | stdio http | basic/patterns/cancellation | hanging up withdraws a request; what takes too long is given up; progress increases
69 | MUST | client | 26 | stdio http | basic#icons | renders icons safely | the picker is not there yet
70 | MUST | server | 26 | http | basic/authorization | publishes protected resource metadata | authorization is not there yet
71 | SHOULD | server | 26 | http | basic/authorization | names the scopes it needs in one challenge | authorization is not there yet
72 | MUST | server | 26 | http | basic/authorization | validates a token and its audience on every request | authorization is not there yet
73 | MUST | client | 26 | http | basic/authorization | names the resource, uses PKCE, checks the issuer | the client is not there yet
74 | MUST NOT | server | 26 | http | basic/authorization/security-considerations | takes no cursor or state for a proof of who asks
`;
