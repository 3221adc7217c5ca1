import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shellWord } from '../../src/program/cli/print-output.js'
import type { EvaluationContext } from '../../src/program/cli/cli-context.js'
import { runCommand } from '../../src/program/cli/cli-program.js'
import { loadSpec } from '../../src/program/cli/load-spec.js'
import { createInlineVerifier } from '../../src/base/crypto/inline.js'
import { UserError } from '../../src/base/errors/rule-error.js'
import { openLedger } from '../../src/node/open-ledger.js'
import type { Node } from '../../src/node/node.js'
import { startNode } from '../../src/node/start-node.js'
import { parseAddress, type ProgramHash } from '../../src/base/primitives/address.js'
import { systemEnv } from '../../src/base/runtime/process-env.js'
import { DataDirectory } from '../../src/ledger/storage/directory.js'
import { readLog, writeLog } from '../../src/ledger/storage/care/level/log-records.js'
import type { SpendableCoin } from '../../src/clients/wallet/coins.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { quietLog } from '../support/builders/chain.js'
import type { SeededRandom } from '../support/builders/test-payer.js'
import { Payer } from '../support/builders/test-payer.js'

/** A chain on disk, damage to its files, and what all commands then must do. */

/** What can be done to a file at random places. */
const actions = ['truncate', 'zero', 'flip', 'remove'] as const
/** The kinds of files of a LevelDB. */
const kinds = {
  table: /\.ldb$/,
  log: /\.log$/,
  MANIFEST: /^MANIFEST/,
  CURRENT: /^CURRENT$/,
  LOCK: /^LOCK$/,
  LOG: /^LOG$/,
} as const
type Kind = keyof typeof kinds
/** What holds rows is drawn more often. */
const drawn: readonly Kind[] = [
  'table',
  'table',
  'table',
  'table',
  'log',
  'log',
  'MANIFEST',
  'MANIFEST',
  'CURRENT',
  'LOCK',
  'LOG',
]

