import { randomBytes } from 'node:crypto'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import { prefix, programHash } from '../../src/base/primitives/address.js'
import { multisigCode, parameterOf, sortPrograms, standardProgram } from '../../src/base/primitives/program.js'
import { attributeUsage, Transaction } from '../../src/base/primitives/transaction.js'
import type { TransactionFields } from '../../src/base/primitives/transaction-fields.js'
import { fieldsOf } from '../../test/support/builders/blocks.js'
import { type Holder, holder } from '../../test/support/builders/did.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { type Coin, coinOf, create, deactivate, standardHash, update, type Workshop } from './workshop.js'

/** Cases by name: transactions of a block, or one on its way into the pool, and the code of the refusal of what is refused. */
type Cases<Made> = readonly (readonly [name: string, make: (shop: Workshop) => Promise<Made> | Made, code?: string])[]

/** Inputs, outputs and bytes of the largest transaction in a block, less room for the rest of it. */
const most = { inputs: 65_400, outputs: 61_000, bytes: 7_700_000 }
/** The same for the pool, and the signature cost. */
const mostPooled = { inputs: 1_000, outputs: 3_060, bytes: 199_000, cost: 300 }
const blockBytes = 7_990_000

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

/** Transactions of one-key programs, 2000 each, with keys that no cache has. */
async function strangers(shop: Workshop, count: number, changes: Partial<TransactionFields> = {}, keys = 2000) {
  const signers = many(keys * count, () => quickSigner())
  const hashes = signers.map(({ publicKey }) => standardHash(publicKey))
  const coins = await shop.fan(signers.length, hashes)
  return many(count, () => {
    const bare = shop.transaction(coins.splice(0, keys), { programs: [], ...changes })
    const programs = signers
      .splice(0, keys)
      .map(({ publicKey, sign }) => standardProgram(publicKey, sign(bare.unsigned)))
    return new Transaction({ ...fieldsOf(bare), programs: sortPrograms(programs) })
  })
}

/** Transactions of 16-of-16 programs, 7 each, signed so that each signature matches the last unused key. */
async function multisigs(shop: Workshop, count: number, each = 7) {
  const programs = many(each * count, () => {
    const signers = many(16, () => quickSigner())
    signers.sort((a, b) => Buffer.compare(a.publicKey.subarray(1), b.publicKey.subarray(1)))
    const keys = signers.map(({ publicKey }) => publicKey)
    return { signers: signers.reverse(), code: multisigCode(16, keys) }
  })
  const hashes = programs.map(({ code }) => programHash(prefix.multisig, code))
  const coins = await shop.fan(programs.length, hashes)
  return many(count, () => {
    const bare = shop.transaction(coins.splice(0, each), { programs: [] })
    const signed = programs.splice(0, each).map(({ code, signers }) => {
      return { code, parameter: parameterOf(signers.map(({ sign }) => sign(bare.unsigned))) }
    })
    return new Transaction({ ...fieldsOf(bare), programs: sortPrograms(signed) })
  })
}

const manyKeys = (count = 255) =>
  many(count, (i) => ({ fragment: `k${i}`, publicKey: quickSigner().publicKey, use: 'authentication' as const }))

const serviceOf = (members: object) => ({ id: '#s', type: 'S', serviceEndpoint: 'x', ...members })

/** Services whose documents have nearly 20,000 tokens: empty objects side by side, or arrays inside each other. */
const wide = serviceOf({ list: many(19_900, () => ({})) })
const deep = serviceOf({ list: many(1600, () => JSON.parse('['.repeat(12) + ']'.repeat(12)) as unknown) })

/** A document of nearly as many bytes as a payload may have, in members that have to be sorted. */
function large(bytes = 105_000): object {
  const members = many(Math.min(Math.floor(bytes / 16), 9000), (i) => [`m${i}`, 'x'.repeat(bytes / 9000 - 4)])
  return serviceOf({ more: Object.fromEntries(members) as unknown })
}

/** Carried creates of new DIDs with these parts. */
const created = (shop: Workshop, changes: Parameters<typeof create>[1] = {}) => shop.carry(create(holder(), changes))

