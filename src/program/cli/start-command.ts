import { type Command, Option } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { nodeOptions } from '../../node/node-options.js'
import type { NodeValidator } from '../../node/node.js'
import { defined } from '../../base/primitives/defined.js'
import type { Spec } from '../../base/primitives/spec.js'
import { storageOptions } from '../../ledger/storage/storage-options.js'
import type { CliContext } from './cli-context.js'
import { waysToSet, withConfig } from './config-options.js'
import { heldSpec, isShippedChain } from './directory-spec.js'
import { namingTheRepair } from './repair-hint.js'
import { defaultDataDir } from './chain-data-dir.js'
import { loadSpec } from './load-spec.js'
import { followOf, peeringOf, validatorOf } from './network-flags.js'
import { examples } from './print-output.js'
import { type RunOptions, runNode, startOf } from './run-node.js'
import { witnessOf } from './witness-key.js'

/** Flags for one start alone, not part of the configuration. */
interface StartFlags extends RunOptions {
  readonly resetSignState?: NonNullable<NodeValidator['resetSignState']>
}

export function registerStart(program: Command, context: CliContext): void {
  withConfig<StartFlags>(program.command('start'), 'start', context, async (config, flags) => {
    const genesis = config.tuning.node?.genesis
    const chosenDir = config.tuning.storage?.dataDir
    const spec = await specOf(genesis, chosenDir)
    const dataDir = chosenDir ?? defaultDataDir(context, spec)
    const peering = peeringOf(config, spec)
    const follow = followOf(config, spec)
    const validator = validatorOf(config, spec, flags.resetSignState)
    const witness = await witnessOf(config.tuning.witness?.keyFile)
    const chosen = { spec, ...defined({ peering, validator, follow, witness: witness?.node }) }
    return namingTheRepair({ genesis, dataDir }, () =>
      runNode(context, config.withDefault(storageOptions.dataDir, dataDir), flags, chosen, (node, servers) => {
        const { start, lines } = startOf(node, servers)
        const all = [
          ...lines,
          ...(chosenDir === undefined ? ['          (of this chain, and used again; --data-dir chooses another)'] : []),
          ...(isShippedChain(spec) ? ['', ...trialWarning] : []),
        ]
        return { value: start, lines: all }
      }),
    ).finally(() => witness?.release())
  })
    .description('run a node of a chain')
    .addOption(
      new Option(
        '--reset-sign-state [when]',
        'vote although it is unknown what the key has signed: from the next block on, or "now" where the chain waits for this key',
      )
        .choices(['next', 'now'])
        .preset('next'),
    )
    .option(
      '--stop-on-eof',
      'stop when standard input ends, as it does when the program that started this one dies; /dev/null ends at once',
    )
    .addHelpText(
      'after',
      examples(
        'start --genesis corp.json --data-dir ./data --validator-key validator-1.key --peer 192.0.2.7:20338',
        'start --genesis corp.json --data-dir ./data --follow http://192.0.2.7:20334 --prune 1000',
        'start --genesis pow',
        'start --data-dir ./data',
        'start --config node.json5 --print-config',
      ),
    )
}

/** The chain that is named, else the one of the data directory. */
async function specOf(genesis: string | undefined, dataDir: string | undefined): Promise<Spec> {
  if (genesis !== undefined) return loadSpec(genesis)
  if (dataDir !== undefined) return heldSpec(dataDir)
  throw new UserError(`which chain? Give ${waysToSet(nodeOptions.genesis)}, or --data-dir with a chain in it`, 2)
}

const trialWarning = [
  'A chain for trying things out: everybody knows its keys, and what is signed for it may hold on other chains too.',
  'Never use a key here that is worth anything.',
]
