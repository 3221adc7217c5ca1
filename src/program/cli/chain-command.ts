import { createReadStream, existsSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { exportBlocks, importBlocks } from '../../ledger/chain/block-file.js'
import { Chain } from '../../ledger/chain/chain.js'
import {
  copyUnmined,
  highestKnown,
  knownLacking,
  replay,
  stateDigest,
  verifyChain,
} from '../../ledger/chain/replay-chain.js'
import { verifyPruned } from '../../ledger/chain/verify-pruned.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { Progress, type Step } from '../console/progress.js'
import { SignatureCache } from '../../base/crypto/signature-cache.js'
import type { Verifier } from '../../base/crypto/verifier.js'
import { UserError } from '../../base/errors/rule-error.js'
import { Mempool } from '../../ledger/mempool/mempool.js'
import { openLedger, type OpenStep, stepUnits, withVerifier } from '../../node/open-ledger.js'
import { defined } from '../../base/primitives/defined.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { CheckpointJson } from '../../identity/proofs/make-trust.js'
import type { Env } from '../../base/runtime/env.js'
import { silentLog, systemEnv } from '../../base/runtime/process-env.js'
import { Database } from '../../ledger/storage/database.js'
import { DataDirectory } from '../../ledger/storage/directory.js'
import { type LackingHeights, lackText } from '../../ledger/storage/rows/prune-rows.js'
import { onOwnFile } from '../../ledger/storage/failure.js'
import type { FileDamage } from '../../ledger/storage/care/level/level-files.js'
import { withLock } from '../../ledger/storage/care/level/lock.js'
import { onFile } from '../../node/on-file.js'
import { backUp, directoryOfNode } from './chain-backup.js'
import { blocksIn, type ChainSource, stateIn } from './chain-source.js'
import { readState, registerStateCheck, writeState } from './chain-state.js'
import { checkpointAt, checkpointOfNode } from './chain-checkpoint.js'
import type { CliContext } from './cli-context.js'
import { heightOption, type QuietOptions, type RestFlags, withNode, withOutput, withQuiet } from './command-options.js'
import { restOf } from './owner-token.js'
import { namingTheRepair, reindexCommand } from './repair-hint.js'
import { defaultDataDir } from './chain-data-dir.js'
import { heldSpec } from './directory-spec.js'
import { loadSpec } from './load-spec.js'
import { openConsole } from './open-log.js'
import { inputPath, writeOutput } from './named-files.js'
import { examples, report, formatTable } from './print-output.js'

interface ChainOptions extends QuietOptions {
  readonly genesis?: string
  readonly dataDir?: string
}

interface CheckpointOptions {
  readonly height?: number
  readonly rest?: string
}

interface Tools {
  /** The data directory, as the messages name it. */
  readonly dataDir: string
  readonly spec: Spec
  readonly directory: DataDirectory
  readonly verifier: Verifier
  readonly env: Env
  /** Shows how far the work is. */
  readonly progress: Progress
}

type Ledger = Awaited<ReturnType<typeof openLedger>>

export function registerChain(program: Command, context: CliContext): void {
  const chain = program.command('chain').description('look after the chain in a data directory')
  const spoken = (made: Command, description: string, example: string) =>
    (made.name() === 'info' ? withOutput : withQuiet)(made)
      .description(description)
      .option(
        '--genesis <name|file>',
        'chain spec: devnet, localnet, pow or a file (default: what the directory holds)',
      )
      .option('--data-dir <directory>', 'the data directory (default: that of "start" for the chain of --genesis)')
      .addHelpText('after', examples(`chain ${example} --data-dir ./devnet`))
  const command = (usage: string, description: string, example = usage) =>
    spoken(chain.command(usage), description, example)

  command('info', 'height, tip and state digest').action((options: ChainOptions) =>
    withTools(context, options, (tools) => info(context, tools, options)),
  )
  command('checkpoint', 'print a block that light resolvers may believe: a Checkpoint, in JSON')
    .option(
      '--height <height>',
      'the block (default: the tip; without validators the highest one that no node gives up)',
      heightOption,
    )
    .option('--rest <url>', 'ask a running node of your own, instead of opening its directory')
    .action((options: ChainOptions & CheckpointOptions) => checkpoint(context, options))
  command('verify', 'replay every block and compare every row').action((options: ChainOptions) =>
    withTools(context, options, (tools) => verify(context, tools, options)),
  )
  command('reindex', 'build everything again from the blocks that can still be read').action((options: ChainOptions) =>
    withTools(context, options, (tools) => reindex(context, tools, options)),
  )
  withNode(
    command(
      'backup <directory>',
      'copy the chain into a new data directory, also while a node is using it',
      'backup ./copy',
    ),
  ).action((to: string, options: ChainOptions & RestFlags, self: Command) => backup(context, options, to, self))
  command(
    'export <file>',
    'write the blocks of the active chain to a file; - is standard output',
    'export blocks.bin',
  ).action((file: string, options: ChainOptions) =>
    withTools(context, options, (tools) => exportTo(context, tools, options, file)),
  )
  const state = chain.command('state').description('files of all coins, DIDs and credentials after a block')
  spoken(
    state.command('write <file>'),
    'write the latest state whose coins a block commits to; - is standard output',
    'state write state.dls',
  ).action((file: string, options: ChainOptions) =>
    withTools(context, options, (tools) =>
      withLedger(tools, ({ chain: one }) => writeState(context, one, file, options)),
    ),
  )
  registerStateCheck(state, context)
  spoken(
    state.command('read <file>'),
    'begin a data directory with the state in a file, as "start --state-from" does; - is standard input',
    'state read state.dls',
  ).action((named: string, options: ChainOptions) => {
    const file = inputPath(named)
    return withTools(
      context,
      options,
      (tools) => readState(context, { ...tools, open: () => withLedger(tools, async () => {}) }, options, file),
      stateIn(file),
    )
  })
  command(
    'import <file>',
    'take the blocks of a file, as if a peer had sent them; - is standard input',
    'import blocks.bin',
  ).action((named: string, options: ChainOptions) => {
    const file = inputPath(named)
    return withTools(context, options, (tools) => importFrom(context, tools, options, file), blocksIn(file))
  })
}

/** Copies the chain of a directory, or, where --rest alone says which, of the node there. */
async function backup(
  context: CliContext,
  options: ChainOptions & RestFlags,
  to: string,
  self: Command,
): Promise<void> {
  const { genesis, dataDir: given } = options
  const isNamed = self.getOptionValueSource('rest') !== 'cli' || given !== undefined || genesis !== undefined
  const dataDir = isNamed ? placeOf(context, options).dataDir : await directoryOfNode(context, options.rest)
  const rest = await restOf(self, { ...options, dataDir })
  await backUp(context, { ...options, rest, dataDir }, to, (use) =>
    withTools(context, { ...options, dataDir }, (tools) => withLedger(tools, ({ database }) => use(database))),
  )
}

async function info(context: CliContext, tools: Tools, options: ChainOptions): Promise<void> {
  await withLedger(tools, async ({ chain }) => {
    const { header } = chain.tip
    const state = await stateDigest(chain.database)
    const shown = { name: tools.spec.name, height: header.height, tip: header.id, state }
    report(context, options, shown, formatTable(Object.entries(shown).map(([name, value]) => [name, String(value)])))
  })
}

async function checkpoint(context: CliContext, options: ChainOptions & CheckpointOptions): Promise<void> {
  const { height, rest, dataDir, genesis } = options
  const print = (found: CheckpointJson) => context.out(`${JSON.stringify(found, null, 2)}\n`)
  if (rest === undefined) {
    return withTools(context, options, (tools) =>
      withLedger(tools, async ({ chain }) => print(checkpointAt(chain, tools.spec, height))),
    )
  }
  if (dataDir !== undefined || genesis !== undefined) {
    throw new UserError('--rest asks a node, and --data-dir and --genesis name a directory: choose one', 2)
  }
  print(await checkpointOfNode(new NodeClient({ rest }), height))
}

async function verify(context: CliContext, tools: Tools, options: ChainOptions): Promise<void> {
  await withLedger(tools, async ({ chain }) => {
    if (lackText(lackingOf(chain)) !== undefined) return verifyKept(context, tools, options, chain)
    const scratch = `${tools.directory.database}.verify`
    await rm(scratch, { recursive: true, force: true })
    const compare = (copy: Chain) =>
      verifyChain(chain, copy, (step) => tools.progress.show({ ...step, unit: step.stage }))
    const wrong = await withChainAt(tools, scratch, compare, { durable: false }).finally(() =>
      rm(scratch, { recursive: true, force: true }),
    )
    if (wrong !== undefined) {
      throw new UserError(`${wrong}; run: ${reindexCommand(options.genesis, tools.dataDir)}`)
    }
    const { height, id: tip } = chain.tip.header
    // Only the JSON has the digest, which takes a look at all coins and DIDs again.
    const value = options.json && { height, tip, state: await stateDigest(chain.database), ok: true }
    report(context, options, value, [`all blocks up to height ${height} are right`])
  })
}

/** Verifies a chain that prunes. */
async function verifyKept(context: CliContext, tools: Tools, options: ChainOptions, chain: Chain): Promise<void> {
  const lacking = lackingOf(chain)
  const wrong = await verifyPruned(chain, (step) => tools.progress.show({ ...step, unit: step.stage }))
  if (wrong !== undefined) throw new UserError(`${wrong}; ${cannotRebuild(lacking)}`)
  const { height, id: tip } = chain.tip.header
  const { pruned, superseded } = lacking
  const first = Math.max(pruned, superseded) + 1
  const blocks = height >= first ? `, and blocks ${first} to ${height} are right` : ''
  const heights = { ...(pruned > 0 && { pruned }), ...(superseded > 0 && { superseded }) }
  report(context, options, { height, tip, state: await stateDigest(chain.database), ...heights, ok: true }, [
    `every row can be read, all headers up to height ${height} follow each other${blocks}`,
    ...uncheckedLines(lacking),
  ])
}

/** Lines about what cannot be checked of a chain that lacks transactions. */
function uncheckedLines({ pruned, joined, superseded }: LackingHeights): string[] {
  const why = joined === pruned ? 'it began with the state after them' : 'they have given up their transactions'
  return [
    pruned > 0 && `the chain is pruned: what blocks 1 to ${pruned} changed cannot be checked here, since ${why}`,
    superseded > pruned &&
      `documents superseded up to height ${superseded} have been given up: of the blocks up to it the hashes are right, and what they ` +
        'changed cannot be checked here',
  ].filter((line) => line !== false)
}

function lackingOf(chain: Chain): LackingHeights {
  return { pruned: chain.prunedHeight, joined: chain.joinedHeight, superseded: chain.supersededHeight }
}

function cannotRebuild(heights: LackingHeights): string {
  return `${lackText(heights)}; nothing can be built again from what is here: use a backup, or an empty directory, into which peers bring the chain`
}

async function reindex(context: CliContext, tools: Tools, options: ChainOptions): Promise<void> {
  const { directory, spec } = tools
  // A directory of another chain must be refused: its blocks would not replay, and an empty database would replace its own.
  await directory.claim(spec.name, genesisBlock(spec).header.hash, false)
  await directory.keepSpec(spec.text, { replace: false })
  await withLock(directory.database, async () => {
    const rebuilt = await rebuild(tools).finally(() => rm(directory.salvaged, { recursive: true, force: true }))
    const old = await directory.replace(freeSuffix(directory, Math.floor(context.clock.now() / 1000)))
    await directory.noteUnfinishedRuns(0)
    const { damages, gap, missing, lost, height, tip } = rebuilt
    const value = { height, tip, damages, gap: gap ?? null, missing: missing ?? null, lost, old }
    report(context, options, value, [
      ...damages.map(({ file, what }) => `${file} ${what}`),
      `rebuilt up to height ${height}; the old database is in ${old}`,
      ...(gap === undefined ? [] : [`height ${gap.height} could not be read: ${gap.reason}`]),
      ...(missing === undefined ? [] : [missingText(height, missing)]),
      ...(lost === 0 ? [] : [`${lost} rows of pooled transactions, their notes or left branches could not be read`]),
    ])
  })
}

function missingText(height: number, missing: number): string {
  const blocks = missing === height + 1 ? `the block at height ${missing} is` : `blocks ${height + 1} to ${missing} are`
  return `${blocks} lost here: peers bring them back once the node runs, or didledger chain import from an export`
}

/** Suffix for a database that is set aside at a time in Unix seconds; the next second if it is taken. */
function freeSuffix(directory: DataDirectory, seconds: number): string {
  const suffix = `old-${seconds}`
  return existsSync(`${directory.database}.${suffix}`) ? freeSuffix(directory, seconds + 1) : suffix
}

async function rebuild(tools: Tools) {
  const { directory } = tools
  const { progress } = tools
  await rm(directory.rebuilt, { recursive: true, force: true })
  const { source, damages } = await openSalvaged(tools)
  try {
    const lacking = knownLacking(source)
    if (lackText(lacking) !== undefined) throw new UserError(cannotRebuild(lacking))
    return await withChainAt(tools, directory.rebuilt, async (target) => {
      const known = await highestKnown(source)
      const gap = await replay(source, target, (done) =>
        progress.show({ stage: 'blocks', unit: 'blocks', done, total: Math.max(known ?? 0, done) }),
      )
      const highest = Math.max(known ?? 0, gap?.height ?? 0)
      const lost = await copyUnmined(source, target)
      // After an interrupted reorganisation the side branches reach higher than the active rows.
      const { height, id: tip } = target.tip.header
      return { damages, gap, missing: highest > height ? highest : undefined, lost, height, tip }
    })
  } catch (error) {
    await rm(directory.rebuilt, { recursive: true, force: true })
    throw error
  } finally {
    await source.close()
  }
}

async function exportTo(context: CliContext, tools: Tools, options: ChainOptions, file: string): Promise<void> {
  await withLedger(tools, async ({ chain }) => {
    const lacks = lackText(lackingOf(chain))
    if (lacks !== undefined) {
      throw new UserError(`${lacks}; export it where a node keeps all, or copy the directory by chain backup`)
    }
    const output = await writeOutput(context, file, blocksOf(chain, tools.progress))
    const { height, id: tip } = chain.tip.header
    report(output, options, { height, tip, file }, [`wrote ${height} blocks to ${file}`])
  })
}

/** The blocks of a chain as pieces of a file, with the progress. */
async function* blocksOf(chain: Chain, progress: Progress): AsyncGenerator<Uint8Array, void, void> {
  const total = chain.tip.header.height
  // The first piece is the head of the file.
  let done = -1
  for await (const piece of exportBlocks(chain)) {
    yield piece
    progress.show({ stage: 'blocks', unit: 'blocks', done: Math.min(++done, total), total })
  }
}

async function importFrom(context: CliContext, tools: Tools, options: ChainOptions, file: string): Promise<void> {
  await withLedger(tools, async ({ chain, signatures }) => {
    // The pool takes transactions that a reorganisation releases, and drops those in the new blocks.
    const { verifier, env, progress } = tools
    const onStored = (done: number, total?: number) =>
      progress.show({ stage: 'pool', unit: 'transactions', done, ...defined({ total }) })
    const mempool = await Mempool.open({ chain, verifier, signatures, clock: env.clock, log: env.log, onStored })
    const { read, added } = await onFile(file, () => {
      const stream = createReadStream(file)
      const total = statSync(file, { throwIfNoEntry: false })?.size ?? 0
      return importBlocks(chain, stream, () => progress.show(importStep(stream.bytesRead, total)))
    }).finally(() => mempool.close())
    const { height, id: tip } = chain.tip.header
    report(context, options, { read, added, height, tip }, [
      `${read} blocks read, ${added} of them new; the chain is at height ${height}`,
    ])
  })
}

/** How far a file of blocks is read, in bytes; a pipe has none in total. */
function importStep(read: number, size: number): Step {
  const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000)
  return { stage: 'import', unit: 'MB', done: megabytes(read), ...(size > 0 ? { total: megabytes(size) } : {}) }
}

