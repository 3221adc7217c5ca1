import type { Command } from 'commander'
import { hasName } from '../../base/primitives/did-name.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { decodeBase64url } from '../../identity/did/base64url.js'
import type { ResolvedTransaction, ResolveResult } from '../../identity/did/resolution.js'
import { utf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { effectOf } from '../../base/primitives/did-operation.js'
import type { CliContext } from './cli-context.js'
import {
  countOption,
  didArgument,
  heightOption,
  type OutputOptions,
  type RestFlags,
  withNode,
  withOutput,
} from './command-options.js'
import { examples, formatTable, jsonLines, report, sameOptions } from './print-output.js'
import { SilentExit } from './silent-exit.js'

const statusTexts = ['valid', 'expired', 'deactivated', 'does not exist'] as const

interface ReadOptions extends RestFlags, OutputOptions {}

interface VersionOptions {
  readonly versionId?: string
  readonly versionTime?: string
  readonly versionHeight?: number
}

interface ResolveOptions extends ReadOptions, VersionOptions {
  readonly all?: boolean
  readonly exitStatus?: boolean
}

interface SliceOptions {
  readonly skip?: number
  readonly limit?: number
}

/** `didledger did resolve | history` */
export function registerDidReaders(did: Command, context: CliContext): void {
  withNode(withOutput(did.command('resolve')))
    .description('show the state and the document of a DID')
    .argument('<did>', 'a DID, or its identifier alone', didArgument)
    .option('--all', 'show every operation, newest first')
    .option('--version-id <txid>', 'show the version that this transaction made')
    .option('--version-time <time>', 'show the version of that time, such as 2026-01-31T12:00:00Z')
    .option('--version-height <height>', 'show the version as of that block', heightOption)
    .option('--exit-status', 'exit with 1 unless the DID is valid')
    .addHelpText(
      'after',
      examples(
        'did resolve did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc',
        'did resolve did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc --version-time 2026-01-31T12:00:00Z',
      ),
    )
    .action((of: string, options: ResolveOptions) => resolve(context, of, options))
  withNode(withOutput(did.command('history')))
    .description('list the operations of a DID, newest first')
    .argument('<did>', 'a DID, or its identifier alone', didArgument)
    .option('--skip <n>', 'leave out that many first', countOption)
    .option('--limit <n>', 'list at most that many; 100 with --skip alone', countOption)
    .addHelpText('after', examples('did history did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc --limit 10'))
    .action((of: string, options: ReadOptions & SliceOptions) => history(context, of, options))
}

async function resolve(context: CliContext, did: string, options: ResolveOptions): Promise<void> {
  const { all = false, versionId, versionTime, versionHeight } = options
  const asked = { all, ...defined({ versionId, versionTime, versionHeight }) }
  const result = await new NodeClient(options).resolve(did, asked)
  const newest = result.transaction?.find(({ operation }) => effectOf(operation.header) !== 'end')
  report(context, options, result, [
    stateLine(result),
    ...ageLines(result),
    ...(result.transaction?.length === 0 ? ['It has no such version.'] : []),
    ...operationLines(result),
    ...givenUpLines(result),
    ...(newest === undefined ? [] : ['', ...payloadLines(newest)]),
    ...(result.status === 3 ? nothingThere(did, options) : []),
  ])
  if (options.exitStatus && result.status !== 0) throw new SilentExit()
}

async function history(context: CliContext, did: string, options: ReadOptions & SliceOptions): Promise<void> {
  const { skip, limit } = options
  const result = await new NodeClient(options).resolve(did, { all: true, context: true, ...defined({ skip, limit }) })
  report(context, options, result, [
    stateLine(result),
    ...ageLines(result),
    ...operationLines(result),
    ...givenUpLines(result),
    ...sliceLine(result),
    ...(result.status === 3 ? nothingThere(did, options) : []),
  ])
}

/** The state of a DID in a sentence. */
export function stateLine({ did, status }: Pick<ResolveResult, 'did' | 'status'>): string {
  return status === 3 ? `${did} does not exist on this chain.` : `${did} is ${statusTexts[status]}.`
}

/** How old an answer is of a node that is not in step with its chain. */
export function ageLines({ outOfStep }: Pick<ResolveResult, 'outOfStep'>): string[] {
  if (outOfStep === undefined) return []
  const { height, age } = outOfStep
  return [`That is as of height ${height}, ${age} s ago: the node is not in step with its chain.`]
}

/** An operation a line, with its block where the answer has a context. */
export function operationLines(
  { transaction = [], context }: Pick<ResolveResult, 'transaction' | 'context'>,
  signed = signedAsSaid,
): string[] {
  return formatTable(
    transaction.map((one, i) => {
      const { txid, timestamp, operation } = one
      const at = context?.at[i]
      const confirmations = at && `${at.confirmations} ${at.confirmations === 1 ? 'confirmation' : 'confirmations'}`
      const block = at === undefined ? '' : `height ${at.height}  ${confirmations}  `
      return [operation.header.operation.padEnd(10), `${timestamp}  ${block}${txid}  ${signed(one)}`]
    }),
  )
}

/** An operation a line of those whose transactions the node does not have any more. */
function givenUpLines({ givenUp = [] }: Pick<ResolveResult, 'givenUp'>): string[] {
  if (givenUp.length === 0) return []
  const rows = givenUp.map(({ operation, timestamp, height, txid, payloadHash }): [string, string] => {
    return [operation.padEnd(10), `${timestamp}  height ${height}  ${txid}  payload SHA-256 ${payloadHash}`]
  })
  return ['The node gave up these transactions, since later ones superseded their documents:', ...formatTable(rows)]
}

/** Signer of an operation, according to the node. */
function signedAsSaid({ operation: { proof } }: ResolvedTransaction): string {
  return `signed by ${proof.verificationMethod}`
}

/** Which part of a history is shown. */
function sliceLine({ total, start = 0, count = 0 }: ResolveResult): string[] {
  if (total === undefined) return []
  const part = count === 0 ? 'none' : `${start + 1} to ${start + count}`
  return [`${part} of ${total} operations, the newest is 1.`]
}

function nothingThere(did: string, options: RestFlags): string[] {
  const name = hasName(did) ? did.slice(did.lastIndexOf(':') + 1) : undefined
  return name === undefined
    ? ['', `An account registers its own DID with: npx didledger did create${sameOptions(options)}`]
    : ['', `An account registers the name with: npx didledger did name create ${name}${sameOptions(options)}`]
}

/** The JSON in a payload, formatted for text output. */
export function payloadLines({ operation }: ResolvedTransaction): string[] {
  const bytes = decodeBase64url(operation.payload)
  const text = bytes && utf8(bytes)
  try {
    return jsonLines(JSON.parse(text ?? ''))
  } catch {
    return [`(the payload is not readable: ${operation.payload.slice(0, 80)})`]
  }
}
