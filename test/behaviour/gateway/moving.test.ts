import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { Gateway } from '../../../src/node/gateway/gateway.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { replaceByEmpty } from '../../support/builders/empty-branch.js'
import { random } from '../../support/builders/random-chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { contextOf, serve } from '../../support/client/api.js'
import { answerTo, type ContractQuestion } from '../../support/client/contract-questions.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { gatewayOver } from '../../support/network/gateways.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const [rounds, clients] = [60, 4]
const leastAnswers = 600

let node: TestChain
let server: ApiServer
let gateways: Gateway[]
const engines: LedgerEngine[] = []
const roll = random(seed)

beforeAll(async () => {
  node = await TestChain.open(withoutValidators)
  server = await serve(contextOf(node))
  await node.mineEmpty(12)
  for (const shards of [1, 3]) {
    const engine = new LedgerEngine(node, shards)
    // Reads of one answer overtake each other, and are of several blocks where nothing sees to it.
    engine.hold = () => (roll(3) === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, roll(4))))
    engines.push(engine)
  }
  gateways = await Promise.all(engines.map((engine) => gatewayOver(node, engine)))
})
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()))
  await server.close()
  await node.close()
})

/** Answers name the tip as of which they hold by their tag: REST in the header, others in the body. */
function tipIn({ etag, text }: Awaited<ReturnType<typeof answerTo>>): string | undefined {
  return (/([0-9a-f]{32})/.exec(String(etag)) ?? /"blockHash":"([0-9a-f]{32})/.exec(text))?.[1]
}

test('no answer is of two blocks while blocks and reorganisations come', async () => {
  const ada = holder()
  let last = await node.publish(ada.create(), ada.did)
  const did = { did: ada.did, all: true, context: true }
  const questions: ContractQuestion[] = [
    { path: `/api/v1/asset/utxos/${testAddress(10)}` },
    { path: `/api/v1/asset/balances/${testAddress(11)}` },
    { path: '/api/v1/block/details/height/11' },
    { path: `/api/v1/transaction/${last}` },
    { path: '/rpc', call: { method: 'resolvedid', params: did } },
    { path: '/rpc', call: { method: 'query', params: { query: { expires: { $exists: true } }, context: true } } },
  ]
  /** Tips in their order, and the last of them at which the node gave an answer. */
  const tips: string[] = []
  const lastAt = new Map<string, number>()
  const note = async () => {
    tips.push(node.chain.tip.header.id.slice(0, 32))
    for (const question of questions) {
      const { text } = await answerTo(server.port, question)
      lastAt.set(`${question.path} ${text}`, tips.length - 1)
    }
  }
  await note()
  let isOver = false
  /** Answers with which a gateway says that it cannot be helped by asking again. */
  const failures: string[] = []
  const given: { readonly tip: string; readonly text: string }[] = []
  const ask = async (gateway: Gateway, client: number) => {
    for (let i = client; !isOver; i++) {
      const question = questions[i % questions.length] as ContractQuestion
      const answer = await answerTo(gateway.ports.rest, question)
      const tip = tipIn(answer)
      if (answer.status === 500 || answer.text.includes('-32603')) failures.push(answer.text)
      if (answer.status === 503 || tip === undefined) continue
      given.push({ tip, text: `${question.path} ${answer.text}` })
    }
  }
  const asking = Promise.all(
    gateways.flatMap((gateway) => Array.from({ length: clients }, (_, client) => ask(gateway, client))),
  )
  // A busy machine needs more blocks for as many answers.
  for (let round = 0; round < rounds || given.length < leastAnswers; round++) {
    await node.send(await node.transfer(testAddress(11), BigInt(1 + roll(1000)), 10))
    if (roll(3) === 0) last = (await node.send(await node.carry(ada.update(last), ada.did, 10))).txid
    node.clock.time += 1000
    await node.mine()
    await note()
    if (roll(6) === 0) {
      await replaceByEmpty(node, 1 + roll(4))
      await note()
    }
    await new Promise((resolve) => setTimeout(resolve, roll(12)))
  }
  isOver = true
  await asking
  expect(failures).toEqual([])
  // The node may have been asked later: what it said at that tip is known by now.
  const isOld = ({ tip, text }: (typeof given)[number]) => (lastAt.get(text) ?? -1) < tips.indexOf(tip)
  expect(given.filter(isOld).slice(0, 3)).toEqual([])
  expect(new Set(given.map(({ tip }) => tip)).size).toBeGreaterThan(rounds / 2)
}, 60_000)
