/** Milliseconds within which a further signal is the same stop: npm, `timeout` and terminals send one to a whole group of processes. */
const sameStop = 500
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Exit code of a process that did not wait for its stop. */
const endedBySignal = 130

/**
 * Resolves at a stop signal. A later one ends the process at once: the next start continues from any state on disk. With
 * `onEof` the end of standard input stops it too.
 */
export function stopSignal(onEof = false): Promise<NodeJS.Signals | 'end of input'> {
  return new Promise((resolve) => {
    let stopping: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping !== undefined && performance.now() - stopping >= sameStop) process.exit(endedBySignal)
      stopping ??= performance.now()
      resolve(signal)
    }
    for (const signal of stopSignals) process.on(signal, onSignal)
    if (onEof) process.stdin.on('close', () => resolve('end of input')).resume()
  })
}

/** Until the returned function is called, a stop signal ends the process at once: it is still opening its files. */
export function endAtOnce(stop: ReturnType<typeof stopSignal>): () => void {
  let opening = true
  void stop.then((reason) => {
    if (opening && reason !== 'end of input') process.exit(endedBySignal)
  })
  return () => (opening = false)
}
