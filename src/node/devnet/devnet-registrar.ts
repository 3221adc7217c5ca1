import { setTimeout as sleep } from 'node:timers/promises'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Hash } from '../../base/primitives/hash.js'
import { parseDisplayHash } from '../../base/primitives/bytes.js'
import type { RegistrarNode } from '../../clients/registrar/registrar.js'
import { specificationAfter } from '../../clients/wallet/terms.js'
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
  const { chain, clock, faucet, mempool } = parts
  const reader = new ChainReader(chain)
  return {
    now: async () => Math.max(Math.floor(clock.now() / 1000), chain.tip.header.time),
    specification: async () => specificationAfter(chain.spec, chain.tip.header.height, 'did'),
    current: async (did) => currentIn(parts, did),
    publish: async (operation) => {
      const { bytes, txid } = await faucet.register(operation)
      return { txid, again: () => isTaken(mempool, bytes) }
    },
    stateOf: async (txid) => {
      const hash = parseDisplayHash(txid) as Hash
      for (const end = performance.now() + blockPatience; ; await sleep(pause)) {
        if (reader.isMined(hash)) return 'mined'
        if (performance.now() >= end) return mempool.get(hash) === undefined ? 'unknown' : 'waiting'
      }
    },
  }
}

/** Whether the pool takes a transaction again, or has it. */
async function isTaken(mempool: DevnetParts['mempool'], bytes: Uint8Array): Promise<boolean> {
  try {
    await mempool.accept(bytes, { local: true })
    return true
  } catch (error) {
    if (error instanceof RuleError) return error.code === 'tx-known'
    throw error
  }
}
