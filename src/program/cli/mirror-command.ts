import { type Command, Option } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import { defined } from '../../base/primitives/defined.js'
import type { Spec } from '../../base/primitives/spec.js'
import type { Log } from '../../base/runtime/env.js'
import { systemEnv } from '../../base/runtime/process-env.js'
import type { Mirror } from '../../ledger/mirror/mirror.js'
import { mirrorDefaults, type MirrorSettings, mirrorVersions } from '../../ledger/mirror/mirror-options.js'
import { DataDirectory } from '../../ledger/storage/directory.js'
import { followedNode } from '../../node/followed-node.js'
import { openMirror } from '../../node/node-mirror.js'
import { openLedger, withVerifier } from '../../node/open-ledger.js'
import { startNode } from '../../node/start-node.js'
import { typedUrl } from '../../clients/client/typed-url.js'
import { defaultDataDir } from './chain-data-dir.js'
import type { CliContext } from './cli-context.js'
import { countOption, type OutputOptions, withOutput } from './command-options.js'
import { heldSpec } from './directory-spec.js'
import { loadSpec } from './load-spec.js'
import { openWarnings } from './open-log.js'
import { announce, examples, report } from './print-output.js'
import { namingTheRepair } from './repair-hint.js'
import { requireNames } from './require-names.js'
import { stopSignal } from './stop-signal.js'
import { requireNode, untilMirrored } from './until-mirrored.js'

interface MirrorFlags extends OutputOptions {
  readonly to: string
  readonly node?: string
  readonly dataDir?: string
  readonly genesis?: string
  readonly once?: boolean
  readonly versions: MirrorSettings['versions']
  readonly keep: number
  readonly contact?: string
}

/** A mirror to write, and the chain in which directory it is of. */
interface Wanted {
  readonly spec: Spec
  readonly dataDir: string
  readonly settings: Partial<MirrorSettings> & Pick<MirrorSettings, 'to'>
}

/** `didledger mirror` */
export function registerMirror(program: Command, context: CliContext): void {
  withOutput(program.command('mirror'))
    .description('write the registry into files that prove themselves, which any web server or object store can serve')
    .requiredOption('--to <target>', 'a folder, or s3://BUCKET/PREFIX')
    .option('--node <url>', 'follow this node, with a data directory of its own; URL of its REST port', typedUrl)
    .option('--data-dir <directory>', 'the data directory; without --node that of a node that does not run now')
    .option('--genesis <name|file>', 'chain spec: localnet, pow or a file (default: what the directory holds)')
    .option('--once', 'end when the files are as of the tip')
    .addOption(
      new Option('--versions <which>', 'documents of each DID that have files')
        .choices([...mirrorVersions])
        .default(mirrorDefaults.versions),
    )
    .option(
      '--keep <blocks>',
      'last blocks whose files stay, and those of a day at least',
      countOption,
      mirrorDefaults.keepBlocks,
    )
    .option('--contact <text>', 'who runs the mirror, as the mirror says it')
    .addHelpText(
      'after',
      examples(
        'mirror --to ./mirror --data-dir ./data --once',
        'mirror --to s3://my-bucket/ledger --node http://192.0.2.7:20334 --genesis corp.json --data-dir ./follower',
      ),
    )
    .action((flags: MirrorFlags) => mirror(context, flags))
}

async function mirror(context: CliContext, flags: MirrorFlags): Promise<void> {
  const { node, to, versions, keep: keepBlocks, contact } = flags
  const { spec, dataDir } = await chainOf(context, flags)
  const wanted = { spec, dataDir, settings: { to, versions, keepBlocks, ...defined({ contact }) } }
  const log = openWarnings(context)
  try {
    await namingTheRepair({ ...defined({ genesis: flags.genesis }), dataDir }, () =>
      node === undefined
        ? fromDirectory(context, wanted, flags, log)
        : fromNode(context, wanted, { ...flags, node }, log),
    )
  } finally {
    log.close()
  }
}

/** The chain of the flags, and its data directory. */
async function chainOf(context: CliContext, { node, genesis, dataDir: given }: MirrorFlags) {
  const named = genesis === undefined ? undefined : loadSpec(genesis)
  const dataDir = given ?? (named && defaultDataDir(context, named))
  if (dataDir === undefined) {
    throw new UserError(`${node === undefined ? 'where is the chain' : 'which chain'}? Give --data-dir or --genesis`, 2)
  }
  const spec = named ?? (await heldSpec(dataDir))
  if (node !== undefined && spec.devnet) {
    throw new UserError(`${spec.name} is a devnet, which has one node: "devnet --mirror DIR" writes its mirror`, 2)
  }
  return { spec, dataDir }
}

/** Writes the files as of the tip of a directory that no node uses. */
async function fromDirectory(context: CliContext, { spec, dataDir, settings }: Wanted, flags: OutputOptions, log: Log) {
  const env = systemEnv(log)
  const written = await withVerifier(env, async (verifier) => {
    const directory = await DataDirectory.existing(dataDir)
    const { chain, database } = await openLedger(spec, directory, verifier, env)
    try {
      const parts = { chain, database, env, variables: context.env, isInStep: () => true }
      return await toTheTip(await openMirror(settings, parts))
    } finally {
      await chain.close().finally(() => database.close())
    }
  })
  report(context, flags, { to: settings.to, ...written }, [
    `${settings.to} is as of block ${written.height}: ${written.files} files, ${written.bytes} bytes written`,
  ])
}

async function toTheTip(mirror: Mirror): Promise<{ height: number; files: number; bytes: number }> {
  try {
    const head = await mirror.once()
    if (head === undefined) throw new UserError('no block of the chain commits to a state of all DIDs yet')
    const { files, bytes } = mirror.figures
    return { height: head.height, files, bytes }
  } finally {
    await mirror.close()
  }
}

/** Follows a node, and writes until a stop signal; with `once` until the files are as of its tip. */
async function fromNode(
  context: CliContext,
  { spec, dataDir, settings }: Wanted,
  { node: url, once = false, json }: MirrorFlags & { readonly node: string },
  log: Log,
): Promise<void> {
  await requireNames([url], '--node')
  if (once) await requireNode(url)
  const stop = stopSignal()
  const followed = await followedNode(url, genesisBlock(spec).hash, log)
  const node = await startNode({
    ...{ spec, followed, env: systemEnv(log), variables: context.env, peering: { port: undefined } },
    tuning: { storage: { dataDir }, mirror: settings },
  })
  try {
    const start = { to: settings.to, node: url, dataDir: node.directory.path, height: node.chain.tip.header.height }
    const lines = [`Mirror   ${start.to}`, `Follows  ${url}`, `Data     ${start.dataDir}`]
    announce(context, { json }, start, lines)
    await Promise.race([stop, node.failure, ...(once ? [untilMirrored(node, url)] : [])])
  } finally {
    await node.close()
  }
}
