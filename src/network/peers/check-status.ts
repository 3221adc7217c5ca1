import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes } from '../../base/primitives/bytes.js'
import type { Spec } from '../../base/primitives/spec.js'
import { networkVersion, type Status } from '../wire/status-message.js'

/** Properties that connected nodes have in common. */
export interface Common {
  readonly spec: Pick<Spec, 'upgradesDigest' | 'name'>
  /** Hash of the genesis block. */
  readonly genesis: Uint8Array
}

/** Throws a RuleError for another protocol version, another chain, or other upgrades up to the peer's tip. */
export function checkStatus(own: Common, status: Status): void {
  if (status.version !== networkVersion) {
    const theirs = `it speaks version ${status.version} of the protocol`
    throw new RuleError(
      'peer-version',
      `${theirs}, this node version ${networkVersion}; the older program needs an update`,
    )
  }
  if (!equalBytes(status.genesis, own.genesis)) {
    const chains = `its genesis block is ${displayHash(status.genesis)}, here it is ${displayHash(own.genesis)}`
    throw new RuleError('peer-genesis', `${chains}; start both nodes with the same --genesis`)
  }
  if (!equalBytes(status.upgrades, own.spec.upgradesDigest(status.tipHeight))) {
    const upgrades = `its chain spec has other upgrades at or below its height ${status.tipHeight} than the spec here`
    throw new RuleError('peer-upgrades', `${upgrades}; both nodes need the same list of upgrades`)
  }
}
