import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Resolver, type ResolverOptions } from '../../src/answers/resolver/resolver.js'
import { SignatureCache } from '../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import { createVerifierPool } from '../../src/base/crypto/verifier-pool.js'
import { addressFromPublicKey, prefix, programHash, singleKeyCode } from '../../src/base/primitives/address.js'
import { soloAuxPow } from '../../src/base/primitives/auxpow.js'
import { Block, transactionRoot, witnessRoot } from '../../src/base/primitives/block.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { coinbaseInput, finalSequence } from '../../src/base/primitives/input.js'
import type { Output } from '../../src/base/primitives/output.js'
import { standardProgram } from '../../src/base/primitives/program.js'
import { coinStateOf, type Spec } from '../../src/base/primitives/spec.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { attributeUsage, Transaction } from '../../src/base/primitives/transaction.js'
import type { Outpoint, TransactionFields } from '../../src/base/primitives/transaction-fields.js'
import { systemEnv } from '../../src/base/runtime/process-env.js'
import { buildCreate, buildDeactivate, buildUpdate, type DocumentPlan } from '../../src/identity/did/build.js'
import { Chain } from '../../src/ledger/chain/chain.js'
import { didRootAfter, nextDidRoot } from '../../src/ledger/chain/next-commitments.js'
import { commitmentAttribute } from '../../src/ledger/consensus/commitment.js'
import { checkTransaction } from '../../src/ledger/consensus/connect.js'
import { StateOverlay } from '../../src/ledger/consensus/ledger.js'
import { subsidyAt } from '../../src/ledger/consensus/subsidy.js'
import { solve } from '../../src/ledger/production/solve.js'
import { Database } from '../../src/ledger/storage/database.js'
import { DataDirectory } from '../../src/ledger/storage/directory.js'
import { chainProver } from '../../src/node/chain-prover.js'
import { type Ledger, openLedger } from '../../src/node/open-ledger.js'
import { fieldsOf } from '../../test/support/builders/blocks.js'
import { type Holder, signer, specification } from '../../test/support/builders/did.js'
import { type QuickSigner, quickSigner } from '../../test/support/builders/signatures.js'

/** Chains, blocks, coins, transactions and operations for measurements. */

/** Fee of a transaction, of any size. */
export const fee = 100n
/** Prices by which blocks and pools take a transaction of any size for {@link fee}. */
const flatFees = { minimum: '99', perByte: '1', freeBytes: 2 ** 32 - 1, leaf: '1' }
export const quiet = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }

export interface Coin extends Outpoint {
  readonly value: bigint
}

/** A key, and the coin that it spends next. */
export interface Payer extends QuickSigner {
  coin: Coin
}

interface Allocation {
  readonly address: string
  readonly amount: string
}

/** A chain of its own with these coins: without validators, or a changed localnet. */
function specOf(allocations: readonly Allocation[], base: 'pow' | 'localnet' = 'pow', changes: object = {}) {
  const file = JSON.parse(readFileSync(new URL(`../../genesis/${base}.json`, import.meta.url), 'utf8')) as object
  const text = JSON.stringify({ ...file, name: 'bench', fees: flatFees, allocations, ...changes })
  return { text, spec: parseSpec(text) }
}

/** Changes of a spec for a chain that has just begun: a node whose last block is old answers no question about DIDs. */
export function recent(): { time: number } {
  return { time: Math.floor(Date.now() / 1000) - 60 }
}

/** The spec of a localnet as shipped. */
export function localnet(): Promise<string> {
  return readFile(new URL('../../genesis/localnet.json', import.meta.url), 'utf8')
}

/** A chain that pays 1000 coins to each of `count` own keys, then to others. */
export function fundedSpec(
  count: number,
  base: 'pow' | 'localnet' = 'pow',
  changes: object = {},
  others: readonly Allocation[] = [],
): { text: string; spec: Spec; payers: Payer[] } {
  const signers = Array.from({ length: count }, quickSigner)
  const value = 1000n * 100_000_000n
  const own = signers.map(({ publicKey }) => ({ address: addressFromPublicKey(publicKey), amount: String(value) }))
  const { text, spec } = specOf([...own, ...others], base, changes)
  const { hash: txid } = genesisBlock(spec).transactions[0] as Transaction
  return { text, spec, payers: signers.map((one, index) => ({ ...one, coin: { txid, index, value } })) }
}

