import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { restDescriptions } from '../../../src/answers/api/http/error-mapping.js'
import { checkTransaction } from '../../../src/ledger/consensus/connect.js'
import { StateOverlay } from '../../../src/ledger/consensus/ledger.js'
import { checkTransactionSanity } from '../../../src/ledger/consensus/sanity.js'
import { holds } from '../../../src/base/crypto/verify.js'
import type { DidState } from '../../../src/identity/did/state.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { codes } from '../../../src/node/library/codes.js'
import { shippedSpecFile } from '../../../src/node/library/shipped.js'
import { addressOf, parseAddress } from '../../../src/base/primitives/address.js'
import { formatAmount } from '../../../src/base/primitives/amount.js'
import { displayHash, mapKey, parseDisplayHash } from '../../../src/base/primitives/bytes.js'
import { operationJson } from '../../../src/base/primitives/did-operation.js'
import { sha256, sha256d } from '../../../src/base/primitives/hash.js'
import { genesisBlock, registerAssetTransaction } from '../../../src/base/primitives/genesis.js'
import { paramsAt, type Spec } from '../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { outpointKey } from '../../../src/base/primitives/input.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import type { Outpoint } from '../../../src/base/primitives/transaction-fields.js'
import { transactionJson } from '../../../src/base/primitives/transaction-json.js'
import { didOfOperation } from '../../../src/clients/wallet/did-identity.js'

/** The members of `getchaininfo` that the client reads. */
function chainOf(spec: Spec, height: number): object {
  const { fees, specifications } = paramsAt(spec, height + 1)
  return {
    name: spec.name,
    genesis: genesisBlock(spec).hash,
    height,
    assetid: displayHash(registerAssetTransaction(spec).hash),
    maturity: spec.maturity,
    maxmoney: formatAmount(spec.maxMoney),
    fees: {
      minimum: formatAmount(fees.minimum),
      perbyte: formatAmount(fees.perByte),
      freebytes: fees.freeBytes ?? 0,
      leaf: formatAmount(fees.leaf ?? 0n),
      ...(fees.names && { names: fees.names.map(formatAmount) }),
    },
    specifications,
  }
}

interface FakeCoin {
  txid: Uint8Array
  index: number
  value: bigint
  address: string
  outputLock: number
  coinbase: boolean
  height: number
}

interface Answer {
  status?: number
  body: unknown
}

/**
 * The parts of a node that the client uses, over real sockets: it mines what it is sent, at once or when told. With a spec it
 * checks what it is sent by the rules of the chain.
 */
export class FakeNode {
  readonly assetId = parseDisplayHash('a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0') as Uint8Array
  readonly blocks = [{ time: 1_700_000_000, transactions: [] as Transaction[] }]
  readonly pool: Transaction[] = []
  readonly requests: string[] = []
  coins: FakeCoin[] = []
  automine = true
  /** The node's clock in Unix seconds. */
  now = 1_700_000_000
  /** Answers to give instead, by "METHOD path". */
  readonly overrides = new Map<string, (body: unknown) => Answer | undefined>()
  /** The rules to check transactions by. */
  spec: Spec | undefined
  /** The chain that it says it has, where that is another one than of `spec`; null: it does not know the question. */
  chain: Spec | null = parseSpec(readFileSync(shippedSpecFile('devnet'), 'utf8'))
  readonly #dids = new Map<string, DidState>()
  #server: Server | undefined

