import { afterAll, describe, expect, it } from 'vitest'
import { checkTransaction } from '../../src/ledger/consensus/connect.js'
import { StateOverlay, type StateView } from '../../src/ledger/consensus/ledger.js'
import { sign } from '../../src/base/crypto/keys.js'
import { mapKey } from '../../src/base/primitives/bytes.js'
import { leastFee } from '../../src/base/primitives/fees.js'
import { registerAssetTransaction } from '../../src/base/primitives/genesis.js'
import { standardProgram } from '../../src/base/primitives/program.js'
import { paramsAt, type Spec } from '../../src/base/primitives/spec.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import { codeOf } from '../support/assert/code-of.js'
import { fieldsOf, personHash } from '../support/builders/blocks.js'
import { holder, Registry } from '../support/builders/did.js'
import { testKey, testPublicKey, testSpec } from '../support/builders/spec.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface Vectors {
  readonly transactions: readonly {
    readonly about: string
    readonly fees: object
    readonly unsigned: string
    readonly size: number
    readonly least: string
  }[]
  readonly sequences: readonly {
    readonly about: string
    readonly fees: object
    readonly size: number
    readonly steps: readonly {
      readonly operation: 'declare' | 'revoke'
      readonly by: 'holder' | 'issuer' | 'stranger'
      readonly newLeaf: boolean
      readonly least: string
    }[]
  }[]
}

const file = openVectors<Vectors>('fee-rules.json', { descriptive: ['about'] })
const { transactions, sequences } = file.data
afterAll(() => file.finish())

/** The outcome of a transaction whose inputs hold so much more than its outputs. */
function outcome(spec: Spec, tx: Transaction, fee: bigint): string {
  const paid = tx.outputs.reduce((sum, { value }) => sum + value, 0n) + fee
  const owner = mapKey(personHash(10))
  const nothing = () => undefined
  const view: StateView = {
    time: 0,
    // The first coin holds all of it but a unit for each other one.
    coin: ({ index }) => ({
      ...{ height: 1, coinbase: false, outputLock: 0, owner },
      value: index === 0 ? paid - BigInt(tx.inputs.length - 1) : 1n,
    }),
    ...{ did: nothing, issuer: nothing, credential: nothing, otherCredential: nothing, provedHeight: nothing },
  }
  const context = { spec, assetId: registerAssetTransaction(spec).hash, height: 100 }
  return codeOf(() => checkTransaction(tx, new StateOverlay(view), context)) ?? 'ok'
}

describe('the least fee of a transaction', () => {
  it.each(transactions)('$about: $least', ({ fees, unsigned, size, least }) => {
    const spec = parseSpec(testSpec({ fees: copied(fees) }))
    const bare = Transaction.fromHex(`${unsigned}00`)
    const programs = [standardProgram(testPublicKey(10), sign(bare.unsigned, testKey(10)))]
    const tx = new Transaction({ ...fieldsOf(bare), programs })
    expect(tx.unsignedSize).toBe(size)
    expect([outcome(spec, tx, BigInt(least)), outcome(spec, tx, BigInt(least) - 1n)]).toEqual(['ok', 'tx-fee'])
  })
})

describe('the leaf of a credential', () => {
  it.each(sequences)('$about', ({ fees, size, steps }) => {
    const spec = parseSpec(testSpec({ fees: copied(fees) }))
    const dids = { holder: holder(), issuer: holder(), stranger: holder() }
    const registry = new Registry()
    for (const one of Object.values(dids)) registry.apply(one.create())
    const credential = dids.issuer.issue(dids.holder.did)
    const { id } = JSON.parse(credential) as { id: string }
    for (const { operation, by, newLeaf, least } of steps) {
      const signed = operation === 'declare' ? dids[by].declare(credential) : dids[by].revoke(id)
      const applied = registry.apply(signed)
      expect(applied.newLeaf, `${operation} by the ${by}`).toBe(newLeaf)
      const room = { unsignedSize: size, newLeaf: applied.newLeaf }
      expect(leastFee(paramsAt(spec, 1).fees, room)).toBe(BigInt(least))
    }
  })
})
