import type { KnownChain } from '../../identity/proofs/anchor.js'
import { ProofError, type ProofFailure } from '../../identity/proofs/proof-failure.js'
import type { Checking } from '../../identity/proofs/signature-checks.js'
import type { Server } from './ask-server.js'
import type { FollowedChain } from './followed-chain.js'
import type { Signatures } from './signatures.js'

/** @tuning count: checks of one answer: by what was known, by what another answer led to, by what its own server shows */
const mostChecks = 3

/** Failures that changes of validators, or new headers, can mend. */
const mendable: readonly ProofFailure[] = [
  'confirm-form',
  'confirm-quorum',
  'confirm-signature',
  'changes-missing',
  'work-chain',
  'work-depth',
]

/** Runs a check by a followed chain; again where that server proves that others confirm blocks now, or has more work. */
export async function checkFollowing<T>(
  server: Server,
  { chain, signatures, now }: { readonly chain: FollowedChain; readonly signatures: Signatures; now(): number },
  check: (known: KnownChain & { readonly now: number }) => Checking<T>,
): Promise<T> {
  for (let left = mostChecks; ; left--) {
    const { basis } = chain
    try {
      return await signatures.settle(check({ ...chain.known, now: now() }))
    } catch (error) {
      const isMendable = error instanceof ProofError && mendable.includes(error.failure)
      if (!isMendable || left === 1) throw error
      // Another answer may have had the chain followed while this one was checked by less.
      if (chain.basis === basis && !(await chain.follow(server, now()))) throw error
    }
  }
}