  async start(): Promise<string> {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status = 200, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(typeof body === 'string' ? body : JSON.stringify(body))
      })
    })
    await new Promise<void>((ready) => this.#server?.listen(0, '127.0.0.1', ready))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((done) => this.#server?.close(done))
  }

  fund(address: string, value: bigint, more: Partial<FakeCoin> = {}): void {
    const n = this.coins.length
    const coin = { txid: sha256(`funds ${n}`), index: n, value, address, outputLock: 0, coinbase: false, height: 0 }
    this.coins.push({ ...coin, ...more })
  }

  get height(): number {
    return this.blocks.length - 1
  }

  mine(): void {
    if (this.spec !== undefined) this.#connect(this.spec)
    const transactions = this.pool.splice(0)
    this.now++
    this.blocks.push({ time: this.now, transactions })
    for (const transaction of transactions) {
      const spent = new Set(transaction.inputs.map(outpointKey))
      this.coins = this.coins.filter((coin) => !spent.has(outpointKey(coin)))
      transaction.outputs.forEach(({ value, programHash, outputLock }, index) => {
        if (value === 0n) return
        const coin = { txid: transaction.hash, index, value, address: addressOf(programHash), outputLock }
        this.coins.push({ ...coin, coinbase: false, height: this.height })
      })
    }
  }

  #connect(spec: Spec): void {
    const state = this.#state()
    const context = { spec, assetId: this.assetId, height: this.height + 1 }
    for (const waiting of this.pool) {
      const connected = checkTransaction(waiting, state, context)
      connected.apply()
      if (connected.did !== undefined) this.#dids.set(connected.did.id, connected.did.state)
    }
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const path = request.url ?? ''
    const rpc = path === '/rpc' ? ` ${(body as { method: string }).method}` : ''
    const name = `${request.method} ${path}${rpc}`
    this.requests.push(name)
    const given = this.overrides.get(name)?.(body)
    if (given !== undefined) return given
    if (path === '/rpc') return { body: { jsonrpc: '2.0', id: 1, ...this.#rpc(JSON.parse(text)) } }
    return this.#rest(path.replace('/api/v1/', '').split('/'), body as { data?: string } | undefined)
  }

  #rest(path: string[], body: { data?: string } | undefined): Answer {
    const ok = (Result: unknown): Answer => ({ body: { Desc: 'Success', Error: 0, Result } })
    const no = (Error: number, Desc: string): Answer => ({ status: 404, body: { Desc, Error, Result: Desc } })
    const [first, second, third, fourth] = path
    if (first === 'block' && second === 'height') return ok(this.height)
    if (first === 'block' && second === 'details') {
      const height =
        third === 'height' ? Number(fourth) : this.blocks.findIndex((_, h) => this.#blockHash(h) === fourth)
      const block = this.blocks[height]
      return block === undefined
        ? no(44003, 'Unknown Block')
        : ok({ hash: this.#blockHash(height), height, time: block.time })
    }
    if (first === 'transactionpool') return ok(this.pool.map((transaction) => transactionJson(transaction)))
    if (first === 'transaction' && body !== undefined) {
      try {
        return ok(this.#accept(body.data ?? ''))
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        const { rest, http } = codes[error.code]
        return { status: http, body: { Desc: restDescriptions[rest], Error: rest, Result: error.message } }
      }
    }
    if (first === 'transaction') return this.#find(second ?? '', ok) ?? no(44001, 'Unknown Transaction')
    const held = this.coins.filter(({ address }) => address === third)
    if (second === 'balances') return ok(formatAmount(held.reduce((sum, { value }) => sum + value, 0n)))
    if (second === 'utxos') {
      const Utxo = held.map((c) => ({ Txid: displayHash(c.txid), Index: c.index, Value: formatAmount(c.value) }))
      return ok(Utxo.length === 0 ? [] : [{ AssetId: displayHash(this.assetId), AssetName: 'ELA', Utxo }])
    }
    return no(42001, 'Invalid method')
  }

  #rpc({ method, params }: { method: string; params: { addresses: string[]; did: string; all: boolean } }): object {
    if (method === 'listunspent') {
      return {
        result: this.coins
          .filter(({ address }) => params.addresses.includes(address))
          .map((coin) => ({
            txtype: coin.coinbase ? 0 : 2,
            txid: displayHash(coin.txid),
            assetid: displayHash(this.assetId),
            vout: coin.index,
            address: coin.address,
            amount: formatAmount(coin.value),
            outputlock: coin.outputLock,
            confirmations: this.height - coin.height + 1,
          })),
      }
    }
    const chain = this.spec ?? this.chain
    if (method === 'getchaininfo' && chain !== null) return { result: chainOf(chain, this.height) }
    if (method === 'resolvedid') return { result: this.#resolve(params.did, params.all) }
    return { error: { code: -32601, message: 'Method not found' } }
  }

  #resolve(did: string, all: boolean): object {
    const operations = this.blocks
      .flatMap(({ time, transactions }) => transactions.map((transaction) => ({ time, transaction })))
      .flatMap(({ time, transaction: { payload, txid } }) =>
        payload.type === 10 && didOfOperation(payload.operation) === did
          ? [{ txid, timestamp: new Date(time * 1000).toISOString(), operation: operationJson(payload.operation) }]
          : [],
      )
      .reverse()
    const [last] = operations
    if (last === undefined) return { did, status: 3 }
    const { operation } = last
    const deactivated = operation.header.operation === 'deactivate'
    return {
      did,
      status: deactivated ? 2 : this.#expiry(operation.payload) <= this.now ? 1 : 0,
      transaction: all ? operations : [last],
    }
  }

  #expiry(payload: string): number {
    const { expires } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { expires: string }
    return Date.parse(expires) / 1000
  }

  #accept(data: string): string {
    const transaction = Transaction.fromHex(data)
    if (this.spec !== undefined) this.#check(transaction, this.spec)
    this.pool.push(transaction)
    if (this.automine) this.mine()
    return transaction.txid
  }

  #state(): StateOverlay {
    const coin = (outpoint: Outpoint) => {
      const found = this.coins.find((candidate) => outpointKey(candidate) === outpointKey(outpoint))
      return found && { ...found, owner: mapKey(parseAddress(found.address) as Uint8Array) }
    }
    const did = (name: string) => this.#dids.get(name)
    const nothing = () => undefined
    return new StateOverlay({
      ...{ time: 0, coin, did, issuer: did },
      ...{ credential: nothing, otherCredential: nothing, provedHeight: nothing },
    })
  }

  /** Connects the pool and then the transaction on top of the tip, signatures included. */
  #check(transaction: Transaction, spec: Spec): void {
    const state = this.#state()
    const context = { spec, assetId: this.assetId, height: this.height + 1 }
    for (const waiting of this.pool) checkTransaction(waiting, state, context).apply()
    checkTransactionSanity(transaction, context)
    const connected = checkTransaction(transaction, state, context)
    const failing = connected.checks.find((check) => !holds(check))
    if (failing !== undefined) throw new RuleError(failing.code, failing.subject)
  }

  #find(txid: string, ok: (result: unknown) => Answer): Answer | undefined {
    const waiting = this.pool.find((transaction) => transaction.txid === txid)
    if (waiting !== undefined) return ok(transactionJson(waiting))
    const height = this.blocks.findIndex(({ transactions }) => transactions.some((t) => t.txid === txid))
    const block = this.blocks[height]
    const found = block?.transactions.find((transaction) => transaction.txid === txid)
    if (block === undefined || found === undefined) return undefined
    const place = { blockhash: this.#blockHash(height), confirmations: this.height - height + 1, blocktime: block.time }
    return ok(transactionJson(found, place))
  }

  #blockHash(height: number): string {
    return displayHash(sha256d(Buffer.from(`block ${height}`)))
  }
}
