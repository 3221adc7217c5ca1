import { describe, expect, it } from 'vitest'
import type { ApiContext } from '../../../../../src/answers/api/api-context.js'
import { StreamedAnswer } from '../../../../../src/answers/api/streams/streamed-answer.js'
import { changeList, headerList, historyProof } from '../../../../../src/answers/api/results/proof-results.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { contextOf } from '../../../../support/client/api.js'
import { provesNothing } from '../../../../support/fakes/stubs.js'

/** A node whose histories have so many bytes. */
async function nodeWith(bytes: number): Promise<{ context: ApiContext; asked: object[]; close(): Promise<void> }> {
  const node = await TestChain.open()
  const context = contextOf(node)
  const asked: object[] = []
  const did: ApiContext['resolver']['proofs']['did'] = async (text, options) => {
    asked.push(options)
    const anchor = { header: '', coinbase: '', branch: '' }
    const isLong = bytes > (options.most ?? Infinity)
    return isLong ? undefined : { format: 'didledger/proof/1', chain: text, anchor, maps: [] }
  }
  const proofs = { ...provesNothing, did }
  return { context: { ...context, resolver: { ...context.resolver, proofs } }, asked, close: () => node.close() }
}

describe('a proof by a history', () => {
  it('is made at once where it is short', async () => {
    const { context, asked, close } = await nodeWith(60_000)
    expect(await historyProof(context, 'x', { height: 5 })).toMatchObject({ chain: 'x' })
    expect(asked).toEqual([{ history: true, most: 64 * 1024, height: 5 }])
    await close()
  })

  it('waits for room where it is long, once for all who ask the same', async () => {
    const { context, asked, close } = await nodeWith(70_000)
    const [first, same, other] = await Promise.all([
      historyProof(context, 'x', { height: 5 }),
      historyProof(context, 'x', { height: 5 }),
      historyProof(context, 'x', { depth: 5 }),
    ])
    if (!(first instanceof StreamedAnswer && same instanceof StreamedAnswer && other instanceof StreamedAnswer)) {
      throw new Error('an answer was made without waiting')
    }
    expect([same.key === first.key, other.key === first.key]).toEqual([true, false])
    let text = ''
    const sink = { signal: new AbortController().signal, due: false, add: (part: string) => (text += part) }
    await first.write({ ...sink, drain: async () => {}, reserve: async () => () => {} } as never)
    expect(JSON.parse(text)).toMatchObject({ chain: 'x' })
    expect(asked.at(-1)).toEqual({ history: true, height: 5 })
    await close()
  })
})

describe('lists for light resolvers', () => {
  it('have a name for each question and tip', async () => {
    const node = await TestChain.open()
    const context = contextOf(node)
    const keys = () => [changeList(context, 1), changeList(context, 2), headerList(context, 1, 2)].map(({ key }) => key)
    const before = keys()
    expect(new Set(before).size).toBe(3)
    await node.mine()
    expect(new Set([...before, ...keys()]).size).toBe(6)
    await node.close()
  })
})
