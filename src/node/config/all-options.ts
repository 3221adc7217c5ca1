import { type KeyedOption, sections } from '../options-to-node.js'
import type { NodeCommand, Option } from '../../base/runtime/option.js'

/** The options of every module, in the order of the help and the reference page. */
export const allOptions: readonly KeyedOption[] = Object.values(sections).flatMap((table) =>
  Object.values<KeyedOption>(table),
)

/** Modules that a gateway has of a node. */
const ofGateway: readonly string[] = ['node', 'api', 'resolver']

/** The options of a command: those that name it, and those for all whose module it has. */
export function optionsOf(command: NodeCommand): readonly KeyedOption[] {
  return allOptions.filter((option) => {
    if (option.commands !== undefined) return option.commands.includes(command)
    return command !== 'gateway' || ofGateway.includes(sectionOf(option))
  })
}

/** Environment variables with the prefix of options that are none. */
export const otherVariables: Readonly<Record<string, string>> = {
  DIDLEDGER_CONFIG: 'the configuration file, where `--config` does not name one',
  DIDLEDGER_RPC: 'the node that `didledger driver` asks, where `--rpc` does not name one',
  DIDLEDGER_PASSWORD: 'the password of a keystore, for the commands that need one',
}

/** The section of an option: `node` of `node.portBase`. */
export function sectionOf({ key }: Option): string {
  return key.slice(0, key.indexOf('.'))
}

/** The name of an option in its section: `portBase` of `node.portBase`. */
export function nameOf({ key }: Option): string {
  return key.slice(key.indexOf('.') + 1)
}

/** `node.portBase` as a variable: `DIDLEDGER_NODE_PORT_BASE`. */
export function variableOf({ key }: Option): string {
  return `DIDLEDGER_${key.replaceAll('.', '_').replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** The bare flag as typed: `--port-base`. */
export function flagOf({ flag }: Option): string {
  return flag.split(' ')[0] as string
}
