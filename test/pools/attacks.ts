import { performance } from 'node:perf_hooks'
import { RuleError } from '../../src/base/errors/rule-error.js'
import type { DocumentPlan } from '../../src/identity/did/build.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { choose } from '../../src/ledger/production/selection.js'
import { sideChainPow } from '../rules/transaction.js'
import { craft, craftBlock, type CraftedInput, genesisCoin, outputOf } from '../support/builders/blocks.js'
import { oneValidator, TestChain } from '../support/builders/chain.js'
import { authenticationKey, holder, issueCredential } from '../support/builders/did.js'
import { quickSigner } from '../support/builders/signatures.js'

/** Attacks on the room of a pool, each in any size. A promise that is broken is thrown as an Error. */

const price = 3_000_000n

/** So many coins of person 11, a thousand a transaction and a transaction a block. */
async function purse(test: TestChain, count: number): Promise<() => CraftedInput> {
  const coins: CraftedInput[] = []
  const parts = Math.ceil(count / 1000)
  const each = 200_000_000_000n / BigInt(parts) - price
  const outputs = Array.from({ length: parts }, () => ({ to: 11, value: each }))
  const first = craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11])
  await test.accept(craftBlock(test.chain, { transactions: [first] }))
  for (let part = 0; part < parts; part++) {
    const small = Array.from({ length: Math.min(1000, count - part * 1000) }, () => ({ to: 11, value: 2n * price }))
    const fan = craft(test.spec, [outputOf(first, part)], small, [11])
    await test.accept(craftBlock(test.chain, { transactions: [fan] }))
    coins.push(...small.map((_, index) => outputOf(fan, index)))
  }
  return () => {
    const coin = coins.pop()
    if (coin === undefined) throw new RangeError('no coin is left')
    return coin
  }
}

function demand(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`broken: ${promise}`)
}

/** Milliseconds of work. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return Math.round(performance.now() - start)
}

/**
 * A proof that the chain has comes again and again in transactions of anybody, on top of junk that pays least: it takes no place,
 * and what pays goes first.
 */
export async function replayedProofs(sizes: {
  readonly blocks: number
  readonly junk: number
  readonly honest: number
}): Promise<string> {
  const test = await TestChain.open({ ...oneValidator(), producer: 'sponsor' })
  const coin = await purse(test, sizes.blocks * (2 + sizes.honest) + 2)
  const { payload } = await sideChainPow({ blockHeight: 9 })(test)
  const pay = (to: number, fee: bigint, input = coin()) =>
    craft(test.spec, [input], [{ to, value: 2n * price - fee }], [11])
  await test.send(craft(test.spec, [coin()], [{ to: 11, value: price }], [11], { payload }))
  await test.mine()
  let refused = 0
  for (let block = 0; block < sizes.blocks; block++) {
    const junk: Transaction[] = []
    let last = coin()
    for (let i = 0, value = 2n * price; i < sizes.junk; i++) {
      const record = { type: 3, recordType: 'x', content: new Uint8Array(198_000).fill(i) } as const
      value -= 200_000n
      const next = craft(test.spec, [last], [{ to: 11, value }], [11], { payload: record })
      junk.push(await test.send(next))
      last = outputOf(next)
    }
    for (const replay of [last, coin()]) {
      await test
        .send(craft(test.spec, [replay], [{ to: 11, value: price / 4n }], [11], { payload }))
        .catch((error: unknown) => {
          if (!(error instanceof RuleError && error.code === 'pool-side-chain')) throw error
          refused++
        })
    }
    const honest: string[] = []
    for (let i = 0; i < sizes.honest; i++) honest.push((await test.send(pay(30, price / 10n))).txid)
    const { transactions } = await choose(test.chain, test.mempool, { parent: test.chain.tip })
    const order = transactions.map(({ txid }) => txid)
    const behind = Math.max(...honest.map((txid) => order.indexOf(txid)))
    demand(!honest.some((txid) => !order.includes(txid)), 'what pays is in the next template')
    for (const { txid } of junk) {
      const at = order.indexOf(txid)
      demand(at < 0 || at > behind, 'junk goes behind all that pays more')
    }
    await test.mine()
  }
  demand(refused === 2 * sizes.blocks, 'a proof that the chain has is refused')
  await test.close()
  return `${refused} replays refused, on ${sizes.junk} records of 198 kB each time`
}

/**
 * A pool full of holders of one issuer, who changes a service in every block and at last takes the key away: no holder is
 * evaluated again before that, templates have them, and what has nothing to do with it is taken at once.
 */
export async function issuerChanges(sizes: { readonly holders: number; readonly blocks: number }): Promise<string> {
  const test = await TestChain.open()
  const coin = await purse(test, sizes.holders + 4 * sizes.blocks + 20)
  const carry = (operation: DidOperation, value = price) =>
    craft(test.spec, [coin()], [{ to: 30, value }], [11], { payload: { type: 10, operation } })
  // A full pool takes what pays more than the one that goes.
  const newcomer = () => carry(holder().create(), price / 2n)
  const [issuer, key] = [holder(), quickSigner()]
  const document = (isThere: boolean, text: string): Partial<DocumentPlan> => ({
    keys: [...issuer.plan.keys, ...(isThere ? [authenticationKey('a', key)] : [])],
    services: [{ id: '#text', type: 'Text', serviceEndpoint: 'https://example.org', text }],
  })
  let last = carry(issuer.create(document(true, '')))
  const connect = async () => {
    await test.chain.acceptBlock(craftBlock(test.chain, { transactions: [last] }).bytes)
  }
  await connect()
  await test.mempool.settled()
  let full = false
  for (let i = 0; i < sizes.holders; i++) {
    const one = holder()
    const credentials = [issueCredential(issuer.did, key, one.did, {}, '#a')]
    await test.send(carry(one.create({ credentials }))).catch((error: unknown) => {
      if (!(error instanceof RuleError && ['pool-full', 'fee-too-low'].includes(error.code))) throw error
      full = true
    })
  }
  const { size } = test.mempool
  const before = test.mempool.reevaluations
  let slowest = 0
  for (let block = 0; block < sizes.blocks; block++) {
    last = carry(issuer.update(last.txid, document(true, `service ${block}`)))
    slowest = Math.max(slowest, await timed(connect))
    const { transactions } = await choose(test.chain, test.mempool, { parent: test.chain.tip, share: 0.1 })
    demand(transactions.length > 0, 'a template has holders in the turn after the block')
    slowest = Math.max(slowest, await timed(() => test.send(newcomer())))
  }
  demand(test.mempool.reevaluations === before, 'no holder is evaluated again while its key stands')
  last = carry(issuer.update(last.txid, document(false, '')))
  const stranger = newcomer()
  await connect()
  let isSettled = false
  const settled = timed(() => test.mempool.settled()).finally(() => (isSettled = true))
  const waited = await timed(() => test.send(stranger))
  const meanwhile = isSettled ? 'after' : 'before'
  const took = await settled
  const evaluated = test.mempool.reevaluations - before
  // Newcomers may have had some evicted.
  demand(evaluated <= size && evaluated > 0.9 * size, 'all holders are evaluated once when their key goes')
  demand(test.mempool.get(stranger.hash) !== undefined, 'what has nothing to do with it is taken')
  await test.close()
  return (
    `${size} holders${full ? ' (full)' : ''}: ${slowest} ms for a block or a newcomer at most; without the key ${evaluated} evaluated ` +
    `in ${took} ms, a newcomer taken in ${waited} ms, ${meanwhile} the last of them`
  )
}
