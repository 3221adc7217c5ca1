import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { heldSpec, isShippedChain, specOfBlocks } from '../../../../src/program/cli/directory-spec.js'
import { loadSpec, specIn } from '../../../../src/program/cli/load-spec.js'
import { genesisBlock } from '../../../../src/base/primitives/genesis.js'
import { DataDirectory } from '../../../../src/ledger/storage/directory.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())
const own = loadSpec(bench.spec)
let count = 0

/** A directory claimed for a chain; `spec`: the text kept in it. */
async function directoryOf({ name, genesis }: { name: string; genesis: Uint8Array }, spec?: string): Promise<string> {
  const path = bench.path(`data-${++count}`)
  const directory = await DataDirectory.open(path)
  await directory.claim(name, genesis, false)
  if (spec !== undefined) await directory.keepSpec(spec, { replace: true })
  return path
}
const claimOf = (spec: ReturnType<typeof loadSpec>) => ({ name: spec.name, genesis: genesisBlock(spec).header.hash })

it('a shipped chain is known by name and genesis block', () => {
  expect([isShippedChain(loadSpec('pow')), isShippedChain(own)]).toEqual([true, false])
  const namesake = specIn(JSON.stringify({ ...(JSON.parse(own.text) as object), name: 'pow' }), 'own.json')
  expect(isShippedChain(namesake)).toBe(false)
})

describe('the spec of the chain in a directory', () => {
  it('is the one that it keeps', async () => {
    const path = await directoryOf(claimOf(own), own.text)
    expect((await heldSpec(path)).text).toBe(own.text)
  })

  it('is that of a shipped chain in a directory that keeps none', async () => {
    expect((await heldSpec(await directoryOf(claimOf(loadSpec('pow'))))).name).toBe('pow')
  })

  it('has to be named otherwise', async () => {
    await expect(heldSpec(await directoryOf(claimOf(own)))).rejects.toThrow(
      /holds the chain testnet, and not its spec: name its spec with --genesis FILE$/,
    )
    await expect(heldSpec(bench.path('nowhere'))).rejects.toThrow(/does not tell which chain it holds/)
    await expect(heldSpec(await directoryOf(claimOf(own), loadSpec('pow').text))).rejects.toThrow(
      /spec\.json is the spec of another chain than testnet/,
    )
    await expect(heldSpec(await directoryOf(claimOf(own), '{'))).rejects.toThrow(
      /spec\.json: the chain spec is not valid.*; start the node once with --genesis FILE, which is kept there$/,
    )
  })

  it.each([
    ['', 'empty'],
    ['\n', 'empty'],
    ['{"name":"own"', 'not readable'],
    ['null', 'not readable'],
    ['{"name":"own","genesis":1}', 'not readable'],
  ])('is not known by a claim of %j, which is removed', async (claim, what) => {
    for (const spec of [undefined, own.text]) {
      const path = await directoryOf(claimOf(own), spec)
      const [claimFile, specFile] = [join(path, 'network.json'), join(path, 'spec.json')]
      writeFileSync(claimFile, claim)
      const named = spec === undefined ? 'NAME or --genesis FILE, that of its chain' : specFile
      await expect(heldSpec(path)).rejects.toThrow(
        `${claimFile} is ${what}, where it names the chain of this directory: remove it, and start the node once with --genesis ${named}`,
      )
    }
  })

  it('is kept by the first that opens it, and replaced by a node alone', async () => {
    const path = await directoryOf(claimOf(own), 'first')
    const directory = await DataDirectory.open(path)
    await directory.keepSpec('second', { replace: false })
    expect((await DataDirectory.held(path))?.spec).toBe('first')
    await directory.keepSpec('third', { replace: true })
    expect((await DataDirectory.held(path))?.spec).toBe('third')
    rmSync(join(path, 'spec.json'))
    await directory.keepSpec('fourth', { replace: false })
    expect((await DataDirectory.held(path))?.spec).toBe('fourth')
  })
})

/** Writes a file of no blocks of a chain. */
function emptyExport(file: string, spec: ReturnType<typeof loadSpec>): string {
  const end = Buffer.alloc(12)
  end.writeUInt32LE(crc32(end.subarray(0, 8)), 8)
  writeFileSync(file, Buffer.concat([Buffer.from('didblk01'), genesisBlock(spec).header.hash, end]))
  return file
}

describe('the spec for a file of blocks', () => {
  it('is that of the shipped chain that its genesis block is of', async () => {
    const file = bench.path('pow.bin')
    const exported = bench.path('pow-data')
    expect(
      await bench.json('chain', 'import', emptyExport(file, loadSpec('pow')), '--data-dir', exported),
    ).toMatchObject({ height: 0 })
    expect((await specOfBlocks(file)).name).toBe('pow')
    expect(await bench.json('chain', 'info', '--data-dir', exported)).toMatchObject({ name: 'pow', height: 0 })
  })

  it('has to be named for another chain, and nothing is made for what is no file of blocks', async () => {
    const file = emptyExport(bench.path('own.bin'), own)
    await expect(specOfBlocks(file)).rejects.toThrow(
      /^it holds blocks of a chain with the genesis block [0-9a-f]{64}: name/,
    )
    const target = bench.path('target')
    await expect(specOfBlocks('/dev/null')).rejects.toThrow(/^it can be read only once: name its spec/)
    await expect(specOfBlocks(bench.directory)).rejects.toThrow('EISDIR')
    const { code, err } = await bench.run('chain', 'import', bench.write('bad.bin', 'no blocks'), '--data-dir', target)
    expect([code, err]).toEqual([
      1,
      `error: ${bench.path('bad.bin')}: it is no file of blocks: it does not begin as one\n`,
    ])
    expect(await DataDirectory.held(target)).toBeUndefined()
  })
})
