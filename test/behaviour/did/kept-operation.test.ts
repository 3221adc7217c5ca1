import { expect, it } from 'vitest'
import { connectedOperation } from '../../../src/ledger/consensus/connect.js'
import type { AppliedOperation } from '../../../src/identity/did/state.js'
import { heldBytes } from '../../support/assert/heap-probe.js'
import { holder, Registry } from '../../support/builders/did.js'

const rounds = 40
const padding = 'x'.repeat(60_000)

/** What the pool keeps of an operation. */
function keptOf(applied: AppliedOperation): unknown {
  const { id, state, credential, reads, issuerKeys } = connectedOperation(applied)
  return { id, state, credential, reads, issuerKeys }
}

it('what is kept of an operation holds neither its document nor its credential in memory', () => {
  const chain = new Registry()
  const issuer = holder()
  chain.apply(issuer.create())
  const own = holder()
  chain.apply(own.create())
  const operations = Array.from({ length: rounds }, (_, i) => {
    const other = holder()
    const credentials = [issuer.issue(other.did)]
    const service = { id: '#padding', type: 'Padding', serviceEndpoint: 'https://example.org', text: padding }
    const changes = { id: `${own.did}#c${i}`, credentialSubject: { id: own.did, padding } }
    return [other.create({ credentials, services: [service] }), own.declare(issuer.issue(own.did, changes))]
  })
  const before = heldBytes()
  const kept = operations.flat().map((operation) => keptOf(chain.apply(operation)))
  expect(heldBytes() - before).toBeLessThan((2 * rounds * padding.length) / 4)
  expect(kept).toHaveLength(2 * rounds)
})
