import { longestTimer, requireWhole } from '../../clients/client/arguments.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { Node } from '../node.js'
import { displayHash, fromHex, parseDisplayHash } from '../../base/primitives/bytes.js'
import { hexFault } from '../../base/primitives/hex-fault.js'
import { confirmBytes } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import { requireMembers, requireOptions } from '../../base/primitives/known-members.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { MinedTransaction, NodeChain, NodeMempool } from './node-types.js'
import { addressBytes } from './caller-values.js'

/** Default milliseconds of {@link NodeChain.waitFor}. */
const minedWait = 120_000

/** The chain of a node in this process; `node` throws once it is closed, and `closing` aborts then. */
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
        typeof heightOrHash === 'number'
          ? reader.headerAt(requireWhole('height', heightOrHash, [0, 0xffffffff]))
          : reader.headerOf(hashOf('hash', heightOrHash))
      return known && reader.block(known)
    },
    confirm: (hash) => {
      const confirm = node().reader.confirm(hashOf('hash', hash))
      return confirm && confirmBytes(confirm)
    },
    transaction: (txid) => mined(node(), hashOf('txid', txid)),
    waitFor: async (txid, options = {}) => {
      requireOptions('waitFor', options, ['timeout'])
      const { timeout = minedWait } = options
      const wanted = hashOf('txid', txid)
      requireWhole('timeout', timeout, [0, longestTimer])
      const running = node()
      return mined(running, wanted) ?? nextMined(running, wanted, { timeout, closing })
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
    send: async (transaction, options = {}) => {
      requireMembers('send', options, { replace: 'flag' })
      const { replace } = options
      return (await node().mempool.accept(bytesOf(transaction), { local: true, replace })).txid
    },
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

/** Checks now, at every change of the chain, and as what replaces others comes, until the transaction is mined or dropped, the timeout passes or the node closes. */
function nextMined(
  node: Node,
  txid: Hash,
  { timeout, closing }: { readonly timeout: number; readonly closing: AbortSignal },
): Promise<MinedTransaction> {
  const { chain, mempool } = node
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      chain.events.off('change', look)
      mempool.events.off('accepted', look)
      closing.removeEventListener('abort', close)
    }
    const giveUp = (why: string) => {
      end()
      reject(new UserError(`${displayHash(txid)} is not mined: ${why}`))
    }
    const close = () => giveUp('the node is closed')
    // A timer of its own: Node 20 collects a signal of AbortSignal.any together with its timeout.
    const timer = setTimeout(() => giveUp('no block took it in time'), timeout)
    const look = () => {
      const found = mined(node, txid)
      const reason = found === undefined ? mempool.droppedReason(txid) : undefined
      if (found === undefined && reason === undefined) return
      end()
      if (found !== undefined) resolve(found)
      else reject(new UserError(`${displayHash(txid)} left the pool: ${reason}`))
    }
    chain.events.on('change', look)
    mempool.events.on('accepted', look)
    closing.addEventListener('abort', close)
    look()
  })
}

function bytesOf(transaction: Transaction | Uint8Array | string): Uint8Array {
  if (transaction instanceof Transaction) return transaction.bytes
  const bytes = typeof transaction === 'string' ? fromHex(transaction) : transaction
  if (bytes instanceof Uint8Array) return bytes
  const why = typeof transaction === 'string' ? `: ${hexFault(transaction)}` : ''
  throw new RuleError('tx-malformed', `a transaction is given as bytes, as hex or as a Transaction${why}`)
}

function hashOf(name: string, text: string): Hash {
  const hash = typeof text === 'string' ? parseDisplayHash(text) : undefined
  if (hash === undefined) {
    const why = typeof text === 'string' ? `: ${hexFault(text, 32)}` : ''
    throw new RuleError('request-parameter', `${name}: 64 hex digits are needed${why}`)
  }
  return hash
}
