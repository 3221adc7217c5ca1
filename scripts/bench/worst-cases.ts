import { randomBytes } from 'node:crypto'
import { buildCreate, buildDeactivate, buildDocument, buildUpdate } from '../../src/identity/did/build.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import type { TransactionFields } from '../../src/base/primitives/transaction-fields.js'
import { type QuickSigner, quickSigner } from '../../test/support/builders/signatures.js'
import { attributeUsage, multisigCode, parameterOf, prefix, programHash, sortPrograms, Transaction } from './dist.js'
import { standardProgram } from './dist.js'
import { type Coin, credential, fieldsOf, type Holder, operationPlan, standardHash, type Workshop } from './workshop.js'

/** A measured case: a block or transaction, a variant with a wrong signature, and the code of its refusal. */
export interface Case {
  readonly bytes: Uint8Array
  readonly forged?: Uint8Array
  readonly code?: string
}

type Make = (shop: Workshop) => Promise<Case>

/** Inputs, outputs and bytes of the largest transaction in a block, less room for the rest of it. */
const most = { inputs: 65_400, outputs: 61_000, bytes: 7_700_000 }
/** The same for the pool, and the signature cost. */
const mostPooled = { inputs: 1_000, outputs: 3_060, bytes: 199_000, cost: 300 }
const blockBytes = 7_990_000

const randomAddress = () => Buffer.concat([Buffer.of(prefix.standard), randomBytes(20)])

/** A signed transaction of coins that several keys own. */
function signedByAll(
  shop: Workshop,
  coins: readonly Coin[],
  signers: readonly QuickSigner[],
  changes = {},
): Transaction {
  const bare = shop.transaction(coins, { programs: [], ...changes })
  const programs = signers.map(({ publicKey, sign }) => standardProgram(publicKey, sign(bare.unsigned)))
  return new Transaction({ ...fieldsOf(bare), programs: sortPrograms(programs) })
}

/** Transactions of one-key programs, 2000 each, with keys that no cache has. */
async function strangers(shop: Workshop, count: number, changes: Partial<TransactionFields> = {}, keys = 2000) {
  const signers = Array.from({ length: keys * count }, quickSigner)
  const coins = await shop.fan(
    signers.length,
    signers.map(({ publicKey }) => standardHash(publicKey)),
  )
  return Array.from({ length: count }, (_, i) => {
    const own = (list: readonly unknown[]) => list.slice(keys * i, keys * (i + 1))
    return signedByAll(shop, own(coins) as Coin[], own(signers) as QuickSigner[], changes)
  })
}

/** Transactions of 16-of-16 programs, 7 each, signed so that each signature matches the last unused key. */
async function multisigs(shop: Workshop, count: number, each = 7) {
  const programs = Array.from({ length: each * count }, () => {
    const signers = Array.from({ length: 16 }, quickSigner)
    signers.sort((a, b) => Buffer.compare(a.publicKey.subarray(1), b.publicKey.subarray(1)))
    const code = multisigCode(
      16,
      signers.map(({ publicKey }) => publicKey),
    )
    return { signers: signers.reverse(), code, hash: programHash(prefix.multisig, code) }
  })
  const coins = await shop.fan(
    programs.length,
    programs.map(({ hash }) => hash),
  )
  return Array.from({ length: count }, (_, i) => {
    const bare = shop.transaction(coins.slice(each * i, each * (i + 1)), { programs: [] })
    const signed = programs.slice(each * i, each * (i + 1)).map(({ code, signers }) => {
      return { code, parameter: parameterOf(signers.map(({ sign }) => sign(bare.unsigned))) }
    })
    return new Transaction({ ...fieldsOf(bare), programs: sortPrograms(signed) })
  })
}

const manyKeys = (count = 255) =>
  Array.from({ length: count }, (_, i) => {
    return { fragment: `k${i}`, publicKey: quickSigner().publicKey, use: 'authentication' as const }
  })

/** A service whose document has nearly 20,000 tokens: empty objects side by side, or arrays inside each other. */
function manyTokens(kind: 'wide' | 'deep'): object {
  let deep: unknown = []
  for (let depth = 0; depth < 11; depth++) deep = [deep]
  const list = kind === 'wide' ? Array.from({ length: 19_900 }, () => ({})) : Array.from({ length: 1600 }, () => deep)
  return { id: '#s', type: 'S', serviceEndpoint: 'x', list }
}

