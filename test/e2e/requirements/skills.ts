/** The skills extension, for 2026-07-28. number | level | party | revisions | transports | page | sentence | later */
const page = "https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx";

export const skills = `
1 | MUST | server | 26 | stdio http | ${page}#capability-negotiation | who declares the extension declares resources, and implements skills/list and skills/get
2 | MUST | server | 26 | stdio http | ${page}#skill-format | what is served as a skill keeps to the Agent Skills format
3 | MUST | server | 26 | stdio http | ${page}#capability-negotiation | who declares directoryRead implements resources/directory/read
4 | SHOULD | server | 26 | stdio http | ${page}#resource-mapping | skills stand under skill://
5 | MUST | server | 26 | stdio http | ${page}#resource-mapping | the last segment of a skill's path is its name
6 | SHOULD | server | 26 | stdio http | ${page}#resource-metadata | a SKILL.md is Markdown, and is named and described as in its front matter
7 | MUST | server | 26 | stdio http | ${page}#frontmatter | an entry has the whole front matter, as it was written
8 | MUST | server | 26 | stdio http | ${page}#resources | an entry names every file once, SKILL.md and those of nested skills among them
9 | MUST | server | 26 | stdio http | ${page}#integrity-and-verification | each file comes with its size and the SHA-256 of its bytes
10 | SHOULD NOT | server | 26 | stdio http | ${page}#limits | serves no skill of more than 512 files or 16 MiB
11 | MUST | server | 26 | stdio http | ${page}#listing-skills | skills/list comes in pages that split no entry, complete, and with cache hints
12 | MUST | server | 26 | stdio http | ${page}#getting-a-skill | skills/get gives the entry of every skill that is served, complete, without a cursor, and with cache hints
13 | MUST | server | 26 | stdio http | ${page}#getting-a-skill | answers -32602 for a URI that is no skill's
14 | MUST | server | 26 | stdio http | ${page}#reading-directories | gives the direct children of every directory of a skill, directories as such
15 | MUST | server | 26 | stdio http | ${page}#reading-directories | answers -32602 for what is no directory, and nothing for what is in an empty one
16 | MUST | server | 26 | stdio http | ${page}#resources | says "dynamic" where digests cannot be published
17 | SHOULD | server | 26 | stdio http | ${page}#reading-skill-content | tells listeners of the list when skills come, go or are called anew
18 | MUST NOT | client | 26 | stdio http | ${page}#capability-negotiation | reads no directory of a server that does not declare it | the client is not there yet
19 | MUST | host | 26 | stdio http | ${page}#verification-on-read | compares what it reads with the entry | the host is not ours
20 | MUST | host | 26 | stdio http | ${page}#security-considerations | runs nothing and grants nothing without approval of the skill as it is | the host is not ours
`;
