import { UserError } from '../../base/errors/rule-error.js'

export const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** A failure by a stop signal, by which the process ends once the failure is told. */
export class Interrupted extends UserError {
  readonly signal: NodeJS.Signals

  constructor(message: string, signal: NodeJS.Signals) {
    super(message)
    this.signal = signal
  }
}

/** Resolves as `work` does; a stop signal before that ends it as {@link Interrupted}, with the text that `told` has then. */
export async function unlessStopped<T>(work: Promise<T>, told: () => string): Promise<T> {
  let onSignal: (signal: NodeJS.Signals) => void = () => {}
  const stopped = new Promise<never>((_, reject) => {
    onSignal = (signal) => reject(new Interrupted(told(), signal))
    for (const signal of stopSignals) process.once(signal, onSignal)
  })
  try {
    return await Promise.race([work, stopped])
  } finally {
    for (const signal of stopSignals) process.off(signal, onSignal)
  }
}
