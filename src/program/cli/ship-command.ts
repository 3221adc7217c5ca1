import type { Command } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import { silentLog, systemEnv } from '../../base/runtime/process-env.js'
import { downOrThrow, EngineDown } from '../../ledger/engine/engine-down.js'
import { shardsAmong } from '../../ledger/engine/placement.js'
import type { PostgresEngine } from '../../ledger/engine/postgres-engine.js'
import type { ShardState } from '../../ledger/engine/row-engine.js'
import { shipBacklog } from '../../ledger/shipping/shipping-options.js'
import { DataDirectory } from '../../ledger/storage/directory.js'
import { openLedger, withVerifier } from '../../node/open-ledger.js'
import { Progress } from '../console/progress.js'
import { defaultDataDir } from './chain-data-dir.js'
import type { CliContext } from './cli-context.js'
import { type OutputOptions, type QuietOptions, withOutput, withQuiet } from './command-options.js'
import { heldSpec } from './directory-spec.js'
import { loadSpec } from './load-spec.js'
import { openConsole } from './open-log.js'
import { examples, formatTable, report } from './print-output.js'
import { namingTheRepair } from './repair-hint.js'

interface LoadFlags extends QuietOptions {
  readonly genesis?: string
  readonly dataDir?: string
}

const urlText = 'URL of each shard, in their order: postgres://user@host:5432/database'

/** `didledger ship` */
export function registerShip(program: Command, context: CliContext): void {
  const ship = program.command('ship').description('rows of a node in PostgreSQL, in one or several shards')
  withQuiet(ship.command('load'))
    .description('fill shards with all rows of a data directory, in the place of those that they have')
    .argument('<url...>', urlText)
    .option('--genesis <name|file>', 'chain spec: devnet, localnet, pow or a file (default: what the directory holds)')
    .option('--data-dir <directory>', 'the data directory (default: that of "start" for the chain of --genesis)')
    .addHelpText('after', examples('ship load postgres://didledger@db1/didledger --data-dir ./data'))
    .action((urls: string[], flags: LoadFlags) => load(context, urls, flags))
  withOutput(ship.command('status'))
    .description(
      'print the block of each shard, and when it got the last rows; exit code 1 if one has none, or does not answer',
    )
    .argument('<url...>', urlText)
    .addHelpText('after', examples('ship status postgres://didledger@db1/didledger'))
    .action((urls: string[], flags: OutputOptions) => status(context, urls, flags))
}

async function load(context: CliContext, urls: readonly string[], flags: LoadFlags): Promise<void> {
  const { genesis } = flags
  const named = genesis === undefined ? undefined : loadSpec(genesis)
  const dataDir = flags.dataDir ?? (named && defaultDataDir(context, named))
  if (dataDir === undefined) throw new UserError('where is the chain? Give --data-dir DIRECTORY', 2)
  const env = systemEnv(silentLog)
  const console = openConsole(context, flags)
  const progress = new Progress(console)
  const { fillAll } = await import('../../ledger/shipping/fill-all.js')
  const filled = await withEngine(urls, (engine) =>
    namingTheRepair({ ...defined({ genesis }), dataDir }, async () => {
      const directory = await DataDirectory.existing(dataDir)
      const spec = named ?? (await heldSpec(dataDir))
      return withVerifier(env, async (verifier) => {
        const ledger = await openLedger(spec, directory, verifier, env, { ships: { backlog: shipBacklog } })
        try {
          const onRows = (done: number) => progress.show({ stage: 'filling', unit: 'rows', done })
          const parts = { database: ledger.database, engine, genesis: genesisBlock(spec).header.hash }
          return await fillAll({ ...parts, stream: env.random.bytes(16), onRows })
        } finally {
          await ledger.chain.close().finally(() => ledger.database.close())
        }
      })
    }),
  ).finally(() => {
    progress.end()
    console?.close()
  })
  const { rows, bytes, height } = filled
  report(context, flags, { shards: urls.length, rows, bytes, height }, [
    `filled ${urls.length === 1 ? 'the shard' : `${urls.length} shards`} with ${rows} rows, ${bytes} bytes, as of block ${height}`,
  ])
}

async function status(context: CliContext, urls: readonly string[], flags: OutputOptions): Promise<void> {
  const shards = await withEngine(urls, async (engine) => {
    const states = await Promise.all(urls.map((_, shard) => engine.state(shard).catch(downOrThrow)))
    const isWide =
      (shardsAmong(states.map((state) => (state instanceof EngineDown ? undefined : state))) ?? urls.length) <
      urls.length
    return states.map((state) => shownState(state, isWide))
  })
  const highest = Math.max(...shards.map((shard) => shard.height ?? 0))
  const rows = shards.map((shard, number) => [String(number), shard.failure ?? lineOf(shard, highest)] as const)
  report(context, flags, { shards }, formatTable(rows))
  const missing = shards.flatMap(({ failure }, number) => (failure === undefined ? [] : [{ number, failure }]))
  if (missing.length > 0) throw new UserError(missingText(missing))
}

/** Databases of the list that have no shard, or do not answer. */
function missingText(missing: readonly { readonly number: number; readonly failure: string }[]): string {
  const [first] = missing
  if (missing.length === 1) return `database ${first?.number} of the list shows no shard: ${first?.failure}`
  return `databases ${missing.map(({ number }) => number).join(', ')} of the list show no shards`
}

/** A shard as `ship status` shows it: all but `failure`, or that alone. */
interface ShownShard {
  readonly failure?: string
  /** Its part of the rows. */
  readonly shard?: number
  readonly shards?: number
  /** False while it has out-of-date rows of the larger part that it had. */
  readonly swept?: boolean
  readonly height?: number
  readonly hash?: string
  readonly sequence?: number
  readonly epoch?: number
  readonly stream?: string
  /** Seconds since the shipper was there. */
  readonly age?: number
}

function lineOf(
  { height = 0, shard, shards, swept, sequence, epoch, age, stream }: ShownShard,
  highest: number,
): string {
  const parts = [
    `block ${height}`,
    ...(height === highest ? [] : [`${highest - height} behind`]),
    `shard ${shard} of ${shards}`,
    ...(swept === true ? [] : ['has rows from before the division']),
    `batch ${sequence}`,
    `epoch ${epoch}`,
    `${age} s ago`,
    `stream ${stream}`,
  ]
  return parts.join(', ')
}

/** `isWide`: there are fewer shards than databases, so some of them are empty for now. */
function shownState(state: ShardState | EngineDown | undefined, isWide: boolean): ShownShard {
  if (state instanceof EngineDown) return { failure: state.message }
  if (state === undefined) {
    const hint = isWide ? 'start the node that ships with this list' : 'fill it with "didledger ship load"'
    return { failure: `it has no rows: ${hint}` }
  }
  const { height, hash, number, shards, sequence, epoch, stream, written, now } = state
  const age = Math.round((now - written) / 1000)
  const swept = state.swept === shards
  return { height, hash: displayHash(hash), shard: number, shards, swept, sequence, epoch, stream, age }
}

/** Runs with the shards of URLs; what does not answer is told without a stack. */
async function withEngine<T>(urls: readonly string[], run: (engine: PostgresEngine) => Promise<T>): Promise<T> {
  const { PostgresEngine } = await import('../../ledger/engine/postgres-engine.js')
  const engine = await PostgresEngine.open(urls)
  try {
    return await run(engine)
  } catch (error) {
    if (error instanceof EngineDown) throw new UserError(error.message)
    throw error
  } finally {
    await engine.close()
  }
}