/** Writes the spec of {@link fundedSpec} into a directory as well. */
export async function writtenSpec(directory: string, ...of: Parameters<typeof fundedSpec>) {
  const { text, ...funded } = fundedSpec(...of)
  const file = join(directory, 'spec.json')
  await writeFile(file, text)
  return { file, ...funded }
}

/** An output of a transaction, to be spent. */
export function coinOf({ hash: txid, outputs }: Transaction, index = 0): Coin {
  return { txid, index, value: (outputs[index] as Output).value }
}

export function standardHash(publicKey: Uint8Array): Uint8Array {
  return programHash(prefix.standard, singleKeyCode(publicKey))
}

/** A transaction that spends coins of one key; without outputs all of them go back to it, but for the fee. */
function spend(
  assetId: Hash,
  { publicKey, sign }: QuickSigner,
  coins: readonly Coin[],
  changes: Partial<TransactionFields>,
  paid = fee,
): Transaction {
  const value = coins.reduce((sum, coin) => sum + coin.value, -paid)
  const fields: TransactionFields = {
    version: 0,
    payloadVersion: 0,
    payload: { type: 2 },
    attributes: [],
    inputs: coins.map(({ txid, index }) => ({ txid, index, sequence: finalSequence })),
    outputs: [{ assetId, value, outputLock: 0, programHash: standardHash(publicKey) }],
    lockTime: 0,
    programs: [],
    ...changes,
  }
  const bare = new Transaction(fields)
  if (changes.programs !== undefined) return bare
  return new Transaction({ ...fields, programs: [standardProgram(publicKey, sign(bare.unsigned))] })
}

/** A transfer of the coin of a payer back to itself, which spends the first output of it next. */
export function selfTransfer(
  payer: Payer,
  assetId: Hash,
  changes: Partial<TransactionFields> = {},
  paid = fee,
): Transaction {
  const attributes = [{ usage: attributeUsage.nonce, data: new Uint8Array(8) }]
  const made = spend(assetId, payer, [payer.coin], { attributes, ...changes }, paid)
  payer.coin = coinOf(made)
  return made
}

/** State of all DIDs that a block commits to: that of its parent, and on the tip what its operations make of it. */
async function rootOf(
  chain: Chain,
  parent: Header,
  transactions: readonly Transaction[],
  time: number,
): Promise<Hash | undefined> {
  const { height } = chain.tip.header
  if (!transactions.some(({ payload }) => payload.type === 10)) {
    return didRootAfter(chain, Math.min(height, parent.height))
  }
  if (parent.height !== height) throw new Error('a block with operations is made on the tip')
  const state = new StateOverlay(chain.state)
  const operations = transactions.flatMap((tx, i) => {
    const connectable = checkTransaction(tx, state, { ...chain.sanity, height: height + 1 })
    connectable.apply()
    return connectable.did === undefined ? [] : [{ operation: connectable.did, tx, index: i + 1 }]
  })
  return nextDidRoot(chain, time, operations)
}

/** A solved block on top of a header, `delay` seconds after it. */
export async function mineBlock(
  chain: Chain,
  transactions: readonly Transaction[],
  parent: Header = chain.tip.header,
  delay = 1,
): Promise<Block> {
  const { spec, assetId } = chain.sanity
  const [height, time] = [parent.height + 1, parent.time + delay]
  const value = subsidyAt(spec, height) + fee * BigInt(transactions.length)
  const fields = {
    version: 0,
    payloadVersion: 4,
    payload: { type: 0, data: new Uint8Array(0) } as const,
    inputs: [coinbaseInput],
    outputs: [{ assetId, value, outputLock: 0, programHash: spec.allocations[0]?.programHash as Uint8Array }],
    lockTime: height,
    programs: [],
  }
  const didRoot = await rootOf(chain, parent, transactions, time)
  const root = witnessRoot([new Transaction({ ...fields, attributes: [] }), ...transactions])
  const state = coinStateOf(spec, height)
  const coinRoot =
    state === undefined ? undefined : (await chain.coinRoots.of(chain.headers.activeAt(state).header)).root
  const attributes = [commitmentAttribute(spec, height, { witnessRoot: root, didRoot, coinRoot })]
  const all = [new Transaction({ ...fields, attributes }), ...transactions]
  const merkleRoot = transactionRoot(all)
  const bits = spec.powLimitBits
  const header = new Header({ version: 0, previous: parent.hash, merkleRoot, time, bits, nonce: 0, height })
  const block = await solve(new Block(header, soloAuxPow(header.hash, time), all))
  if (block === undefined) throw new Error('no nonce was found')
  return block
}

