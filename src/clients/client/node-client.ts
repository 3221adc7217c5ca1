/**
 * Talks to a running node over HTTP, for the commands and for programs without a node of their own.
 *
 *   call -> #get, sendRawTransaction -> #envelope -> exchange (http.ts)    REST: Error 0 -> Result, else NodeRefusal
 *        -> rpc -> callRpc (rpc.ts) -> exchange                            JSON-RPC
 *   answer -> asBlock, asTransaction, ... (node-answers.ts)                checked, typed
 *   coins  -> listunspent + pool -> SpendableCoin[] -> wallet
 *   did    -> http-resolver.ts                                            did-resolver over HTTP, also in browsers
 *
 * Imports did, errors, primitives, runtime, wallet; used by api, registrar, watch, library, node, cli and the package entry.
 * - Trusts no form: an answer of another form is a UserError, never an undefined further on.
 * - A refusal of the node (NodeRefusal) differs from a node that cannot be reached.
 * - Checks no rule of the chain; time and bytes of each answer are limited.
 */
import { setTimeout } from 'node:timers/promises'
import type {
  CredentialList,
  CredentialResult,
  QueryResult,
  ResolveOptions,
  ResolveResult,
} from '../../identity/did/resolution.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { addressOf } from '../../base/primitives/address.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { TransactionBounds } from '../../base/primitives/transaction-bounds.js'
import { outpointKey } from '../../base/primitives/input.js'
import { oneLine } from '../../base/runtime/visible-text.js'
import { WorkSlots } from '../../base/runtime/work-slots.js'
import { payerOf } from '../wallet/build-transaction.js'
import type { WaitingTransaction } from '../wallet/build-replacement.js'
import type { SpendableCoin } from '../wallet/coins.js'
import { parseCoins } from '../wallet/coins-file.js'
import { coinsBesidePool, type PendingCoin, pendingCoins } from '../wallet/pending-coins.js'
import { askResolver } from './ask-resolver.js'
import { hashBytes, type NodeChain, parseChain } from '../wallet/chain-answer.js'
import { exchange, type HttpOptions, NoAnswer, NodeRefusal } from './http.js'
import { otherInterface } from './node-url.js'
import { typedUrl } from './typed-url.js'
import { asAmount, asInteger, asText, unexpected } from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'
import {
  asBlock,
  asHistory,
  asInfo,
  asRate,
  asTransaction,
  asTransactions,
  asTxid,
  type ChainPlace,
  type History,
  type NodeBlock,
  type NodeTransaction,
} from './node-answers.js'
import { asCredentialList, asCredentialResult, asQueryResult } from './read-answers.js'
import { callResolver, callRpc, type RpcParams } from './rpc.js'
import { longestSentence, stallSentence, whyUnmined } from './unmined.js'

/** Default base URL: the REST port of a devnet on this machine. */
export const defaultRestUrl = 'http://127.0.0.1:20334'

/** Default milliseconds of {@link NodeClient.waitForBlock}. */
export const blockWait = 120_000

/** Milliseconds after which the block of a transaction is asked for again: a devnet mines it within some ten. */
const firstPause = 10

/** Transactions asked for at a time. */
const decodedAtOnce = 8

/** @tuning count: addresses in one question for waiting transactions */
const addressesAtOnce = 100
/** Codes of JSON-RPC for a method, and for parameters, that a node does not know. */
const notTaken: readonly number[] = [-32601, -32602]
/** @tuning bytes: an answer with waiting transactions, of which a full pool of the usual size has 75 MB */
const poolAnswer = 256 * 1024 * 1024

/**
 * A node closes further connections of one address; others come from there too.
 * @tuning count: requests of one client that are under way at a time
 */
const requestsAtOnce = 16

/** REST code of a transaction that is neither on the chain nor in the pool. */
const unknownTransaction = 44001
const methodNotFound = -32601

export interface NodeClientOptions {
  /** URL of the REST interface as the node prints it, which answers JSON-RPC at /rpc too. */
  readonly rest?: string
  /** Milliseconds for one request; 30 000 by default. */
  readonly timeout?: number
  /** Whether no answer is older than those before it, by whichever node behind one URL. */
  readonly neverOlder?: boolean
}

/** Timeout of {@link NodeClient.waitForBlock}, and the first pause between its questions, in milliseconds; later ones are longer. */
export interface WaitOptions {
  readonly timeout?: number
  readonly interval?: number
}

