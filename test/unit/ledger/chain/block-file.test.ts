import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportBlocks, importBlocks } from '../../../../src/ledger/chain/block-file.js'
import { stateDigest } from '../../../../src/ledger/chain/replay-chain.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { concat } from '../../../../src/base/primitives/bytes.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { testAddress } from '../../../support/builders/spec.js'

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function fileOf({ chain }: TestChain): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of exportBlocks(chain)) pieces.push(piece)
  return concat(...pieces)
}

/** What an import of damaged bytes says; it must not succeed. */
async function refusal({ chain }: TestChain, bytes: Uint8Array): Promise<string> {
  const error = await importBlocks(chain, piecesOf(bytes, 1000)).then(
    () => undefined,
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(UserError)
  return (error as UserError).message
}

describe.each([
  ['without validators', undefined],
  ['with one validator', oneValidator()],
])('a file of blocks of a chain %s', (_, overrides) => {
  let source: TestChain
  let file: Uint8Array
  const open = () => TestChain.open(overrides)

  beforeAll(async () => {
    source = await open()
    await source.send(await source.transfer(testAddress(1), 5n))
    await source.mine(3)
    file = await fileOf(source)
  })
  afterAll(() => source.close())

  it('makes the same chain, in pieces of any size', async () => {
    for (const size of [1, 7, 4096, file.length]) {
      const target = await open()
      const steps: number[] = []
      const imported = await importBlocks(target.chain, piecesOf(file, size), (read) => steps.push(read))
      expect(imported).toEqual({ read: 3, added: 3 })
      expect(steps).toEqual([3])
      expect(target.chain.tip.header.id).toBe(source.chain.tip.header.id)
      expect(await stateDigest(target.database)).toBe(await stateDigest(source.database))
      expect(await fileOf(target)).toEqual(file)
      expect(await importBlocks(target.chain, piecesOf(file, size))).toEqual({ read: 3, added: 0 })
      await target.close()
    }
  })

  it('is refused when anything of it is missing, changed or added', async () => {
    const target = await open()
    await fc.assert(
      fc.asyncProperty(fc.nat(file.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        await refusal(target, file.subarray(0, at))
        const changed = Uint8Array.from(file)
        changed[at] = (changed[at] as number) ^ mask
        await refusal(target, changed)
      }),
      { numRuns: 1000 },
    )
    expect(await refusal(target, concat(file, Uint8Array.of(0)))).toMatch(/something follows its end/)
    await target.close()
  })

  it('says after which block it is damaged, and keeps what stood before', async () => {
    const target = await open()
    expect(await refusal(target, file.subarray(0, file.length - 1))).toMatch(/after 3 blocks: it ends too early/)
    expect(target.reader.height).toBe(3)
    await target.close()
  })
})

describe('an empty chain', () => {
  it('is a file without blocks', async () => {
    const chain = await TestChain.open()
    expect(await importBlocks(chain.chain, piecesOf(await fileOf(chain), 5))).toEqual({ read: 0, added: 0 })
    await chain.close()
  })
})

describe('a block that breaks a rule', () => {
  it('is named with its place in the file and its code', async () => {
    const source = await TestChain.open()
    const blocks = await source.mine(2)
    const file = await fileOf(source)
    const head = file.subarray(0, 40)
    const first = 40 + 8 + (blocks[0]?.bytes.length ?? 0) + 4
    const target = await TestChain.open()
    expect(await refusal(target, concat(head, file.subarray(first)))).toMatch(
      /^block 1 of the file is refused: .*\(block-parent-unknown\); the chain is at height 0 now$/,
    )
    await source.close()
    await target.close()
  })

  it('is not even tried when it is of another chain', async () => {
    const source = await TestChain.open()
    const target = await TestChain.open(oneValidator())
    expect(await refusal(target, await fileOf(source))).toMatch(
      /^it holds blocks of another chain, with genesis [0-9a-f]{64}$/,
    )
    await source.close()
    await target.close()
  })
})
