import { restDescriptions } from '../../src/answers/api/http/error-mapping.js'
import { type CodeEntry, codes } from '../../src/node/library/codes.js'

/** docs/errors.md: every code of src/base/errors/error-codes.ts. */
export function errorsPage(): string {
  const rows = Object.entries<CodeEntry>(codes).map(
    ([code, { rest, http, rpc, penalty, pinned, meaning }]) =>
      `| \`${code}\` | ${meaning} | ${rest} | ${http} | ${rpc} | ${pinned} | ${penalty || ''} |`,
  )
  const numbers = Object.entries(restDescriptions).map(([number, text]) => `| ${number} | ${text} |`)
  return `# Errors

Generated from \`src/base/errors/error-codes.ts\` by \`npm run docs\`.

Every broken rule has a code. REST answers \`{"Desc", "Error", "Result"}\` with the number in \`Error\`, the text of that
number in \`Desc\`, and in \`Result\` what was found and where. JSON-RPC answers an error object; \`data\` of a refused
transaction begins with the REST number. The command line prints the code in parentheses. A peer that sends what breaks a
rule loses the points in the last column; at 100 its key is banned ([network.md](network.md#bans)).

What is *pinned* decides whether a code may cost points:

- \`bytes\`: the bytes, and what they pin by hash (spent outputs, the previous operation of an update, the ancestors of a block),
  decide. All nodes come to the same result, so an honest one never relays it;
- \`link\`: what the peer itself did on its connection decides. No third party can bring it about;
- \`state\`: the tip, the pool, the clock or the load of a node decides as well. Honest nodes differ, so it costs nothing.

A test runs every case of \`test/rules\` in several states: where a pinned code comes out in one, no state accepts.

| code | meaning | REST | HTTP | JSON-RPC | pinned | points |
|---|---|---|---|---|---|---|
${rows.join('\n')}

## REST numbers

| Error | Desc |
|---|---|
${numbers.join('\n')}
`
}
