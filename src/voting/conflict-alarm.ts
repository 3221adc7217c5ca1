import type { Chain } from '../ledger/chain/chain.js'
import { checkConfirm } from '../ledger/consensus/check-confirm.js'
import { runChecks, type Verifier } from '../base/crypto/verifier.js'
import { concat, toHex } from '../base/primitives/bytes.js'
import { parseConfirm } from '../base/primitives/confirm.js'
import type { Header } from '../base/primitives/header.js'
import { RuleError } from '../base/errors/rule-error.js'
import type { Log } from '../base/runtime/env.js'
import { tables } from '../ledger/storage/rows/tables.js'
import type { Evidence } from './evidence.js'

export interface ConflictAlarmOptions {
  readonly chain: Chain
  readonly verifier: Verifier
  readonly log: Log
}

/** Asks others for confirms of a block that the node has, and whose confirm it has not; any of them may be wrong. */
export type AskConfirms = (header: Header) => AsyncIterable<Uint8Array>

interface Confirmed {
  readonly header: Header
  readonly confirm: Uint8Array
}

/** Raised by two confirmed blocks of one height: finality is broken. Stays raised, also after a restart. */
export class ConflictAlarm {
  readonly #options: ConflictAlarmOptions
  readonly #evidence: Evidence
  #text: string | undefined
  /** Whether others are being asked for a confirm. */
  #isAsking = false

  constructor(options: ConflictAlarmOptions, evidence: Evidence) {
    this.#options = options
    this.#evidence = evidence
    this.#raiseIfProven()
  }

  /** Text of the alarm; undefined while it is not raised. */
  get text(): string | undefined {
    return this.#text
  }

  /**
   * Examines a confirmed block that differs from this node's block on the same parent. Throws a RuleError `confirm-*` if its
   * confirm is not valid. A block on another parent proves nothing: another chain may have the same validators. Below a state
   * that the node took its own block has no confirm yet: that comes from others.
   */
  async examine(header: Header, confirm: Uint8Array, others?: AskConfirms): Promise<void> {
    const { chain } = this.#options
    const ours = chain.headers.rivalOf(header)
    if (ours === undefined) return
    await this.#check(header, confirm)
    const rival = { header, confirm }
    const stored = chain.database.get(tables.confirm.key(ours.header.hash))
    if (stored !== undefined) await this.#prove({ header: ours.header, confirm: stored }, rival)
    else if (others !== undefined) await this.#proveByOthers(others, ours.header, rival)
  }

  /** Asks for one confirm at a time, and for none once there is evidence. What is shown meanwhile is left out: peers show it again. */
  async #proveByOthers(others: AskConfirms, header: Header, rival: Confirmed): Promise<void> {
    if (this.#isAsking || this.#text !== undefined) return
    this.#isAsking = true
    try {
      const confirm = await this.#confirmFrom(others, header)
      if (confirm !== undefined) await this.#prove({ header, confirm }, rival)
    } finally {
      this.#isAsking = false
    }
  }

  /** Keeps two confirmed blocks of one height as evidence, and raises the alarm. */
  async #prove(own: Confirmed, rival: Confirmed): Promise<void> {
    const { sponsor: signer } = parseConfirm(own.confirm).proposal
    const [first, second] = [bytesOf(own), bytesOf(rival)]
    await this.#evidence.add({ height: own.header.height, view: 0, kind: 'confirm', signer, first, second })
    this.#raiseIfProven()
  }

  async #check(header: Header, confirm: Uint8Array): Promise<void> {
    const { chain, verifier } = this.#options
    const checks = checkConfirm(chain.spec, header, parseConfirm(confirm))
    await runChecks(chain.confirmSignatures.unknown(checks), verifier)
  }

  /** The first confirm that holds. */
  async #confirmFrom(others: AskConfirms, header: Header): Promise<Uint8Array | undefined> {
    for await (const confirm of others(header)) {
      try {
        await this.#check(header, confirm)
        return confirm
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
      }
    }
    return undefined
  }

  #raiseIfProven(): void {
    const first = this.#evidence.list().find(({ kind }) => kind === 'confirm')
    if (this.#text !== undefined || first === undefined) return
    this.#text =
      `two confirmed blocks exist at height ${first.height}, so a third of the validators or more signed both; this node ` +
      'keeps its own, votes no more, and holds both confirms as evidence'
    this.#options.log.error({ height: first.height, signer: toHex(first.signer) }, this.#text)
  }
}

/** The header, which proves height and parent, then the confirm. */
function bytesOf({ header, confirm }: Confirmed): Uint8Array {
  return concat(header.bytes, confirm)
}
