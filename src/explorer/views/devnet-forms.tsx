import { useState } from 'preact/hooks'
import type { DevnetAccount, ShownTransaction } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { claimsIn } from '../did/claims.js'
import { saveFile, useAction } from '../parts/action.js'
import { Field, LineForm } from '../parts/form.js'
import { JsonView } from '../parts/json-view.js'
import { Panel } from '../parts/panel.js'
import { BlockName, Copy, DidName, TransactionName } from '../parts/values.js'
import { shortened } from '../text/safe-text.js'

/** Forms in which accounts of a devnet pay, register their DIDs and issue credentials, signed in the page. */

/** Loaded when a form is sent: no other page signs. */
const wallet = () => import('../sign/devnet-wallet.js')

interface Props {
  readonly accounts: readonly DevnetAccount[]
}

export function DevnetForms({ accounts }: Props) {
  return (
    <>
      <div class="columns">
        <SendCoins accounts={accounts} />
        <CreateDid accounts={accounts} />
      </div>
      <IssueCredential accounts={accounts} />
    </>
  )
}

/** A transaction that was sent, and its block once it has one. */
export function Sent({ txid }: { txid: string }) {
  const { value } = useCall<ShownTransaction>('getrawtransaction', { txid, verbose: true })
  return (
    <>
      sent by <TransactionName text={txid} />
      {value?.blockhash === '' && ', which waits for a block'}
      {value !== undefined && value.blockhash !== '' && (
        <>
          {' '}
          in block <BlockName text={value.blockhash} />
        </>
      )}
    </>
  )
}

function SendCoins({ accounts }: Props) {
  const [from, setFrom] = useState(0)
  const [amount, setAmount] = useState('1')
  const [to, setTo] = useState('')
  const { run, report } = useAction()
  const send = () => void run(async () => <Sent txid={await (await wallet()).send(from, to, amount)} />)
  return (
    <Panel title="Send coins">
      <LineForm button="Send" submit={send}>
        <AccountChoice before="From" accounts={accounts} index={from} set={setFrom} />
        <Field before="send" after="coins" class="short" inputMode="decimal" required value={amount} set={setAmount} />
        <Field before="to" class="address" placeholder="an address or a DID" required value={to} set={setTo} />
      </LineForm>
      {report}
    </Panel>
  )
}

function CreateDid({ accounts }: Props) {
  const [index, setIndex] = useState(0)
  const { run, report } = useAction()
  const did = accounts.find((one) => one.index === index)?.did
  const create = () =>
    void run(async () => {
      const txid = await (await wallet()).createDid(index)
      return (
        <>
          {did !== undefined && <DidName text={did} />} <Sent txid={txid} />
        </>
      )
    })
  return (
    <Panel title="Create a DID">
      <LineForm button="Create" submit={create}>
        <AccountChoice before="Register the DID of" accounts={accounts} index={index} set={setIndex} />
      </LineForm>
      {report}
    </Panel>
  )
}

/** A credential that was signed, and the account of its holder. */
interface Issued {
  readonly text: string
  readonly holder: number
}

function IssueCredential({ accounts }: Props) {
  const [issuer, setIssuer] = useState(0)
  const [type, setType] = useState('ProfileCredential')
  const [subject, setSubject] = useState('')
  const [claims, setClaims] = useState('')
  const [issued, setIssued] = useState<Issued | undefined>(undefined)
  const { run, report } = useAction()
  const issue = () =>
    void run(async () => {
      setIssued(undefined)
      const about = subject.trim()
      const credential = { types: [type.trim()], claims: claimsIn(claims), ...(about !== '' && { subject: about }) }
      const text = await (await wallet()).issue(issuer, credential)
      setIssued({ text, holder: accounts.find(({ did }) => did === about)?.index ?? issuer })
      return 'signed; nothing was sent'
    })
  return (
    <Panel title="Issue a credential">
      <LineForm button="Sign" submit={issue}>
        <AccountChoice before="In the name of" accounts={accounts} index={issuer} set={setIssuer} />
        <Field before="of the type" required value={type} set={setType} />
        <Field before="about" class="address" placeholder="a DID; the issuer" value={subject} set={setSubject} />
        <label class="stacked wide">
          Claims, each a line as name=value
          <textarea
            class="code"
            rows={3}
            spellcheck={false}
            placeholder="name=Ada Lovelace"
            value={claims}
            onInput={(event) => setClaims(event.currentTarget.value)}
          />
        </label>
      </LineForm>
      {report}
      {issued !== undefined && <IssuedCredential key={issued.text} {...issued} />}
    </Panel>
  )
}

function IssuedCredential({ text, holder }: Issued) {
  const { run, report } = useAction()
  const declare = () => void run(async () => <Sent txid={await (await wallet()).declare(holder, text)} />)
  return (
    <div class="answer">
      <div class="line">
        <Copy text={text} what="the credential" />
        <button type="button" onClick={() => saveFile('credential.json', text)}>
          Save
        </button>
        <button type="button" onClick={declare}>
          Declare on the chain
        </button>
      </div>
      {report}
      <JsonView value={JSON.parse(text)} />
    </div>
  )
}

interface AccountChoiceProps extends Props {
  readonly before: string
  readonly index: number
  set(index: number): void
}

function AccountChoice({ before, accounts, index, set }: AccountChoiceProps) {
  return (
    <label>
      {before}{' '}
      <select value={index} onChange={(event) => set(Number(event.currentTarget.value))}>
        {accounts.map((one) => (
          <option key={one.index} value={one.index}>
            account {one.index}, {shortened(one.address)}
          </option>
        ))}
      </select>
    </label>
  )
}
