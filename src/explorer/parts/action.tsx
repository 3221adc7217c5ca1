import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { NodeGone, Refusal } from '../ask/refusal.js'
import { Failure } from './panel.js'

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
      setFailure(error instanceof NodeGone || error instanceof Refusal ? error : new Refusal(0, String(error), ''))
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
