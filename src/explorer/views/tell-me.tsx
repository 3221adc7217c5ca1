import { useEffect, useMemo, useState } from 'preact/hooks'
import { live } from '../ask/live-events.js'
import { type Notifier, type Telling, ToldChanges } from '../ask/told-changes.js'
import { checkVersion } from '../verify/chain-check.js'

const texts: Readonly<Record<Telling | 'off', string>> = {
  off: 'Your browser can tell you when an operation changes this DID, as long as this page is open.',
  on: 'Your browser tells you of each operation on this DID, as long as this page is open, and whether it was proved. What the node keeps back is not told.',
  denied: 'Your browser does not allow this page to notify you. Its settings for this site can change that.',
  missing: 'This browser has no notifications for pages at this address.',
}

/** Lets the user be notified of changes of a DID. */
export function TellMe({ did }: { readonly did: string }) {
  const told = useMemo(
    () => new ToldChanges({ did, notifier: notifier(), listen: (each) => live.listen(each), proves: provesOperation }),
    [did],
  )
  const [state, setState] = useState<Telling | 'off'>('off')
  useEffect(() => () => told.end(), [told])
  const turn = () => {
    if (!told.isOn) return void told.begin().then(setState)
    told.end()
    setState('off')
  }
  return (
    <p class="tell-me">
      <button type="button" aria-pressed={state === 'on'} onClick={turn}>
        {state === 'on' ? 'Tell me no more' : 'Tell me here'}
      </button>{' '}
      <span class="quiet" role="status">
        {texts[state]}
      </span>
    </p>
  )
}

async function provesOperation(did: string, txid: string): Promise<boolean> {
  const outcome = await checkVersion(did, txid)
  return outcome.state === 'proved' && outcome.checked.result.some((one) => one.txid === txid)
}

function notifier(): Notifier | undefined {
  return (globalThis as { readonly Notification?: Notifier }).Notification
}
