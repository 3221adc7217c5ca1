import type { Chain } from '../ledger/chain/chain.js'
import type { KnownHeader } from '../ledger/chain/header-index.js'
import { toHex } from '../base/primitives/bytes.js'
import { paramsAt } from '../base/primitives/spec.js'
import type { Env } from '../base/runtime/env.js'
import type { CatchUpGuard } from './catch-up-guard.js'
import type { ConflictAlarm } from './conflict-alarm.js'
import type { Signer, SigningOutlook } from './signer.js'
import { type SigningState, signingText } from './signing-state.js'

export interface OwnVoteDependencies extends Pick<Env, 'clock' | 'log'> {
  readonly chain: Chain
  /** Absent: this node follows without voting. */
  readonly signer: Signer | undefined
  readonly guard: CatchUpGuard
  readonly alarm: ConflictAlarm
}

const warnedOf: ReadonlySet<SigningState['kind']> = new Set(['not-validator', 'sign-state-missing', 'signed-above'])

/** The height that is voted on. */
interface OpenHeight {
  readonly height: number
  readonly parent: KnownHeader
  /** Whether the key of this node is among the validators of the height. */
  readonly votes: boolean
}

/** Decides whether this node votes at the open height: by its key, what that has signed, the peers' tips and the alarm. */
export class OwnVote {
  readonly #dependencies: OwnVoteDependencies
  /** Milliseconds since the Unix epoch: a block with a later time was confirmed after the start of this node. */
  readonly #freshAfter: number
  /** Reason for not voting that was logged or skipped last. */
  #logged: string | undefined

  constructor(dependencies: OwnVoteDependencies) {
    this.#dependencies = dependencies
    // A quorum accepted the time of a block: at most maxDrift ahead of clocks that are off by as much. The time of genesis
    // was accepted by no quorum, and is a lower bound of all other block times.
    const { clock, chain } = dependencies
    const { genesis, spec } = chain
    this.#freshAfter = Math.max(clock.now() + 2 * spec.timing.maxDrift, genesis.header.time * 1000)
  }

  state(open: OpenHeight): SigningState {
    const { signer, alarm, guard } = this.#dependencies
    if (signer === undefined) return { kind: 'no-key' }
    if (!open.votes) return { kind: 'not-validator' }
    if (alarm.text !== undefined) return { kind: 'alarm', text: alarm.text }
    const signing = signer.signing(this.outlook(open))
    if (signing.kind !== 'voting' || !guard.isBehind) return signing
    return { kind: 'catching-up', height: guard.bestPeerHeight ?? 0 }
  }

  outlook({ height, parent }: OpenHeight): SigningOutlook {
    const { chain, guard } = this.#dependencies
    const { bestPeerHeight, isBehind } = guard
    const alone = paramsAt(chain.spec, height).validators.length === 1
    return { height, bestPeerHeight, isBehind, alone, fresh: this.isFresh(parent) }
  }

  /** Whether a block was confirmed after the start of this node. */
  isFresh({ header }: KnownHeader): boolean {
    return header.time * 1000 > this.#freshAfter
  }

  /** Warns that the key does not vote, if an operator has to act, or may have to: nothing may be there from which to catch up. */
  logState(open: OpenHeight): void {
    const { signer, log } = this.#dependencies
    const signing = this.state(open)
    const reason = signingText(signing)
    if (reason === this.#logged) return
    this.#logged = reason
    if (!warnedOf.has(signing.kind)) return
    log.warn({ height: open.height, key: signer && toHex(signer.publicKey), reason }, 'this node does not vote')
  }
}
