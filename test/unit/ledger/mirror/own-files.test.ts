import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { type MirrorHead, mirrorFormat } from '../../../../src/identity/proofs/mirror-head.js'
import { OwnFiles } from '../../../../src/ledger/mirror/own-files.js'
import { MemoryMirror } from '../../../support/fakes/memory-mirror.js'

const chain = 'ab'.repeat(32)
const day = 86_400
const hashOf = (height: number) => height.toString(16).padStart(64, '0')
const headAt = (height: number) =>
  ({ format: mirrorFormat, chain, height, hash: hashOf(height) }) as Partial<MirrorHead> as MirrorHead
const leaf = (number: number) => `leaf/00/${hashOf(number)}`
const leaves = (count: number) => Array.from({ length: count }, (_, i) => leaf(i))

const keeping = { keepBlocks: 10, keepSeconds: day }
const never = () => {}

/** A mirror with the head of a height, and the files with these names. */
async function mirrorAt(height: number, names: readonly string[] = [], bounds?: { readonly longestList: number }) {
  const store = new MemoryMirror()
  for (const name of names) await store.replace({ name, bytes: fromUtf8('a file') })
  const own = await OwnFiles.open(store, chain, bounds)
  await own.putHead(headAt(height), keeping)
  return { store, own }
}

const linesIn = ({ files }: MemoryMirror, name: string) =>
  gunzipSync(files.get(name) ?? new Uint8Array())
    .toString()
    .split('\n')
const lists = ({ files }: MemoryMirror) => [...files.keys()].filter((name) => name.startsWith('own/gone/'))
const left = ({ files }: MemoryMirror) => [...files.keys()].filter((name) => name.startsWith('leaf/'))

describe('a list of names', () => {
  const size = [hashOf(1), ...leaves(5)].join('\n').length
  const noted = () => gzipSync([hashOf(1), ...leaves(5)].join('\n'))

  it('is read with as many bytes as it may have, and counts as damaged with one more', async () => {
    const { store } = await mirrorAt(1)
    store.files.set('own/intent', noted())
    expect((await OwnFiles.open(store, chain, { longestList: size })).unfinished).toEqual(leaves(5))
    expect((await OwnFiles.open(store, chain, { longestList: size - 1 })).unfinished).toEqual([])
  })

  it('unpacks to no more than it may have, however little it is packed', async () => {
    const { store } = await mirrorAt(1)
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    expect(bomb.length).toBeLessThan(50_000)
    store.files.set('own/intent', bomb)
    expect((await OwnFiles.open(store, chain, { longestList: 50_000 })).unfinished).toEqual([])
  })

  it('is written so that it can be read again: too many names for one are in several', async () => {
    for (const longestList of [200, 201, 1000, 100_000]) {
      const { store, own } = await mirrorAt(1, leaves(50), { longestList })
      await own.noteGone({ height: 2, at: 0 }, leaves(50))
      for (const name of lists(store)) expect(linesIn(store, name).join('\n').length).toBeLessThanOrEqual(longestList)
      const again = await OwnFiles.open(store, chain, { longestList })
      await again.putHead(headAt(12), keeping)
      await again.deleteOld(day * 1000 + 1000, keeping, never)
      expect([left(store), lists(store)]).toEqual([[], []])
    }
  })

  it('of what is about to be written has the first names where it cannot have all', async () => {
    const { store, own } = await mirrorAt(1, [], { longestList: size })
    await own.noteIntent(leaves(50))
    expect((await OwnFiles.open(store, chain, { longestList: size })).unfinished).toEqual(leaves(5))
  })

  it('deletes nothing but files that never change, whatever it names', async () => {
    const kept = ['head', 'about', 'cosigned', 'mirror.html', 'own/intent', 'own/gone/1-9']
    const { store } = await mirrorAt(1, kept.slice(1))
    const names = [...kept, '../secret', '/etc/passwd', 'map/../head', 'MAP/00', '', leaf(1)]
    store.files.set(leaf(1), fromUtf8('a file'))
    store.files.set('own/gone/1-0', gzipSync(names.join('\n')))
    const own = await OwnFiles.open(store, chain)
    await own.putHead(headAt(100), keeping)
    await own.deleteOld(0, { keepBlocks: 1, keepSeconds: 0 }, never)
    expect([...store.files.keys()].sort()).toEqual(
      expect.arrayContaining(kept.filter((name) => name !== 'own/gone/1-9')),
    )
    expect(store.files.has(leaf(1))).toBe(false)
  })
})

