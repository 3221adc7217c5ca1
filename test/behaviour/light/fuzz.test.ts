import { describe, expect, it } from 'vitest'
import { LightResolver } from '../../../src/clients/light/light-resolver.js'
import { LightError } from '../../../src/clients/light/light-error.js'
import { lightWorld } from '../../support/builders/light-world.js'
import { lightServers, type Json } from '../../support/fakes/light-server.js'
import { oneIn } from '../../support/process/thorough.js'

/** Changes of every character of an answer: what is believed then is still true. */

const { book, alice, bob, carol, kept, revoked } = lightWorld({ changeAt: 9 })

/** What an answer says that is proved, in a text that can be compared. */
function proved(result: Json): string {
  const { proved: by, transaction, ...rest } = result
  const bound = (transaction ?? []).map((one: Json, i: number, { length }: Json[]) => {
    const { operation, ...where } = one
    const { operation: name, previousTxid } = operation.header
    // That of the first entry given has no entry before it.
    return { ...where, name, payload: operation.payload, ...(i < length - 1 && { previousTxid }) }
  })
  return JSON.stringify({ ...rest, bound, height: by.height, hash: by.hash, time: by.time })
}

async function resolverWith(tell: (text: string) => string): Promise<LightResolver> {
  const honest = lightServers({ node: { book } })
  const options = { servers: ['http://node'], trust: book.trust(), now: () => book.tip.time * 1000 }
  return new LightResolver({
    ...options,
    fetch: async (url, init) => {
      const response = await honest(url, init)
      return url.endsWith('/rpc') ? new Response(tell(await response.text())) : response
    },
  })
}

const questions: readonly (readonly [string, (light: LightResolver) => Promise<unknown>])[] = [
  ['the latest state', (light) => light.resolve(alice.did)],
  ['all versions', (light) => light.resolve(alice.did, { all: true })],
  ['an earlier version', (light) => light.resolve(bob.did, { versionId: firstOf(bob.did) })],
  ['an expired one', (light) => light.resolve(carol.did)],
  ['an absent DID', (light) => light.resolve('did:ledger:nobody')],
  ['a credential', (light) => light.resolveCredential(kept)],
  ['a revoked one', (light) => light.resolveCredential(revoked)],
  ['a version that is not there', (light) => light.resolve(alice.did, { versionId: '00'.repeat(32) })],
]

function firstOf(did: string): string {
  return (book.answer(did, { all: true }).transaction?.at(-1) as Json).txid
}

describe('an answer with one character changed', () => {
  it.each(questions)('is refused by a name, or says the same: %s', async (_, ask) => {
    let text = ''
    const honest = await resolverWith((right) => (text = right))
    const right = proved(await ask(honest))
    const every = oneIn(83)
    let refused = 0
    for (let at = every === 1 ? 0 : text.length % every; at < text.length; at += every) {
      for (const put of at % 2 === 0 ? ['A', '0'] : ['1', '"']) {
        if (text[at] === put) continue
        const light = await resolverWith((right) => right.slice(0, at) + put + right.slice(at + 1))
        try {
          expect(proved(await ask(light))).toBe(right)
        } catch (error) {
          if (!(error instanceof LightError)) throw error
          expect(error.failure).toMatch(/^[a-z]+(-[a-z]+)*$/)
          refused++
        }
      }
    }
    expect(refused).toBeGreaterThan(text.length / every / 2)
  })

  it('is refused with any bit of its proof changed', async () => {
    const right = book.answer(alice.did, { proof: 'history' }) as Json
    const texts: readonly (readonly [string, (json: Json, text: string) => void])[] = [
      [right.proof.anchor.header, (json, text) => (json.proof.anchor.header = text)],
      [right.proof.anchor.coinbase, (json, text) => (json.proof.anchor.coinbase = text)],
      [right.proof.anchor.branch, (json, text) => (json.proof.anchor.branch = text)],
      [right.proof.anchor.confirm, (json, text) => (json.proof.anchor.confirm = text)],
      [right.proof.maps[0].path, (json, text) => (json.proof.maps[0].path = text)],
      [right.proof.maps[0].history.entries, (json, text) => (json.proof.maps[0].history.entries = text)],
    ]
    const step = oneIn(43)
    for (const [text, put] of texts) {
      const bytes = Buffer.from(text, 'base64url')
      for (let bit = 0; bit < bytes.length * 8; bit += step) {
        const changed = Buffer.from(bytes)
        changed[bit >> 3] = (changed[bit >> 3] as number) ^ (0x80 >> (bit & 7))
        const json = JSON.parse(JSON.stringify(right)) as Json
        put(json, changed.toString('base64url'))
        const light = await resolverWith(() => JSON.stringify({ result: json }))
        await expect(light.resolve(alice.did, { history: true })).rejects.toBeInstanceOf(LightError)
      }
    }
  })
})
