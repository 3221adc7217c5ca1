import { expect, it } from 'vitest'
import { formatDate } from '../../../src/identity/did/date.js'
import { LightError } from '../../../src/clients/light/light-error.js'
import { holder } from '../../support/builders/did.js'
import { lightOver, lightWorld } from '../../support/builders/light-world.js'
import { type Json, lightServers } from '../../support/fakes/light-server.js'

/** What an answer says of itself: whose word counts, which status is proved, and that a late answer is no step back. */

const { book, alice, bob, kept } = lightWorld({ genesis: 'word' })
const [eve, lapsed] = [holder(), holder()]
const made = (operation: ReturnType<typeof eve.create>) =>
  book.make({ operations: [operation] }).transactions.at(-1)?.txid ?? ''
made(eve.create())
made(eve.revoke(kept))
const first = made(lapsed.create({ expires: '2040-01-01T00:00:00Z' }))
made(lapsed.update(first, { expires: formatDate(book.tip.time + 5) }))
for (let i = 0; i < 8; i++) book.make()

it('a stranger whom only the question of a bundle names is named by its answer', async () => {
  const light = lightOver(book)
  const own = await light.resolveCredential(kept)
  expect(own.status).toBe(0)
  expect(own.proved.said?.map(({ as }) => as)).not.toContain('asked')
  const asked = { id: kept, issuer: eve.did }
  const bundle = {
    format: 'didledger/bundle/1',
    asked,
    answer: book.credential(kept, { issuer: eve.did }),
    changes: book.changes(0).changes,
  }
  const { status, proved, transaction = [] } = (await light.verifyBundle(bundle)) as Json
  const revoke = transaction.find(({ operation }: Json) => operation.header.operation === 'revoke')
  expect(status).toBe(2)
  expect(proved.said).toContainEqual({ signer: eve.did, as: 'asked', operations: [revoke.txid] })
  expect(proved.said[0]).toMatchObject({ signer: bob.did === kept.split('#')[0] ? bob.did : alice.did, as: 'holder' })
})

it('an answer that is too old has no status as proved that a server alone gave', async () => {
  const answer = (_: Json, asked: Json) => ({ ...book.answer(lapsed.did, asked), status: 0 })
  const light = lightOver(book, { answer }, { maxAge: 1, now: () => (book.tip.time + 3600) * 1000 })
  const error = await light.resolve(lapsed.did, { versionId: first }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(LightError)
  expect(error).toMatchObject({
    failure: 'stale',
    answer: { proved: { statusUnproved: true, height: book.tip.height } },
  })
})

it('answers that overtake each other are no rollback', async () => {
  const base = lightServers({ node: { book, lies: {} } })
  let release = () => {}
  const later = new Promise<void>((resolve) => (release = resolve))
  let made = () => {}
  const isMade = new Promise<void>((resolve) => (made = resolve))
  const fetch: typeof base = async (url, init) => {
    const response = await base(url, init)
    const text = await response.text()
    if (String(init.body).includes(alice.did)) {
      made()
      await later
    }
    return new Response(text, { status: response.status })
  }
  const light = lightOver(book, {}, { servers: ['http://node'], fetch })
  const slow = light.resolve(alice.did)
  await isMade
  const { height } = book.tip
  book.make()
  expect((await light.resolve(lapsed.did)).proved.height).toBe(height + 1)
  release()
  expect((await slow).proved.height).toBe(height)
  // The same server shows less than it has shown: that is one.
  const back = lightOver(book, { answer: (_, asked) => book.answer(asked.did, { ...asked, height: at }) }, {})
  let at = height + 1
  await back.resolve(alice.did)
  at = height
  await expect(back.resolve(alice.did)).rejects.toMatchObject({ failure: 'rollback' })
})
