import { describe, expect, it } from 'vitest'
import type { Server } from '../../../../src/clients/light/ask-server.js'
import { bundledWork, followWork, fromCheckpoint, rememberedWork } from '../../../../src/clients/light/follow-work.js'
import type { ChainOptions } from '../../../../src/clients/light/trust-basis.js'
import { readCheckpoint, readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { HeaderChain, readHeaders } from '../../../../src/identity/proofs/work.js'
import { failureOf, worldTime } from '../../../support/builders/light-world.js'
import { paperGenesis, ProofBook } from '../../../support/builders/proof-book.js'

const length = 20
const made = (name: string, blocks: number) => {
  const book = new ProofBook(paperGenesis(name, worldTime))
  while (book.pages.length <= blocks) book.make()
  return book
}
const book = made('mined', length)
/** Twelve headers are needed below the first that is checked. */
const trust = readTrust(book.trust({ retarget: { interval: 12, spacing: 10 } }))
const rules = trust.work as NonNullable<typeof trust.work>
const now = (worldTime + 100_000) * 1000

/** The book from some height on with other blocks, so many. */
function branchAt(height: number, blocks: number): ProofBook {
  const [{ block: genesis }] = book.pages as [ProofBook['pages'][number]]
  const other = new ProofBook(genesis)
  for (const { block } of book.pages.slice(1, height)) other.push(block)
  for (let i = 0; i < blocks; i++) other.make({ padding: 1 })
  return other
}

/** A server of headers, at most so many an answer, that is not asked without end. */
function serverOf(of: ProofBook, most = 2000) {
  const asked: string[] = []
  const get = (path: string) => {
    if (asked.push(path) > 40) throw new RangeError('asked without end')
    const [, from = '', count = ''] = path.split('/')
    return Promise.resolve(of.headers(Number(from), Math.min(Number(count), most)))
  }
  return { server: { url: 'http://a', get } as unknown as Server, asked }
}

/** The chain of the book up to a height. */
function chainTo(height: number): HeaderChain {
  const chain = HeaderChain.over(rules, [trust.header])
  for (const full of readHeaders(book.headers(1, height))) chain.add(full, now)
  return chain
}
const following = { now, keep: () => {} }
const options = { trust, confirmations: 6 } as ChainOptions

describe('the headers of a server', () => {
  it('are asked for once where there are no more', async () => {
    const [chain, { server, asked }] = [chainTo(length), serverOf(book)]
    expect(await followWork(server, chain, following)).toBe(chain)
    expect(asked).toEqual([`headers/${length + 1}/2000`])
  })

  it('are followed answer by answer, however few come in one', async () => {
    const { server, asked } = serverOf(book, 7)
    expect((await followWork(server, chainTo(3), following)).tip.id).toBe(book.tip.id)
    expect(asked).toEqual([4, 11, 18, 21].map((from) => `headers/${from}/2000`))
  })

  it('are followed on another branch with more work, wherever that begins', async () => {
    const chain = chainTo(length)
    for (let height = 1; height <= length; height++) {
      const other = branchAt(height, length - height + 2)
      const { server, asked } = serverOf(other)
      expect((await followWork(server, chain, following)).tip.id).toBe(other.tip.id)
      expect(asked.length).toBeLessThanOrEqual(4)
    }
  })

  it('are handed out as far as they were followed, and whether there were any is said', async () => {
    const known = rememberedWork(options, undefined)
    const found: unknown[] = []
    const keep = (followed: HeaderChain | unknown) => void found.push((followed as HeaderChain).tip.height)
    expect([await known.follow(serverOf(made('mined', 0)).server, now, keep), found]).toEqual([false, [0]])
    expect([await known.follow(serverOf(book).server, now, keep), found]).toEqual([true, [0, length]])
  })

  it('are not followed on another branch of as much work', async () => {
    const chain = chainTo(length)
    for (const height of [1, 9, length]) {
      const { server } = serverOf(branchAt(height, length - height + 1))
      expect(await followWork(server, chain, following)).toBe(chain)
    }
  })

  it('are refused where none of them is of the chain that is known', async () => {
    const { server, asked } = serverOf(made('another', length + 5))
    expect(await failureOf(followWork(server, chainTo(length), following))).toBe('work-link')
    expect(asked.map((path) => path.split('/')[1])).toEqual(['21', '13', '1'])
  })
})

describe('the headers up to a checkpoint', () => {
  const at = (height: number) => readCheckpoint(book.checkpoint(height), trust)
  const from = ({ server }: ReturnType<typeof serverOf>, height: number) =>
    failureOf(fromCheckpoint(options, server, at(height)).then(({ work }) => work.memory.headers[0]?.height))

  it.each([1, 7, 2000])('are those that the next ones are checked against, %i an answer', async (most) => {
    for (const height of [1, 11, 12, 13, length]) {
      expect(await from(serverOf(book, most), height)).toBe(Math.max(0, height - 12))
    }
  })

  it('are refused where a server has none, or those of another block', async () => {
    expect(await from(serverOf(made('mined', 5)), length)).toBe('work-link')
    expect(await from(serverOf(branchAt(15, 10)), length)).toBe('checkpoint-hash')
  })

  it('are asked for in no more than a server answers at once', async () => {
    const far = readTrust(book.trust({ retarget: { interval: 5000, spacing: 10 } }))
    const checkpoint = { ...at(1), height: 4000 }
    const { server, asked } = serverOf(book, 0)
    expect(await failureOf(fromCheckpoint({ ...options, trust: far }, server, checkpoint))).toBe('work-link')
    expect(asked).toEqual(['headers/0/2000'])
  })

  it('are as many in a bundle, which has all of them', () => {
    for (const height of [1, 11, 12, 13, length]) {
      const { headers } = bundledWork(options, book.headers(1, length), at(height), now).memory
      expect([headers[0]?.height, headers.at(-1)?.height]).toEqual([Math.max(0, height - 12), length])
    }
    expect(bundledWork(options, book.headers(1, length), undefined, now).memory.headers).toHaveLength(length + 1)
  })
})