/** A document of nearly as many bytes as a payload may have, in members that have to be sorted. */
function largeService(bytes = 105_000): object {
  const count = Math.floor(bytes / 16)
  const members = Array.from({ length: Math.min(count, 9000) }, (_, i) => [`m${i}`, 'x'.repeat(bytes / 9000 - 4)])
  return { id: '#s', type: 'S', serviceEndpoint: 'x', more: Object.fromEntries(members) as unknown }
}

async function published(shop: Workshop, holders: readonly Holder[]): Promise<Map<Holder, string>> {
  const carried = holders.map((holder) => [holder, shop.carry(shop.create(holder))] as const)
  await shop.mineAll(carried.map(([, tx]) => tx))
  return new Map(carried.map(([holder, tx]) => [holder, tx.txid]))
}

const signText =
  ({ sign }: QuickSigner) =>
  (text: string) =>
    sign(Buffer.from(text))

/** Published DIDs with as many keys and bytes as a document may have. */
async function largeIssuers(shop: Workshop, count: number): Promise<Holder[]> {
  const issuers = Array.from({ length: count }, () => {
    return shop.holder({ keys: manyKeys(250), services: [largeService(85_000)] })
  })
  await published(shop, issuers)
  return issuers
}

function deactivate({ did, signer }: Holder): DidOperation {
  return buildDeactivate(did, operationPlan, signText(signer))
}

/** A create with 32 credentials by as many others. */
function endorsed(shop: Workshop, issuers: readonly Holder[]): Transaction {
  const { did, signer, plan } = shop.holder()
  const credentials = issuers.slice(0, 32).map((issuer, i) => credential(issuer, did, `${did}#c${i}`))
  const document = buildDocument({ ...plan, credentials }, signText(signer))
  return shop.carry(buildCreate(document, operationPlan, signText(signer)))
}