/** A data directory as a kill leaves it, with blocks in tables and in the log. */
export class BaseChain {
  /** Hash of the block at each height. */
  readonly hashes: string[] = []
  readonly #root = mkdtempSync(join(tmpdir(), 'didledger-damage-'))
  readonly path = join(this.#root, 'base')
  #copies = 0

  /** Builds it: `runs` lives of a node, so that there are several tables, of some blocks each. */
  static async build(random: SeededRandom, runs = 4): Promise<BaseChain> {
    const base = new BaseChain()
    for (let life = 1; life <= runs; life++) {
      const node = await start(join(base.#root, 'live'))
      for (let block = 0; block < 4; block++) await work(node, random)
      if (life === runs) {
        await send(node, random, 2)
        await node.chain.database.idle()
        cpSync(node.directory.path, base.path, { recursive: true })
        for (let height = 0; height <= node.reader.height; height++) {
          base.hashes.push(node.chain.headers.activeAt(height).header.id)
        }
      }
      await node.close()
    }
    return base
  }

  copy(): string {
    const path = join(this.#root, `copy-${++this.#copies}`)
    cpSync(this.path, path, { recursive: true })
    return path
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

function start(dataDir: string): Promise<Node> {
  const env = systemEnv(quietLog())
  return startNode({
    spec: loadSpec('devnet'),
    env,
    tuning: { storage: { dataDir }, devnet: { mining: { kind: 'manual' } } },
  })
}

async function work(node: Node, random: SeededRandom): Promise<void> {
  await send(node, random, 1 + random.below(8))
  await node.devnet?.mine(1)
}

/** Some transfers and new DIDs into the pool. */
async function send(node: Node, random: SeededRandom, count: number): Promise<void> {
  const payer = new Payer(random)
  const { address } = devnetAccount(0)
  const coins: SpendableCoin[] = (await node.reader.coins(parseAddress(address) as ProgramHash))
    .filter(({ outpoint }) => node.mempool.spender(outpoint) === undefined)
    .map(({ outpoint, value, height }) => ({ ...outpoint, value, confirmations: node.reader.height - height + 1 }))
  let [coin] = coins.sort((a, b) => Number(b.value - a.value))
  for (let i = 0; i < count; i++) {
    if (coin === undefined) throw new Error('the devnet account has no coins')
    const owner = 1_000 + random.below(1_000_000)
    const { bytes, hash, outputs } = payer.identity(0, owner, [coin], undefined)
    await node.mempool.accept(bytes, { local: true })
    const index = outputs.length - 1
    const change = outputs[index]
    coin = change === undefined ? undefined : { txid: hash, index, value: change.value, confirmations: 0 }
  }
}

/** Damages one file of a chain at random and says how. */
export function damage(chain: string, random: SeededRandom): string {
  const kind = pick(random, drawn)
  const action = pick(random, actions)
  const name = pick(
    random,
    readdirSync(chain).filter((file) => kinds[kind].test(file)),
  )
  const file = join(chain, name)
  const { size } = statSync(file)
  const at = random.below(Math.max(1, size))
  const length = Math.min(size - at, pick(random, [1, 64, 4096]))
  if (action === 'remove') rmSync(file)
  else if (action === 'truncate') truncateSync(file, at)
  else if (size > 0) {
    const bytes = readFileSync(file)
    if (action === 'zero') bytes.fill(0, at, at + length)
    else bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
    writeFileSync(file, bytes)
  }
  return `${action} ${name} (${size} bytes) at ${at}, length ${length}`
}

function pick<T>(random: SeededRandom, values: readonly T[]): T {
  return values[random.below(values.length)] as T
}

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function command(...args: string[]): Promise<Ended> {
  let out = ''
  let err = ''
  const context: EvaluationContext = {
    clock: Date,
    random: { bytes: (length) => new Uint8Array(length) },
    env: {},
    out: (text) => (out += text),
    err: (text) => (err += text),
    prompt: undefined,
  }
  const code = await runCommand(args, context)
  return { code, out, err }
}

/** Throws unless a failure says what is damaged, and what mends it. */
function checkWords(text: string, directory: string): void {
  const bad = /should not have|report it|\n\s+at |undefined|\[object/.exec(text)
  if (bad !== null) throw new Error(`no plain words: ${text}`)
  const command = `chain reindex --data-dir ${shellWord(directory)}`
  if (!text.includes(command)) throw new Error(`names no command: ${text}`)
}

/** The latest log of a killed chain. */
export interface CutLog {
  readonly name: string
  /** Bytes of the log behind which each of its last batches ends. */
  readonly ends: readonly number[]
  /** The number of the last batch. */
  readonly last: number
}

/** What {@link checkCut} must know of a log to cut its last `count` batches anywhere. */
export async function lastBatches(base: BaseChain, count: number): Promise<CutLog> {
  const chain = join(base.path, 'chain')
  const [name] = readdirSync(chain)
    .filter((file) => kinds.log.test(file))
    .sort()
    .reverse()
  if (name === undefined) throw new Error('the chain has no log')
  const { records } = readLog(readFileSync(join(chain, name)))
  const ends = Array.from(
    { length: count + 1 },
    (_, i) => writeLog(records.slice(0, records.length - count + i)).length,
  )
  const { sequence } = await stateOf(base.copy())
  return { name, ends, last: sequence }
}

/** Checks that of a chain whose log ends after so many bytes all whole batches are there, and nothing else. */
export async function checkCut(base: BaseChain, { name, ends, last }: CutLog, at: number): Promise<void> {
  const directory = base.copy()
  truncateSync(join(directory, 'chain', name), at)
  const { sequence, height, tip } = await stateOf(directory)
  const gone = ends.filter((end) => end > at).length
  if (sequence !== last - gone) throw new Error(`cut at ${at}: ${last - sequence} batches are gone instead of ${gone}`)
  if (base.hashes[height] !== tip) throw new Error(`cut at ${at}: the block at height ${height} is another`)
}

/** Opens a directory once, as a start does, and removes it. */
async function stateOf(directory: string): Promise<{ sequence: number; height: number; tip: string }> {
  const data = await DataDirectory.existing(directory)
  const env = systemEnv(quietLog())
  const { database, chain } = await openLedger(loadSpec('devnet'), data, createInlineVerifier(), env)
  const { height, id: tip } = chain.tip.header
  const { sequence } = database
  await database.close()
  rmSync(directory, { recursive: true })
  return { sequence, height, tip }
}

/** What a round ended in. */
export interface Outcome {
  /** Whether the damage was refused before it was mended. */
  readonly named: boolean
  /** Blocks that are gone after it was mended. */
  readonly lost: number
}

/**
 * Has all commands meet a damaged directory in a random order, then mends it with the command that they name, after which
 * all of them work. Throws where something is not named, not mended, or lost without a word.
 */
export async function settle(base: BaseChain, directory: string, random: SeededRandom): Promise<Outcome> {
  const { hashes } = base
  const top = hashes.length - 1
  const refusals: string[] = []
  let served = top
  const look = async (what: string) => {
    if (what === 'start') {
      try {
        served = await startAndStop(base, directory)
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        refusals.push(error.message.replace('DIR', directory))
      }
      return
    }
    const { code, err } = await command('chain', what, '--data-dir', directory, '--json')
    if (code !== 0) refusals.push(err)
  }
  const order = ['start', 'info', 'verify'].sort(() => random.below(3) - 1)
  for (const what of order) await look(what)
  refusals.forEach((text) => checkWords(text, directory))

  const mended = await command('chain', 'reindex', '--data-dir', directory, '--json')
  if (mended.code !== 0) throw new Error(`reindex: ${mended.err}`)
  const result = JSON.parse(mended.out) as { height: number; tip: string; missing: number | null; damages: unknown[] }
  if (hashes[result.height] !== result.tip) throw new Error(`the tip is none of height ${result.height}`)
  const lost = top - result.height
  // What a log loses at its end looks as if it had never been written.
  const quiet = served - result.height
  if (quiet > 0 && refusals.length === 0) throw new Error(`reindex lost ${quiet} blocks that the node served`)
  if (lost > 0 && refusals.length > 0 && result.missing === null && result.damages.length === 0) {
    throw new Error(`${lost} blocks are lost and none is named: ${mended.out}`)
  }
  if ((await startAndStop(base, directory)) !== result.height) throw new Error('it starts at another height')
  for (const what of ['info', 'verify', 'export']) {
    const file = what === 'export' ? [join(directory, 'blocks.bin')] : []
    const { code, err } = await command('chain', what, ...file, '--data-dir', directory)
    if (code !== 0) throw new Error(`${what} after reindex: ${err}`)
  }
  return { named: refusals.length > 0, lost }
}

/** Starts a node, which must serve a part of the blocks, and returns its height. */
export async function startAndStop({ hashes }: BaseChain, directory: string): Promise<number> {
  const node = await start(directory)
  const { height } = node.reader
  const { id } = node.chain.tip.header
  await node.close()
  if (hashes[height] !== id) throw new Error(`the block at height ${height} is another`)
  return height
}
