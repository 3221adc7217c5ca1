import type { Command } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { systemEnv } from '../../base/runtime/process-env.js'
import { ResourceStack } from '../../base/runtime/resource-stack.js'
import { typedUrl } from '../../clients/client/typed-url.js'
import { gatewayOptions } from '../../node/gateway-options.js'
import { nodeOptions } from '../../node/node-options.js'
import type { CliContext } from './cli-context.js'
import { waysToSet, withConfig } from './config-options.js'
import { loadSpec } from './load-spec.js'
import { openLog } from './open-log.js'
import { announce, examples } from './print-output.js'
import type { RunOptions } from './run-node.js'
import { stopSignal } from './stop-signal.js'

/** `didledger gateway` */
export function registerGateway(program: Command, context: CliContext): void {
  withConfig<RunOptions>(program.command('gateway'), 'gateway', context, async (config, flags) => {
    const { node = {}, gateway = {} } = config.tuning
    if (node.genesis === undefined) throw new UserError(`which chain? Give ${waysToSet(nodeOptions.genesis)}`, 2)
    if (gateway.shards === undefined) throw new UserError(`which rows? Give ${waysToSet(gatewayOptions.shards)}`, 2)
    const spec = loadSpec(node.genesis)
    const nodes = (gateway.nodes ?? []).map(typedUrl)
    const { log, close } = openLog(context, node, flags, spec.devnet)
    const stack = new ResourceStack()
    stack.defer(close)
    try {
      const stop = stopSignal({ onEof: flags.stopOnEof === true, onHangup: node.logFile === undefined })
      if (flags.stopOnEof === true) stack.defer(() => process.stdin.pause())
      // Loaded by this command alone: the driver of the engine is no dependency of a node.
      const { PostgresEngine } = await import('../../ledger/engine/postgres-engine.js')
      const { openGateway } = await import('../../node/gateway/gateway.js')
      const engine = await PostgresEngine.open(gateway.shards)
      const { rows, verifyOwn } = gateway
      const opened = await openGateway({
        spec,
        engine,
        env: systemEnv(log),
        nodes,
        tuning: config.tuning,
        ...defined({ rows, verifyOwn }),
      })
      stack.defer(() => opened.close())
      const { height } = opened.chain.tip.header
      const { host, ports } = opened
      const start = {
        name: spec.name,
        height,
        rest: `http://${host}:${ports.rest}`,
        ws: `ws://${host}:${ports.ws}`,
        rpc: `http://${host}:${ports.rpc}`,
        nodes,
      }
      announce(context, flags, start, [
        `gateway of ${spec.name} at height ${height}`,
        '',
        `REST      ${start.rest}/api/v1`,
        `WebSocket ${start.ws}`,
        `JSON-RPC  ${start.rpc}`,
        ...nodes.map((url) => `Node      ${url}`),
      ])
      await Promise.race([stop, opened.failure])
    } finally {
      await stack.close()
    }
  })
    .description(
      'answer as a node from the rows that it ships to PostgreSQL; keeps nothing, so that any number can stand beside each other',
    )
    .option(
      '--stop-on-eof',
      'stop when standard input ends, as it does when the program that started this one dies; /dev/null ends at once',
    )
    .addHelpText(
      'after',
      examples(
        'gateway --genesis corp.json --shards postgres://reader@db.example/didledger --node http://192.0.2.7:20334',
        'gateway --genesis corp.json --shards postgres://reader@db1,db2/didledger --port-base 30000',
      ),
    )
}
