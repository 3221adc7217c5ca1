import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { live, type LiveView } from './live-events.js'
import { ask } from './node-rpc.js'
import { NodeGone, Refusal } from './refusal.js'

/** State of a question of a page. */
export interface Answer<T> {
  /** The last answer, also while it is asked anew, and when the node is gone. */
  readonly value: T | undefined
  readonly failure: Refusal | NodeGone | undefined
  again(): void
}

interface Held<T> {
  readonly key: string
  readonly value?: T
  readonly failure?: Refusal | NodeGone
}

interface Running {
  readonly aborter: AbortController
  /** Whether something changed since it was asked. */
  stale: boolean
}

export function useLive(): LiveView {
  const [view, setView] = useState(live.view)
  useEffect(() => {
    setView(live.view)
    return live.watch(() => setView(live.view))
  }, [])
  return view
}

/** When a question is asked again: with each change of the chain or never, and every so many seconds. */
interface Repeat {
  readonly every?: 'change' | 'once'
  readonly seconds?: number
}

/** The answer of a method, as {@link useAnswer} gives it; asked again when the parameters change. */
export function useCall<T>(
  method: string,
  parameters: Readonly<Record<string, unknown>> = {},
  repeat: Repeat = {},
): Answer<T> {
  return useAnswer((signal) => ask<T>(method, parameters, signal), [method, parameters], repeat)
}

/**
 * The answer to a question, asked again when `about` changes, and with `every: 'change'` when the chain does. The value stays until
 * the next one is there, so that nothing jumps; it goes when `about` changes.
 */
export function useAnswer<T>(
  question: (signal: AbortSignal) => Promise<T>,
  about: readonly unknown[],
  { every = 'change', seconds }: Repeat = {},
): Answer<T> {
  const key = JSON.stringify(about)
  const { version, state } = useLive()
  const [held, setHeld] = useState<Held<T>>({ key })
  const [round, setRound] = useState(0)
  const latest = useRef({ question, key })
  latest.current = { question, key }
  const again = useCallback(() => setRound((before) => before + 1), [])
  const change = every === 'change' ? version : 0

  // One question at a time: a slow one is not given up for the next change, which is asked about after it.
  const running = useRef<Running | undefined>(undefined)
  const begin = useCallback(() => {
    const own: Running = { aborter: new AbortController(), stale: false }
    running.current = own
    const { signal } = own.aborter
    const { question: asking, key: asked } = latest.current
    const ended = (next: (before: Held<T>) => Held<T>) => {
      if (signal.aborted) return
      running.current = undefined
      setHeld(next)
      if (own.stale) begin()
    }
    asking(signal).then(
      (value) => ended(() => ({ key: asked, value })),
      (error: unknown) => {
        if (error instanceof NodeGone) live.reportGone()
        const failure =
          error instanceof NodeGone || error instanceof Refusal ? error : new Refusal(0, String(error), '')
        ended((before) => {
          const stays = before.key === asked && before.value !== undefined && error instanceof NodeGone
          return stays ? { ...before, failure } : { key: asked, failure }
        })
      },
    )
  }, [])
  useEffect(() => {
    begin()
    return () => {
      running.current?.aborter.abort()
      running.current = undefined
    }
  }, [key])
  const seen = useRef(`${change} ${round}`)
  useEffect(() => {
    if (seen.current === `${change} ${round}`) return
    seen.current = `${change} ${round}`
    if (running.current === undefined) begin()
    else running.current.stale = true
  }, [change, round])

  // The node is back: what failed is asked again.
  const failed = held.failure instanceof NodeGone
  useEffect(() => {
    if (failed && state !== 'gone' && state !== 'connecting') again()
  }, [failed, state])

  useEffect(() => {
    if (seconds === undefined) return undefined
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && running.current === undefined) again()
    }, seconds * 1000)
    return () => clearInterval(timer)
  }, [seconds])

  const current = held.key === key ? held : undefined
  return { value: current?.value, failure: current?.failure, again }
}

/** The present Unix second, which moves on while the page is seen. `offset`: how far the clock of the chain is ahead. */
export function useNow(offset = 0): number {
  const [now, setNow] = useState(() => Date.now() / 1000)
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNow(Date.now() / 1000)
    }, 1000)
    return () => clearInterval(timer)
  }, [])
  return Math.floor(now + offset)
}
