import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { toHex } from '../../base/primitives/bytes.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import { UserError } from '../../base/errors/rule-error.js'
import { makeDirectory } from '../../clients/wallet/files.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions } from './command-options.js'
import { withOutput } from './command-options.js'
import { lockPath } from '../../ledger/storage/care/level/lock-path.js'
import { loadSpec } from './load-spec.js'
import { openWarnings } from './open-log.js'
import { announce, examples } from './print-output.js'
import { stopSignal } from './stop-signal.js'
import { readValidatorKey } from './validator-key.js'

interface SignerFlags extends OutputOptions {
  readonly validatorKey: string
  readonly genesis: string
  readonly dataDir: string
  readonly socket?: string
  readonly begin?: boolean
}

/** `didledger signer` */
export function registerSigner(program: Command, context: CliContext): void {
  withOutput(program.command('signer'))
    .description('keep the key of a validator and what it has signed apart from the node, which asks for signatures')
    .requiredOption('--validator-key <file>', 'the private key, in a file that no other user may read')
    .requiredOption('--genesis <name|file>', 'the chain that it signs for: localnet or a file')
    .requiredOption('--data-dir <directory>', 'where it notes what it has signed')
    .option('--socket <path>', 'where the node asks (default: signer.sock in the data directory)')
    .option('--begin', 'for a key that has never signed: begin without a sign state')
    .addHelpText(
      'after',
      examples(
        'signer --genesis corp.json --validator-key validator-1.key --data-dir ./signer --begin',
        'start --genesis corp.json --data-dir ./data --validator-signer ./signer/signer.sock --peer 192.0.2.7:20338',
      ),
    )
    .action((flags: SignerFlags) => serveSigner(context, flags))
}

/** Serves until a stop signal, or until the sign state cannot be written. */
async function serveSigner(context: CliContext, flags: SignerFlags): Promise<void> {
  const spec = loadSpec(flags.genesis)
  if (!spec.hasValidators || spec.devnet)
    throw new UserError(`${spec.name} has no validators that a signer signs for`, 2)
  const { privateKey: key, publicKey } = readValidatorKey(flags.validatorKey)
  const directory = resolve(flags.dataDir)
  makeDirectory(directory)
  const stop = stopSignal()
  const release = await lockPath(join(directory, 'lock'), directory)
  const log = openWarnings(context)
  try {
    const { SignerServer } = await import('../../voting/remote/signer-server.js')
    const { OwnKey } = await import('../../voting/key-holder.js')
    const { SignStateFile } = await import('../../voting/sign-state-file.js')
    const genesis = genesisBlock(spec).header.hash
    const holder = new OwnKey({ key, store: new SignStateFile(join(directory, 'sign-state')), genesis })
    const { socket = join(directory, 'signer.sock'), begin = false } = flags
    const server = await SignerServer.open({ socket, holder, genesis, begin, log })
    const start = { socket, publicKey: toHex(publicKey), chain: spec.name }
    announce(context, flags, start, [
      `Signs for   ${spec.name}, with the key ${start.publicKey}`,
      `Socket      ${socket}`,
      'Ctrl-C stops the signer.',
    ])
    try {
      await Promise.race([stop, server.failure])
    } finally {
      await server.close()
    }
  } finally {
    log.close()
    await release()
  }
}
