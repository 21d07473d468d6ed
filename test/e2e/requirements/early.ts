/** The early draft, spoken as 2024-10-07. number | level | party | revisions | transports | page | sentence | later */
export const early = `
1 | MUST | server | 10 | stdio sse | server/resources#capabilities | declares resources among its capabilities; subscribe and listChanged say what more it does
2 | MUST NOT | client | 10 | stdio sse | server/resources#capabilities | leaves resource methods alone where the capability is absent | the client is not there yet
3 | MUST | both | 10 | stdio sse | server/resources#resource-templates | templates are asked for with resources/templates/list and answered as a list
4 | MUST | both | 10 | stdio sse | server/resources#listing-resources | resources are asked for with resources/list; the answer may be empty
5 | SHOULD | both | 10 | stdio sse | server/resources#error-handling | what was listed and is gone when read answers with an error
6 | MUST | both | 10 | stdio sse | server/resources#reading-resources | a read answers with contents, each of them text or blob
7 | MUST | server | 10 | stdio sse | server/resources#binary-content | gives files as text where they are text and as base64 where they are not
8 | MAY | both | 10 | stdio sse | server/resources#subscriptions | subscribing and unsubscribing answer with an empty result or an error
9 | MUST | server | 10 | stdio sse | server/resources#subscriptions | announces updates of what was subscribed to, and of nothing else
10 | MAY | server | 10 | stdio sse | server/resources#list-changed-notification | announces that the list of resources changed
11 | MUST | both | 10 | stdio sse | server/resources#security-considerations | what a caller may not see is kept from it
12 | MUST | both | 10 | stdio sse | server/resources#error-handling | answers with errors for what is missing, refused or broken
13 | SHOULD | server | 10 | stdio sse | server/resources#common-uri-schemes | uses https only for what the client can fetch itself; directories may be inode/directory
14 | MAY | both | 10 | stdio sse | server/resources#reading-resources | a resource can be read without being listed first
`;
