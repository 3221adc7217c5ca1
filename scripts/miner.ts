/**
 * An outside miner in a few lines: npm run miner -- --rpc http://127.0.0.1:20336 --address E…
 *
 * Requests a template from a node, puts its hash into the coinbase of a parent block, searches the nonce of the parent
 * header, and submits the proof. A real miner takes the parent block from a parent chain's node and submits it there too
 * if it meets that chain's target.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuxBlock, AuxTree, legacyTransaction, ParentBlock, targetOf } from './miner/parent.js'
import { countIn, numberIn, refuse, scriptArguments } from './script-arguments.js'

const { values } = scriptArguments(import.meta.url, {
  options: {
    rpc: { type: 'string', default: 'http://127.0.0.1:20336' },
    address: { type: 'string' },
    /** End after so many blocks. */
    blocks: { type: 'string', default: 'Infinity' },
    /** Seconds from one block to the next. */
    interval: { type: 'string', default: '1' },
    /** Chains that share the work, this one included; the blocks of the others are made up. */
    chains: { type: 'string', default: '1' },
  },
})
const { rpc, address } = values
const [blocks, interval] = [numberIn('blocks', values.blocks, 1), numberIn('interval', values.interval)]
if (address === undefined) refuse('--address is missing: the one that the blocks pay')

/** The answer of createauxblock. Both hashes are in internal order. */
interface Work {
  readonly chainid: number
  readonly height: number
  readonly bits: string
  readonly hash: string
}

interface Answer<T> {
  readonly result?: T
  readonly error?: { readonly data: string }
}

/** Calls the node; undefined if it is unreachable or answers no JSON: a miner has to survive that. */
async function call<T>(method: string, params: object): Promise<Answer<T> | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  try {
    return (await (await fetch(rpc, request)).json()) as Answer<T>
  } catch {
    return undefined
  }
}

/** Works for a block until a nonce is found; undefined if the node has another block by then. */
async function solve(work: Work): Promise<Buffer | undefined> {
  const ours = { chainId: work.chainid, hash: Buffer.from(work.hash, 'hex') }
  const others = Array.from({ length: countIn('chains', values.chains, 1) - 1 }, (_, i): AuxBlock => {
    return { chainId: (work.chainid + 1 + i) >>> 0, hash: randomBytes(32) }
  })
  const tree = new AuxTree([ours, ...others])
  const transactions = [1n, 2n, 3n, 4n].map((value) =>
    legacyTransaction({ txid: randomBytes(32), index: 0 }, randomBytes(106), value),
  )
  const parent = new ParentBlock(tree, { height: 900_000, time: Math.floor(Date.now() / 1000), transactions })
  const target = targetOf(parseInt(work.bits, 16))
  let asked = Date.now()
  for (let nonce = 0; nonce < 2 ** 32; nonce += 5000) {
    if (parent.search(target, nonce, 5000)) return parent.auxPow(tree.branch(work.chainid))
    if (Date.now() - asked < 2000) continue
    // The tip may have moved, or better transactions may wait.
    const now = await call<Work>('createauxblock', { paytoaddress: address })
    if (now?.result !== undefined && now.result.hash !== work.hash) return undefined
    asked = Date.now()
  }
  return undefined
}

for (let found = 0; found < blocks;) {
  const answer = await call<Work>('createauxblock', { paytoaddress: address })
  const work = answer?.result
  if (work === undefined) {
    console.error(answer?.error?.data ?? `no answer from ${rpc}`)
    await sleep(1000)
    continue
  }
  const auxPow = await solve(work)
  if (auxPow === undefined) continue
  const submitted = await call('submitauxblock', { blockhash: work.hash, auxpow: auxPow.toString('hex') })
  if (submitted?.result === true) {
    found++
    console.log(`height ${work.height} ${Buffer.from(work.hash, 'hex').reverse().toString('hex')}`)
  } else {
    console.error(submitted?.error?.data ?? `no answer from ${rpc}`)
  }
  if (found < blocks) await sleep(interval * 1000)
}
