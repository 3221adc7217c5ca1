import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVerifierPool, DataDirectory, openLedger, systemEnv } from './dist.js'
import { didSizes } from './did-sizes.js'
import { seededCreates, writeOperations } from './did-rows.js'
import { fundedSpec, mineBlock, quiet, selfTransfer, spendGenesis, withDirectory } from './load.js'
import { runNode } from './processes.js'
import { median, type Row } from './report.js'

const starts = 5
const transactionsPerBlock = 1000
const blocksAtOnce = 16

/** The start of a node with many transactions and as many DIDs, until it serves, against one with an empty directory. */
export async function largeStart(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of didSizes([10_000])) {
    const { large, empty } = await withDirectory((directory) => startTimes(directory, size))
    const of = `${size.toLocaleString('en')} transactions and DIDs`
    rows.push({ name: 'start of a node with an empty directory', value: empty, unit: 'ms' })
    rows.push({
      name: `start of a node with ${of}`,
      value: large,
      unit: 'ms',
      ratio: { value: large / empty, against: 'an empty one' },
      target: { most: 1.5 },
    })
  }
  return rows
}

async function startTimes(directory: string, size: number): Promise<{ large: number; empty: number }> {
  const specFile = join(directory, 'spec.json')
  const [full, none] = [join(directory, 'full'), join(directory, 'none')]
  await fill(full, specFile, size)
  const times: Record<'large' | 'empty', number[]> = { large: [], empty: [] }
  for (let i = 0; i <= starts; i++) {
    const [large, empty] = [await startTime(specFile, full), await startTime(specFile, none)]
    // The first one makes the empty directory.
    if (i === 0) continue
    times.large.push(large)
    times.empty.push(empty)
  }
  return { large: median(times.large), empty: median(times.empty) }
}

async function startTime(specFile: string, dataDir: string): Promise<number> {
  const began = performance.now()
  const node = await runNode(['start', '--genesis', specFile, '--data-dir', dataDir, '--log-level', 'error'])
  const time = performance.now() - began
  await node.stop()
  return time
}

/** Makes a directory with so many transfers in blocks, and the rows of so many DIDs. */
export async function fill(dataDir: string, specFile: string, size: number): Promise<void> {
  const { text, spec, payers } = fundedSpec(transactionsPerBlock)
  writeFileSync(specFile, text)
  const verifier = createVerifierPool()
  const { chain, database } = await openLedger(spec, await DataDirectory.open(dataDir), verifier, systemEnv(quiet))
  try {
    spendGenesis(chain, payers)
    let parent = chain.genesis.header
    for (let made = 0; made < size;) {
      const run: { block: Uint8Array }[] = []
      for (; run.length < blocksAtOnce && made < size; made += transactionsPerBlock) {
        const transfers = payers.map((payer) => selfTransfer(payer, chain.sanity.assetId))
        const block = await mineBlock(chain, parent, transfers)
        run.push({ block: block.bytes })
        parent = block.header
      }
      await chain.acceptBlocks(run, { assumed: true })
    }
    const { hash, height } = chain.tip.header
    await writeOperations(database, { hash, height }, seededCreates(size), height + 1)
    await database.checkpoint({ hash, height })
    await chain.close()
  } finally {
    await database.close()
    await verifier.close()
  }
}