describe('names of a step that did not end', () => {
  it('stay noted until one ends, in the same process as in another one', async () => {
    const { store, own } = await mirrorAt(1)
    await own.noteIntent([leaf(1), leaf(2)])
    await own.noteIntent([leaf(2), leaf(3)])
    expect(own.unfinished).toEqual([leaf(1), leaf(2), leaf(3)])
    const again = await OwnFiles.open(store, chain)
    expect(again.unfinished).toEqual([leaf(1), leaf(2), leaf(3)])
    await again.noteIntent([leaf(4)])
    expect((await OwnFiles.open(store, chain)).unfinished).toEqual([leaf(1), leaf(2), leaf(3), leaf(4)])
    await again.putHead(headAt(2), keeping)
    expect([again.unfinished, (await OwnFiles.open(store, chain)).unfinished]).toEqual([[], []])
  })

  it('are forgotten as names that no later block needs: its block may have been taken back', async () => {
    for (const reopened of [false, true]) {
      const { store, own } = await mirrorAt(1, [leaf(1), leaf(2)])
      await own.noteGone({ height: 2, at: 0 }, [leaf(1)])
      const next = reopened ? await OwnFiles.open(store, chain) : own
      await next.noteGone({ height: 3, at: 5 }, [leaf(2)])
      await next.putHead(headAt(3), keeping)
      await next.putHead(headAt(100), keeping)
      await next.deleteOld(2 * day * 1000, keeping, never)
      expect([left(store), lists(store)]).toEqual([[leaf(1)], []])
    }
  })
})

describe('files that no later block needs', () => {
  it('stay for the blocks and for the time, on both sides of each', async () => {
    const { store, own } = await mirrorAt(1, [leaf(1)])
    await own.noteGone({ height: 2, at: 1000 }, [leaf(1)])
    await own.putHead(headAt(11), keeping)
    await own.deleteOld(1000 + day * 1000, keeping, never)
    await own.putHead(headAt(12), keeping)
    await own.deleteOld(999 + day * 1000, keeping, never)
    expect(left(store)).toEqual([leaf(1)])
    await own.deleteOld(1000 + day * 1000, keeping, never)
    expect(left(store)).toEqual([])
  })

  it('go though the clock was ahead when they were noted, once it is right again', async () => {
    const { store, own } = await mirrorAt(1, leaves(3))
    const ahead = 4_000_000_000_000
    await own.noteGone({ height: 2, at: ahead }, [leaf(0)])
    await own.putHead(headAt(2), keeping)
    await own.noteGone({ height: 3, at: ahead + 9 }, [leaf(1)])
    await own.putHead(headAt(3), keeping)
    await own.noteGone({ height: 4, at: 1000 }, [leaf(2)])
    await own.putHead(headAt(50), keeping)
    await own.deleteOld(999 + day * 1000, keeping, never)
    expect(left(store)).toHaveLength(3)
    const again = await OwnFiles.open(store, chain)
    await again.deleteOld(1000 + day * 1000, keeping, never)
    expect([left(store), lists(store)]).toEqual([[], []])
  })

  it('stay while the clock is behind', async () => {
    const { store, own } = await mirrorAt(1, [leaf(0)])
    await own.noteGone({ height: 2, at: 1000 }, [leaf(0)])
    await own.putHead(headAt(50), keeping)
    await own.deleteOld(0, keeping, never)
    expect(left(store)).toEqual([leaf(0)])
  })
})
