import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { EngineDown } from '../../../src/ledger/engine/engine-down.js'
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
import { rounds } from '../../support/process/thorough.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const [blocks, clients] = [rounds(30, 600), 4]
const leastAnswers = rounds(300, 10_000)
/** One of so many questions to an engine fails. */
const faults = 200

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
    engines.push(engine)
  }
  gateways = await Promise.all(engines.map((engine) => gatewayOver(node, engine)))
  for (const engine of engines) engine.hold = hinder
})
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()))
  await server.close()
  await node.close()
})

/** Reads of one answer overtake each other, and are of several blocks where nothing sees to it; some fail. */
async function hinder(shard: number): Promise<void> {
  if (roll(3) > 0) await new Promise((resolve) => setTimeout(resolve, roll(4)))
  if (roll(faults) === 0) throw new EngineDown(shard, 'a connection ended')
}

/** Whether a gateway says that it cannot be helped by asking again, or with what no node answers. */
function isFailure({ status, text }: Awaited<ReturnType<typeof answerTo>>): boolean {
  return (status === 500 || text.includes('-32603')) && !text.includes('and its replicas do not answer')
}

/** Answers name the tip as of which they hold by their tag: REST in the header, others in the body. */
function tipIn({ etag, text }: Awaited<ReturnType<typeof answerTo>>): string | undefined {
  return (/([0-9a-f]{32})/.exec(String(etag)) ?? /"blockHash":"([0-9a-f]{32})/.exec(text))?.[1]
}

/** Question and answer. That a gateway tells of a shard that does not answer is no part of it. */
const textOf = ({ path, call }: ContractQuestion, { text }: Awaited<ReturnType<typeof answerTo>>) =>
  `${path} ${JSON.stringify(call)} ${text.replace(/,"outOfStep":\{[^}]*\}/, '')}`

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
  /** Tips that the node showed, each with its answers. */
  const answersAt = new Map<string, ReadonlySet<string>>()
  const note = async () => {
    const tip = node.chain.tip.header.id.slice(0, 32)
    const answers = questions.map(async (question) => textOf(question, await answerTo(server.port, question)))
    answersAt.set(tip, new Set(await Promise.all(answers)))
  }
  await note()
  let isOver = false
  const failures: string[] = []
  const given: { readonly tip: string; readonly text: string }[] = []
  const ask = async (gateway: Gateway, client: number) => {
    for (let i = client; !isOver; i++) {
      const question = questions[i % questions.length] as ContractQuestion
      const answer = await answerTo(gateway.ports.rest, question)
      const tip = tipIn(answer)
      if (isFailure(answer)) failures.push(answer.text)
      if (answer.status === 503 || tip === undefined) continue
      given.push({ tip, text: textOf(question, answer) })
    }
  }
  const asking = Promise.all(
    gateways.flatMap((gateway) => Array.from({ length: clients }, (_, client) => ask(gateway, client))),
  )
  for (let round = 0; round < blocks; round++) {
    await node.send(await node.transfer(testAddress(11), BigInt(1 + roll(1000)), 10))
    if (roll(3) === 0) last = (await node.send(await node.carry(ada.update(last), ada.did, 10))).txid
    node.clock.time += 1000
    await node.mine()
    await note()
    if (roll(6) === 0) {
      await replaceByEmpty(node, 1 + roll(4))
      await note()
    }
    // As many as leave enough of them at the end, while others are under way.
    const enough = (leastAnswers / blocks) * (round + 2 * (roll(100) / 100))
    while (given.length < enough) await new Promise(setImmediate)
  }
  isOver = true
  await asking
  expect(failures).toEqual([])
  const wrong = given.filter(({ tip, text }) => !answersAt.get(tip)?.has(text))
  expect(wrong.slice(0, 3)).toEqual([])
  expect(new Set(given.map(({ tip }) => tip)).size).toBeGreaterThan(blocks / 2)
})