/**
 * Blocks without operations on top of the tip, the first one `delay` seconds after it, so that branches differ. As bytes: objects
 * would be collected with those that are measured.
 */
export async function prepareBlocks(
  chain: Chain,
  count: number,
  transactions: () => readonly Transaction[] = () => [],
  delay = 1,
): Promise<Uint8Array[]> {
  const prepared: Uint8Array[] = []
  for (let parent: Header = chain.tip.header; prepared.length < count;) {
    const block = await mineBlock(chain, transactions(), parent, prepared.length === 0 ? delay : 1)
    prepared.push(block.bytes)
    parent = block.header
  }
  return prepared
}

/** Blocks with a transfer of every payer to itself each. */
export function transferBlocks(chain: Chain, payers: readonly Payer[], count: number, delay = 1) {
  const transfers = () => payers.map((payer) => selfTransfer(payer, chain.sanity.assetId))
  return prepareBlocks(chain, count, transfers, delay)
}

const genesisCoins = 2048
const genesisValue = 100_000_000n

/** One owner of many coins, and blocks, transactions and operations of the maximum size that the rules allow. */
export class Workshop {
  readonly chain: Chain
  readonly owner: QuickSigner
  readonly coins: Coin[]

  constructor(chain: Chain, owner: QuickSigner) {
    this.chain = chain
    this.owner = owner
    const [coinbase] = chain.genesis.transactions as [Transaction]
    this.coins = Array.from({ length: genesisCoins }, (_, index) => coinOf(coinbase, index))
  }

  output(value: bigint, to: Uint8Array = standardHash(this.owner.publicKey)): Output {
    return { assetId: this.chain.sanity.assetId, value, outputLock: 0, programHash: to }
  }

  take(count = 1): Coin[] {
    const taken = this.coins.splice(0, count)
    if (taken.length < count) throw new Error('too few coins')
    return taken
  }

  /** A transaction of the owner that spends coins, with a fee of 100; without outputs all coins go back to the owner. */
  transaction(coins: readonly Coin[], changes: Partial<TransactionFields> = {}): Transaction {
    return spend(this.chain.sanity.assetId, this.owner, coins, changes)
  }

  carry(operation: DidOperation): Transaction {
    return this.transaction(this.take(), { payload: { type: 10, operation } })
  }

  /** The same transaction with a signature that does not verify. */
  forged(transaction: Transaction): Transaction {
    const programs = transaction.programs.map(({ code, parameter }) => {
      const other = Uint8Array.from(parameter)
      other[20] = (other[20] as number) ^ 1
      return { code, parameter: other }
    })
    return new Transaction({ ...fieldsOf(transaction), programs })
  }

  /** Makes `count` coins of one owner, or of many in turn, in blocks of their own. */
  async fan(count: number, to?: readonly Uint8Array[], value = 1000n): Promise<Coin[]> {
    const made: Coin[] = []
    while (made.length < count) {
      const some = Math.min(count - made.length, 60_000)
      const needed = value * BigInt(some) + fee
      const coins = this.take(Number(needed / genesisValue) + 1)
      const change = coins.reduce((sum, coin) => sum + coin.value, 0n) - needed
      const outputs = Array.from({ length: some }, (_, i) => this.output(value, to?.[(made.length + i) % to.length]))
      const tx = this.transaction(coins, { outputs: [...outputs, this.output(change)] })
      await this.mine([tx])
      for (let index = 0; index < some; index++) made.push(coinOf(tx, index))
      this.coins.push(coinOf(tx, some))
    }
    return made
  }