/** Runs with the directory and its chain; only what a file brings may come into a directory without one. */
async function withTools(
  context: CliContext,
  options: ChainOptions,
  run: (tools: Tools) => Promise<void>,
  source?: ChainSource,
): Promise<void> {
  const env = systemEnv(silentLog)
  const { genesis } = options
  const { named, dataDir } = placeOf(context, options)
  const console = openConsole(context, options)
  await namingTheRepair({ genesis, dataDir }, async () => {
    const existing = source === undefined ? await DataDirectory.existing(dataDir) : undefined
    const spec = named ?? (await specFor(dataDir, source))
    // Before a directory is made for what is no such file.
    await source?.require(spec)
    const directory = existing ?? (await DataDirectory.open(dataDir))
    const progress = new Progress(console)
    await withVerifier(env, (verifier) => run({ dataDir, spec, directory, verifier, env, progress })).finally(() => {
      progress.end()
      console?.close()
    })
  })
}

/** The data directory that the options name, and the spec if they name one. */
function placeOf(
  context: CliContext,
  { genesis, dataDir }: Pick<ChainOptions, 'genesis' | 'dataDir'>,
): { readonly named: Spec | undefined; readonly dataDir: string } {
  const named = genesis === undefined ? undefined : loadSpec(genesis)
  const directory = dataDir ?? (named && defaultDataDir(context, named))
  if (directory !== undefined) return { named, dataDir: directory }
  throw new UserError('where is the chain? Give --data-dir DIRECTORY, or --genesis NAME for that of "start"', 2)
}

