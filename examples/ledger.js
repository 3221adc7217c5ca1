import { HttpResolver } from 'didledger-client/resolver'
import {
  accountSource,
  buildDidTransaction,
  chainTerms,
  createIdentity,
  documentOf,
  parseChain,
  parseCoins,
  parseDid,
  readPrivateKey,
  signTransaction,
  singleKeyCode,
  systemRandom,
} from 'didledger-client/wallet'

/** What the examples do with a node, by the address of its REST port. It runs in pages and in Node. */

/** The account of a private key, in any form. */
export const accountOf = (key) => accountSource({ kind: 'keys', privateKeys: [readPrivateKey(key)] })(0)

/** A time as documents have it: `2030-01-01T00:00:00Z`. */
export const timestamp = (milliseconds = Date.now()) => new Date(milliseconds).toISOString().slice(0, 19) + 'Z'

const year = 365 * 24 * 60 * 60 * 1000

export class Ledger {
  constructor(rest) {
    this.rpc = new URL('/rpc', rest).href
    this.ws = new URL('/ws', rest).href.replace('http', 'ws')
    this.resolver = new HttpResolver(this.rpc)
  }

  /** Calls a method of JSON-RPC (docs/json-rpc.md). */
  async call(method, params = {}) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(this.rpc, { method: 'POST', headers, body })
    const { result, error } = await response.json()
    if (error) throw new Error(`${method}: ${error.message}`)
    return result
  }

  /** The document of a DID as it is now; undefined where there is none, or it was deactivated. */
  async document(did) {
    const { status, transaction } = await this.resolver.resolve(did)
    return status < 2 ? documentOf(transaction[0].operation.payload) : undefined
  }

  /** Registers the DID of an account, which pays for it. */
  async createDid(account, services = []) {
    const expires = timestamp(Date.now() + year)
    await this.send(account, ({ did: [specification] }) =>
      createIdentity({ account, specification, created: timestamp() }, { services, expires }),
    )
    return account.did
  }

  /** Sends the operation that `build` makes of the specification strings of the chain, and waits until it is in a block. */
  async send(account, build, newLeaf = false) {
    const chain = parseChain(await this.call('getchaininfo'))
    const { perkilobyte } = await this.call('getfeerate')
    const coins = parseCoins(await this.call('listunspent', { addresses: [account.address] }), chain.assetId)
    const terms = chainTerms(chain, chain.height, perkilobyte)
    const payment = { ...terms, coins, code: singleKeyCode(account.publicKey), random: systemRandom }
    const { programHash } = parseDid(account.did)
    const built = buildDidTransaction(payment, build(chain.specifications), programHash, newLeaf)
    const { transaction } = signTransaction(built.transaction, [account.privateKey])
    // Another payment of the account that waits, and spends the same coins, stays: this one is refused then.
    await this.mined(await this.call('sendrawtransaction', { data: transaction.toHex(), replace: false }))
  }

  async mined(txid) {
    for (;;) {
      const { confirmations } = await this.call('getrawtransaction', { txid, verbose: true })
      if (confirmations > 0) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
