/** Milliseconds within which a further signal is the same stop: npm, `timeout` and terminals send one to a whole group of processes. */
const sameStop = 500
const stopSignals = ['SIGINT', 'SIGTERM'] as const
const endOfInput = 'the end of standard input'
/** Exit code of a process that did not wait for its stop. */
const endedBySignal = 130

/**
 * Resolves at a stop signal. A later one ends the process at once: the next start continues from any state on disk. The end of
 * the terminal is one too, unless `onHangup` is false; with `onEof` the end of standard input.
 */
export function stopSignal({ onEof = false, onHangup = true } = {}): Promise<NodeJS.Signals | typeof endOfInput> {
  return new Promise((resolve) => {
    let stopping: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping !== undefined && performance.now() - stopping >= sameStop) process.exit(endedBySignal)
      stopping ??= performance.now()
      resolve(signal)
    }
    for (const signal of stopSignals) process.on(signal, onSignal)
    if (onHangup) process.on('SIGHUP', onSignal)
    if (onEof) process.stdin.on('close', () => resolve(endOfInput)).resume()
  })
}

/** Until the returned function is called, a stop signal ends the process at once: it is still opening its files. */
export function endAtOnce(stop: ReturnType<typeof stopSignal>): () => void {
  let opening = true
  void stop.then((reason) => {
    if (opening && reason !== endOfInput) process.exit(endedBySignal)
  })
  return () => (opening = false)
}
