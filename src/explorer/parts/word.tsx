import type { ComponentChildren } from 'preact'
import { OwnClock } from '../ask/chain-clock.js'

/** Whose word a part of a page is: of what was proved in the page, or of the node alone. */
export type Source = 'proved' | 'said'

const notes: Readonly<Record<Source, string>> = {
  proved: 'drawn from the proof alone',
  said: 'said by the node, without proof',
}

/** A part of a page that is drawn from one source alone, and names it. `ownClock`: dates in it are judged by this machine's clock. */
export function Word({
  of,
  ownClock = false,
  children,
}: {
  of: Source
  ownClock?: boolean
  children: ComponentChildren
}) {
  return (
    <OwnClock.Provider value={ownClock}>
      <div class={`word ${of}`} role="group" aria-label={notes[of]} data-source={of}>
        <p class="word-note">{notes[of]}</p>
        {children}
      </div>
    </OwnClock.Provider>
  )
}
