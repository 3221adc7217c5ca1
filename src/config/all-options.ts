import { apiOptions } from '../api/api-options.js'
import { cryptoOptions } from '../crypto/crypto-options.js'
import { devnetOptions } from '../devnet/devnet-options.js'
import { mempoolOptions } from '../mempool/mempool-options.js'
import { networkOptions } from '../network/network-options.js'
import { nodeOptions } from '../node/node-options.js'
import { miningOptions } from '../production/mining-options.js'
import { resolverOptions } from '../resolver/resolver-options.js'
import type { NodeCommand, Option } from '../runtime/option.js'
import { storageOptions } from '../storage/storage-options.js'
import { votingOptions } from '../voting/voting-options.js'

/** The options of every module, in the order of the help and the reference page. */
export const allOptions: readonly Option[] = [
  nodeOptions,
  storageOptions,
  apiOptions,
  networkOptions,
  votingOptions,
  devnetOptions,
  miningOptions,
  mempoolOptions,
  resolverOptions,
  cryptoOptions,
].flatMap((table) => Object.values<Option>(table))

export function optionsOf(command: NodeCommand): readonly Option[] {
  return allOptions.filter(({ commands }) => commands === undefined || commands.includes(command))
}

/** Environment variables with the prefix of options that are none. */
export const otherVariables: Readonly<Record<string, string>> = {
  DIDLEDGER_CONFIG: 'the configuration file, where `--config` does not name one',
  DIDLEDGER_PASSWORD: 'the password of a keystore, for the commands that need one',
}

/** `node.portBase` as a variable: `DIDLEDGER_NODE_PORT_BASE`. */
export function variableOf({ key }: Option): string {
  return `DIDLEDGER_${key.replaceAll('.', '_').replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** The bare flag as typed: `--port-base`. */
export function flagOf({ flag }: Option): string {
  return flag.split(' ')[0] as string
}
