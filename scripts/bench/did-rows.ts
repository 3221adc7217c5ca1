import { encodeBase64url } from '../../src/identity/did/base64url.js'
import type { DidState } from '../../src/identity/did/state.js'
import { SeededRandom } from '../../test/support/builders/seeded-random.js'
import {
  addressOf,
  coinbaseInput,
  type Database,
  type Header,
  Overlay,
  prefix,
  programHash,
  putConnected,
  StateOverlay,
  StoredState,
  TokenIndexChanges,
  Transaction,
} from './dist.js'

/** DIDs with documents, written as blocks write them, without signatures. */

/** Operations of a block. */
export const perBlock = 1000
const filler = 'Text of a profile that says where somebody works, what they like, and how they are reached. '.repeat(8)

export interface DidRow {
  readonly did: string
  readonly text: string
}

/** The document of the DID with a number: 1 to 2 kB; a few types, issuers and claims are frequent, many are rare. */
export function seededDid(n: number): DidRow {
  const random = new SeededRandom(n + 1)
  // The first of many about as often as all others together.
  const skewed = (count: number) => Math.floor(count ** (random.below(1 << 20) / (1 << 20))) - 1
  const did = didOf(n)
  const services = Array.from({ length: 1 + random.below(2) }, (_, i) => {
    const kind = skewed(300)
    const type = kind === 0 ? 'Hub' : `Service${kind}`
    return { id: `${did}#service-${i}`, type, serviceEndpoint: `https://service-${kind}.example.org/people/${n}` }
  })
  const credentials = Array.from({ length: 1 + random.below(2) }, (_, i) => {
    const kind = skewed(200)
    const claims = [0, 1, 2].map(() => skewed(40))
    const said = claims.map((claim) => [claim === 0 ? 'email' : `claim${claim}`, `${skewed(5000)}@example.org`])
    return {
      id: `${did}#credential-${i}`,
      type: ['BasicCredential', kind === 0 ? 'ProfileCredential' : `Kind${kind}Credential`],
      issuer: random.below(3) === 0 ? didOf(1_000_000_000 + skewed(500)) : did,
      issuanceDate: '2026-01-01T00:00:00Z',
      credentialSubject: { id: did, name: `Ada ${n}`, ...(Object.fromEntries(said) as object) },
      proof: { type: 'ECDSAsecp256r1', verificationMethod: `${did}#primary`, signature: 'x'.repeat(86) },
    }
  })
  const month = 1 + skewed(60)
  const document = {
    id: did,
    publicKey: [{ id: `${did}#primary`, type: 'ECDSAsecp256r1', controller: did, publicKeyBase58: `${did}${n}` }],
    authentication: [`${did}#primary`],
    verifiableCredential: credentials,
    service: [...services, { id: `${did}#about`, type: 'About', text: filler.slice(0, random.below(filler.length)) }],
    expires: `${2027 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}-15T00:00:00Z`,
  }
  return { did, text: JSON.stringify(document) }
}

/** The creates of so many DIDs. */
export function* seededCreates(count: number): Generator<DidRow & { readonly count: number }, void> {
  for (let n = 0; n < count; n++) yield { ...seededDid(n), count: 1 }
}

function didOf(n: number): string {
  return `did:ledger:${addressOf(programHash(prefix.did, Buffer.from(`bench ${n}`)))}`
}

/** Milliseconds that the index took, and bytes of the documents. */
export interface Written {
  readonly index: number
  readonly bytes: number
}

/** Writes creates, or further operations of a DID, as blocks above height `from`. */
export async function writeOperations(
  database: Database,
  tip: Pick<Header, 'hash' | 'height'>,
  operations: Iterable<DidRow & { readonly count: number }>,
  from: number,
): Promise<Written> {
  const time = measureIndex()
  let bytes = 0
  let height = from
  let some: (DidRow & { readonly count: number })[] = []
  const flush = async () => {
    await writeBlock(database, tip, height++, some)
    some = []
  }
  for (const operation of operations) {
    bytes += Buffer.byteLength(operation.text)
    some.push(operation)
    if (some.length === perBlock) await flush()
  }
  if (some.length > 0) await flush()
  return { index: time(), bytes }
}

async function writeBlock(
  database: Database,
  { hash, height: tipHeight }: Pick<Header, 'hash' | 'height'>,
  height: number,
  operations: readonly (DidRow & { readonly count: number })[],
): Promise<void> {
  const overlay = new Overlay(database)
  const plain = { version: 0, payloadVersion: 0, attributes: [], outputs: [], lockTime: height, programs: [] }
  const coinbase = new Transaction({ ...plain, payload: { type: 0, data: new Uint8Array(0) }, inputs: [coinbaseInput] })
  const carriers = operations.map(({ did, text, count }) => {
    const operation = {
      specification: 'ledger/did/1.0',
      operation: count === 1 ? 'create' : 'update',
      ...(count === 1 ? {} : { previousTxid: '00'.repeat(32) }),
      payload: encodeBase64url(Buffer.from(text)),
      proofType: '',
      verificationMethod: `${did}#primary`,
      signature: encodeBase64url(new Uint8Array(64)),
    }
    return new Transaction({ ...plain, payload: { type: 10, operation }, inputs: [] })
  })
  await putConnected(
    overlay,
    { header: { height, time: 0 }, transactions: [coinbase, ...carriers] },
    {
      state: new StateOverlay(new StoredState(overlay)),
      transactions: operations.map(({ did, text, count }, i) => {
        const { txid } = carriers[i] as Transaction
        const state = { status: 'valid', operationCount: count, lastTxid: txid, documentTxid: txid } as DidState
        return {
          fee: 0n,
          spent: [],
          did: { id: did, state, reads: [], issuerKeys: [], document: { bytes: Buffer.from(text) } },
        }
      }),
      fees: 0n,
    },
  )
  await overlay.commit({ kind: 'pool', hash, height: tipHeight }, { sync: false })
}

/** Begins to measure the time that the index takes; the returned function ends that, with the milliseconds. */
function measureIndex(): () => number {
  const { create, change, stage } = TokenIndexChanges.prototype
  let milliseconds = 0
  const note = <T>(began: number, result: T): T => {
    milliseconds += performance.now() - began
    return result
  }
  TokenIndexChanges.prototype.create = function (...one) {
    return note(performance.now(), create.apply(this, one))
  }
  TokenIndexChanges.prototype.change = function (...one) {
    return note(performance.now(), change.apply(this, one))
  }
  TokenIndexChanges.prototype.stage = async function (...one) {
    const began = performance.now()
    await stage.apply(this, one)
    note(began, undefined)
  }
  return () => {
    Object.assign(TokenIndexChanges.prototype, { create, change, stage })
    return milliseconds
  }
}

/** Lets blocks be connected without the index, until the returned function is called. */
export function withoutIndex(): () => void {
  const { create, change, stage } = TokenIndexChanges.prototype
  Object.assign(TokenIndexChanges.prototype, { create: () => {}, change: () => {}, stage: async () => {} })
  return () => void Object.assign(TokenIndexChanges.prototype, { create, change, stage })
}
