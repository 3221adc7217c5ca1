import type { ApiLimits } from '../../src/answers/api/api-limits.js'
import { LogEvents } from '../../src/answers/api/ws/log-events.js'
import { WsServer } from '../../src/answers/api/ws/ws-server.js'
import type { Code } from '../../src/base/errors/error-codes.js'
import { brokenRule } from '../../src/base/errors/broken-rule.js'
import { EventLog } from '../../src/ledger/events/event-log.js'
import { codes } from '../../src/node/library/codes.js'
import { ask, contextOf } from '../support/client/api.js'
import { TestChain } from '../support/builders/chain.js'
import { WsClient } from '../support/client/ws.js'
import type { RuleRow } from './row.js'

type Act = (client: WsClient, port: number) => Promise<number | undefined>

/** A row about a port for WebSockets; what an act returns is the number of the JSON-RPC error, if it got one. */
function overWebSocket(code: Code, good: Act, bad: Act, limits: Partial<ApiLimits> = {}): RuleRow {
  const run = async (act: Act) => {
    const test = await TestChain.open()
    const { chain, mempool, clock } = test
    const events = await EventLog.open({ chain, mempool, clock })
    const server = await WsServer.open(contextOf(test, { limits }), { events: new LogEvents(events), port: 0 })
    try {
      const client = await WsClient.open(server.port)
      const said = await act(client, server.port)
      if (said === codes[code].rpc) throw brokenRule(code)
      if (said !== undefined) throw new Error(`${code} was expected, not ${said}`)
      await client.close()
    } finally {
      await server.close()
      await test.close()
    }
  }
  return { code, accepts: () => run(good), refuses: () => run(bad) }
}

const subscribe =
  (more: object = {}): Act =>
  async (client) =>
    (await client.call('subscribe', { topics: ['block'], ...more })).error?.code

/** Follows documents by a condition that no index narrows. */
const documents = (i: number): Act => subscribe({ topics: ['documents'], query: `{service: {$size: ${i}}}` })

/** What only a connection for events can do wrong. */
export const eventRules: RuleRow[] = [
  overWebSocket('request-upgrade', subscribe(), async (_, port) => {
    const { status, body } = await ask(port, '/')
    return status === codes['request-upgrade'].http ? (body as { error: { code: number } }).error.code : undefined
  }),
  overWebSocket('event-gone', subscribe({ fromHeight: 0 }), subscribe({ after: 1 })),
  overWebSocket(
    'subscription-limit',
    subscribe(),
    async (client, port) => {
      await subscribe()(client, port)
      return subscribe()(client, port)
    },
    { wsSubscriptions: 1 },
  ),
  overWebSocket('overloaded', documents(0), async (client, port) => {
    for (let i = 0; i < 8; i++) await documents(i)(client, port)
    return documents(8)(client, port)
  }),
]
