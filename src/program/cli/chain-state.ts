import { createReadStream } from 'node:fs'
import type { Command } from 'commander'
import { formatAmount } from '../../base/primitives/amount.js'
import type { Verifier } from '../../base/crypto/verifier.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { silentLog, systemEnv } from '../../base/runtime/process-env.js'
import type { Chain } from '../../ledger/chain/chain.js'
import { checkState } from '../../ledger/state/check-state.js'
import { readParts, stateFile } from '../../ledger/state/parts.js'
import { latestState, stateParts } from '../../ledger/state/write-state.js'
import { replaceFile } from '../../ledger/storage/replace-file.js'
import { withVerifier } from '../../node/open-ledger.js'
import type { CliContext } from './cli-context.js'
import { type QuietOptions, withOutput } from './command-options.js'
import { specOfState } from './directory-spec.js'
import { loadSpec } from './load-spec.js'
import { onFile } from '../../node/on-file.js'
import { examples, formatTable, report } from './print-output.js'

/** Files of a state: all coins, DIDs and credentials of a chain after one of its blocks. */

interface CheckFlags extends QuietOptions {
  readonly genesis?: string
}

export function registerStateCheck(state: Command, context: CliContext): void {
  withOutput(state.command('check <file>'))
    .description('check a file of a state against its blocks, and their validators or work; no node is asked')
    .option(
      '--genesis <name|file>',
      'chain spec: devnet, localnet, pow or a file (default: the shipped chain it is of)',
    )
    .addHelpText('after', examples('chain state check state.dls'))
    .action((file: string, options: CheckFlags) => check(context, file, options))
}

/** Writes the latest state that a chain can write into a file. */
export async function writeState(
  context: CliContext,
  chain: Chain,
  file: string,
  options: QuietOptions,
): Promise<void> {
  const { state, committing } = latestState(chain)
  await onFile(file, () => replaceFile(file, stateFile(stateParts(chain, { state, committing })), 0o644))
  const shown = { file, height: state.header.height, hash: state.header.id, committing: committing.header.height }
  report(context, options, shown, [
    `wrote the state after block ${shown.height} to ${file}; block ${shown.committing} commits to its coins`,
  ])
}

async function check(context: CliContext, file: string, options: CheckFlags): Promise<void> {
  const found = await onFile(file, async () => {
    const spec = options.genesis === undefined ? await specOfState(file) : loadSpec(options.genesis)
    const parts = readParts(createReadStream(file))
    const env = systemEnv(silentLog)
    const check = (verifier: Verifier) => checkState(parts, { spec, verifier, clock: env.clock })
    return withVerifier(env, async (verifier) => ({ spec, ...(await check(verifier)) }))
  })
  const { spec, height, hash, committing, dids, credentials, coins, sum, transactions } = found
  const shown = {
    name: spec.name,
    height,
    hash: displayHash(hash),
    committing: { height: committing.height, hash: committing.id, time: committing.time },
    dids,
    credentials,
    coins,
    sum: formatAmount(sum),
    transactions,
    ok: true,
  }
  const behind = spec.hasValidators ? 'its validators confirm' : `work of ${found.work} hashes alone stands behind`
  const rows = Object.entries({ dids, credentials, coins, sum: shown.sum, transactions })
  report(context, options, shown, [
    `the state of ${spec.name} after block ${height} is right: ${behind} block ${committing.height} of ${new Date(committing.time * 1000).toISOString()}, which commits to it`,
    ...formatTable(rows.map(([name, value]) => [name, String(value)])),
  ])
}
