import type { DevnetStep } from '../devnet/devnet.js'
import type { CliContext } from './cli-context.js'

/** Milliseconds between two updates on a terminal, and between two lines elsewhere. */
const terminalInterval = 200
const lineInterval = 10_000

/** Shows how far a devnet is with its state file and its first DIDs: in one line of a terminal, elsewhere in one every ten seconds. */
export function devnetProgress({ err, columns }: Pick<CliContext, 'err' | 'columns'>) {
  let last = performance.now()
  let shown = false
  return {
    show: (step: DevnetStep): void => {
      const now = performance.now()
      const width = columns?.('err')
      if (now - last < (width === undefined ? lineInterval : terminalInterval)) return
      last = now
      shown = width !== undefined
      err(width === undefined ? `${stepText(step)}\n` : `\r${stepText(step).slice(0, width - 1)}\x1b[K`)
    },
    end: (): void => {
      if (shown) err('\r\x1b[K')
      shown = false
    },
  }
}

function stepText({ stage, done, total }: DevnetStep): string {
  if (stage === 'state') return `state: ${done} blocks read`
  return `DIDs: ${done} of ${total ?? done} registered`
}