/**
 * A node over HTTP. Every method rejects with a {@link NodeRefusal} if the node refuses, and with another {@link UserError} if it
 * cannot be reached or its answer has a wrong form.
 */
export class NodeClient {
  readonly rest: string
  readonly #asking: Pick<HttpOptions, 'timeout' | 'heights'>
  readonly #slots = new WorkSlots(requestsAtOnce, Infinity, 'requests')

  constructor({ rest = defaultRestUrl, timeout = 30_000, neverOlder = false }: NodeClientOptions = {}) {
    this.rest = typedUrl(rest)
    this.#asking = { timeout, ...(neverOlder && { heights: { least: 0 } }) }
  }

  /** Height of the node's tip. */
  async height(): Promise<number> {
    return asInteger(await this.#get('block/height'), 'block/height')
  }

  /** Which chain the node has; undefined for a version of the node that does not tell. */
  async chain(): Promise<NodeChain | undefined> {
    return this.#known('getchaininfo', parseChain)
  }

  /** Price of 1000 bytes in the node's pool at the time, in units of 10^-8; 0 for a version that does not tell. */
  async feeFloor(): Promise<number> {
    return (await this.#known('getfeerate', (rate) => asRate(rate, 'the fee rate').perkilobyte)) ?? 0
  }

  /** Bounds of a transaction that the node's pool takes; undefined for a version that does not tell. */
  async bounds(): Promise<PoolBounds | undefined> {
    return this.#known('getinfo', (info) => {
      const { policy } = asInfo(info, 'getinfo')
      if (policy === undefined) return undefined
      const { signaturecost: signatureCost, ancestors, ...bounds } = policy
      return { ...bounds, signatureCost, ...defined({ ancestors }) }
    })
  }