/** Carried deactivates of new DIDs with large documents, once they are published. */
async function deactivated(shop: Workshop, count: number): Promise<Transaction[]> {
  const holders = many(count, () => holder())
  await shop.mine(holders.map((one) => shop.carry(create(one, { services: [large()] }))))
  return holders.map((one) => shop.carry(deactivate(one)))
}

/** Published DIDs with as many keys and bytes as a document may have. */
async function largeIssuers(shop: Workshop, count: number): Promise<Holder[]> {
  const issuers = many(count, () => holder())
  const parts = () => ({ keys: manyKeys(250), services: [large(85_000)] })
  await shop.mine(issuers.map((one) => shop.carry(create(one, parts()))))
  return issuers
}

const plainCredential = (subject: string) => ({ type: ['T'], credentialSubject: { id: subject } })

/** A create with credentials by others. */
function endorsed(shop: Workshop, issuers: readonly Holder[]): Transaction {
  const one = holder()
  const { did } = one
  const credentials = issuers.map((by, i) => by.issue(did, { id: `${did}#c${i}`, ...plainCredential(did) }))
  return shop.carry(create(one, { credentials }))
}

/** A create with one credential of its own. */
function selfIssued(shop: Workshop, type: readonly string[], claims: object): Transaction {
  const one = holder()
  const { did } = one
  const credential = one.issue(did, { id: `${did}#c`, type, credentialSubject: { id: did, ...claims } })
  return shop.carry(create(one, { credentials: [credential] }))
}

/** As many as fit into a block. */
function fill(make: () => Transaction, atMost = 9_990): Transaction[] {
  const some: Transaction[] = []
  for (let bytes = 1000; some.length < atMost;) {
    const tx = make()
    bytes += tx.bytes.length
    if (bytes > blockBytes) break
    some.push(tx)
  }
  return some
}

/** Outputs to as many addresses, followed by the owner's change. */
function spread(shop: Workshop, count: number): Transaction {
  const outputs = many(count, () => shop.output(1n, Buffer.concat([Buffer.of(prefix.standard), randomBytes(20)])))
  const change = shop.output(100_000_000n - 100n - BigInt(count))
  return shop.transaction(shop.take(), { outputs: [...outputs, change] })
}

/** Outputs of type 1, of 65,535 votes for each content, which no chain accepts. */
function votes(shop: Workshop, count = 115): Transaction {
  const candidates = Buffer.concat([Buffer.of(0, 0xfd, 0xff, 0xff), Buffer.alloc(65_535)])
  const payload = Buffer.concat([Buffer.of(0, count), ...many(count, () => candidates)])
  const [coin] = shop.take() as [Coin]
  const outputs = [{ ...shop.output(coin.value - 100n), extra: { type: 1, payload } }]
  return shop.transaction([coin], { version: 9, outputs })
}

const text = (characters: string) =>
  ({ payload: { type: 3, recordType: characters, content: new Uint8Array(0) } }) as const

let next = 0
/** A name like no other before. */
const unique = () => (next++).toString(36)

export const blockCases: Cases<readonly Transaction[]> = [
  ['9,990 transfers', async (shop) => (await shop.fan(9_990)).map((coin) => shop.transaction([coin]))],
  [
    '196,000 inputs',
    async (shop) => {
      const coins = await shop.fan(3 * most.inputs)
      return many(3, () => shop.transaction(coins.splice(0, most.inputs)))
    },
  ],
  ['122,000 outputs to as many addresses', (shop) => many(2, () => spread(shop, most.outputs))],
  ['40,000 signatures of unknown keys', (shop) => strangers(shop, 20), 'block-signature-work'],
  [
    '14,000 unknown keys, and multisig 16 of 16 up to 40,000',
    async (shop) => [...(await strangers(shop, 7)), ...(await multisigs(shop, 14))],
  ],
  ['multisig 16 of 16, 40,000', (shop) => multisigs(shop, 22)],
  [
    '2,000 signatures over 7 MB',
    (shop) => strangers(shop, 1, text('x'.repeat(most.bytes - 400_000))),
    'block-signature-work',
  ],
  ['documents of 256 keys', (shop) => fill(() => created(shop, { keys: manyKeys() }))],
  ['documents of 20,000 objects', (shop) => fill(() => created(shop, { services: [wide] }))],
  ['documents of 15,000 types of credentials', (shop) => fill(() => selfIssued(shop, many(15_000, unique), {}))],
  [
    'documents of 5,000 claims',
    (shop) => {
      const claims = () => Object.fromEntries(many(5000, (i) => [`c${unique()}`, i]))
      return fill(() => selfIssued(shop, ['T'], claims()))
    },
  ],
  ['documents of 128 KiB', (shop) => fill(() => created(shop, { services: [large()] }))],
  [
    '9,000 creates',
    async (shop) => {
      shop.coins.unshift(...(await shop.fan(9_000)))
      return fill(() => created(shop), 9_000)
    },
  ],
  ['deactivates of 16 MiB of documents', (shop) => deactivated(shop, 120)],
  ['deactivates of more documents than allowed', (shop) => deactivated(shop, 200), 'block-issuer-documents'],
  [
    'credentials by 128 issuers of 128 KiB each',
    async (shop) => {
      const issuers = await largeIssuers(shop, 125)
      let turn = 0
      shop.coins.unshift(...(await shop.fan(1_200)))
      const some = () => many(32, () => issuers[turn++ % issuers.length] as Holder)
      return fill(() => endorsed(shop, some()), 1_170)
    },
  ],
  ['votes in outputs, by the million', (shop) => [votes(shop)], 'tx-output-type'],
]

