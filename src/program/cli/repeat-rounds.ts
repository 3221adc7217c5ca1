import type { Log } from '../../base/runtime/env.js'

/** @tuning ms: between two rounds in which a witness asks for a new head */
const roundInterval = 2_000

/**
 * Runs one round after the other; the result ends that and waits for the round under way. A failure that stays is logged once: it may last for
 * as long as the process.
 */
export function repeatRounds(
  round: () => Promise<unknown>,
  log: Pick<Log, 'error'>,
  interval = roundInterval,
): () => Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> = Promise.resolve()
  let isOver = false
  let told: string | undefined
  const next = () => {
    running = round()
      .then(
        () => (told = undefined),
        (error: unknown) => {
          // Numbers in a reason, such as an age, differ each time.
          const reason = String(error)
          const kind = reason.replace(/\d+/g, '')
          if (kind !== told) log.error({ reason }, 'no head could be signed')
          told = kind
        },
      )
      .then(() => {
        if (!isOver) timer = setTimeout(next, interval)
      })
  }
  timer = setTimeout(next, interval)
  return async () => {
    isOver = true
    clearTimeout(timer)
    await running
    clearTimeout(timer)
  }
}
