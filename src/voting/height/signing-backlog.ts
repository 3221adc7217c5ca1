import type { Signer } from '../signer.js'
import type { Effect, MachineEvent } from '../tendermint/machine-events.js'
import type { SignedMessage } from '../tendermint/message.js'

type SignEffect = Extract<Effect, { type: 'sign' }>

export interface SigningBacklogDependencies {
  /** Absent: this node does not vote. */
  readonly signer?: Pick<Signer, 'sign'> | undefined
  /** Whether the key may sign now. */
  maySign(): boolean
  /** Sends a signed message; it is on disk. */
  send(message: SignedMessage): void
  /** Hands the machine a message that had to wait. */
  handle(event: MachineEvent): Promise<void>
  closed(): boolean
}

/** Signs the messages of one height. Signing not allowed -> they wait, in due order, since other validators may need them. */
export class SigningBacklog {
  readonly #dependencies: SigningBacklogDependencies
  #waiting: SignEffect[] = []

  constructor(dependencies: SigningBacklogDependencies) {
    this.#dependencies = dependencies
  }

  get empty(): boolean {
    return this.#waiting.length === 0
  }

  /** Drops what waits: its view is over. */
  clear(): void {
    this.#waiting = []
  }

  /** Signs a message after all that wait. Resolves with the event for the machine; undefined: none, or handled already. */
  async sign(effect: SignEffect): Promise<MachineEvent | undefined> {
    if (this.empty) return this.#sign(effect)
    this.#waiting.push(effect)
    await this.retry()
    return undefined
  }

  /** Signs what waits, as far as signing is allowed. */
  async retry(): Promise<void> {
    const { maySign, handle, closed } = this.#dependencies
    while (maySign() && !closed()) {
      const effect = this.#waiting.shift()
      if (effect === undefined) return
      const signed = await this.#sign(effect)
      if (signed !== undefined) await handle(signed)
    }
  }

  async #sign(effect: SignEffect): Promise<MachineEvent | undefined> {
    const { signer, maySign, send } = this.#dependencies
    if (signer === undefined) return undefined
    if (!maySign()) {
      this.#waiting.push(effect)
      return undefined
    }
    const signed = await signer.sign(effect.message, effect.state)
    if (signed === undefined) {
      // A signer out of reach may have signed it; asked again it answers with the same message.
      if (!maySign()) this.#waiting.unshift(effect)
      return undefined
    }
    send(signed)
    return { type: 'message', message: signed }
  }
}
