import { createReadStream } from 'node:fs'
import type { Command } from 'commander'
import { formatAmount } from '../../base/primitives/amount.js'
import type { Verifier } from '../../base/crypto/verifier.js'
import { UserError } from '../../base/errors/rule-error.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Spec } from '../../base/primitives/spec.js'
import { silentLog, systemEnv } from '../../base/runtime/process-env.js'
import type { Chain } from '../../ledger/chain/chain.js'
import { type CheckedState, checkState } from '../../ledger/state/check-state.js'
import { readParts, stateFile } from '../../ledger/state/parts.js'
import { latestState, stateParts } from '../../ledger/state/write-state.js'
import { isInUse } from '../../ledger/storage/care/level/lock.js'
import type { DataDirectory } from '../../ledger/storage/directory.js'
import { inUse } from '../../ledger/storage/failure.js'
import type { joinState, JoinStep } from '../../node/join-state.js'
import { withVerifier } from '../../node/open-ledger.js'
import { ageWarning, joinUnits, takenText } from '../../node/taken-state.js'
import type { Progress } from '../console/progress.js'
import type { CliContext } from './cli-context.js'
import { type QuietOptions, withOutput } from './command-options.js'
import { specOfState } from './directory-spec.js'
import { loadSpec } from './load-spec.js'
import { onFile } from '../../node/on-file.js'
import { inputPath, writeOutput } from './named-files.js'
import { examples, formatTable, report } from './print-output.js'

/** Files of a state: all coins, DIDs and credentials of a chain after one of its blocks. */

interface CheckFlags extends QuietOptions {
  readonly genesis?: string
}

export function registerStateCheck(state: Command, context: CliContext): void {
  withOutput(state.command('check <file>'))
    .description('check a file of a state against its blocks, and their validators or work; - is standard input')
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
  const output = await writeOutput(context, file, stateFile(stateParts(chain, { state, committing })))
  const shown = { file, height: state.header.height, hash: state.header.id, committing: committing.header.height }
  report(output, options, shown, [
    `wrote the state after block ${shown.height} to ${file}; block ${shown.committing} commits to its coins`,
  ])
}

/** Tools for taking a state. */
interface StateTools extends Pick<Parameters<typeof joinState>[1], 'spec' | 'env'> {
  /** The data directory, as the messages name it. */
  readonly dataDir: string
  readonly directory: DataDirectory
  readonly verifier: Verifier
  readonly progress: Progress
  /** Opens the chain as a start does, and closes it. */
  open(): Promise<void>
}

/** Begins a data directory without a chain with the state in a file, as a start does. */
export async function readState(
  context: CliContext,
  tools: StateTools,
  options: QuietOptions,
  file: string,
): Promise<void> {
  const { spec, env, directory, verifier, progress, dataDir } = tools
  const { fromPeers, joinState } = await import('../../node/join-state.js')
  const onStep = (step: JoinStep) => progress.show({ ...step, unit: joinUnits[step.stage] })
  // The name of a file here, whatever a start takes it for.
  const from = file === fromPeers ? `./${file}` : file
  const state = await joinState(from, { spec, env, onStep }, directory, verifier)
  if (state === undefined) throw await chainThere(tools)
  await tools.open()
  const warning = ageWarning(spec, state, env.clock)
  report(context, options, { ...shownOf(spec, state), dataDir }, [
    takenText(spec, file, state),
    ...(warning === undefined ? [] : [warning]),
    ...countLines(state),
    `"start" continues in ${dataDir}: peers bring the blocks above, and those below, which it verifies`,
  ])
}

/** The error for a directory that needs no state. */
async function chainThere({ dataDir, directory }: StateTools): Promise<UserError> {
  if (await isInUse(directory.database)) return inUse(directory.database)
  return new UserError(
    `${dataDir} has a chain, and a state begins one: name an empty directory by --data-dir, or continue with that chain by "start"`,
  )
}

async function check(context: CliContext, named: string, options: CheckFlags): Promise<void> {
  const file = inputPath(named)
  const found = await onFile(file, async () => {
    const spec = options.genesis === undefined ? await specOfState(file) : loadSpec(options.genesis)
    const parts = readParts(createReadStream(file))
    const env = systemEnv(silentLog)
    const check = (verifier: Verifier) => checkState(parts, { spec, verifier, clock: env.clock })
    return withVerifier(env, async (verifier) => ({ spec, ...(await check(verifier)) }))
  })
  const { spec, height, committing } = found
  const behind = spec.hasValidators ? 'its validators confirm' : `work of ${found.work} hashes alone stands behind`
  report(context, options, { ...shownOf(spec, found), ok: true }, [
    `the state of ${spec.name} after block ${height} is right: ${behind} block ${committing.height} of ${new Date(committing.time * 1000).toISOString()}, which commits to it`,
    ...countLines(found),
  ])
}

/** A state as JSON. */
function shownOf({ name }: Spec, { height, hash, committing, ...state }: CheckedState) {
  const block = { height: committing.height, hash: committing.id, time: committing.time }
  return { name, height, hash: displayHash(hash), committing: block, ...countsOf(state) }
}

function countsOf({ dids, credentials, coins, sum, transactions }: StateCounts) {
  return { dids, credentials, coins, sum: formatAmount(sum), transactions }
}

type StateCounts = Pick<CheckedState, 'dids' | 'credentials' | 'coins' | 'sum' | 'transactions'>

function countLines(state: StateCounts): string[] {
  return formatTable(Object.entries(countsOf(state)).map(([name, value]) => [name, String(value)]))
}
