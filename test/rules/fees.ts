import type { Code } from '../../src/base/errors/error-codes.js'
import { holder } from '../support/builders/did.js'
import { operationPaying, recordPaying } from '../support/builders/priced.js'
import type { SpecOverrides } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'
import { type Build, row } from './transaction.js'

const priced: SpecOverrides = { fees: { minimum: '100', perByte: '1', freeBytes: 1024, leaf: '1200' } }
const unpriced: SpecOverrides = { fees: { minimum: '100', perByte: '0' } }

const record =
  (unsignedSize: number, fee: bigint): Build =>
  (chain) =>
    recordPaying(chain, unsignedSize, fee)

/** A revoke of a credential of another DID, with the least fee and `more` units. */
const revoke =
  (more: bigint): Build =>
  async (chain) => {
    const [signer, other] = [holder(), holder()]
    await chain.publish(signer.create(), signer.did)
    return operationPaying(chain, { operation: signer.revoke(`${other.did}#any`), did: signer.did }, more)
  }

/** A declare by its holder, likewise. */
const declare =
  (more: bigint): Build =>
  async (chain) => {
    const signer = holder()
    await chain.publish(signer.create(), signer.did)
    return operationPaying(chain, { operation: signer.declare(signer.issue(signer.did)), did: signer.did }, more)
  }

/** The holder's revoke of what it declared, or of what it did not, for the least fee of the first. */
const revokeOfOwn =
  (declared: boolean): Build =>
  async (chain) => {
    const signer = holder()
    await chain.publish(signer.create(), signer.did)
    if (declared) await chain.publish(signer.declare(signer.issue(signer.did)), signer.did)
    const operation = signer.revoke(`${signer.did}#profile`)
    // The builder pays for a leaf.
    return operationPaying(chain, { operation, did: signer.did }, -1200n)
  }

/** The same rows for a price in the rules of a chain, and for the price of a pool where those have none. */
const rowsOf = (code: Code, overrides: SpecOverrides): RuleRow[] => [
  row(code, record(1024, 100n), record(1025, 100n), overrides),
  row(code, record(1025, 101n), record(1026, 101n), overrides),
  row(code, revoke(0n), revoke(-1n), overrides),
  row(code, declare(0n), declare(-1n), overrides),
  row(code, revokeOfOwn(true), revokeOfOwn(false), overrides),
]

/** A row for each price of a transaction. */
export const feeRules: RuleRow[] = [
  ...rowsOf('tx-fee', priced),
  row('tx-fee', record(1024, 100n), record(1024, 99n), priced),
  ...rowsOf('fee-too-low', unpriced),
]
