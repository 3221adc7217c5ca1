import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { LightError } from '../../../../src/clients/light/light-error.js'
import { readCheckpoint, readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { allChanges, bundledLists, followChanges } from '../../../../src/clients/light/follow-changes.js'
import { Signatures } from '../../../../src/clients/light/signatures.js'
import { failureOf, lightWorld, worldTime } from '../../../support/builders/light-world.js'
import { paperGenesis, ProofBook } from '../../../support/builders/proof-book.js'
import type { Json } from '../../../support/fakes/light-server.js'

const { book } = lightWorld({ changeAt: 9 })
const trust = readTrust(book.trust())
const change = book.change(9)

/** Heights of the lists in a bundle, or why it is refused. */
async function listsOf(changes: unknown[], checkpoint?: number): Promise<unknown> {
  const from = checkpoint === undefined ? undefined : readCheckpoint(book.checkpoint(checkpoint), trust)
  const lists = bundledLists(trust, changes, from, new Signatures())
  return failureOf(lists.then((found) => found.map(({ height }) => height)))
}

describe('changes of validators in a bundle', () => {
  it('follow the validators of genesis, or those of a checkpoint', async () => {
    expect(await listsOf([change])).toEqual([1, 9])
    expect(await listsOf([change], 3)).toEqual([4, 9])
  })

  it('are looked at only above a checkpoint', async () => {
    expect(await listsOf([change], 8)).toEqual([9])
    expect(await listsOf([change], 9)).toEqual([10])
    expect(await listsOf([{ ...change, height: 5 }, change], 4)).toEqual([5, 9])
    expect(await listsOf([{ ...change, height: 6 }, change], 4)).toBe('changes-order')
  })

  it.each([[[0, 9]], [[1, 9]], [[9, 9]], [[10, 9]], [[8]], [[10]]])('are refused at heights %j', async (heights) => {
    expect(await listsOf(heights.map((height) => ({ ...change, height })))).toBe('changes-order')
  })
})

/** A chain whose validators are others from these heights on. */
function changing(...heights: number[]): ProofBook {
  const teams = [1, ...heights].map((height) => ({ height, signers: [quickSigner()] }))
  const made = new ProofBook(paperGenesis('changing', worldTime), teams)
  while (made.pages.length < 12) made.make()
  return made
}

const changed = changing(3, 5, 8)
const first = { height: 1, keys: changed.keys(1) }

/** A server that shows one change an answer; instead of what it would show from some height on, it fails. */
function serverOf(failsFrom = Infinity, failure: 'timeout' | 'unreachable' = 'timeout') {
  const asked: string[] = []
  const get = (path: string): Promise<Json> => {
    asked.push(path)
    const [kind, from] = path.split('/')
    if (kind === 'anchor') return Promise.resolve(changed.change(Number(from) + 1))
    if (Number(from) >= failsFrom) return Promise.reject(new LightError(failure, 'for the test'))
    return Promise.resolve(changed.changes(Number(from), 1))
  }
  return { server: { url: 'http://a', get }, asked }
}

describe('changes of validators of a server', () => {
  const follow = async (given: ReturnType<typeof serverOf>, lists = [first]) => {
    const kept: number[][] = []
    const following = {
      ...{ genesis: changed.genesis, signatures: new Signatures() },
      keep: (found: readonly { height: number }[]) => void kept.push(found.map(({ height }) => height)),
    }
    const found = followChanges(given.server, lists, following)
    return { found: await failureOf(found), kept, heights: (await found.catch(() => [])).map(({ height }) => height) }
  }

  it('are followed answer by answer, from the last one on', async () => {
    const given = serverOf()
    const { heights, kept } = await follow(given)
    expect([heights, kept]).toEqual([[1, 3, 5, 8], []])
    expect(given.asked).toEqual(['changes/1', 'changes/3', 'changes/5'])
  })

  it('are the lists that were known where there are none', async () => {
    const lists = [{ height: 8, keys: changed.keys(8) }]
    expect((await follow(serverOf(), lists)).found).toBe(lists)
  })

  it('are kept as far as they came where the server is too slow, and not where it fails', async () => {
    expect(await follow(serverOf(5))).toMatchObject({ found: 'timeout', kept: [[1, 3, 5]] })
    expect(await follow(serverOf(5, 'unreachable'))).toMatchObject({ found: 'unreachable', kept: [] })
  })

  it('are refused where more are promised, and none come', async () => {
    const empty = () => Promise.resolve({ ...changed.changes(0, 1), changes: [], more: true })
    expect(await follow({ server: { url: 'http://a', get: empty }, asked: [] })).toMatchObject({
      found: 'changes-order',
    })
  })

  it('are refused where one of them comes again', async () => {
    const given = serverOf()
    const again = (path: string) => (given.asked.push(path), Promise.resolve(changed.changes(1, 1)))
    expect(await follow({ ...given, server: { url: 'http://a', get: again } })).toMatchObject({
      found: 'changes-order',
    })
    expect(given.asked).toEqual(['changes/1', 'changes/3'])
  })

  it('are collected as they are sent, since genesis or from a checkpoint on', async () => {
    const heights = async (given: ReturnType<typeof serverOf>, checkpoint?: number) => {
      const from =
        checkpoint === undefined
          ? undefined
          : readCheckpoint(changed.checkpoint(checkpoint), readTrust(changed.trust()))
      return (await allChanges(given.server, from)).map((one) => (one as Json).height)
    }
    const [whole, part] = [serverOf(), serverOf()]
    expect(await heights(whole)).toEqual([3, 5, 8])
    expect(whole.asked).toEqual(['changes/1', 'changes/3', 'changes/5'])
    expect(await heights(part, 3)).toEqual([4, 5, 8])
    expect(part.asked).toEqual(['anchor/3', 'changes/4', 'changes/5'])
    const bundled = await bundledLists(
      readTrust(changed.trust()),
      await allChanges(serverOf().server, undefined),
      undefined,
      new Signatures(),
    )
    expect(bundled.map(({ height }) => height)).toEqual([1, 3, 5, 8])
  })
})
