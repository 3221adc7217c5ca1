import { describe, expect, it } from 'vitest'
import type { Server } from '../../../../src/clients/light/ask-server.js'
import { didQuestion, unproved } from '../../../../src/clients/light/did-question.js'
import type { Bound } from '../../../../src/clients/light/json-scan.js'
import type { DidQuestion } from '../../../../src/identity/proofs/did-question.js'
import type { ProvedDid } from '../../../../src/identity/proofs/did-answer.js'

const did = 'did:ledger:alice'
const MiB = 1024 * 1024

/** How much of an answer a question reads, and what it asks. */
async function asked(question: Omit<DidQuestion, 'did'>) {
  let found: { params: unknown; bound: Bound } | undefined
  const call = (_: string, params: object, bound: Bound) => Promise.resolve((found = { params, bound }))
  await didQuestion({ did, ...question }).ask({ call } as unknown as Server)
  return found
}

describe('a question about a DID', () => {
  it.each<[string, Omit<DidQuestion, 'did'>, object, number, number]>([
    ['the latest version', {}, { proof: true }, 4, 256],
    ['an earlier block', { height: 3 }, { proof: true, height: 3 }, 4, 256],
    ['a version', { versionId: 'ab' }, { proof: true, versionId: 'ab' }, 8, 256],
    ['a version by time', { versionTime: '2026' }, { proof: true, versionTime: '2026' }, 8, 256],
    ['all entries', { history: true }, { proof: 'history' }, 8, 256],
    ['every version', { all: true }, { all: true, proof: true }, 8, 524_288],
  ])('reads as much of an answer as that can have: %s', async (_, question, params, size, tokens) => {
    expect(await asked(question)).toEqual({
      params: { did, all: false, ...params },
      bound: { bytes: size * MiB, tokens },
    })
  })

  it('says of a status that it is not proved', () => {
    const of = (knowsStatus: boolean) => unproved({ knowsStatus } as ProvedDid)
    expect([of(true), of(false)]).toEqual([{}, { statusUnproved: true }])
  })
})
