import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { cosignedName, headName } from '../../../src/identity/proofs/mirror-head.js'
import { verifierKeyText } from '../../../src/identity/proofs/witness-note.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { keysOf } from '../../support/builders/light-scene.js'
import { failureOf } from '../../support/builders/light-world.js'
import { headIn, lightOverMirror, mirrorWith } from '../../support/builders/mirror-scene.js'
import { mirrorOf, mirrorOnce } from '../../support/builders/mirrored.js'
import type { ProofBook } from '../../support/builders/proof-book.js'
import { lineOver, witnessSecret } from '../../support/builders/witness-world.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'

/** Mirrors whose heads witnesses cosign, and resolvers that need these witnesses and read the files alone. */

const [first, second, stranger] = ['w.example/1', 'w.example/2', 'w.example/3'].map(witnessSecret) as [
  Secret,
  Secret,
  Secret,
]
type Secret = ReturnType<typeof witnessSecret>
const alice = holder()
/** Who has signed the block of a height so far, in turn. */
const signed = new Map<number, readonly Secret[]>()
let test: TestChain
let book: ProofBook
let store: MemoryMirror

beforeAll(async () => {
  test = await TestChain.open({ validators: keysOf(2) })
  await test.publish(alice.create(), alice.did)
})
afterAll(() => test.close())
beforeEach(async () => {
  signed.clear()
  store = new MemoryMirror()
  book = await bookOf(test)
})

const tip = () => test.chain.tip.header.height
const cosignatures = (height: number) => (signed.get(height) ?? []).map((one) => lineOver(book, height, one))
const write = () => mirrorOnce(test, store, { cosignatures })

async function mine(): Promise<void> {
  await test.mine()
  book = await bookOf(test)
}

/** A resolver that knows the files alone, and needs so many of the two witnesses. */
const light = (needed = 2, files = store) => {
  const keys = [first, second].map(({ key }) => verifierKeyText(key))
  return lightOverMirror({ test, book }, files, { witnesses: { keys, needed } })
}
const resolved = async (needed?: number, files?: MemoryMirror) => {
  const { proved, status } = await light(needed, files).resolve(alice.did)
  return { status, height: proved.height, witnesses: proved.witnesses }
}

/** The files with another list of cosigned heads, and a head without cosignatures. */
function withCosigned(change: (heads: { cosignatures: string[] }[]) => unknown): MemoryMirror {
  const file = JSON.parse(Buffer.from(store.files.get(cosignedName) ?? []).toString()) as {
    heads: { cosignatures: string[] }[]
  }
  const bare = { ...headIn(store), cosignatures: undefined }
  return mirrorWith(store, {
    [headName]: fromUtf8(JSON.stringify(bare)),
    [cosignedName]: fromUtf8(JSON.stringify({ ...file, heads: change(file.heads) })),
  })
}

describe('a mirror whose head witnesses sign', () => {
  it('is written again with their signatures once they are there, by the same block', async () => {
    const mirror = mirrorOf(test, store, { cosignatures })
    await mirror.start()
    await expect.poll(() => mirror.figures.height).toBe(tip())
    expect(headIn(store).cosignatures).toBeUndefined()
    expect(store.files.has(cosignedName)).toBe(false)
    expect(await failureOf(light(1).resolve(alice.did))).toBe('unwitnessed')
    signed.set(tip(), [first])
    mirror.look()
    await expect.poll(() => headIn(store).cosignatures).toHaveLength(1)
    expect(await resolved(1)).toEqual({ status: 0, height: tip(), witnesses: ['w.example/1'] })
    expect(await failureOf(light(2).resolve(alice.did))).toBe('unwitnessed')
    signed.set(tip(), [first, second])
    mirror.look()
    await expect.poll(() => headIn(store).cosignatures).toHaveLength(2)
    expect(await resolved(2)).toMatchObject({ witnesses: ['w.example/1', 'w.example/2'] })
    await mirror.close()
  })

  it('is readable as of the last block that enough signed, whoever signs the newest one first', async () => {
    signed.set(tip(), [first, second])
    await write()
    const both = tip()
    await mine()
    signed.set(tip(), [second])
    await write()
    expect(await resolved(2)).toMatchObject({ height: both, witnesses: ['w.example/1', 'w.example/2'] })
    expect(await resolved(1)).toMatchObject({ height: tip(), witnesses: ['w.example/2'] })
    await mine()
    await write()
    expect(await resolved(2)).toMatchObject({ height: both })
    expect(await resolved(1)).toMatchObject({ height: tip() - 1, witnesses: ['w.example/2'] })
    // By another process, which knows what the files say.
    await mine()
    signed.set(tip(), [first])
    await write()
    expect(await resolved(2)).toMatchObject({ height: both })
  })
})

describe('a mirror that lies about witnesses', () => {
  beforeEach(async () => {
    signed.set(tip(), [first, second])
    await write()
    await mine()
    signed.set(tip(), [first])
    await write()
  })

  it('is believed with the right files alone: the property that the lies break', async () => {
    expect(
      await resolved(
        2,
        withCosigned((heads) => heads),
      ),
    ).toMatchObject({ height: tip() - 1 })
  })

  it.each<[string, string, (lines: string[]) => string[]]>([
    ['one witness twice', 'unwitnessed', ([one = '']) => [one, one]],
    ['a witness that is not asked for', 'unwitnessed', ([one = '']) => [one, lineOver(book, tip() - 1, stranger)]],
    ['signatures over another block', 'cosignature', () => [first, second].map((one) => lineOver(book, tip(), one))],
    [
      'a signature that a stranger made in the name of a witness',
      'cosignature',
      ([one = '']) => [one, lineOver(book, tip() - 1, { ...stranger, key: second.key })],
    ],
    [
      'a time that was not signed',
      'cosignature',
      ([one = '', two]) => [one, ...(two === undefined ? [] : [timeMoved(two)])],
    ],
    ['texts', 'unwitnessed', () => ['x', '\u2014 w.example/2 AAAA']],
  ])('is refused: %s', async (_, failure, change) => {
    const liar = withCosigned((heads) => heads.map((one) => ({ ...one, cosignatures: change(one.cosignatures) })))
    expect(await failureOf(light(2, liar).resolve(alice.did))).toBe(failure)
  })

  it('is refused where its list holds the head of another height under the signatures', async () => {
    const liar = withCosigned(([newest, ...older]) =>
      older.map(({ cosignatures: lines }) => ({ ...newest, cosignatures: lines })),
    )
    expect(await failureOf(light(2, liar).resolve(alice.did))).toMatch(/^(unwitnessed|cosignature)$/)
  })
})

/** A line whose signature is said to be of another second. */
function timeMoved(line: string): string {
  const [dash, name, encoded = ''] = line.split(' ')
  const bytes = Buffer.from(encoded, 'base64')
  // Behind the identifier of the key, four bytes, comes the time in eight.
  bytes.writeUInt8((bytes.readUInt8(11) + 1) % 256, 11)
  return [dash, name, bytes.toString('base64')].join(' ')
}
