import { type Command, Option } from 'commander'
import { NodeClient } from '../../clients/client/node-client.js'
import type { QueryResult } from '../../identity/did/resolution.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { CliContext } from './cli-context.js'
import { countOption, type RestFlags, type OutputOptions, withNode, withOutput } from './command-options.js'
import { examples, jsonLines, report } from './print-output.js'

interface QueryOptions extends RestFlags, OutputOptions {
  readonly service?: string
  readonly credential?: string
  readonly condition?: string
  readonly skip?: number
  readonly limit?: number
}

/** `didledger did query` */
export function registerDidQuery(did: Command, context: CliContext): void {
  withNode(withOutput(did.command('query')))
    .description('search the latest documents of all DIDs that are not deactivated')
    .addOption(
      new Option('--service <type>', 'documents with a service of this type').conflicts(['credential', 'condition']),
    )
    .addOption(new Option('--credential <type>', 'documents with a credential of this type').conflicts('condition'))
    .option('--condition <text>', 'documents that meet a find condition (JSON or JSON5)')
    .option('--skip <n>', 'leave out the first n of them', countOption)
    .option('--limit <n>', 'show at most n of them; 0 only counts', countOption)
    .addHelpText(
      'after',
      examples(
        'did query --credential ProfileCredential',
        `did query --condition '{credential: {subject: {email: {$exists: true}}}}' --limit 5`,
      ),
    )
    .action((options: QueryOptions) => query(context, options))
}

async function query(context: CliContext, options: QueryOptions): Promise<void> {
  const { service, credential, condition, skip, limit } = options
  if (service === undefined && credential === undefined && condition === undefined) {
    throw new UserError('say what to look for with --service, --credential or --condition', 2)
  }
  const result = await new NodeClient(options).query({
    ...defined({ service, credential }),
    ...(condition === undefined ? {} : { query: condition }),
    ...defined({ skip, limit }),
  })
  report(context, options, result, [
    summary(result, limit),
    ...result.document.flatMap((document) => ['', ...jsonLines(document)]),
  ])
}

/** Total, the range shown, and how to see more. */
function summary({ total, start, count }: QueryResult, asked: number | undefined): string {
  const matching = `${total} ${total === 1 ? 'document matches' : 'documents match'}`
  if (count === 0) return `${matching}.`
  const end = start + count
  // Also where fewer fit into the bytes of one answer.
  const most = asked !== undefined && count < asked && end < total ? ', as many as one answer has' : ''
  const shown = `${matching}; ${count === 1 ? `number ${end}` : `numbers ${start + 1} to ${end}`}${most}:`
  return end < total ? `${shown} (--skip ${end} goes on)` : shown
}
