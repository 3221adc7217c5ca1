import { RuleError, UserError } from '../errors.js'
import type { Node } from '../node.js'
import { displayHash, fromHex, parseDisplayHash } from '../primitives/bytes.js'
import { confirmBytes } from '../primitives/confirm.js'
import type { Hash } from '../primitives/hash.js'
import { Transaction } from '../primitives/transaction.js'
import type { MinedTransaction, NodeChain, NodeMempool } from './node.js'
import { addressBytes } from './wallet-node.js'

/** Milliseconds that {@link NodeChain.waitFor} waits unless told otherwise. */
const minedWait = 120_000

/** The chain of a node in this process; `node` throws once it is closed, which aborts `closing`. */
export function nodeChain(node: () => Node, closing: AbortSignal): NodeChain {
  return {
    get height() {
      return node().reader.height
    },
    get tip() {
      const { hash, height, time } = node().chain.tip.header
      return { hash: displayHash(hash), height, time }
    },
    get genesis() {
      return node().chain.genesis.hash
    },
    block: async (heightOrHash) => {
      const { reader } = node()
      const known =
        typeof heightOrHash === 'number' ? reader.headerAt(heightOrHash) : reader.headerOf(hashOf('hash', heightOrHash))
      return known && reader.block(known)
    },
    confirm: (hash) => {
      const confirm = node().reader.confirm(hashOf('hash', hash))
      return confirm && confirmBytes(confirm)
    },
    transaction: (txid) => mined(node(), hashOf('txid', txid)),
    waitFor: async (txid, { timeout = minedWait } = {}) => {
      const wanted = hashOf('txid', txid)
      const running = node()
      return (
        mined(running, wanted) ?? nextMined(running, wanted, AbortSignal.any([closing, AbortSignal.timeout(timeout)]))
      )
    },
    balance: (address) => node().reader.balance(addressBytes(address)).sum,
    coins: async (address) =>
      (await node().reader.coins(addressBytes(address))).map(({ outpoint: { txid, index }, value, height }) => ({
        txid: displayHash(txid),
        index,
        value,
        height,
      })),
    acceptBlock: async (block, confirm) => node().chain.acceptBlock(block, confirm),
  }
}

/** The pool of a node in this process. */
export function nodeMempool(node: () => Node): NodeMempool {
  return {
    get size() {
      return node().mempool.size
    },
    get bytes() {
      return node().mempool.bytes
    },
    send: async (transaction) => (await node().mempool.accept(bytesOf(transaction), { local: true })).txid,
    get: (txid) => node().mempool.get(hashOf('txid', txid))?.transaction,
    entries: () =>
      [...node().mempool.entries()].map(({ transaction, fee, arrival }) => ({ transaction, fee, arrival })),
  }
}

function mined({ reader }: Node, txid: Hash): MinedTransaction | undefined {
  const found = reader.transaction(txid)
  if (found === undefined) return undefined
  const { transaction, block } = found
  const { hash, height, time } = block.header
  return {
    transaction,
    blockhash: displayHash(hash),
    height,
    blocktime: time,
    confirmations: reader.confirmations(block),
  }
}

/** Looks at every change of the chain until the transaction is mined, dropped, or the signal says to stop. */
function nextMined(node: Node, txid: Hash, stop: AbortSignal): Promise<MinedTransaction> {
  const { chain, mempool } = node
  return new Promise((resolve, reject) => {
    const end = () => {
      chain.events.off('change', look)
      stop.removeEventListener('abort', giveUp)
    }
    const giveUp = () => {
      end()
      const why = stop.reason instanceof UserError ? stop.reason.message : 'no block took it in time'
      reject(new UserError(`${displayHash(txid)} is not mined: ${why}`))
    }
    const look = () => {
      const found = mined(node, txid)
      const reason = found === undefined ? mempool.droppedReason(txid) : undefined
      if (found === undefined && reason === undefined) return
      end()
      if (found !== undefined) resolve(found)
      else reject(new UserError(`${displayHash(txid)} left the pool: ${reason}`))
    }
    chain.events.on('change', look)
    stop.addEventListener('abort', giveUp)
    if (stop.aborted) giveUp()
  })
}

function bytesOf(transaction: Transaction | Uint8Array | string): Uint8Array {
  if (transaction instanceof Transaction) return transaction.bytes
  const bytes = typeof transaction === 'string' ? fromHex(transaction) : transaction
  if (bytes instanceof Uint8Array) return bytes
  throw new RuleError('tx-malformed', 'a transaction is given as bytes, as hex or as a Transaction')
}

function hashOf(name: string, text: string): Hash {
  const hash = typeof text === 'string' ? parseDisplayHash(text) : undefined
  if (hash === undefined) throw new RuleError('request-parameter', `${name}: 64 hex digits are needed`)
  return hash
}
