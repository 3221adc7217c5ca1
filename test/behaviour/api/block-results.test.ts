import { describe, expect, it } from 'vitest'
import type { Sink } from '../../../src/answers/api/streams/streamed-answer.js'
import { blockHex } from '../../../src/answers/api/results/block-results.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { memoryStore, TestChain } from '../../support/builders/chain.js'

/** A sink that counts what is reserved and not given back. */
class CountingSink implements Sink {
  readonly signal = new AbortController().signal
  readonly due = false
  text = ''
  reserved = 0
  reservations = 0

  add(text: string): void {
    this.text += text
  }

  async drain(): Promise<void> {}

  reserve(bytes: number): Promise<() => void> {
    this.reservations++
    this.reserved += bytes
    return Promise.resolve(() => (this.reserved -= bytes))
  }
}

/** A chain, its block at height 1, a longer branch beside it, and how many iterators of its store are open. */
async function forked() {
  const store = memoryStore()
  const counted = { opened: 0, open: 0 }
  const iterator = store.iterator.bind(store)
  store.iterator = ((...options: Parameters<typeof iterator>) => {
    const made = iterator(...options)
    const close = made.close.bind(made)
    counted.opened++
    counted.open++
    let closed = false
    made.close = async () => {
      await close()
      if (!closed) counted.open--
      closed = true
    }
    return made
  }) as typeof store.iterator
  const [chain, other] = await Promise.all([TestChain.open(undefined, { store }), TestChain.open()])
  const [block] = (await chain.mine()) as [Block]
  const branch = await other.mine(2)
  await other.close()
  return { chain, block, branch, counted }
}

const busy = expect.objectContaining({ code: 'busy' })

describe('the second production of a block that moved meanwhile', () => {
  it('gives back the memory of one that left the active chain', async () => {
    const { chain, block, branch } = await forked()
    const answer = blockHex(chain.reader, block.header.hash)
    const sink = new CountingSink()
    await answer.write(sink)
    expect(sink.text).toContain(Buffer.from(block.bytes).toString('hex').slice(0, 160))
    for (const one of branch) await chain.accept(one)
    expect(chain.reader.height).toBe(2)
    await expect(answer.write(sink)).rejects.toEqual(busy)
    expect([sink.reservations, sink.reserved]).toEqual([1, 0])
    await chain.close()
  })

  it('closes the iterator of one that came to the active chain', async () => {
    const { chain, branch, counted } = await forked()
    const [side, top] = branch as [Block, Block]
    await chain.accept(side)
    const answer = blockHex(chain.reader, side.header.hash)
    const sink = new CountingSink()
    await answer.write(sink)
    await chain.accept(top)
    expect(counted.open).toBe(0)
    const { opened } = counted
    await expect(answer.write(sink)).rejects.toEqual(busy)
    expect(counted.opened).toBeGreaterThan(opened)
    expect([counted.open, sink.reserved]).toEqual([0, 0])
    await chain.close()
  })
})
