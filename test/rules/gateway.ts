import { BehindGateway } from '../../src/answers/api/http/behind-gateway.js'
import type { AnswerClient } from '../../src/answers/api/node-handles.js'
import { AskedShards } from '../../src/ledger/engine/asked-shards.js'
import { EngineDown } from '../../src/ledger/engine/engine-down.js'
import { checkedValue } from '../../src/ledger/engine/engine-failures.js'
import { EngineRows } from '../../src/ledger/engine/engine-rows.js'
import { seal } from '../../src/ledger/storage/rows/sealed-row.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import { contextOf, serve } from '../support/client/api.js'
import { quietLog, TestChain, withoutValidators } from '../support/builders/chain.js'
import { LedgerEngine } from '../support/fakes/ledger-engine.js'
import type { RuleRow } from './row.js'

const client: AnswerClient = { share: 'a client', signal: new AbortController().signal }

/** Asks what only a node knows, of a gateway with a node or without. */
async function askNode(isThere: boolean): Promise<void> {
  const node = await TestChain.open(withoutValidators)
  const server = await serve(contextOf(node))
  try {
    const nodes = isThere ? [`http://127.0.0.1:${server.port}`] : []
    await new BehindGateway(
      nodes,
      { genesis: node.chain.genesis.hash, log: node.log },
      { wait: () => undefined, height: 0 },
    ).call('getinfo', {}, client, 'none')
  } finally {
    await server.close()
    await node.close()
  }
}

/** Runs work over two shards of a chain. */
async function overShards(work: (engine: LedgerEngine, node: TestChain) => Promise<unknown>): Promise<void> {
  const node = await TestChain.open(withoutValidators)
  try {
    await work(new LedgerEngine(node, 2), node)
  } finally {
    await node.close()
  }
}

/** Reads the rows of shards of which one may be a block behind. */
function readRows(isBehind: boolean): Promise<void> {
  return overShards(async (engine, node) => {
    if (isBehind) await engine.hideAfter(1)
    await node.mineEmpty(1)
    await (await EngineRows.open({ engine, log: quietLog() })).close()
  })
}

const key = tables.active.key(1)
const row = () => seal(key, Buffer.alloc(32))

/** Refusals of a gateway, which has the rows of a node in another engine. */
export const gatewayRules: readonly RuleRow[] = [
  { code: 'gateway-reads-only', accepts: () => askNode(true), refuses: () => askNode(false) },
  { code: 'shards-apart', accepts: () => readRows(false), refuses: () => readRows(true) },
  {
    code: 'shard-down',
    accepts: () => overShards((engine) => new AskedShards(engine, quietLog()).states()),
    refuses: () =>
      overShards((engine) => {
        engine.hold = () => Promise.reject(new EngineDown(0, 'gone'))
        return new AskedShards(engine, quietLog()).states()
      }),
  },
  {
    code: 'row-damaged',
    accepts: () => void checkedValue([key, row()], 0),
    refuses: () => void checkedValue([key, row().fill(1, 3, 4)], 0),
  },
]
