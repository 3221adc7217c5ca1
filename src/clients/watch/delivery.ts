import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../base/errors/rule-error.js'
import { fileReason } from '../wallet/files.js'
import type { WatchMessage } from './watch-message.js'

/** Hands a message over; rejects where it was not taken. */
export type Deliver = (message: WatchMessage, signal: AbortSignal) => Promise<void>

export interface DeliveryOptions {
  readonly deliver: Deliver
  /** Milliseconds for which a message is tried again. */
  readonly giveUpAfter?: number
  /** File for messages that were given up, one a line. */
  readonly deadLetters?: string | undefined
  readonly signal: AbortSignal
  onFailure?(failure: DeliveryFailure): void
}

/** A refusal of a receiver that names the time after which the message may come again. */
export class NotTakenYet extends UserError {
  /** `wait`: milliseconds. */
  constructor(
    text: string,
    readonly wait: number,
  ) {
    super(text)
  }
}

/** A refusal of a receiver that takes no message any more. */
export class ReceiverGone extends UserError {}

/** A message that was not taken. */
export interface DeliveryFailure {
  readonly id: string
  readonly attempt: number
  readonly reason: string
  /** It is in the file of dead letters, and is not tried again. */
  readonly givenUp: boolean
}

/** @tuning ms: time for which a message is tried again */
export const giveUpUnasked = 86_400_000
/** Milliseconds before a second attempt; each further one doubles it, and cuts it by up to a half. */
const firstPause = 1_000
/** @tuning ms: longest wait before another attempt */
const longestPause = 300_000

/**
 * Delivers a message at least once, with ever longer waits; returns false where the delivery was ended from outside. One that is tried no
 * more is on disk as a dead letter when this returns. Rejects with {@link ReceiverGone}: the message is the first of those that wait for
 * another receiver. Waits are measured by a clock that no one sets.
 */
export async function deliverMessage(message: WatchMessage, options: DeliveryOptions): Promise<boolean> {
  const { deliver, signal, giveUpAfter = giveUpUnasked, onFailure } = options
  const began = performance.now()
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) return false
    try {
      await deliver(message, signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      if (error instanceof ReceiverGone) throw error
      const pause = pauseAfter(attempt, error)
      const givenUp = performance.now() + pause - began > giveUpAfter
      const reason = reasonOf(error)
      if (givenUp) bury(message, { reason, attempts: attempt }, options.deadLetters)
      onFailure?.({ id: message.id, attempt, reason, givenUp })
      if (givenUp) return true
      await sleep(pause, undefined, { signal }).catch(() => {})
    }
  }
}

/** Milliseconds before the next attempt: as long as the receiver says, if that is longer than the wait without its word. */
function pauseAfter(attempt: number, error: unknown): number {
  const unasked = Math.min(longestPause, firstPause * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2)
  return error instanceof NotTakenYet ? Math.min(longestPause, Math.max(unasked, error.wait)) : unasked
}

function bury(message: WatchMessage, why: object, file: string | undefined): void {
  if (file === undefined) return
  try {
    const handle = openSync(file, 'a', 0o600)
    try {
      writeFileSync(handle, `${JSON.stringify({ ...why, message })}\n`)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw new UserError(`the dead letters cannot be written to ${file}: ${fileReason(error)}`)
  }
}

/** A failed fetch hides its reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
}
