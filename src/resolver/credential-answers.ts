import { formatDate, parseDate } from '../did/date.js'
import { didPart } from '../did/identifier.js'
import { namedCredential } from '../did/named-did.js'
import type { CredentialList, CredentialResult, ResolvedTransaction } from '../did/resolution.js'
import { displayHash } from '../primitives/bytes.js'
import type { DidOperation } from '../primitives/did-operation.js'
import { credentialRow, declaredCount } from '../storage/credential-rows.js'
import type { Database } from '../storage/database.js'
import { operationAt, present } from '../storage/did-rows.js'
import { operationNumber } from '../proofs/history.js'
import { type CredentialOperationRow, keys, values } from '../storage/schema.js'
import { credentialIdOf, didOf, existingKey, identifierOf } from './did-key.js'
import { shownOperation } from './shown-operation.js'

/** @limit count: ids of credentials in one answer */
const maxListed = 256
const defaultListed = 128

export interface CredentialAnswersOptions {
  readonly database: Database
  /** Refuses while the node catches up. */
  requireSynced(): void
  /** Reads rows of one state, again if the chain moved meanwhile. */
  consistent<T>(read: () => T): Promise<T>
  /** Unix milliseconds, never before the time of the tip. */
  now(): number
}

/** What the chain says of credentials. */
export class CredentialAnswers {
  readonly #options: CredentialAnswersOptions

  constructor(options: CredentialAnswersOptions) {
    this.#options = options
  }

  /**
   * State of a credential. Revokes by its holder count, by its issuer once it is declared, and by `issuer`, a DID in full or
   * without its beginning; of several the first on the chain is shown. Text that can be no id or DID is `request-parameter`.
   */
  async resolve(text: string, issuer?: string): Promise<CredentialResult> {
    const id = credentialIdOf(text)
    const asked = issuer === undefined ? undefined : didOf(identifierOf(issuer, 'issuer'))
    this.#options.requireSynced()
    return this.#options.consistent(() => this.#read(id, asked))
  }

  /** Ids of credentials that a DID declared, oldest declare first. `limit`: 0 or none is 128, more than 256 are 256. */
  async list(
    did: string,
    { skip = 0, limit = 0 }: { readonly skip?: number; readonly limit?: number },
  ): Promise<CredentialList> {
    const identifier = identifierOf(did)
    const full = didOf(identifier)
    const holder = existingKey(identifier)
    const { database } = this.#options
    this.#options.requireSynced()
    if (holder === undefined) return { did: full, credentials: [] }
    return this.#options.consistent(() => {
      const end = Math.min(declaredCount(database, holder), skip + Math.min(limit || defaultListed, maxListed))
      const credentials = Array.from({ length: Math.max(0, end - skip) }, (_, i) => {
        const row = present(database.get(keys.declared(holder, skip + i)), 'a declared credential')
        return `${full}#${values.declared.decode(row)}`
      })
      return { did: full, credentials }
    })
  }

  #read(id: string, asked: string | undefined): CredentialResult {
    const { database, now } = this.#options
    const holder = didPart(id)
    const own = credentialRow(database, id, holder) ?? []
    const declare = own.find(({ operation }) => operation === operationNumber.declare)
    const declared = declare && { row: declare, operation: operationAt(database, declare) }
    const credential = declared && namedCredential(declared.operation)
    const others = new Set([credential?.issuer, asked].filter((did) => did !== undefined && did !== holder))
    const said = [...own, ...[...others].flatMap((did) => credentialRow(database, id, did as string) ?? [])]
    const revoke = firstRevoke(said)
    const shown = [
      ...(revoke === undefined ? [] : [this.#shown(revoke, operationAt(database, revoke), holder)]),
      ...(declared === undefined ? [] : [this.#shown(declared.row, declared.operation, holder)]),
    ]
    if (shown.length === 0) return { id, status: 3 }
    return { id, status: revoke === undefined ? expiry(credential?.expirationDate, now()) : 2, transaction: shown }
  }

  #shown({ txid, time }: CredentialOperationRow, operation: DidOperation, holder: string): ResolvedTransaction {
    return { txid: displayHash(txid), timestamp: formatDate(time), operation: shownOperation(operation, holder) }
  }
}

function firstRevoke(rows: readonly CredentialOperationRow[]): CredentialOperationRow | undefined {
  const revokes = rows.filter(({ operation }) => operation === operationNumber.revoke)
  return revokes.sort((a, b) => a.height - b.height || a.index - b.index)[0]
}

/** 1 once the date has come. */
function expiry(date: string | undefined, now: number): 0 | 1 {
  return date !== undefined && (parseDate(date) ?? Infinity) * 1000 <= now ? 1 : 0
}
