import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defined } from '../../../src/base/primitives/defined.js'
import { genesisBlock } from '../../../src/base/primitives/genesis.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { type BlockRecord, Pieces, readBlocks } from '../../../src/ledger/chain/block-file.js'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { commandFile } from '../compiled.js'
import { didSizes } from '../did-rows.js'
import { timeOf, type Work } from '../measure.js'
import { runNode } from '../processes.js'
import { processorTime } from '../processor-time.js'
import { type Row, row, shown } from '../report.js'
import { withChain, withDirectory } from '../workshop.js'

/** Blocks of a batch, as a sync has them. */
const blocksOfSync = 4

/**
 * A devnet's directory with registered DIDs: `chain verify` (every rule of every block again, and every row compared, the map's too),
 * `chain reindex` of a copy, and `chain import` of its blocks, each from the start of the process, against connecting these in runs as a sync
 * does: no peer has a devnet's blocks. And the start of that devnet, until its DIDs are registered and it answers, against the import.
 */
export async function suite(): Promise<Row[]> {
  const rows: Row[] = []
  for (const count of didSizes([10_000])) rows.push(...(await withDirectory((directory) => measure(directory, count))))
  return rows
}

async function measure(directory: string, count: number): Promise<Row[]> {
  const place = (name: string) => join(directory, name)
  const [data, file, spec] = [place('data'), place('blocks.bin'), join(place('data'), 'spec.json')]
  const options = ['--seed-dids', String(count), '--no-automine', '--log-level', 'error']
  const started = performance.now()
  const devnet = await runNode(['devnet', '--data-dir', data, ...options])
  const seeding = performance.now() - started
  await devnet.stop()
  const chain = (action: readonly string[], at: string, ...more: readonly string[]) =>
    promisify(execFile)(process.execPath, [commandFile, 'chain', ...action, '--data-dir', at, ...more])
  await chain(['export', file], data)
  await cp(data, place('copy'), { recursive: true })
  const verifying = await loadOf(() => chain(['verify'], data))
  const syncing = await connectAll(spec, file, place('synced'))
  const importing = await loadOf(() => chain(['import', file], place('imported'), '--genesis', spec))
  const reindexing = await loadOf(() => chain(['reindex'], place('copy')))
  const rate = (time: number) => (count * 1000) / time
  const rows = (name: string, { wall, processor }: Load) => [
    row(`  ${name}`, rate(wall), 'DIDs/s', { ratio: [syncing.wall / wall, 'syncing'], least: 0.8 }),
    row('    processor time of a DID', (processor * 1000) / count, 'µs', {
      ratio: [syncing.processor / processor, 'syncing'],
      least: 0.8,
    }),
  ]
  return [
    row(`devnet, start with ${shown(count)} seeded DIDs to first answer`, seeding / 1000, 's', {
      ratio: [seeding / importing.wall, 'importing their blocks'],
      most: 1.5,
    }),
    row(`connect the blocks of ${shown(count)} DIDs as a sync does`, rate(syncing.wall), 'DIDs/s'),
    ...rows('chain import of their blocks', importing),
    ...rows('chain reindex', reindexing),
    ...rows('chain verify', verifying),
  ]
}

/** Milliseconds by the clock, and of processor time of all threads. */
interface Load {
  readonly wall: number
  readonly processor: number
}

/** Load of work in this process, or in one that has ended by the end of the work. */
async function loadOf(work: Work): Promise<Load> {
  const before = processorTime([process.pid])
  const wall = await timeOf(work)
  return { wall, processor: processorTime([process.pid]) - before }
}

/** Load of connecting the blocks of a file, in runs of the size of a sync. */
async function connectAll(specFile: string, file: string, directory: string): Promise<Load> {
  const spec = parseSpec(await readFile(specFile, 'utf8'))
  const blocks: BlockRecord[] = []
  for await (const next of readBlocks(new Pieces(createReadStream(file)), genesisBlock(spec).header.hash)) {
    blocks.push(next)
  }
  const connect = async (chain: Chain) => {
    for (let i = 0; i < blocks.length; i += blocksOfSync) {
      await chain.acceptBlocks(
        blocks.slice(i, i + blocksOfSync).map(({ block, confirm }) => ({ block, ...defined({ confirm }) })),
      )
    }
  }
  return withChain(spec, (chain) => loadOf(() => connect(chain)), { directory })
}
