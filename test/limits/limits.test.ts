import { describe, expect, it } from 'vitest'
import { type Limit, refusalOf } from './limit.js'
import { apiRows } from './api.js'
import { chainLimits } from './chain.js'
import { didLimits } from './did.js'
import { didQueryLimits } from './did-query.js'
import { fileLimits } from './files.js'
import { lightLimits } from './light.js'
import { poolLimits } from './mempool.js'
import { peerLimits } from './peers.js'
import { primitives } from './primitives.js'
import { proofLimits } from './proofs.js'
import { relayLimits } from './relay.js'
import { transportRows } from './transport.js'
import { votingLimits } from './voting.js'
import { wireLimits } from './wire.js'

const rows: readonly Limit[] = [
  primitives,
  didLimits,
  didQueryLimits,
  proofLimits,
  lightLimits,
  wireLimits,
  transportRows,
  peerLimits,
  poolLimits,
  votingLimits,
  apiRows,
  chainLimits,
  relayLimits,
  fileLimits,
].flat()

describe('a bound', () => {
  for (const { name, unit, value, beyond = value + 1, feed, refusal } of rows) {
    it(`${name} accepts ${value} ${unit} and refuses ${beyond}`, async () => {
      expect(await refusalOf(() => feed(value))).toBeUndefined()
      const refused = await refusalOf(() => feed(beyond))
      expect(refused, `${beyond} was accepted`).toBeDefined()
      expect(refused).toMatch(refusal)
    })
  }
})