  /** Mines transactions in as many blocks as they need. */
  async mine(transactions: readonly Transaction[]): Promise<void> {
    for (let rest = transactions; rest.length > 0;) {
      let bytes = 0
      const beyond = rest.findIndex((tx, i) => (bytes += tx.bytes.length) > 7_900_000 || i === 9000)
      const some = rest.slice(0, beyond === -1 ? rest.length : beyond)
      await this.chain.acceptBlock((await mineBlock(this.chain, some)).bytes)
      rest = rest.slice(some.length)
    }
  }
}

const compact = { specification, verificationMethod: '#primary', form: 'compact' as const }

/** A document whose keys are that of its DID, and others. */
function documentOf({ plan, document }: Holder, { keys = [], ...changes }: Partial<DocumentPlan>) {
  return document({ ...changes, keys: [...plan.keys.slice(0, 1), ...keys] })
}

export function create(holder: Holder, changes: Partial<DocumentPlan> = {}): DidOperation {
  return buildCreate(documentOf(holder, changes), compact, signer(holder.primary))
}

export function update(holder: Holder, previousTxid: string, changes: Partial<DocumentPlan>): DidOperation {
  return buildUpdate(documentOf(holder, changes), { ...compact, previousTxid }, signer(holder.primary))
}

export function deactivate({ did, primary }: Holder): DidOperation {
  return buildDeactivate(did, compact, signer(primary))
}

/** Beside a chain: its threads, and its cache of signatures. */
export interface Beside {
  readonly verifier: Verifier
  readonly signatures: SignatureCache
}

/** Runs with an empty chain on a real database, in a temporary directory unless given, and threads of its own. */
export async function withChain<T>(
  spec: Spec,
  run: (chain: Chain, beside: Beside) => Promise<T>,
  { directory, signatures = new SignatureCache() }: { directory?: string; signatures?: SignatureCache } = {},
): Promise<T> {
  if (directory === undefined) return withDirectory((own) => withChain(spec, run, { directory: own, signatures }))
  const database = await Database.open(join(directory, 'chain'))
  const verifier = createVerifierPool()
  try {
    const chain = await Chain.open({ spec, database, signatures, verifier, clock: Date, log: quiet })
    return await run(chain, { verifier, signatures })
  } finally {
    await database.close()
    await verifier.close()
  }
}

/** Runs with an empty chain whose coins are all of one owner. */
export function withWorkshop<T>(
  run: (shop: Workshop, beside: Beside) => Promise<T>,
  signatures = new SignatureCache(),
): Promise<T> {
  const owner = quickSigner()
  const allocation = { address: addressFromPublicKey(owner.publicKey), amount: String(genesisValue) }
  const { spec } = specOf(new Array<Allocation>(genesisCoins).fill(allocation))
  return withChain(spec, (chain, beside) => run(new Workshop(chain, owner), beside), { signatures })
}

/** Runs with the ledger of a node's data directory. */
export async function withLedger<T>(spec: Spec, dataDir: string, run: (ledger: Ledger) => Promise<T>): Promise<T> {
  const directory = await DataDirectory.open(dataDir)
  const verifier = createVerifierPool()
  const ledger = await openLedger(spec, directory, verifier, systemEnv(quiet))
  try {
    const result = await run(ledger)
    await ledger.chain.close()
    return result
  } finally {
    await ledger.database.close()
    await verifier.close()
    await directory.close()
  }
}

export function resolverOf(
  { chain, database, clock }: Ledger,
  options: Pick<ResolverOptions, 'cacheBytes' | 'queryLimits'> = {},
): Resolver {
  const tip = () => chain.tip.header
  const standing = () => ({ inStep: true, height: tip().height, age: 0 }) as const
  return new Resolver({ database, prover: chainProver(chain), clock, tip, standing, ...options })
}

/** Runs with a temporary directory. */
export async function withDirectory<T>(run: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'didledger-bench-'))
  try {
    return await run(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
