import { encodeBase64url } from '../../src/identity/did/base64url.js'
import type { DidState } from '../../src/identity/did/state.js'
import { SeededRandom } from '../../test/support/builders/seeded-random.js'
import { addressOf, prefix, programHash } from '../../src/base/primitives/address.js'
import { coinbaseInput } from '../../src/base/primitives/input.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import type { Chain } from '../../src/ledger/chain/chain.js'
import { StateOverlay } from '../../src/ledger/consensus/ledger.js'
import type { Database } from '../../src/ledger/storage/database.js'
import { TokenIndexChanges } from '../../src/ledger/storage/rows/token-index.js'
import { putConnected, StoredState } from '../../src/ledger/storage/stored-state.js'
import { Overlay } from '../../src/ledger/storage/write/overlay.js'

/** DIDs with documents, written as blocks write them, without signatures. */

/** Operations of a block. */
export const perBlock = 1000
const filler = 'Text of a profile that says where somebody works, what they like, and how they are reached. '.repeat(8)

/** An operation on a DID: its document, and how many operations it has had with this one. */
export interface DidRow {
  readonly did: string
  readonly text: string
  readonly count: number
}

/** Numbers of DIDs to measure with, ascending: those of `--dids=10000,1000000`, or the usual ones. */
export function didSizes(usual: readonly number[]): readonly number[] {
  const given = process.argv.find((argument) => argument.startsWith('--dids='))
  if (given === undefined) return usual
  const sizes = given.slice('--dids='.length).split(',').map(Number)
  if (sizes.some((size) => !Number.isInteger(size) || size < 1)) throw new Error('--dids takes numbers of DIDs')
  return sizes.sort((a, b) => a - b)
}

/** The create of the DID with a number: 1 to 2 kB; a few types, issuers and claims are frequent, many are rare. */
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
  return { did, text: JSON.stringify(document), count: 1 }
}

function didOf(n: number): string {
  return `did:ledger:${addressOf(programHash(prefix.did, Buffer.from(`bench ${n}`)))}`
}

/** A table whose rows can be scanned. */
interface Ranged {
  range(): Parameters<Database['scan']>[0]
}

/** Bytes of keys, values and checksums in some tables. */
export async function bytesOf(database: Database, tables: readonly Ranged[]): Promise<number> {
  let bytes = 0
  for (const table of tables) {
    for await (const [key, value] of database.scan(table.range())) bytes += key.length + value.length + 4
  }
  return bytes
}

/** Writes the creates of so many DIDs; returns the milliseconds that the index took, and the bytes of the documents. */
export async function writeDids(chain: Pick<Chain, 'database' | 'tip'>, count: number) {
  const [began, bytes] = [measureIndex(), { documents: 0 }]
  const creates = function* () {
    for (let n = 0; n < count; n++) {
      const create = seededDid(n)
      bytes.documents += Buffer.byteLength(create.text)
      yield create
    }
  }
  await writeOperations(chain, creates(), chain.tip.header.height + 1)
  return { index: began(), bytes: bytes.documents }
}

/** Writes creates, or further operations of a DID, as blocks from a height on; the tip stays. */
export async function writeOperations(
  chain: Pick<Chain, 'database' | 'tip'>,
  operations: Iterable<DidRow>,
  from: number,
): Promise<void> {
  let height = from
  let some: DidRow[] = []
  for (const operation of operations) {
    some.push(operation)
    if (some.length < perBlock) continue
    await writeBlock(chain, height++, some)
    some = []
  }
  if (some.length > 0) await writeBlock(chain, height, some)
}

async function writeBlock(
  { database, tip }: Pick<Chain, 'database' | 'tip'>,
  height: number,
  operations: readonly DidRow[],
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
  const transactions = operations.map(({ did: id, text, count }, i) => {
    const { txid } = carriers[i] as Transaction
    const state = { status: 'valid', operationCount: count, lastTxid: txid, documentTxid: txid } as DidState
    const did = { id, state, reads: [], issuerKeys: [], document: { bytes: Buffer.from(text) } }
    return { fee: 0n, spent: [], did }
  })
  const block = { header: { height, time: 0, previous: tip.header.hash }, transactions: [coinbase, ...carriers] }
  await putConnected(overlay, block, {
    state: new StateOverlay(new StoredState(overlay, { time: () => 0 })),
    transactions,
    fees: 0n,
  })
  const { hash, height: tipHeight } = tip.header
  await overlay.commit({ kind: 'pool', hash, height: tipHeight }, { sync: false })
}

type Index = Pick<TokenIndexChanges, 'create' | 'change' | 'stage'>

/** Replaces what the index does with blocks, until the returned function is called. */
function replaceIndex(by: (usual: Index) => Index): () => void {
  const { create, change, stage } = TokenIndexChanges.prototype
  Object.assign(TokenIndexChanges.prototype, by({ create, change, stage }))
  return () => void Object.assign(TokenIndexChanges.prototype, { create, change, stage })
}

/** Lets blocks be connected without the index, until the returned function is called. */
export function withoutIndex(): () => void {
  return replaceIndex(() => ({ create: () => {}, change: () => {}, stage: async () => {} }))
}

/** Begins to measure the time that the index takes; the returned function ends that, with the milliseconds. */
function measureIndex(): () => number {
  let milliseconds = 0
  const noted = <T>(began: number, result: T): T => {
    milliseconds += performance.now() - began
    return result
  }
  const end = replaceIndex(({ create, change, stage }) => ({
    create(...one) {
      return noted(performance.now(), create.apply(this, one))
    },
    change(...one) {
      return noted(performance.now(), change.apply(this, one))
    },
    async stage(...one) {
      return noted(performance.now(), await stage.apply(this, one))
    },
  }))
  return () => {
    end()
    return milliseconds
  }
}