  /** The block at a height of the active chain. */
  async blockAt(height: number): Promise<NodeBlock> {
    return asBlock(await this.#get(`block/details/height/${height}`), 'the block')
  }

  async blockByHash(hash: string): Promise<NodeBlock> {
    return asBlock(await this.#get(`block/details/hash/${hash}`), 'the block')
  }

  /** The sum of all unspent outputs of an address, in units of 10^-8. */
  async balance(address: string): Promise<bigint> {
    return asAmount(await this.#get(`asset/balances/${address}`), 'the balance')
  }

  /** The unspent outputs of an address on the chain, without their locks: the plain REST answer. */
  async utxos(address: string, assetId: Hash): Promise<SpendableCoin[]> {
    return parseCoins(await this.#get(`asset/utxos/${address}`), assetId)
  }

  /** Coins on the chain with locks and confirmations by `listunspent`; a node without that method gives the REST list. */
  async listUnspent(address: string, assetId: Hash): Promise<SpendableCoin[]> {
    try {
      return parseCoins(await this.rpc('listunspent', { addresses: [address] }), assetId)
    } catch (error) {
      if (error instanceof NodeRefusal && error.code === methodNotFound) return this.utxos(address, assetId)
      throw error
    }
  }

  /**
   * The spendable coins of an address, as the node reports them: outputs on the chain with locks and confirmations, less those
   * spent in the pool, and outputs of pooled transactions, with 0 confirmations.
   */
  async coins(address: string, assetId: Hash): Promise<PendingCoin[]> {
    const [listed, pool] = await Promise.all([this.listUnspent(address, assetId), this.#poolOf([address])])
    return coinsBesidePool(listed, pool, address, assetId)
  }

  /**
   * Transactions that wait for a block and pay some of these addresses, or spend from them, in the order of the pool, with what each moves
   * by address. Of an address with more coins than the node lists, only those listed are known to be spent.
   */
  async waiting(addresses: readonly string[], assetId: Hash): Promise<readonly Waiting[]> {
    const [pool, ...listed] = await Promise.all([
      this.#poolOf(addresses),
      ...addresses.map((address) => this.listUnspent(address, assetId)),
    ])
    const owned = new Map(
      addresses.flatMap((address, i) => (listed[i] ?? []).map((coin) => [outpointKey(coin), { address, ...coin }])),
    )
    const paid = pool.map((transaction) =>
      addresses.flatMap((address) => pendingCoins(transaction, address, assetId).map((coin) => ({ address, ...coin }))),
    )
    for (const coin of paid.flat()) owned.set(outpointKey(coin), coin)
    return pool.flatMap(({ txid, vin }, i) => {
      const spent = vin.flatMap(
        ({ txid: from, vout }) => owned.get(outpointKey({ txid: hashBytes(from), index: vout })) ?? [],
      )
      const received = paid[i] ?? []
      if (spent.length + received.length === 0) return []
      return [{ txid: asTxid(txid, 'the id of a transaction'), spent: sums(spent), received: sums(received) }]
    })
  }

  /** Transactions of the chain that paid an address or spent from it, newest first: a page of at most `limit`, below the place `before`. */
  async history(address: string, page: { readonly before?: ChainPlace; readonly limit?: number }): Promise<History> {
    return asHistory(await this.rpc('getaddresshistory', { address, ...page }))
  }

  /** A transaction on the chain or in the pool; undefined if the node has none of this id. */
  async transaction(txid: string): Promise<NodeTransaction | undefined> {
    try {
      return asTransaction(await this.#get(`transaction/${txid}`), 'the transaction')
    } catch (error) {
      if (error instanceof NodeRefusal && error.code === unknownTransaction) return undefined
      throw error
    }
  }

  /**
   * A transaction that waits for a block, with the coins that it spends. A {@link UserError} says what became of one that does not wait. Its
   * bytes and those of what it spends are the ones that their ids name; only of coins whose transaction the node gave up its word is taken.
   */
  async waitingTransaction(txid: string, assetId: Hash): Promise<WaitingTransaction> {
    const found = await this.#get(`transaction/${txid}`).catch((error: unknown) => {
      throw replacedError(txid, error) ?? error
    })
    const { blockhash } = asTransaction(found, 'the transaction')
    if (blockhash !== '') throw new UserError(`${txid} waits no more: it is mined, in block ${blockhash}`)
    const transaction = await this.#decoded(txid)
    return { transaction, spent: await this.#spentBy(transaction, assetId) }
  }

  /** Transactions in the pool that spend outputs of another one. */
  async childrenOf(txid: string): Promise<readonly string[]> {
    const { vout = [] } = (await this.transaction(txid)) ?? {}
    const pool = await this.#poolOf([...new Set(vout.map(({ address }) => address))])
    const children = pool.filter(({ vin }) => vin.some((input) => input.txid === txid))
    return children.map((child) => asTxid(child.txid, 'the id of a transaction'))
  }

  /** The transactions that wait for a block. */
  async pool(): Promise<readonly NodeTransaction[]> {
    return asTransactions(await this.#get('transactionpool', { maxAnswer: poolAnswer }), 'transactionpool')
  }

  /**
   * Those that pay addresses or spend from them, and those that come before these: a full pool is long. A node that does not take the
   * question is asked for all; a busy one is not asked for more.
   */
  async #poolOf(addresses: readonly string[]): Promise<readonly NodeTransaction[]> {
    const found = new Map<string, NodeTransaction>()
    try {
      for (let start = 0; start < addresses.length; start += addressesAtOnce) {
        const some = addresses.slice(start, start + addressesAtOnce)
        const answer = await this.#call('getrawmempool', { state: 'all', addresses: some }, { maxAnswer: poolAnswer })
        for (const transaction of asTransactions(answer, 'getrawmempool')) found.set(transaction.txid, transaction)
      }
    } catch (error) {
      if (error instanceof NodeRefusal && notTaken.includes(error.code)) return this.pool()
      throw error
    }
    return [...found.values()]
  }

  /**
   * Sends a signed transaction (hex) to the node and returns its txid. `replace` as false: it takes the place of no waiting one that spends
   * the same; older nodes ignore that.
   */
  async sendRawTransaction(data: string, options: { readonly replace?: boolean } = {}): Promise<string> {
    const answer = await this.#envelope('transaction', 'the node refused the transaction', {
      Action: 'sendrawtransaction',
      data,
      ...options,
    })
    return asText(answer, 'the transaction id')
  }

  /** The state of a DID with the operations and the context asked for. */
  async resolve(did: string, options: ResolveOptions = {}): Promise<ResolveResult> {
    return askResolver((params) => this.#ofDids('resolvedid', params), did, options)
  }

  /** State of a credential, by its id in full; a revoke by `issuer` counts before a declare as well. */
  async resolveCredential(id: string, issuer?: string): Promise<CredentialResult> {
    return asCredentialResult(await this.#ofDids('did_resolveCredential', { id, ...defined({ issuer }) }))
  }

  /** Ids of the credentials that a DID declared, oldest first. */
  async listCredentials(
    did: string,
    page: { readonly skip?: number; readonly limit?: number },
  ): Promise<CredentialList> {
    return asCredentialList(await this.rpc('did_listCredentials', { did, ...page }))
  }

  /** A page of the documents that meet the one condition given: `query` is JSON or JSON5 text. */
  async query(query: {
    readonly service?: string
    readonly credential?: string
    readonly query?: string
    readonly skip?: number
    readonly limit?: number
  }): Promise<QueryResult> {
    return asQueryResult(await this.rpc('query', query))
  }

  /** The clock of a devnet in Unix seconds; undefined for a node that is no devnet. */
  async devnetTime(): Promise<number | undefined> {
    try {
      return asInteger(await this.rpc('dev_increaseTime', { seconds: 0 }), 'the time')
    } catch (error) {
      if (error instanceof NodeRefusal) return undefined
      throw error
    }
  }

  /** Any JSON-RPC method. `token`: that of the node's owner, in hex. */
  rpc(method: string, params: RpcParams, { token }: { readonly token?: string } = {}): Promise<unknown> {
    return this.#call(method, params, { token })
  }

  #call(method: string, params: RpcParams, options: Partial<HttpOptions>): Promise<unknown> {
    return this.#slots.run(() => callRpc(`${this.rest}/rpc`, method, params, { ...this.#asking, ...options }))
  }

  /** The answer to a call without parameters; undefined where the node does not know the method. */
  async #known<T>(method: string, read: (answer: unknown) => T): Promise<T | undefined> {
    try {
      return read(await this.rpc(method, {}))
    } catch (error) {
      if (error instanceof NodeRefusal && error.code === methodNotFound) return undefined
      throw error
    }
  }

  #ofDids(method: string, params: RpcParams): Promise<unknown> {
    return this.#slots.run(() => callResolver(`${this.rest}/rpc`, method, params, this.#asking))
  }

  /** Reason why the chain of the node does not advance, in a sentence; undefined while it does, or if the node does not report it. */
  stalled(): Promise<string | undefined> {
    return stallSentence(this)
  }

  /** How a person finds out what became of a transaction. */
  howToLook(txid: string): string {
    return `to look what became of it: curl -s ${this.rest}/api/v1/transaction/${txid}`
  }

  /**
   * Waits until a transaction is in a block, and returns that block. A {@link UserError} on timeout, if the node dropped the
   * transaction, or cannot be asked any more: it names the transaction, which may still be mined.
   */
  async waitForBlock(
    txid: string,
    { timeout = blockWait, interval = firstPause }: WaitOptions = {},
  ): Promise<NodeBlock> {
    const end = performance.now() + timeout
    let missing = 0
    for (let pause = interval; ; pause = Math.min(pause * 1.5, 1000)) {
      const transaction = await this.#accepted(txid, () => this.transaction(txid))
      // A transaction on its way from the pool into a block may be in neither for a moment.
      missing = transaction === undefined ? missing + 1 : 0
      if (missing > 3) {
        throw new UserError(`the node has dropped transaction ${txid}: ${await this.#whyGone(txid)}`)
      }
      if (transaction !== undefined && transaction.blockhash !== '') {
        return this.#accepted(txid, () => this.blockByHash(transaction.blockhash))
      }
      if (performance.now() >= end) {
        throw new UserError(
          `transaction ${txid} was accepted and waits in the pool, but no block took it within ${timeout / 1000} s: ` +
            `${await whyUnmined(this)}. It may still be mined; ${this.howToLook(txid)}`,
        )
      }
      // Four misses in a row count only if they are not those of one moment.
      await setTimeout(missing > 0 ? Math.max(pause, 10 * interval) : pause)
    }
  }

  /** Why a transaction is neither on the chain nor in the pool, as far as the node tells. */
  async #whyGone(txid: string): Promise<string> {
    try {
      await this.#get(`transaction/${txid}`)
    } catch (error) {
      const [, reason] = /it left the pool unmined: (.*)/.exec(error instanceof NodeRefusal ? error.reason : '') ?? []
      if (reason !== undefined) return oneLine(reason.slice(0, longestSentence))
    }
    return 'it is neither on the chain nor in the pool'
  }

  /** Asks about an accepted transaction. A failure must not read as if nothing had been sent. */
  async #accepted<T>(txid: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const fact = error instanceof NoAnswer ? error.fact : error.message
      throw new UserError(
        `transaction ${txid} was accepted, but its node cannot be asked for the block: ${fact}. It may still be mined, ` +
          `so do not replace it by another one; once the node answers, ${this.howToLook(txid)}`,
      )
    }
  }

