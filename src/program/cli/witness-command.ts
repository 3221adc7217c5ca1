import type { Command } from 'commander'
import { typedUrl } from '../../clients/client/typed-url.js'
import { UserError } from '../../base/errors/rule-error.js'
import { readCheckpoint, readTrust } from '../../identity/proofs/trust-root.js'
import { verifierKeyText } from '../../identity/proofs/witness-note.js'
import type { CliContext } from './cli-context.js'
import { collect, type OutputOptions, portOption, withOutput } from './command-options.js'
import { keepEvidence } from './evidence-file.js'
import { trustOptions } from './light-options.js'
import { loadCheckpoint, loadTrust } from './load-proofs.js'
import { openWarnings } from './open-log.js'
import { announce, examples, report } from './print-output.js'
import { repeatRounds } from './repeat-rounds.js'
import { requireNames } from './require-names.js'
import { stopSignal } from './stop-signal.js'
import { makeWitnessKey, witnessOf } from './witness-key.js'

interface WitnessFlags extends OutputOptions {
  readonly key?: string
  readonly node?: readonly string[]
  readonly trust?: string
  readonly checkpoint?: string
  readonly allowOldRoot?: boolean
  readonly listen: { readonly host: string; readonly port: number }
  readonly evidence?: string
}

/** Blocks above a head on a chain without validators, as light resolvers ask for. */
const minedDepth = 6

/** `didledger witness` and `didledger witness key` */
export function registerWitness(program: Command, context: CliContext): void {
  const command = withOutput(program.command('witness'))
    .description('cosign the heads of a chain that were checked as a light resolver checks them, each once')
    .option('--key <file>', 'the private key, as "witness key" makes it; what it signed is kept in FILE.state')
    .option('--node <url>', 'REST address of a node; may be given several times', collect(typedUrl))
  const [trust, checkpoint, , allowOldRoot] = trustOptions()
  for (const option of [trust, checkpoint, allowOldRoot]) command.addOption(option)
  command
    .option('--listen <host:port>', 'where it shows what it signed; port 0 takes a free one', listenOption, {
      host: '127.0.0.1',
      port: 8091,
    })
    .option('--evidence <file>', 'where evidence goes that validators confirmed two blocks of a height')
    .addHelpText(
      'after',
      examples(
        'witness --key witness.key --node https://one.example --node https://two.example --trust localnet --listen 0.0.0.0:8091',
      ),
    )
    .action((flags: WitnessFlags) => serve(context, flags))
  withOutput(command.command('key'))
    .description('make the key of a witness, and print its public key')
    .argument('<name>', 'name of the witness, such as the host and path at which it can be asked')
    .argument('<file>', 'a new file for the private key')
    .addHelpText('after', examples('witness key witness.example/w1 witness.key'))
    .action((name: string, file: string, _: unknown, own: Command) => {
      // Options that both commands have are of the first.
      const flags = own.optsWithGlobals<OutputOptions>()
      const { key } = makeWitnessKey(file, name, context.random)
      const verifierKey = verifierKeyText(key)
      report(context, flags, { name, file, verifierKey }, [
        `Key         ${file}, with what it signs in ${file}.state: move both or neither, and use them once at a time`,
        `Public key  ${verifierKey}`,
      ])
    })
}

function listenOption(text: string): WitnessFlags['listen'] {
  const at = text.lastIndexOf(':')
  const host = text.slice(0, Math.max(0, at)).replace(/^\[(.*)\]$/, '$1')
  return { host: host === '' ? '127.0.0.1' : host, port: portOption(text.slice(at + 1)) }
}

/** Signs and serves until a stop signal. */
async function serve(context: CliContext, flags: WitnessFlags): Promise<void> {
  const { key: file, node: servers, trust: trustName, listen, json, allowOldRoot = false } = flags
  if (file === undefined || servers === undefined || trustName === undefined) {
    throw new UserError(
      '--key, --node and --trust are needed: the key that signs, whom to ask, and the chain that is believed',
      2,
    )
  }
  const trust = readTrust(loadTrust(trustName))
  const checkpoint =
    flags.checkpoint === undefined ? undefined : readCheckpoint(loadCheckpoint(flags.checkpoint), trust)
  await requireNames(servers, '--node')
  const held = await witnessOf(file)
  const log = openWarnings(context)
  try {
    const stop = stopSignal()
    const now = () => context.clock.now()
    const { WitnessSigner } = await import('../../clients/witness/witness-signer.js')
    const { LightWitness } = await import('../../clients/witness/light-witness.js')
    const signer = await WitnessSigner.open({
      ...held.node,
      ...{ genesis: trust.chain, hasValidators: trust.validators !== undefined, now },
      onAlarm: (text) => log.error({}, text),
    })
    const witness = new LightWitness({
      ...{ servers, trust, checkpoint, signer, confirmations: minedDepth, allowOldRoot, now, log },
      onEvidence: (evidence) => keepEvidence(flags.evidence, evidence, log),
    })
    await witness.round()
    const { openWitnessServer } = await import('../../answers/api/servers/witness-server.js')
    const server = await openWitnessServer({
      ...{ heads: signer.heads, alarm: () => signer.alarm, log },
      ...{ hosts: [listen.host], port: listen.port },
    })
    const verifierKey = verifierKeyText(signer.key)
    const listens = server.addresses.map((address) => `http://${address}`)
    announce(context, { json }, { listens, nodes: servers, verifierKey }, [
      ...listens.map((address) => `Heads       ${address}/witness/1/heads`),
      ...servers.map((url) => `Node        ${url}`),
      `Public key  ${verifierKey}`,
    ])
    const end = repeatRounds(() => witness.round(), log)
    try {
      await stop
    } finally {
      await end()
      await server.close()
    }
  } finally {
    log.close()
    await held.release()
  }
}
