import type { DidChanged, EventData } from '../../base/primitives/chain-event.js'

/**
 * Tells the user of a page when a DID changes, by notifications of the browser while the page is open. Off until the user asks for it:
 * permission is requested in a click alone.
 */

/** The part of the class Notification of a browser that is used here. */
export interface Notifier {
  readonly permission: 'default' | 'granted' | 'denied'
  requestPermission(): Promise<'default' | 'granted' | 'denied'>
  new (title: string, options: { readonly body: string; readonly tag: string }): unknown
}

export interface TellingParts {
  readonly did: string
  /** Undefined in a browser without notifications. */
  readonly notifier: Notifier | undefined
  /** Follows the events of the node; returns what ends that. */
  listen(listener: (event: EventData) => void): () => void
  /** Whether the node proves that an operation of a DID is on its chain. */
  proves(did: string, txid: string): Promise<boolean>
}

/** Result of asking for notifications. */
export type Telling = 'on' | 'denied' | 'missing'

/** Notifications about one DID. */
export class ToldChanges {
  readonly #parts: TellingParts
  #end: (() => void) | undefined

  constructor(parts: TellingParts) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#end !== undefined
  }

  /** Begins, and asks for permission if need be. To be called in a click. */
  async begin(): Promise<Telling> {
    const { notifier, listen, did } = this.#parts
    if (notifier === undefined) return 'missing'
    const { permission } = notifier
    const allowed = permission === 'default' ? await notifier.requestPermission() : permission
    if (allowed !== 'granted') return 'denied'
    this.#end ??= listen((event) => {
      if (event.topic === 'did' && event.did === did) void this.#tell(event, notifier)
    })
    return 'on'
  }

  end(): void {
    this.#end?.()
    this.#end = undefined
  }

  async #tell({ action, did, operation, txid, height }: DidChanged, Show: Notifier): Promise<void> {
    const proved = action === 'apply' && (await this.#parts.proves(did, txid).catch(() => false))
    if (!this.isOn) return
    const word = proved ? 'Proved by your browser' : 'The node says so, without a proof'
    const what =
      action === 'apply' ? `${operation} in block ${height}` : `${operation} left the chain with block ${height}`
    // A notification of the same tag replaces the one before it.
    new Show('A DID has changed', { body: `${what}. ${word}.\n${did}`, tag: `${action} ${txid}` })
  }
}