/** A create with one credential of its own. */
function selfIssued(
  shop: Workshop,
  said: { readonly type?: readonly string[]; readonly claims?: object },
): Transaction {
  const holder = shop.holder()
  const { did, signer, plan } = holder
  const credentials = [credential(holder, did, `${did}#c`, said)]
  const document = buildDocument({ ...plan, credentials }, signText(signer))
  return shop.carry(buildCreate(document, operationPlan, signText(signer)))
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

/** Outputs of type 1, of 65,535 votes for each content, which no chain accepts. */
function votes(shop: Workshop, count = 115): Transaction {
  const candidates = Buffer.concat([Buffer.of(0, 0xfd, 0xff, 0xff), Buffer.alloc(65_535)])
  const contents = Array.from({ length: count }, () => candidates)
  const payload = Buffer.concat([Buffer.of(0, contents.length), ...contents])
  const [coin] = shop.take() as [Coin]
  const outputs = [{ ...shop.output(coin.value - 100n), extra: { type: 1, payload } }]
  return shop.transaction([coin], { version: 9, outputs })
}

const record = (text: string) => ({ payload: { type: 3, recordType: text, content: new Uint8Array(0) } as const })

const transaction = (shop: Workshop, tx: Transaction, code?: string): Case => ({
  bytes: tx.bytes,
  ...(code === undefined ? { forged: shop.forged(tx).bytes } : { code }),
})
const block = async (shop: Workshop, transactions: readonly Transaction[], code?: string): Promise<Case> => ({
  bytes: await shop.block(transactions),
  ...(code === undefined ? {} : { code }),
})

export const blockCases: Readonly<Record<string, Make>> = {
  '9,990 transfers': async (shop) => {
    const coins = await shop.fan(9_990)
    return block(
      shop,
      coins.map((coin) => shop.transaction([coin])),
    )
  },
  '196,000 inputs': async (shop) => {
    const coins = await shop.fan(3 * most.inputs)
    return block(
      shop,
      [0, 1, 2].map((i) => shop.transaction(coins.slice(i * most.inputs, (i + 1) * most.inputs))),
    )
  },
  '122,000 outputs to as many addresses': async (shop) => {
    const spread = () => Array.from({ length: most.outputs }, () => shop.output(1n, randomAddress()))
    return block(
      shop,
      [0, 1].map(() => shop.transaction(shop.take(), { outputs: spreadTo(shop, spread()) })),
    )
  },
  '40,000 signatures of unknown keys': async (shop) => block(shop, await strangers(shop, 20), 'block-signature-work'),
  '14,000 unknown keys, and multisig 16 of 16 up to 40,000': async (shop) => {
    return block(shop, [...(await strangers(shop, 7)), ...(await multisigs(shop, 14))])
  },
  'multisig 16 of 16, 40,000': async (shop) => block(shop, await multisigs(shop, 22)),
  '2,000 signatures over 7 MB': async (shop) => {
    const text = record('x'.repeat(most.bytes - 400_000))
    return block(shop, await strangers(shop, 1, text), 'block-signature-work')
  },
  'documents of 256 keys': async (shop) => {
    return block(
      shop,
      fill(() => shop.carry(shop.create(shop.holder({ keys: manyKeys() })))),
    )
  },
  'documents of 20,000 objects': async (shop) => {
    return block(
      shop,
      fill(() => shop.carry(shop.create(shop.holder({ services: [manyTokens('wide')] })))),
    )
  },
  'documents of 15,000 types of credentials': async (shop) => {
    let next = 0
    const types = () => Array.from({ length: 15_000 }, () => (next++).toString(36))
    return block(
      shop,
      fill(() => selfIssued(shop, { type: types() })),
    )
  },
  'documents of 5,000 claims': async (shop) => {
    let next = 0
    const claims = () => Object.fromEntries(Array.from({ length: 5000 }, () => [`c${(next++).toString(36)}`, next]))
    return block(
      shop,
      fill(() => selfIssued(shop, { claims: claims() })),
    )
  },
  'documents of 128 KiB': async (shop) => {
    return block(
      shop,
      fill(() => shop.carry(shop.create(shop.holder({ services: [largeService()] })))),
    )
  },
  '9,000 creates': async (shop) => {
    shop.coins.push(...(await shop.fan(9_000)))
    const made = shop.coins.splice(-9_000)
    shop.coins.unshift(...made)
    return block(
      shop,
      fill(() => shop.carry(shop.create(shop.holder())), 9_000),
    )
  },
  'deactivates of 16 MiB of documents': async (shop) => {
    const holders = Array.from({ length: 120 }, () => shop.holder({ services: [largeService()] }))
    await published(shop, holders)
    return block(
      shop,
      holders.map((holder) => shop.carry(deactivate(holder))),
    )
  },
  'deactivates of more documents than allowed': async (shop) => {
    const holders = Array.from({ length: 200 }, () => shop.holder({ services: [largeService()] }))
    await published(shop, holders.slice(0, 180))
    await published(shop, holders.slice(180))
    const code = 'block-issuer-documents'
    return block(
      shop,
      holders.map((holder) => shop.carry(deactivate(holder))),
      code,
    )
  },
  'credentials by 128 issuers of 128 KiB each': async (shop) => {
    const issuers = await largeIssuers(shop, 125)
    let turn = 0
    const next = () =>
      endorsed(
        shop,
        Array.from({ length: 32 }, () => issuers[turn++ % issuers.length] as Holder),
      )
    shop.coins.unshift(...(await shop.fan(1_200)))
    return block(shop, fill(next, 1_170))
  },
  'votes in outputs, by the million': async (shop) => block(shop, [votes(shop)], 'tx-output-type'),
}

/** Outputs, followed by the owner's change. */
function spreadTo(shop: Workshop, outputs: ReturnType<Workshop['output']>[]) {
  return [...outputs, shop.output(100_000_000n - 100n - BigInt(outputs.length))]
}

export const transactionCases: Readonly<Record<string, Make>> = {
  'the largest of a block': (shop) => {
    return Promise.resolve(
      transaction(shop, shop.transaction(shop.take(), record('x'.repeat(most.bytes))), 'pool-size'),
    )
  },
  '1,000 inputs': async (shop) => transaction(shop, shop.transaction(await shop.fan(mostPooled.inputs))),
  '3,060 outputs to as many addresses': (shop) => {
    const outputs = Array.from({ length: mostPooled.outputs }, () => shop.output(1n, randomAddress()))
    return Promise.resolve(transaction(shop, shop.transaction(shop.take(), { outputs: spreadTo(shop, outputs) })))
  },
  'an output, spent, of 61,000': async (shop) => {
    const coins = shop.take()
    const outputs = Array.from({ length: most.outputs }, () => shop.output(1n, randomAddress()))
    const tx = shop.transaction(coins, { outputs: spreadTo(shop, outputs) })
    await shop.mine([tx])
    const last = { txid: tx.hash, index: most.outputs, value: 100_000_000n - 100n - BigInt(most.outputs) }
    await shop.mine([shop.transaction([last])])
    return transaction(shop, shop.transaction([last], { lockTime: 1 }), 'tx-double-spend')
  },
  '199 kB of text': (shop) => {
    return Promise.resolve(transaction(shop, shop.transaction(shop.take(), record('x'.repeat(mostPooled.bytes)))))
  },
  '199 kB of text beyond ASCII': (shop) => {
    return Promise.resolve(transaction(shop, shop.transaction(shop.take(), record('語'.repeat(mostPooled.bytes / 3)))))
  },
  'an operation of 199 kB': (shop) => {
    const operation = { ...shop.create(shop.holder()), payload: 'A'.repeat(mostPooled.bytes) }
    return Promise.resolve(transaction(shop, shop.carry(operation), 'did-payload-size'))
  },
  '16 attributes of 1,024 bytes': (shop) => {
    const attributes = Array.from({ length: 16 }, () => ({ usage: attributeUsage.memo, data: randomBytes(1024) }))
    return Promise.resolve(transaction(shop, shop.transaction(shop.take(), { attributes })))
  },
  '300 signatures of unknown keys': async (shop) => {
    return transaction(shop, (await strangers(shop, 1, {}, mostPooled.cost))[0] as Transaction)
  },
  'multisig 16 of 16': async (shop) => transaction(shop, (await multisigs(shop, 1, 1))[0] as Transaction),
  'a document of 256 keys': (shop) => {
    return Promise.resolve(transaction(shop, shop.carry(shop.create(shop.holder({ keys: manyKeys() })))))
  },
  'a document of 20,000 objects': (shop) => {
    const holder = shop.holder({ services: [manyTokens('wide')] })
    return Promise.resolve(transaction(shop, shop.carry(shop.create(holder))))
  },
  'a document 16 deep': (shop) => {
    const holder = shop.holder({ services: [manyTokens('deep')] })
    return Promise.resolve(transaction(shop, shop.carry(shop.create(holder))))
  },
  'a document of 128 KiB': (shop) => {
    const holder = shop.holder({ services: [largeService()] })
    return Promise.resolve(transaction(shop, shop.carry(shop.create(holder))))
  },
  'a deactivate of 128 KiB': async (shop) => {
    const holder = shop.holder({ services: [largeService()] })
    await published(shop, [holder])
    return transaction(shop, shop.carry(deactivate(holder)))
  },
  'an update of 255 credentials': async (shop) => {
    const holder = shop.holder()
    const credentials = Array.from({ length: 255 }, (_, i) => credential(holder, holder.did, `${holder.did}#c${i}`))
    const plan = { ...holder.plan, credentials }
    const first = await published(shop, [{ ...holder, plan }])
    const [previousTxid = ''] = first.values()
    const document = buildDocument(plan, signText(holder.signer))
    const operation = buildUpdate(document, { ...operationPlan, previousTxid }, signText(holder.signer))
    return transaction(shop, shop.carry(operation))
  },
  'credentials by 8 issuers of 128 KiB each': async (shop) =>
    transaction(shop, endorsed(shop, await largeIssuers(shop, 8))),
  'credentials by 32 issuers of 128 KiB each': async (shop) => {
    return transaction(shop, endorsed(shop, await largeIssuers(shop, 32)), 'pool-documents')
  },
  'votes in outputs, by ten thousands': (shop) => {
    return Promise.resolve(transaction(shop, votes(shop, 3), 'tx-output-type'))
  },
}
