import { maxAllowedOrigins, originOf } from '../../answers/api/http/origin.js'
import { mnemonicFault } from '../../base/crypto/hd.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { requireKnown } from '../../base/primitives/known-members.js'
import type { Spec } from '../../base/primitives/spec.js'
import { optional, requireObject, requireWhole } from '../../clients/client/arguments.js'
import { maxDevnetAccounts, maxSeededDids } from '../../clients/wallet/devnet-accounts.js'
import type { DevnetTarget } from '../devnet/devnet-options.js'
import { automine, type MiningMode } from '../devnet/mining-mode.js'
import type { ApiOptions, CreateNodeOptions } from './node-types.js'
import { units } from './caller-values.js'

/** @limit s: time between two blocks of a devnet of the library */
const longestInterval = 999_999

/** Options of a devnet alone, beside `allowOrigins` of `api`. */
const ofDevnet = ['mining', 'accounts', 'mnemonic', 'balance', 'seedDids'] as const

/** Settings of a devnet; none on another chain. A {@link UserError} names an option that is wrong, or has no use there. */
export function devnetSettings(options: CreateNodeOptions, spec: Spec): Partial<DevnetTarget> {
  const allowOrigins = typeof options.api === 'object' ? options.api.allowOrigins : undefined
  const useless = ofDevnet.find((name) => options[name] !== undefined) ?? (allowOrigins && 'api.allowOrigins')
  if (spec.devnet) return settingsOf(options, allowOrigins)
  if (useless === undefined) return {}
  throw new UserError(`${useless}: ${spec.name} is no devnet, and only a devnet has that`)
}

function settingsOf(
  { mining = 'auto', accounts, mnemonic, balance, seedDids }: CreateNodeOptions,
  allowOrigins: ApiOptions['allowOrigins'],
): Partial<DevnetTarget> {
  return defined({
    mining: miningMode(mining),
    accounts: optional(accounts, (value) => requireWhole('accounts', value, [1, maxDevnetAccounts])),
    mnemonic: optional(mnemonic, requireMnemonic),
    balance: optional(balance, (value) => units('balance', value)),
    seedDids: optional(seedDids, (value) => requireWhole('seedDids', value, [0, maxSeededDids])),
    allowedOrigins: optional(allowOrigins, requireOrigins),
  })
}

function miningMode(mining: NonNullable<CreateNodeOptions['mining']>): MiningMode {
  if (mining === 'auto') return automine
  if (mining === 'manual') return { kind: 'manual' }
  const given = requireObject("mining: neither 'auto' nor 'manual' nor an object", mining)
  requireKnown('mining', given, ['seconds'])
  return { kind: 'interval', seconds: requireWhole('mining.seconds', given.seconds, [1, longestInterval]) }
}

function requireMnemonic(words: string): string {
  const fault = typeof words === 'string' ? mnemonicFault(words) : 'it is no text'
  if (fault === undefined) return words
  throw new UserError(`mnemonic: BIP-39 words in English are needed; ${fault}`)
}

function requireOrigins(origins: readonly string[]): readonly string[] {
  if (!Array.isArray(origins) || origins.length > maxAllowedOrigins) {
    throw new UserError(`api.allowOrigins: a list of at most ${maxAllowedOrigins} origins is needed`)
  }
  return origins.map((text: unknown) => {
    const origin = typeof text === 'string' ? originOf(text) : undefined
    if (origin !== undefined) return origin
    const form = 'no origin such as http://localhost:5173: http or https, host and port, no path, no slash at the end'
    throw new UserError(`api.allowOrigins: ${String(text).slice(0, 80)} is ${form}`)
  })
}
