import type { Hash } from '../../base/primitives/hash.js'
import { parseDisplayHash } from '../../base/primitives/bytes.js'
import { paramsAt } from '../../base/primitives/spec.js'
import type { RegistrarNode } from '../../clients/registrar/registrar.js'
import { ChainReader } from '../../ledger/chain/reader.js'
import { currentIn } from './current-identity.js'
import type { DevnetParts } from './devnet-parts.js'
import type { Faucet } from './faucet.js'

/** @tuning ms: time that a registration waits for its block before its client is told to ask again */
const blockPatience = 1500
/** Time between two looks. */
const pause = 20

/** The chain of a devnet for registrations, which its faucet pays. */
export function devnetRegistrar(parts: DevnetParts & { readonly faucet: Faucet }): RegistrarNode {
  const { chain, clock, faucet } = parts
  const reader = new ChainReader(chain)
  return {
    now: async () => Math.max(Math.floor(clock.now() / 1000), chain.tip.header.time),
    specification: async () => paramsAt(chain.spec, chain.tip.header.height + 1).specifications.did[0] as string,
    current: async (did) => currentIn(parts, did),
    publish: (operation) => faucet.register(operation),
    isMined: async (txid) => {
      const hash = parseDisplayHash(txid) as Hash
      for (const end = performance.now() + blockPatience; performance.now() < end;) {
        if (reader.isMined(hash)) return true
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
      return reader.isMined(hash)
    },
  }
}
