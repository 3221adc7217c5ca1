import { codes, type CodeEntry, restDescriptions } from '../../src/errors.js'

/** docs/errors.md: every code of src/errors.ts. */
export function errorsPage(): string {
  const rows = Object.entries<CodeEntry>(codes).map(
    ([code, { rest, http, rpc, penalty, meaning }]) =>
      `| \`${code}\` | ${meaning} | ${rest} | ${http} | ${rpc} | ${penalty || ''} |`,
  )
  const numbers = Object.entries(restDescriptions).map(([number, text]) => `| ${number} | ${text} |`)
  return `# Errors

Generated from \`src/errors.ts\` by \`npm run docs\`.

Every broken rule has a code. REST answers \`{"Desc", "Error", "Result"}\` with the number in \`Error\`, the text of that
number in \`Desc\`, and in \`Result\` what was found and where. JSON-RPC answers an error object; \`data\` of a refused
transaction begins with the REST number. The command line prints the code in parentheses. A peer that sends what breaks a
rule loses the points in the last column; at 100 it is banned.

| code | meaning | REST | HTTP | JSON-RPC | peer |
|---|---|---|---|---|---|
${rows.join('\n')}

## REST numbers

| Error | Desc |
|---|---|
${numbers.join('\n')}
`
}