  /** A transaction of this id, mined or waiting. */
  async #decoded(txid: string): Promise<Transaction> {
    const text = asText(await this.rpc('getrawtransaction', { txid }), 'the transaction')
    const transaction = decodedOrUndefined(text)
    if (transaction?.txid === txid) return transaction
    throw unexpected(`the bytes of ${txid} are not those of a transaction of this id`)
  }

  /** The coins that a transaction spends, in the order of its inputs. */
  async #spentBy({ inputs, programs: [program] }: Transaction, assetId: Hash): Promise<SpendableCoin[]> {
    const parents = new Map<string, Transaction>()
    const txids = [...new Set(inputs.map(({ txid }) => displayHash(txid)))]
    for (let start = 0; start < txids.length; start += decodedAtOnce) {
      const some = txids.slice(start, start + decodedAtOnce)
      const found = await Promise.all(some.map((txid) => this.#decoded(txid).catch(unlessRefused)))
      some.forEach((txid, i) => found[i] && parents.set(txid, found[i]))
    }
    const given = parents.size === txids.length || program === undefined
    const listed = given ? [] : await this.listUnspent(addressOf(payerOf(program.code)), assetId)
    return inputs.flatMap(({ txid, index }) => {
      const output = parents.get(displayHash(txid))?.outputs[index]
      if (output !== undefined) return [{ txid, index, value: output.value, outputLock: output.outputLock }]
      return listed.filter((coin) => outpointKey(coin) === outpointKey({ txid, index }))
    })
  }

  #get(path: string, options: Partial<HttpOptions> = {}): Promise<unknown> {
    return this.#envelope(path, `the node refused ${path}`, undefined, options)
  }

  /** The `Result` of a successful envelope. */
  async #envelope(path: string, what: string, body?: unknown, options: Partial<HttpOptions> = {}): Promise<unknown> {
    const url = `${this.rest}/api/v1/${path}`
    const answer = await this.#slots.run(() => exchange(url, body, { ...this.#asking, ...options }))
    if (!isObject(answer.body) || !Number.isInteger(answer.body['Error'])) {
      const other = await otherInterface(url, answer, 'REST')
      if (other !== undefined) throw other
      throw unexpected(`${url} has no envelope (HTTP ${answer.status}): is it a didledger node?`)
    }
    const { Error: code, Desc, Result } = answer.body
    if (code !== 0) {
      const reason = typeof Result === 'string' ? Result : JSON.stringify(Result ?? '')
      throw new NodeRefusal(what, code as number, typeof Desc === 'string' ? Desc : '', reason)
    }
    return Result
  }
}

