import type { Command } from 'commander'
import type { CliContext } from './cli-context.js'
import { type OutputOptions, portOption, withOutput } from './command-options.js'
import { openWarnings } from './open-log.js'
import { announce, examples } from './print-output.js'
import { stopSignal } from './stop-signal.js'

interface ServeStaticFlags extends OutputOptions {
  readonly port: number
  readonly host: string
}

/** `didledger serve-static` */
export function registerServeStatic(program: Command, context: CliContext): void {
  withOutput(program.command('serve-static'))
    .description('serve the files of a mirror over HTTP, for trying one')
    .argument('<directory>', 'folder of the mirror')
    .option('--port <n>', 'port to listen on; 0 takes a free one', portOption, 8090)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addHelpText('after', examples('serve-static ./mirror', 'serve-static ./mirror --port 8091 --host 0.0.0.0'))
    .action((directory: string, flags: ServeStaticFlags) => serve(context, directory, flags))
}

/** Serves until a stop signal. */
async function serve(context: CliContext, folder: string, { port, host, json }: ServeStaticFlags): Promise<void> {
  const stop = stopSignal()
  const { openStaticServer } = await import('../../answers/api/servers/static-server.js')
  const log = openWarnings(context)
  const server = await openStaticServer({ folder, hosts: [host], port, log })
  const listens = server.addresses.map((address) => `http://${address}/`)
  announce(
    context,
    { json },
    { listens, folder },
    listens.map((url) => `Mirror ${url}`),
  )
  try {
    await stop
  } finally {
    await server.close()
    log.close()
  }
}
