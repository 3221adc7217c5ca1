import { didOf } from '../../base/primitives/did-key.js'
import { formatDate, parseDate } from '../../identity/did/date.js'
import { didPart } from '../../identity/did/identifier.js'
import { namedCredential } from '../../identity/did/named-did.js'
import type {
  CredentialList,
  CredentialOptions,
  CredentialResult,
  ResolvedTransaction,
} from '../../identity/did/resolution.js'
import type { MapProofJson, StateProof } from '../../identity/did/state-proof.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { type DidOperation, formOfNumber } from '../../base/primitives/did-operation.js'
import type { Prover, WantedBlock } from '../prover/prover.js'
import { credentialRow, declaredCount } from '../../ledger/storage/rows/credential-rows.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { operationAt } from '../../ledger/storage/rows/did-reader.js'
import { present } from '../../ledger/storage/rows/row-reader.js'
import { type CredentialOperationRow, tables, type TipRow } from '../../ledger/storage/rows/tables.js'
import type { ConsistentReader } from './consistent-reader.js'
import { credentialIdOf, existingKey, identifierOf } from './did-key.js'
import { readProofRequest } from './resolve-request.js'
import { shownOperation } from '../../identity/did/shown-operation.js'
import type { AskerOptions, StepGate } from './step-gate.js'

/** @tuning count: ids of credentials in one answer */
const maxListed = 256
const defaultListed = 128

export interface CredentialAnswersOptions {
  readonly database: RowSource
  readonly prover: Prover
  readonly reader: ConsistentReader
  readonly gate: StepGate
  /** Unix milliseconds, never before the time of the tip. */
  now(): number
}

/** A credential that is asked for. */
export interface AskedCredential {
  readonly id: string
  readonly issuer: string | undefined
}

/** Operations on a credential that count as of a block. */
interface Said {
  /** Whose operations do: the owner first. */
  readonly signers: readonly string[]
  readonly operations: readonly CredentialOperationRow[]
  readonly declared: { readonly row: CredentialOperationRow; readonly operation: DidOperation } | undefined
  readonly credential: ReturnType<typeof namedCredential>
}

/** Answers about credentials on the chain. */
export class CredentialAnswers {
  readonly #options: CredentialAnswersOptions

  constructor(options: CredentialAnswersOptions) {
    this.#options = options
  }

  /**
   * State of a credential. Revokes by its holder count, by its issuer once it is declared, and by `issuer`, a DID in full or
   * without its beginning; of several the first on the chain is shown. With a proof the answer is as of its block, and every
   * operation is. Text that can be no id or DID is `request-parameter`.
   */
  async resolve(
    text: string,
    { issuer, ...proved }: CredentialOptions = {},
    { showsAge = false }: Pick<AskerOptions, 'showsAge'> = {},
  ): Promise<CredentialResult> {
    const asked = askedCredential(text, issuer)
    const request = readProofRequest(proved)
    const { reader, prover, gate } = this.#options
    gate.require(showsAge || request !== undefined)
    const result = await reader.read(async (tip) => {
      if (request === undefined) return this.#result(asked.id, this.#said(asked), false)
      const block = await prover.block(tip, request)
      const proof = await this.#proof(block, asked)
      return { ...this.#result(asked.id, this.#said(asked, block.height), true), proof }
    })
    if (result.status === 3) gate.requireAll()
    return result
  }

  /** The proof of what counts of a credential, as of a block under a tip whose rows are read. */
  async prove(tip: TipRow, asked: AskedCredential, wanted: WantedBlock): Promise<StateProof> {
    return this.#proof(await this.#options.prover.block(tip, wanted), asked)
  }

  async #proof(block: TipRow, asked: AskedCredential): Promise<StateProof> {
    const { prover } = this.#options
    const maps: MapProofJson[] = []
    for (const signer of this.#said(asked, block.height).signers) {
      maps.push(await prover.credentialMap(block, { id: asked.id, signer }))
    }
    return prover.proof(block, maps)
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
    // Where a list ends there is no more.
    this.#options.gate.requireAll()
    if (holder === undefined) return { did: full, credentials: [] }
    return this.#options.reader.read(async () => {
      const end = Math.min(declaredCount(database, holder), skip + Math.min(limit || defaultListed, maxListed))
      const numbers = Array.from({ length: Math.max(0, end - skip) }, (_, i) => skip + i)
      await database.load(() => numbers.map((number) => tables.declared.key(holder, number)))
      const credentials = numbers.map((number) => {
        return `${full}#${present(tables.declared.get(database, holder, number), 'a declared credential')}`
      })
      return { did: full, credentials }
    })
  }

  #said({ id, issuer }: AskedCredential, height = Infinity): Said {
    const { database } = this.#options
    const rowsOf = (signer: string) => (credentialRow(database, id, signer) ?? []).filter((row) => row.height <= height)
    const holder = didPart(id)
    const own = rowsOf(holder)
    const declare = own.find(({ operation }) => formOfNumber(operation)?.effect === 'credential')
    const declared = declare && { row: declare, operation: operationAt(database, declare) }
    const credential = declared && namedCredential(declared.operation)
    const signers = [...new Set([holder, credential?.issuer ?? holder, issuer ?? holder])]
    return { signers, operations: [...own, ...signers.slice(1).flatMap(rowsOf)], declared, credential }
  }

  /** `whole`: with every operation, newest first. */
  #result(id: string, { operations, declared, credential }: Said, whole: boolean): CredentialResult {
    const { database, now } = this.#options
    const holder = didPart(id)
    const show = (row: CredentialOperationRow) =>
      this.#shown(row, row === declared?.row ? declared.operation : operationAt(database, row), holder)
    const revoke = firstRevoke(operations)
    const rows = whole ? newestFirst(operations) : [revoke, declared?.row].filter((row) => row !== undefined)
    if (rows.length === 0) return { id, status: 3 }
    const status = revoke === undefined ? expiry(credential?.expirationDate, now()) : 2
    return { id, status, transaction: rows.map(show) }
  }

  #shown({ txid, time }: CredentialOperationRow, operation: DidOperation, holder: string): ResolvedTransaction {
    return { txid: displayHash(txid), timestamp: formatDate(time), operation: shownOperation(operation, holder) }
  }
}

/** A credential by its id, and the DID whose revocation counts as well; both in full. Else `request-parameter`. */
export function askedCredential(id: string, issuer: string | undefined): AskedCredential {
  return { id: credentialIdOf(id), issuer: issuer === undefined ? undefined : didOf(identifierOf(issuer, 'issuer')) }
}

function firstRevoke(rows: readonly CredentialOperationRow[]): CredentialOperationRow | undefined {
  return newestFirst(rows.filter(({ operation }) => formOfNumber(operation)?.effect === 'end')).at(-1)
}

function newestFirst(rows: readonly CredentialOperationRow[]): CredentialOperationRow[] {
  return [...rows].sort((a, b) => b.height - a.height || b.index - a.index)
}

/** 1 once the date has come. */
function expiry(date: string | undefined, now: number): 0 | 1 {
  return date !== undefined && (parseDate(date) ?? Infinity) * 1000 <= now ? 1 : 0
}
