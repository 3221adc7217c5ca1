import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { holds } from '../../src/base/crypto/verify.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { applyOperation } from '../../src/identity/did/apply-operation.js'
import { parseOperation, readOperationJson } from '../../src/identity/did/operation.js'
import { type CredentialState, type DidState, nextCredentialState } from '../../src/identity/did/state.js'
import { namedRules } from '../support/builders/named-did.js'

/** Customised DIDs as the JavaScript SDK 2.3.5 and the Java SDK 2.2.4 made them, one after another, with the verdict of this chain. */

interface Sample {
  readonly name: string
  readonly txid: string
  readonly request: object
  /** The code of the refusal; absent: it is taken. */
  readonly refused?: string
}
interface Group {
  readonly group: string
  readonly method: string
  readonly samples: readonly Sample[]
}

const { groups } = JSON.parse(readFileSync(new URL('customised-dids.json', import.meta.url), 'utf8')) as {
  groups: readonly Group[]
}

describe.each(groups)('operations of the SDKs: $group', ({ method, samples }) => {
  const specifications = {
    did: ['elastos/did/1.0'],
    credential: ['elastos/credential/1.0'],
  }
  const rules = { ...namedRules, method, specifications }
  const states = new Map<string, DidState>()
  const credentials = new Map<string, CredentialState>()
  const verdict = ({ request, txid }: Sample): string | undefined => {
    try {
      const parsed = parseOperation(readOperationJson(JSON.stringify(request)), rules)
      const applied = applyOperation(states.get(parsed.did), parsed, {
        ...rules,
        txid,
        time: 0,
        issuer: (did) => states.get(did),
        credential: (id, did) => credentials.get(`${did} ${id}`),
        otherCredential: (id, did) => credentials.get(`${did} ${id}`),
      })
      const failing = applied.checks.find((check) => !holds(check))
      if (failing !== undefined) return failing.code
      states.set(parsed.did, applied.next)
      const { credential } = applied
      if (credential !== undefined) {
        const key = `${credential.signer} ${credential.id}`
        credentials.set(key, nextCredentialState(credentials.get(key), credential))
      }
      return undefined
    } catch (error) {
      if (error instanceof RuleError) return error.code
      throw error
    }
  }
  it.each(samples)('$name', (sample) => expect(verdict(sample)).toBe(sample.refused))
})
