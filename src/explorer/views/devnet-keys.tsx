import { useState } from 'preact/hooks'
import type { DevnetAccount, DevnetKeys } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { Answered, Facts, Table } from '../parts/panel.js'
import { Copy, KeyName } from '../parts/values.js'

/** Mnemonic and keys of the accounts of a devnet; each secret is drawn when its button is pressed. */

export function DevnetKeysPart({ accounts }: { accounts: readonly DevnetAccount[] }) {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Keys and mnemonic</summary>
      {open && <Keys accounts={accounts} />}
    </details>
  )
}

function Keys({ accounts }: { accounts: readonly DevnetAccount[] }) {
  const answer = useCall<DevnetKeys>('dev_keys', {}, { every: 'once' })
  const publicKeys = new Map(accounts.map(({ index, publicKey }) => [index, publicKey]))
  return (
    <Answered answer={answer}>
      {({ mnemonic, keys }) => (
        <>
          <p class="quiet">Keys of a devnet are for tests: never use them for anything of value.</p>
          <Facts rows={[['Mnemonic', <Secret text={mnemonic} what="the mnemonic" />]]} />
          <Table
            caption="keys of the accounts"
            rows={keys}
            keyOf={({ index }) => index}
            columns={[
              ['No.', ({ index }) => index, 'number'],
              ['Public key', ({ index }) => <PublicKey text={publicKeys.get(index) ?? ''} />],
              [
                'Private key',
                ({ index, privateKey }) => <Secret text={privateKey} what={`the private key of account ${index}`} />,
              ],
              [
                'Second key of its DID',
                ({ index, recoveryKey }) =>
                  recoveryKey !== undefined && (
                    <Secret text={recoveryKey} what={`the second key of account ${index}`} />
                  ),
                'spare',
              ],
            ]}
          />
        </>
      )}
    </Answered>
  )
}

function PublicKey({ text }: { text: string }) {
  return (
    <span class="pair">
      <KeyName text={text} /> <Copy text={text} what="the public key" />
    </span>
  )
}

/** A text that is drawn once its button is pressed. */
function Secret({ text, what }: { text: string; what: string }) {
  const [shown, setShown] = useState(false)
  if (!shown) {
    return (
      <button type="button" aria-label={`show ${what}`} onClick={() => setShown(true)}>
        Show
      </button>
    )
  }
  return (
    <span class="name">
      <span class="code long">{text}</span> <Copy text={text} what={what} />
    </span>
  )
}