/** The error for a transaction that another one replaced, by the refusal of a node that has it no more. */
function replacedError(txid: string, error: unknown): UserError | undefined {
  const [, by] = /replaced by ([0-9a-f]{64})/.exec(error instanceof NodeRefusal ? error.reason : '') ?? []
  if (by === undefined) return undefined
  return new UserError(`${txid} waits no more: it was replaced by ${by} already, so name that one to bump or cancel it`)
}

/** Bounds of the pool of a node; those that an older one does not tell are absent. */
export interface PoolBounds extends TransactionBounds {
  /** Waiting transactions that may come before another one. */
  readonly ancestors?: number
}

/** A transaction that waits for a block: sums by address, in units of 10^-8. */
export interface Waiting {
  readonly txid: string
  readonly spent: ReadonlyMap<string, bigint>
  readonly received: ReadonlyMap<string, bigint>
}

function sums(coins: readonly (SpendableCoin & { readonly address: string })[]): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>()
  for (const { address, value } of coins) found.set(address, (found.get(address) ?? 0n) + value)
  return found
}

function decodedOrUndefined(hexText: string): Transaction | undefined {
  try {
    return Transaction.fromHex(hexText)
  } catch (error) {
    if (error instanceof RuleError) return undefined
    throw error
  }
}

/** Nothing where the node refuses an answer; other failures are thrown on. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof NodeRefusal)) throw error
}
