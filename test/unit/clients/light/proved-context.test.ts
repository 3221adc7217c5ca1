import { describe, expect, it } from 'vitest'
import { resolveProved } from '../../../../src/clients/light/proved-context.js'
import { displayHash } from '../../../../src/base/primitives/bytes.js'
import { formatDate } from '../../../../src/identity/did/date.js'
import type { ResolveOptions } from '../../../../src/identity/did/resolution.js'
import { readEntry } from '../../../../src/identity/proofs/history.js'
import { didMapKey } from '../../../../src/identity/proofs/map-tree.js'
import { lightOver, lightWorld } from '../../../support/builders/light-world.js'

const { book, alice, bob, versions } = lightWorld({ changeAt: 9 })
const tip = book.tip.height

/** When each operation of a DID was, oldest first. */
function momentsOf(did: string) {
  const page = book.page(tip)
  const history = [...page.histories.values()].find(({ key }) => displayHash(key) === displayHash(didMapKey(did)))
  return (history?.entries ?? []).map((bytes) => {
    const { txid, time, height } = readEntry(bytes)
    return { moment: { txid: displayHash(txid), timestamp: formatDate(time) }, time, height }
  })
}

const contextOf = async (did: string, asked: ResolveOptions) =>
  (await resolveProved(lightOver(book), did, asked)).context

describe('the context of a proved version', () => {
  const moments = momentsOf(alice.did)
  const [first, second, third] = moments.map(({ moment }) => moment)
  const seen = { height: tip, blockHash: book.tip.id, time: book.tip.time, count: 3, created: first }
  const at = (place: number) => {
    const height = moments[place]?.height ?? 0
    return [{ height, confirmations: tip - height + 1 }]
  }

  it.each<[string, ResolveOptions, object]>([
    ['the latest', {}, { updated: third, at: at(2) }],
    ['the latest by its name', { versionId: versions[2] }, { updated: third, at: at(2) }],
    ['one in the middle', { versionId: versions[1] }, { updated: second, next: third, at: at(1) }],
    ['the first', { versionId: versions[0] }, { next: second, at: at(0) }],
    ['the first by its time', { versionTime: first?.timestamp }, { next: second, at: at(0) }],
  ])('shows its operation and those around it: %s', async (_, asked, expected) => {
    const context = await contextOf(alice.did, asked)
    expect(context).toEqual({ ...seen, ...expected, expires: expect.stringMatching(/^20/) as unknown })
  })

  it.each<[string, ResolveOptions]>([
    ['a time before it was created', { versionTime: formatDate((moments[0]?.time ?? 0) - 1) }],
    ['a version that never was', { versionId: '00'.repeat(32) }],
  ])('is that of the latest where none is shown: %s', async (_, asked) => {
    expect(await contextOf(alice.did, asked)).toEqual({ ...seen, updated: third, expires: '', at: [] })
  })

  it('of a deactivated DID names the last document, and the operation that deactivated it', async () => {
    const [created, deactivated] = momentsOf(bob.did)
    expect(await contextOf(bob.did, {})).toMatchObject({
      ...{ count: 2, created: created?.moment, expires: '' },
      at: [{ height: deactivated?.height }],
    })
    expect(await contextOf(bob.did, {})).not.toHaveProperty('updated')
  })

  it('is missing where there is no DID', async () => {
    expect(await resolveProved(lightOver(book), 'did:ledger:nobody')).not.toHaveProperty('context')
  })
})
