import { rename, rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { Chain } from '../chain/chain.js'
import { copyUnmined, replay, stateDigest, verifyChain } from '../chain/replay.js'
import { createVerifierPool } from '../crypto/pool.js'
import { SignatureCache } from '../crypto/signature-cache.js'
import type { Verifier } from '../crypto/verifier.js'
import type { Env } from '../env.js'
import { UserError } from '../errors.js'
import { openLedger } from '../node.js'
import type { Spec } from '../primitives/spec.js'
import { Database, StorageError } from '../storage/database.js'
import { DataDirectory } from '../storage/directory.js'
import { processLog, systemEnv } from '../system.js'
import type { CliContext } from './context.js'
import { type OutputOptions, withChain, withOutput } from './options.js'
import { examples, report, table } from './output.js'
import { loadSpec } from './spec.js'

interface ChainOptions extends OutputOptions {
  readonly genesis: string
  readonly dataDir: string
}

interface Tools {
  readonly spec: Spec
  readonly directory: DataDirectory
  readonly verifier: Verifier
  readonly env: Env
}

export function registerChain(program: Command, context: CliContext): void {
  const chain = program.command('chain').description('look after the chain in a data directory that no node is using')
  const command = (name: string, description: string, run: (tools: Tools, options: ChainOptions) => Promise<void>) =>
    withOutput(withChain(chain.command(name)))
      .description(description)
      .requiredOption('--data-dir <directory>', 'the data directory')
      .addHelpText('after', examples(`chain ${name} --data-dir ./devnet`))
      .action((options: ChainOptions) => withTools(options, (tools) => run(tools, options)))

  command('info', 'height, tip and state digest', async (tools, options) => {
    await withLedger(tools, async (ledger) => {
      const { header } = ledger.tip
      const digest = await stateDigest(ledger.database)
      const info = { name: tools.spec.name, height: header.height, tip: header.id, state: digest }
      report(context, options, info, table(Object.entries(info).map(([name, value]) => [name, String(value)])))
    })
  })

  command('verify', 'replay every block and compare every row', async (tools, options) => {
    await withLedger(tools, async (ledger) => {
      const scratch = `${tools.directory.database}.verify`
      await rm(scratch, { recursive: true, force: true })
      const wrong = await withChainAt(tools, scratch, (copy) => verifyChain(ledger, copy))
      await rm(scratch, { recursive: true, force: true })
      if (wrong !== undefined)
        throw new UserError(`${wrong}; run: didledger chain reindex --data-dir ${options.dataDir}`)
      const { height, id: tip } = ledger.tip.header
      const state = await stateDigest(ledger.database)
      report(context, options, { height, tip, state, ok: true }, [`all blocks up to height ${height} are right`])
    })
  })

  command('reindex', 'build everything again from the blocks that can still be read', async (tools, options) => {
    const { directory } = tools
    const rebuilt = `${directory.database}.new`
    await rm(rebuilt, { recursive: true, force: true })
    const source = await openDamaged(directory)
    const result = await withChainAt(tools, rebuilt, async (target) => {
      const gap = await replay(source, target)
      await copyUnmined(source, target)
      return { gap, height: target.tip.header.height, tip: target.tip.header.id }
    }).finally(() => source.close())
    const aside = `${directory.database}.damaged-${Math.floor(context.clock.now() / 1000)}`
    await rename(directory.database, aside)
    await rename(rebuilt, directory.database)
    const { gap, height, tip } = result
    report(context, options, { height, tip, gap: gap ?? null, old: aside }, [
      `rebuilt up to height ${height}; the old database is in ${aside}`,
      ...(gap === undefined ? [] : [`height ${gap.height} could not be read: ${gap.reason}`]),
    ])
  })
}

async function withTools(options: ChainOptions, run: (tools: Tools) => Promise<void>): Promise<void> {
  const env = systemEnv(processLog('warn'))
  const verifier = createVerifierPool({ log: env.log })
  try {
    const directory = await DataDirectory.existing(options.dataDir)
    await run({ spec: loadSpec(options.genesis), directory, verifier, env })
  } finally {
    await verifier.close()
  }
}

async function withLedger(
  { spec, directory, verifier, env }: Tools,
  run: (chain: Chain) => Promise<void>,
): Promise<void> {
  const { chain, database } = await openLedger(spec, directory, verifier, env)
  try {
    await run(chain)
    await chain.close()
  } finally {
    await database.close()
  }
}

/** Runs with a chain of its own in a new database. */
async function withChainAt<T>(
  { spec, verifier, env }: Tools,
  location: string,
  run: (chain: Chain) => Promise<T>,
): Promise<T> {
  const database = await Database.open(location)
  try {
    const signatures = new SignatureCache()
    const chain = await Chain.open({ spec, database, verifier, signatures, clock: env.clock, log: env.log })
    const result = await run(chain)
    await chain.close()
    return result
  } finally {
    await database.close()
  }
}

/** A database that may have lost its own index of files, which LevelDB can build again. */
async function openDamaged(directory: DataDirectory): Promise<Database> {
  try {
    return await Database.open(directory.database)
  } catch (error) {
    if (!(error instanceof StorageError) || !error.repairable) throw error
    await Database.repair(directory.database)
    return Database.open(directory.database)
  }
}
