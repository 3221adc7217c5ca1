import { type Command, InvalidArgumentError, Option as Flag } from 'commander'
import { flagOf, optionsOf } from '../../node/config/all-options.js'
import type { Config } from '../../node/config/config.js'
import { readConfig } from '../../node/config/config.js'
import { configJson, configText } from '../../node/config/print.js'
import { fromText, hintOf, isValid } from '../../node/config/values.js'
import { belowHome } from '../../base/runtime/home-folder.js'
import type { NodeCommand, Option } from '../../base/runtime/option.js'
import { readTextFile } from '../../clients/wallet/files.js'
import type { CliContext } from './cli-context.js'
import { type QuietOptions, withQuiet } from './command-options.js'

/** Flags of a command that runs a node, beside the options of the modules. */
interface ConfigFlags extends QuietOptions {
  readonly config?: string
  readonly printConfig?: boolean
}

const tuningHeading = 'Options for tuning:'

/**
 * Adds one flag for each module option to a command that runs a node, then runs it with the effective configuration or, with
 * --print-config, prints that. `Flags` are the command's own flags.
 */
export function withConfig<Flags extends QuietOptions>(
  command: Command,
  name: NodeCommand,
  context: CliContext,
  run: (config: Config, flags: Flags) => Promise<void>,
): Command {
  const options = optionsOf(name)
  withQuiet(command)
    .option('--config <file>', 'configuration file (else DIDLEDGER_CONFIG); flags and environment win over it')
    .option('--print-config', 'print the effective configuration, which can be used as a file, and start nothing')
  const flags = options.map((option) => [option, flagFor(option)] as const)
  for (const [, flag] of flags) command.addOption(flag)
  return command.action(async (_: unknown, self: Command) => {
    const own = self.opts<ConfigFlags & Flags>()
    const named = own.config ?? context.env['DIDLEDGER_CONFIG']
    const file = named && belowHome(named, context.env)
    const given = flags
      .filter(([, flag]) => self.getOptionValueSource(flag.attributeName()) === 'cli')
      .map(([{ key }, flag]) => [key, self.getOptionValue(flag.attributeName()) as unknown] as const)
    const config = readConfig({
      command: name,
      file: file === undefined ? undefined : { path: file, text: readTextFile(file, 'configuration file') },
      env: context.env,
      flags: new Map(given),
    })
    if (own.printConfig) context.out(own.json ? configJson(config) : configText(config))
    else await run(config, own)
  })
}

/** The flag of an option. Values are checked when read; lists only as a whole. */
function flagFor(option: Option): Flag {
  const flag = new Flag(option.flag, option.description)
  const { type, anyOf } = option.schema as { type?: string; anyOf?: readonly { const: string }[] }
  if (anyOf !== undefined) flag.choices(anyOf.map((literal) => literal.const))
  else if (type !== 'boolean' && type !== 'array') flag.argParser((text) => parsed(option, text))
  if (type !== 'boolean' && option.default !== undefined) flag.default(option.default)
  return option.tuning ? flag.helpGroup(tuningHeading) : flag
}

function parsed(option: Option, text: string): unknown {
  const value = fromText(option, text)
  if (!isValid(option, value)) throw new InvalidArgumentError(`Not ${option.expects}${hintOf(option, value)}.`)
  return value
}

/** How to set an option, for messages. */
export function waysToSet(option: Option): string {
  return `${flagOf(option)}, or ${option.key} in a configuration file`
}
