import { randomUUID } from 'node:crypto'
import { checkPresentation } from 'didledger-client/verify'
import { Ledger } from '../ledger.js'
import { serve } from './http.js'

/** An employer: asks for a presentation with a nonce of its own, and checks what it gets by the chain. */

const { NODE = 'http://127.0.0.1:20334', PORT = '8002', REALM = 'https://jobs.example' } = process.env
const { resolver } = new Ledger(NODE)

/** Nonces that were given out and not used yet, oldest first; the number is bounded, since all may ask. */
const nonces = new Set()
const mostNonces = 10_000

const url = await serve(Number(PORT), {
  'POST /challenge': () => {
    const nonce = randomUUID()
    nonces.add(nonce)
    if (nonces.size > mostNonces) nonces.delete(nonces.values().next().value)
    return { realm: REALM, nonce }
  },
  'POST /check': async ({ presentation, nonce }) => {
    if (!nonces.delete(nonce)) throw new Error('this nonce was not given out here, or is used already')
    const { valid, holder, checks } = await checkPresentation(presentation, resolver, { realm: REALM, nonce })
    return { valid, holder, failed: checks.filter(({ holds }) => !holds).map(({ name }) => name) }
  },
})
console.log(`checks at ${url}`)
