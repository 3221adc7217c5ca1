import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { NodeGone, Refusal } from '../ask/refusal.js'
import { Failure } from './panel.js'

/** Lets the browser save a text as a file. */
export function saveFile(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

function asFailure(error: unknown): Refusal | NodeGone {
  if (error instanceof NodeGone || error instanceof Refusal) return error
  return new Refusal(0, error instanceof Error ? error.message : String(error), '')
}

/** Carries out the action of a button, and reports its result. */
export function useAction() {
  const [busy, setBusy] = useState(false)
  const [done, setDone] = useState<ComponentChildren>(undefined)
  const [failure, setFailure] = useState<Refusal | NodeGone | undefined>(undefined)
  const run = async (work: () => Promise<ComponentChildren>) => {
    setBusy(true)
    setFailure(undefined)
    try {
      setDone(await work())
    } catch (error) {
      setDone(undefined)
      setFailure(asFailure(error))
    } finally {
      setBusy(false)
    }
  }
  const report =
    failure !== undefined ? (
      <Failure of={failure} />
    ) : (
      <p class="done" role="status">
        {busy ? '…' : (done ?? '\u00a0')}
      </p>
    )
  return { run, report }
}
