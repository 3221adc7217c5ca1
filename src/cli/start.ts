import { type Command, Option } from 'commander'
import { startNode } from '../node.js'
import type { ProgramHash } from '../primitives/address.js'
import type { CliContext } from './context.js'
import { recipientOption } from './options.js'
import { examples } from './output.js'
import { runUntilStopped, serve, serveEnv, type ServeOptions, withServing } from './serve.js'
import { loadSpec } from './spec.js'

interface StartOptions extends ServeOptions {
  readonly genesis: string
  readonly mine?: { readonly address: string; readonly programHash: ProgramHash }
}

export function registerStart(program: Command, context: CliContext): void {
  withServing(program.command('start'))
    .description('run a node of a chain')
    .requiredOption('--genesis <name|file>', 'chain spec: devnet, localnet, pow or a file')
    .addOption(
      new Option('--mine <address>', 'mine on a chain without validators and pay this address').argParser(
        recipientOption,
      ),
    )
    .addHelpText('after', examples('start --genesis pow --data-dir ./pow'))
    .action(async (options: StartOptions) => {
      const env = serveEnv(options)
      const node = await startNode({
        spec: loadSpec(options.genesis),
        env,
        ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
        ...(options.mine === undefined ? {} : { mineTo: options.mine.programHash }),
      })
      const servers = await serve(node, options, env.log).catch(async (error: unknown) => {
        await node.close()
        throw error
      })
      const lines = [
        `didledger ${node.spec.name} at height ${node.reader.height}, genesis ${node.chain.genesis.hash}`,
        `data in ${node.directory.path}`,
        `REST      http://127.0.0.1:${servers.ports.rest}/api/v1`,
        `JSON-RPC  http://127.0.0.1:${servers.ports.rpc}`,
      ]
      context.out(`${lines.join('\n')}\n`)
      await runUntilStopped(node, servers)
    })
}
