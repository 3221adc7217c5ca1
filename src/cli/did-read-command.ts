import type { Command } from 'commander'
import { NodeClient } from '../client/node-client.js'
import { decodeBase64url } from '../did/base64url.js'
import type { ResolvedTransaction, ResolveResult } from '../did/resolution.js'
import { utf8 } from '../primitives/bytes.js'
import type { CliContext } from './cli-context.js'
import { didArgument, type RestFlags, type OutputOptions, withNode, withOutput } from './command-options.js'
import { examples, report, sameOptions, formatTable } from './print-output.js'

const statusTexts = ['valid', 'expired', 'deactivated', 'does not exist'] as const

/** `didledger did resolve | history` */
export function registerDidReaders(did: Command, context: CliContext): void {
  withNode(withOutput(did.command('resolve')))
    .description('show the state and the document of a DID')
    .argument('<did>', 'a DID, or its identifier alone', didArgument)
    .option('--all', 'show every operation, newest first')
    .addHelpText('after', examples('did resolve did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'))
    .action((of: string, options: RestFlags & OutputOptions & { all?: boolean }) => resolve(context, of, options))
  withNode(withOutput(did.command('history')))
    .description('list the operations of a DID, newest first')
    .argument('<did>', 'a DID, or its identifier alone', didArgument)
    .addHelpText('after', examples('did history did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'))
    .action((of: string, options: RestFlags & OutputOptions) => history(context, of, options))
}

async function resolve(
  context: CliContext,
  did: string,
  options: RestFlags & OutputOptions & { all?: boolean },
): Promise<void> {
  const result = await new NodeClient(options).resolve(did, options.all ?? false)
  const newest = result.transaction?.find(({ operation }) => operation.header.operation !== 'deactivate')
  report(context, options, result, [
    stateLine(result),
    ...(result.transaction ?? []).flatMap(operationLines),
    ...(newest === undefined ? [] : ['', payloadText(newest)]),
    ...(result.status === 3 ? nothingThere(options) : []),
  ])
}

async function history(context: CliContext, did: string, options: RestFlags & OutputOptions): Promise<void> {
  const result = await new NodeClient(options).resolve(did, true)
  report(context, options, result, [
    stateLine(result),
    ...(result.transaction ?? []).flatMap(operationLines),
    ...(result.status === 3 ? nothingThere(options) : []),
  ])
}

function stateLine({ did, status }: ResolveResult): string {
  return status === 3 ? `${did} does not exist on this chain.` : `${did} is ${statusTexts[status]}.`
}

export function operationLines({ txid, timestamp, operation }: ResolvedTransaction): string[] {
  const { header, proof } = operation
  return formatTable([[header.operation.padEnd(10), `${timestamp}  ${txid}  signed by ${proof.verificationMethod}`]])
}

function nothingThere(options: RestFlags): string[] {
  return ['', `An account registers its own DID with: npx didledger did create${sameOptions(options)}`]
}

/** The JSON in a payload, formatted for text output. */
export function payloadText({ operation }: ResolvedTransaction): string {
  const bytes = decodeBase64url(operation.payload)
  const text = bytes && utf8(bytes)
  try {
    return JSON.stringify(JSON.parse(text ?? ''), null, 2)
  } catch {
    return `(the payload is not readable: ${operation.payload.slice(0, 80)})`
  }
}