export const transactionCases: Cases<Transaction> = [
  ['the largest of a block', (shop) => shop.transaction(shop.take(), text('x'.repeat(most.bytes))), 'pool-size'],
  ['1,000 inputs', async (shop) => shop.transaction(await shop.fan(mostPooled.inputs))],
  ['3,060 outputs to as many addresses', (shop) => spread(shop, mostPooled.outputs)],
  [
    'an output, spent, of 61,000',
    async (shop) => {
      const tx = spread(shop, most.outputs)
      await shop.mine([tx])
      const last = coinOf(tx, most.outputs)
      await shop.mine([shop.transaction([last])])
      return shop.transaction([last], { lockTime: 1 })
    },
    'tx-double-spend',
  ],
  ['199 kB of text', (shop) => shop.transaction(shop.take(), text('x'.repeat(mostPooled.bytes)))],
  ['199 kB of text beyond ASCII', (shop) => shop.transaction(shop.take(), text('語'.repeat(mostPooled.bytes / 3)))],
  [
    'an operation of 199 kB',
    (shop) => shop.carry({ ...create(holder()), payload: 'A'.repeat(mostPooled.bytes) } as DidOperation),
    'did-payload-size',
  ],
  [
    '16 attributes of 1,024 bytes',
    (shop) => {
      const attributes = many(16, () => ({ usage: attributeUsage.memo, data: randomBytes(1024) }))
      return shop.transaction(shop.take(), { attributes })
    },
  ],
  ['300 signatures of unknown keys', async (shop) => one(await strangers(shop, 1, {}, mostPooled.cost))],
  ['multisig 16 of 16', async (shop) => one(await multisigs(shop, 1, 1))],
  ['a document of 256 keys', (shop) => created(shop, { keys: manyKeys() })],
  ['a document of 20,000 objects', (shop) => created(shop, { services: [wide] })],
  ['a document 16 deep', (shop) => created(shop, { services: [deep] })],
  ['a document of 128 KiB', (shop) => created(shop, { services: [large()] })],
  ['a deactivate of 128 KiB', async (shop) => one(await deactivated(shop, 1))],
  [
    'an update of 255 credentials',
    async (shop) => {
      const who = holder()
      const credentials = many(255, (i) => who.issue(who.did, { id: `${who.did}#c${i}`, ...plainCredential(who.did) }))
      const first = shop.carry(create(who, { credentials }))
      await shop.mine([first])
      return shop.carry(update(who, first.txid, { credentials }))
    },
  ],
  ['credentials by 8 issuers of 128 KiB each', async (shop) => endorsed(shop, await largeIssuers(shop, 8))],
  [
    'credentials by 32 issuers of 128 KiB each',
    async (shop) => endorsed(shop, await largeIssuers(shop, 32)),
    'pool-documents',
  ],
  ['votes in outputs, by ten thousands', (shop) => votes(shop, 3), 'tx-output-type'],
]

function one([transaction]: readonly Transaction[]): Transaction {
  return transaction as Transaction
}
