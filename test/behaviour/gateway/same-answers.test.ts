import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { busyChain } from '../../support/builders/busy-chain.js'
import { oneValidator, type TestChain, withoutValidators } from '../../support/builders/chain.js'
import { contextOf, serve } from '../../support/client/api.js'
import { answerTo, type ContractQuestion, contractQuestions } from '../../support/client/contract-questions.js'
import { gatewayOver } from '../../support/network/gateways.js'
import type { SpecOverrides } from '../../support/builders/spec.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { oneIn } from '../../support/process/thorough.js'

const nothing = async () => {}
const prunedTo = 30

describe.each<[string, SpecOverrides, (node: TestChain) => Promise<unknown>]>([
  ['with a validator', oneValidator(), nothing],
  ['of work', withoutValidators, nothing],
  ['that has given up blocks', withoutValidators, ({ chain }) => chain.exclusive((writer) => writer.prune(prunedTo))],
  [
    'that has given up documents',
    withoutValidators,
    ({ chain }) => chain.exclusive((writer) => writer.pruneDocuments(prunedTo)),
  ],
])('a chain %s', (_, overrides, change) => {
  let node: TestChain
  let server: ApiServer
  let questions: ContractQuestion[]

  beforeAll(async () => {
    node = await busyChain({ ...overrides, coinInterval: 330 })
    await change(node)
    server = await serve(contextOf(node))
    questions = await contractQuestions(node)
  })
  afterAll(async () => {
    await server.close()
    await node.close()
  })

  test.each([1, 3])('a gateway over %i shards gives the answers of the node, byte for byte', async (shards) => {
    const opened = () => gatewayOver(node, new LedgerEngine(node, shards), [`http://127.0.0.1:${server.port}`])
    let gateway = await opened()
    for (const [i, question] of questions.entries()) {
      const expected = await answerTo(server.port, question)
      // A usual run asks one question in three of a gateway that has no rows in memory yet: with one shard others than with three.
      if ((i + shards) % oneIn(3) === 0) {
        await gateway.close()
        gateway = await opened()
      }
      const answers = [await answerTo(gateway.ports.rest, question), await answerTo(gateway.ports.rest, question)]
      expect({ question, answers }).toEqual({ question, answers: [expected, expected] })
    }
    await gateway.close()
  })
})
