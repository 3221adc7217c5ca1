import { allOptions, otherVariables, sectionOf, variableOf } from '../../src/node/config/all-options.js'
import type { Option } from '../../src/base/runtime/option.js'

/** docs/configuration.md: every option of every module. */
export function configurationPage(): string {
  const sections = [...new Set(allOptions.map(sectionOf))].map((section) => {
    const rows = allOptions.filter((option) => sectionOf(option) === section).map(row)
    return `## ${section}\n\n| key | flag | environment | default | unit | meaning |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  const others = Object.entries(otherVariables).map(([name, meaning]) => `- \`${name}\`: ${meaning}`)
  return `# Configuration

Generated from the \`options.ts\` of each module by \`npm run docs\`.

\`didledger devnet\` and \`didledger start\` take their options from the command line, the environment, a file that \`--config\` or
\`DIDLEDGER_CONFIG\` names, and defaults. **A flag wins over the environment, the environment over the file, the file over the
default.** Lists are not merged: the source that wins gives the whole list.

\`--print-config\` prints what a command would run with, each value with the place that it comes from, and starts nothing. What
it prints can be used as a file. With \`--json\` it is plain JSON, without the places. No option is a secret; passwords and keys
are never part of a configuration.

The file is [JSON5](https://json5.org): JSON with comments, trailing commas and names without quotation marks. It has an object
for each module, and the options in it; \`'api.host'\` outside of such an object means the same:

\`\`\`json5
{
  storage: { dataDir: '/var/lib/didledger' },
  api: {
    host: ['192.0.2.7', '::1'], // reachable from the network
    rateRequests: 6000,
  },
}
\`\`\`

On the command line the members of a list follow each other (\`--host 192.0.2.7 ::1\`), in the environment they have commas
between (\`DIDLEDGER_API_HOST=192.0.2.7,::1\`). In the environment a switch is \`true\` or \`false\`.
A flag that begins with \`--no-\` sets its option to \`false\`.

A name that is no option is refused wherever it stands, variables that begin with \`DIDLEDGER_\` included, and so are an option
of the other command, a name that stands twice in the file, and a value that the option cannot have: the message names the
place and the option, nothing starts, and the exit code is 2. These variables are no options:

${others.join('\n')}

What all nodes of a chain must agree on is not configuration but the chain's spec ([genesis.md](genesis.md)). Limits without a
reason to change them are constants ([limits.md](limits.md)).

${sections.join('\n')}`
}

function row(option: Option): string {
  const { key, flag, description, expects, unit = '', commands, schema } = option
  const only = commands === undefined ? '' : ` Only \`${commands.join('`, `')}\`.`
  // A switch has its described effect if its value differs from the default.
  const meaning = schema.type === 'boolean' ? `\`${!option.default}\`: ${description}` : `${description}; ${expects}`
  const initial = option.default === undefined ? 'none' : `\`${JSON.stringify(option.default)}\``
  const cells = [
    `\`${key}\``,
    `\`${flag.replace('|', '\\|')}\``,
    `\`${variableOf(option)}\``,
    initial,
    unit,
    `${meaning}.${only}`,
  ]
  return `| ${cells.join(' | ')} |`
}
