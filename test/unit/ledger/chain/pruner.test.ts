import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../../../src/ledger/chain/chain.js'
import { Pruner } from '../../../../src/ledger/chain/pruner.js'

/** A chain of which 64 blocks at most give up their transactions in one batch, and a pruner that keeps the last 100. */
function scene() {
  const calls: number[] = []
  const said: object[] = []
  const chain = {
    events: new EventEmitter(),
    tip: { header: { height: 0 } },
    prunedHeight: 0,
    failing: false,
    exclusive: (job: (writer: { prune(to: number): Promise<number> }) => Promise<number>) =>
      job({
        prune: (to) => {
          calls.push(to)
          if (chain.failing) return Promise.reject(new Error('busy'))
          chain.prunedHeight = Math.min(to, chain.prunedHeight + 64)
          return Promise.resolve(chain.prunedHeight)
        },
      }),
  }
  const say = (fields: object) => void said.push(fields)
  const log = { debug: say, info: say, warn: say, error: say }
  const pruner = new Pruner({ chain: chain as unknown as Chain, what: 'blocks', keep: 100, log })
  const grow = async (height: number) => {
    await new Promise((resolve) => setImmediate(resolve))
    chain.tip.header.height = height
    chain.events.emit('change')
    await new Promise((resolve) => setImmediate(resolve))
    return calls.splice(0)
  }
  return { chain, pruner, grow, said }
}

describe('the blocks that give up their transactions', () => {
  it('are all but the last, in full batches, and are told once', async () => {
    const { chain, grow, said } = scene()
    expect(await grow(163)).toEqual([])
    expect(said).toEqual([])
    expect(await grow(164)).toEqual([64])
    expect(await grow(227)).toEqual([])
    expect(await grow(365)).toEqual([265, 265, 265])
    expect(chain.prunedHeight).toBe(256)
    expect(said).toEqual([
      { from: 1, to: 64 },
      { from: 65, to: 256 },
    ])
  })

  it('are tried again with the next block after a failure, and not after the end', async () => {
    const { chain, pruner, grow, said } = scene()
    chain.failing = true
    expect(await grow(200)).toEqual([100])
    expect(said).toEqual([{ error: 'Error: busy' }])
    chain.failing = false
    expect(await grow(201)).toEqual([101])
    await pruner.close()
    expect(await grow(900)).toEqual([])
  })
})

describe('the documents that are given up', () => {
  /** A chain whose documents are given up as far as it is asked to, with coins committed to each so many blocks. */
  function documents({ interval, prunes = false }: { interval?: number; prunes?: boolean }) {
    const calls: number[] = []
    const chain = {
      events: new EventEmitter(),
      tip: { header: { height: 1000 } },
      spec: interval === undefined ? {} : { coinRoots: { from: 1, interval } },
      prunes,
      joinedHeight: 0,
      supersededHeight: 0,
      exclusive: (job: (writer: object) => Promise<number>) =>
        job({
          pruneDocuments: (to: number) => {
            calls.push(to)
            chain.supersededHeight = to
            return Promise.resolve(to)
          },
        }),
    }
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const pruner = new Pruner({ chain: chain as unknown as Chain, what: 'documents', keep: 300, log })
    return pruner.close().then(() => calls)
  }

  it.each([
    ['lie below the last blocks', {}, [700]],
    ['are not those of the state to which the latest block commits', { interval: 400 }, [800 - 288]],
    ['lie below the last blocks where no state is above them', { interval: 999 }, [700]],
    ['are those of all states where blocks give up their transactions', { interval: 400, prunes: true }, [700]],
  ])('%s', async (_, chain, asked) => {
    expect(await documents(chain)).toEqual(asked)
  })
})
