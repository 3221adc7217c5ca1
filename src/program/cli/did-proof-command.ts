import type { Command } from 'commander'
import { defaultRestUrl, NodeClient } from '../../clients/client/node-client.js'
import { formatDate } from '../../identity/did/date.js'
import { UserError } from '../../base/errors/rule-error.js'
import type { LightCredential, LightResult } from '../../clients/light/proved-answer.js'
import { effectOf } from '../../base/primitives/did-operation.js'
import type { CliContext } from './cli-context.js'
import { collect, didArgument, type OutputOptions, withOutput } from './command-options.js'
import { credentialArgument, credentialLine } from './did-credential-command.js'
import { operationLines, payloadLines, stateLine } from './did-read-command.js'
import { openLight, type TrustFlags, trustText, withTrust } from './light-options.js'
import { fitsBundle, isEvidence, loadProof, maxBundleSize } from './load-proofs.js'
import { type Asked, makeBundle } from './make-bundle.js'
import { examples, formatTable, report } from './print-output.js'
import { showFork } from './show-fork.js'

interface ProveOptions extends OutputOptions {
  readonly all?: boolean
  readonly issuer?: string
  readonly rest?: readonly string[]
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
      '--rest <url>',
      `REST address of a node; given several times, the first that proves it is taken (default: ${defaultRestUrl})`,
      collect(String),
    )
    .addHelpText(
      'after',
      examples(`did prove ${exampleDid} > bundle.json`, `did prove '${exampleDid}#degree' > bundle.json`),
    )
    .action((id: string, options: ProveOptions) => prove(context, id, options))
  withTrust(withOutput(did.command('verify')))
    .description('check a Bundle, or evidence of a fork, without any node, and show what it proves')
    .argument('<file>', 'what "did prove" printed, or the evidence that a light resolver logged')
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
  const { rest: nodes = [defaultRestUrl] } = options
  const asked = questionOf(id, options)
  const text = `${JSON.stringify(await bundleOfAny(nodes, asked), null, 2)}\n`
  if (!fitsBundle(text.length)) {
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
  const bundle = loadProof(file)
  const light = await openLight(context, options, { servers: [] })
  if (isEvidence(bundle)) return showFork(context, options, await light.verifyEvidence(bundle))
  const result = await light.verifyBundle(bundle, maxAge === undefined ? {} : { maxAge })
  const { transaction = [] } = result
  const shown = transaction.find(({ operation }) => effectOf(operation.header) !== 'end')
  report(context, options, result, [
    'did' in result ? provedStateLine(result) : provedCredentialLine(result),
    ...provedLines(result, options),
    ...(transaction.length === 0 ? [] : ['', ...operationLines(result, signedAsProved(result))]),
    ...(shown === undefined ? [] : ['', ...payloadLines(shown)]),
  ])
}

function provedStateLine(result: LightResult): string {
  if (result.proved.statusUnproved !== true) return stateLine(result)
  if ((result.transaction ?? []).length === 0) {
    return `${result.did} exists, and had no such version. Whether the DID is valid now is not proved.`
  }
  return `${result.did} exists. An earlier version is shown: whether the DID is valid now is not proved.`
}

/** The state of a credential, with a note if a revocation counts for this question alone. */
function provedCredentialLine(result: LightCredential): string {
  const { transaction = [], proved, status } = result
  const revokes = transaction.filter(({ operation }) => effectOf(operation.header) === 'end')
  const by = (proved.said ?? []).filter(({ operations }) => revokes.some(({ txid }) => operations.includes(txid)))
  if (status !== 2 || by.some(({ as }) => as !== 'asked')) return credentialLine(result)
  const stranger = by.map(({ signer }) => signer).join(', ')
  return `${result.id} is revoked by ${stranger} alone, whom the question names: neither its holder nor its declared issuer.`
}

/** Who signed an operation, where that was checked; of a credential, whose word it is. */
function signedAsProved({ proved }: LightResult | LightCredential): Parameters<typeof operationLines>[1] {
  const signers = new Map(proved.history?.entries.map(({ txid, signedBy }) => [txid, signedBy]))
  const words = new Map(proved.said?.flatMap(({ signer, operations }) => operations.map((txid) => [txid, signer])))
  return ({ txid }) => {
    const word = words.get(txid)
    if (word !== undefined) return `by ${word}`
    const signedBy = signers.get(txid)
    return signedBy === undefined ? 'signature not checked' : `signed by ${signedBy}`
  }
}

function provedLines({ proved, transaction = [] }: LightResult | LightCredential, flags: TrustFlags): string[] {
  const { height, hash, time, age, history } = proved
  const of = history && `${transaction.length} of ${history.count} shown`
  return [
    ...formatTable([
      ['height', `${height}  ${hash}`],
      ['time', formatDate(time)],
      ['age', `${age} s`],
      ...(of === undefined ? [] : [['operations', of] as const]),
      ['trust root', trustText(flags, proved)],
    ]),
  ]
}
