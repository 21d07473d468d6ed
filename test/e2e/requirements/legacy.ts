/** 2024-11-05 to 2025-11-25. number | level | party | revisions | transports | page | sentence | later */
export const legacy = `
1 | MUST | server | 24 03 06 11 | any | server/resources#capabilities | declares the resources capability
2 | SHOULD | server | 24 03 06 11 | any | server/resources#list-changed-notification | having declared listChanged, announces that the list changed
3 | SHOULD | server | 24 03 06 11 | any | server/resources#https | uses https only for what the client can fetch itself
4 | MAY | server | 24 03 06 11 | any | server/resources#file | marks what is no regular file with a type such as inode/directory
5 | MUST | server | 06 11 | any | server/resources#custom-uri-schemes | spells custom schemes by RFC 3986
6 | SHOULD | server | 24 03 06 11 | any | server/resources#error-handling | answers -32002 for a missing resource and -32603 for a fault of its own
7 | MUST | server | 24 03 06 11 | any | server/resources#security-considerations | validates every URI it is given
8 | SHOULD | server | 24 03 06 11 | any | server/resources#security-considerations | guards sensitive resources
9 | MUST | server | 24 03 06 11 | any | server/resources#security-considerations | encodes binary data properly
10 | SHOULD | server | 24 03 06 11 | any | server/resources#security-considerations | checks permission before it acts
11 | SHOULD | server | 24 03 06 11 | any | schema#notifications%2Fresources%2Fupdated | announces an update only to a client that subscribed
12 | MUST | server | 24 03 06 11 | any | server/prompts#embedded-resources | embedded resources in prompts have a URI, a type and content
13 | MAY | server | 24 03 06 11 | any | server/tools#embedded-resources | tools embed resources that can be read again by their URI
14 | SHOULD | server | 06 11 | any | server/tools#embedded-resources | whoever embeds resources serves them too
15 | MAY | server | 06 11 | any | server/tools#resource-links | tools answer with links to resources
16 | MUST | both | 24 03 06 11 | any | server/prompts#security | prompt inputs and outputs are validated
17 | MUST NOT | client | 24 03 06 11 | any | server/utilities/pagination#pagination-model | assumes no page size | the client is not there yet
18 | SHOULD | server | 24 03 06 11 | any | server/utilities/pagination#implementation-guidelines | cursors are stable, and a wrong one is answered gracefully
19 | SHOULD | client | 24 03 06 11 | any | server/utilities/pagination#implementation-guidelines | takes a missing nextCursor as the end | the client is not there yet
20 | MUST | client | 24 03 06 11 | any | server/utilities/pagination#implementation-guidelines | treats cursors as opaque | the client is not there yet
21 | SHOULD | server | 24 03 06 11 | any | server/utilities/pagination#error-handling | answers -32602 for a cursor that is none of its own
22 | MUST | server | 03 06 11 | any | server/utilities/completion#capabilities | declares completions
23 | SHOULD | server | 03 06 11 | any | server/utilities/completion#error-handling | answers a wrong completion request with -32601, -32602 or -32603
24 | SHOULD | server | 24 03 06 11 | any | server/utilities/completion#implementation-considerations | gives at most 100 suggestions, best first
25 | SHOULD | client | 24 03 06 11 | any | server/utilities/completion#implementation-considerations | debounces, caches, sends what is settled already | the client is not there yet
26 | MUST | both | 24 03 06 11 | any | server/utilities/completion#security | suggestions tell nothing of what the caller may not see
27 | MUST | both | 24 03 06 11 | any | basic/lifecycle#initialization | a conversation begins with initialize, its answer and the initialized notification
28 | SHOULD NOT | both | 24 03 06 11 | any | basic/lifecycle#initialization | nothing but ping goes before that
29 | MUST | server | 24 03 06 11 | any | basic/lifecycle#version-negotiation | answers with the asked version if it speaks it, and with another that it speaks if not
30 | MUST | both | 24 03 06 11 | any | basic/lifecycle#operation | keeps to the agreed version and capabilities
31 | MUST NOT | client | 24 03 06 11 | any | basic/lifecycle#initialization | puts initialize into no batch and cancels it never | the client is not there yet
32 | SHOULD | both | 24 03 06 11 | any | basic/lifecycle#timeouts | a question that takes too long is given up
33 | MUST | both | 24 03 06 11 | any | basic#messages | speaks JSON-RPC 2.0: ids are strings or integers, an answer has a result or an error
34 | MUST | both | 03 | any | basic#batching | takes batches
35 | MUST NOT | both | 24 03 06 11 | stdio | basic/transports#stdio | one message is one line, and nothing else is on stdout
36 | MUST | both | 03 06 11 | any | basic/transports | messages are UTF-8
37 | SHOULD NOT | client | 11 | stdio | basic/transports#stdio | takes stderr as no error | the client is not there yet
38 | SHOULD | client | 24 03 06 11 | stdio | basic/lifecycle#stdio | shuts down by closing stdin, then by signals | the client is not there yet
39 | SHOULD | client | 24 03 06 11 | stdio | basic/transports | supports stdio | the client is not there yet
40 | MUST | server | 24 | sse | basic/transports#http-with-sse | has two endpoints, names the second in an endpoint event, and sends message events
41 | MUST | client | 24 | sse | basic/transports#http-with-sse | posts its messages to that endpoint | the client is not there yet
42 | MUST | server | 24 03 06 11 | http sse | basic/transports#security-warning | validates Origin; a foreign one is refused with 403
43 | SHOULD | server | 24 03 06 11 | http sse | basic/transports#security-warning | binds to this machine alone when it serves it alone
44 | MUST | server | 03 06 11 | http | basic/transports#streamable-http | one endpoint takes POST and GET
45 | MUST | client | 03 06 11 | http | basic/transports#sending-messages-to-the-server | posts each message, accepting both types | the client is not there yet
46 | MUST | client | 03 06 11 | http | basic/transports#sending-messages-to-the-server | posts single messages, or batches where the revision has them | the client is not there yet
47 | MUST | server | 03 06 11 | http | basic/transports#sending-messages-to-the-server | answers notifications and responses with 202 and no body, or an HTTP error
48 | MUST | server | 03 06 11 | http | basic/transports#sending-messages-to-the-server | answers a request with JSON or an event stream
49 | SHOULD | server | 03 06 11 | http | basic/transports#sending-messages-to-the-server | a request's stream carries what belongs to it, then the response, then ends
50 | SHOULD NOT | server | 03 06 11 | http | basic/transports#sending-messages-to-the-server | closes no stream before the response, or has said how to resume it
51 | SHOULD NOT | server | 03 06 11 | http | basic/transports#sending-messages-to-the-server | takes a disconnect as no cancellation
52 | MUST | server | 03 06 11 | http | basic/transports#listening-for-messages-from-the-server | answers GET with an event stream or 405
53 | SHOULD | server | 03 06 11 | http | basic/transports#listening-for-messages-from-the-server | the GET stream carries no response
54 | MUST | server | 03 06 11 | http | basic/transports#multiple-connections | sends each message on one stream only
55 | MUST | server | 03 06 11 | http | basic/transports#resumability-and-redelivery | event ids are unique within the session
56 | MUST NOT | both | 03 06 11 | http | basic/transports#resumability-and-redelivery | a resumed stream replays what it missed, and nothing of another stream
57 | MUST | server | 03 06 11 | http | basic/transports#session-management | session ids are visible ASCII and cannot be guessed
58 | MUST | both | 03 06 11 | http | basic/transports#session-management | requests carry the session's id; without it they get 400
59 | MUST | server | 03 06 11 | http | basic/transports#session-management | a session that has ended answers 404
60 | SHOULD | both | 03 06 11 | http | basic/transports#session-management | DELETE ends a session
61 | MUST | both | 06 11 | http | basic/transports#protocol-version-header | requests name their version; a wrong one gets 400, a missing one means 2025-03-26
62 | MUST NOT | server | 06 11 | http | basic/security_best_practices#session-hijacking | a session is no authentication: its ids are random and bound to its caller
63 | MUST | both | 24 03 06 11 | any | basic/utilities/cancellation | a withdrawn request is stopped and not answered; a wrong withdrawal is ignored
64 | MUST | both | 24 03 06 11 | any | basic/utilities/progress | progress increases and stops with the answer
65 | MUST | client | 11 | any | basic#icons | renders icons safely | the picker is not there yet
66 | MUST | server | 03 06 11 | http | basic/authorization | refuses missing and invalid tokens with 401 | authorization is not there yet
67 | SHOULD | server | 03 | http | basic/authorization | publishes authorization server metadata | authorization is not there yet
68 | MUST | server | 06 11 | http | basic/authorization#authorization-server-location | publishes protected resource metadata | authorization is not there yet
69 | MUST | server | 06 11 | http | basic/authorization#authorization-server-location | points to that metadata in its 401 | authorization is not there yet
70 | MUST | server | 06 11 | http | basic/authorization#token-handling | accepts only tokens made for it | authorization is not there yet
71 | SHOULD | server | 11 | http | basic/authorization#scope-challenge-handling | names the missing scope in its 403 | authorization is not there yet
72 | MUST | client | 03 06 11 | http | basic/authorization#resource-parameter-implementation | names the resource and uses PKCE | the client is not there yet
`;
