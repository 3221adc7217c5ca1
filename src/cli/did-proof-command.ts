import type { Command } from 'commander'
import { defaultRestUrl, NodeClient } from '../client/node-client.js'
import { formatDate } from '../did/date.js'
import { UserError } from '../errors/rule-error.js'
import type { LightCredential, LightResult } from '../light/proved.js'
import type { CliContext } from './cli-context.js'
import { collect, didArgument, type OutputOptions, withOutput } from './command-options.js'
import { credentialArgument, credentialLine } from './did-credential-command.js'
import { operationLines, payloadLines, stateLine } from './did-read-command.js'
import { openLight, type TrustFlags, trustText, withTrust } from './light-options.js'
import { loadBundle, maxBundleSize } from './load-proofs.js'
import { type Asked, makeBundle } from './make-bundle.js'
import { examples, formatTable, report } from './print-output.js'

interface ProveOptions extends OutputOptions {
  readonly all?: boolean
  readonly issuer?: string
  readonly node?: readonly string[]
}

const exampleDid = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'

/** `didledger did prove | verify` */
export function registerDidProofs(did: Command, context: CliContext): void {
  withOutput(did.command('prove'))
    .description('print the answer about a DID or a credential with its proof: a Bundle, in JSON')
    .argument('<id>', 'a DID, its identifier alone, or the id of a credential in full', idArgument)
    .option('--all', 'with every operation of a DID instead of the last one')
    .option('--issuer <did>', 'count a revoke by this DID even if the credential is not declared', didArgument)
    .option(
      '--node <url>',
      `REST address of a node; given several times, the first that proves it is taken (default: ${defaultRestUrl})`,
      collect(String),
    )
    .addHelpText(
      'after',
      examples(`did prove ${exampleDid} > bundle.json`, `did prove '${exampleDid}#degree' > bundle.json`),
    )
    .action((id: string, options: ProveOptions) => prove(context, id, options))
  withTrust(withOutput(did.command('verify')))
    .description('check a Bundle without any node, and show what it proves')
    .argument('<file>', 'what "did prove" printed')
    .addHelpText(
      'after',
      examples(
        'did verify bundle.json --trust devnet',
        'did verify bundle.json --trust corp.trust.json --max-age 3600',
      ),
    )
    .action((file: string, options: TrustFlags & OutputOptions) => verify(context, file, options))
}

/** A DID in full, or the id of a credential. */
function idArgument(text: string): string {
  return text.includes('#') ? credentialArgument(text) : didArgument(text)
}

async function prove(context: CliContext, id: string, options: ProveOptions): Promise<void> {
  const { node = [defaultRestUrl] } = options
  const asked = questionOf(id, options)
  const text = `${JSON.stringify(await bundleOfAny(node, asked), null, 2)}\n`
  if (text.length > maxBundleSize) {
    throw new UserError(
      `the proof has ${text.length} bytes, and ${maxBundleSize} can be checked: its chain is too long for a Bundle`,
    )
  }
  context.out(text)
}

function questionOf(id: string, { all = false, issuer }: ProveOptions): Asked {
  const isCredential = id.includes('#')
  if (isCredential && all)
    throw new UserError('--all is for a DID: the proof of a credential has all of its operations', 2)
  if (!isCredential && issuer !== undefined) throw new UserError('--issuer is for a credential', 2)
  return isCredential ? { id, ...(issuer !== undefined && { issuer }) } : { did: id, all }
}

/** The bundle of the first node that gives one; else what was wrong with each. */
async function bundleOfAny(nodes: readonly string[], asked: Asked) {
  const failures: string[] = []
  for (const rest of nodes) {
    try {
      return await makeBundle(new NodeClient({ rest }), asked)
    } catch (error) {
      if (!(error instanceof UserError) || nodes.length === 1) throw error
      failures.push(`${rest}: ${error.message}`)
    }
  }
  throw new UserError(`no node proves it; ${failures.join('; ')}`)
}

async function verify(context: CliContext, file: string, options: TrustFlags & OutputOptions): Promise<void> {
  const { maxAge } = options
  const bundle = loadBundle(file)
  const light = await openLight(context, options, { servers: [] })
  const result = await light.verifyBundle(bundle, maxAge === undefined ? {} : { maxAge })
  const { transaction = [] } = result
  const shown = transaction.find(({ operation }) => !['deactivate', 'revoke'].includes(operation.header.operation))
  report(context, options, result, [
    'did' in result ? stateLine(result) : credentialLine(result),
    ...provedLines(result, options),
    ...(transaction.length === 0 ? [] : ['', ...operationLines(result)]),
    ...(shown === undefined ? [] : ['', ...payloadLines(shown)]),
  ])
}

function provedLines({ proved, transaction = [] }: LightResult | LightCredential, flags: TrustFlags): string[] {
  const { height, hash, time, age, history, statusUnproved } = proved
  const of = history && `${transaction.length} of ${history.count} shown`
  return [
    ...formatTable([
      ['height', `${height}  ${hash}`],
      ['time', formatDate(time)],
      ['age', `${age} s`],
      ...(of === undefined ? [] : [['operations', of] as const]),
      ['trust root', trustText(flags, proved)],
    ]),
    ...(statusUnproved === true
      ? ['Another version follows the one shown: whether the DID is valid now is not proved.']
      : []),
  ]
}