/** The spec that is not named: what the directory holds, else what the file is of. */
async function specFor(dataDir: string, source: ChainSource | undefined): Promise<Spec> {
  if (source === undefined || (await DataDirectory.held(dataDir)) !== undefined) return heldSpec(dataDir)
  return source.spec()
}

async function withLedger(
  { spec, directory, verifier, env, progress }: Tools,
  run: (ledger: Ledger) => Promise<void>,
): Promise<void> {
  const onStep = (step: OpenStep) => progress.show({ ...step, unit: stepUnits[step.stage] })
  const ledger = await openLedger(spec, directory, verifier, env, { onStep })
  try {
    await run(ledger)
    await ledger.chain.close()
  } finally {
    await ledger.database.close()
  }
}

/** Runs with a chain of its own in a new database. */
async function withChainAt<T>(
  { spec, verifier, env }: Tools,
  location: string,
  run: (chain: Chain) => Promise<T>,
  { durable = true }: { durable?: boolean } = {},
): Promise<T> {
  const database = await Database.open(location, undefined, { durable })
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

/** An opened copy of everything readable in the database. */
async function openSalvaged({
  directory,
  progress,
}: Tools): Promise<{ source: Database; damages: readonly FileDamage[] }> {
  const doing = `what can be read of ${directory.database} cannot be gathered in ${directory.salvaged}`
  const { salvage } = await import('../../ledger/storage/care/level/salvage.js')
  const { damages, repair } = await onOwnFile(doing, () =>
    salvage(directory.database, directory.salvaged, (done, total) =>
      progress.show({ stage: 'files', unit: 'tables', done, total }),
    ),
  )
  if (repair) await Database.repair(directory.salvaged)
  return { source: await Database.openDamaged(directory.salvaged), damages }
}
