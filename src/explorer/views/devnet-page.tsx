import { useState } from 'preact/hooks'
import { chainClock, useChainNow } from '../ask/chain-clock.js'
import { useMethods } from '../ask/methods.js'
import { ask } from '../ask/node-rpc.js'
import type { DevnetAccount } from '../ask/shapes.js'
import { type Answer, useCall } from '../ask/use-answer.js'
import { useAction } from '../parts/action.js'
import { CountField, Field, LineForm } from '../parts/form.js'
import { Answered, Facts, Heading, Panel, Table } from '../parts/panel.js'
import { AddressName, Amount, Copy, DidName } from '../parts/values.js'
import { counted } from '../text/numbers.js'
import { duration, moment } from '../text/times.js'
import { DevnetForms, Sent } from './devnet-forms.js'
import { DevnetKeysPart } from './devnet-keys.js'
import { ChainTools } from './devnet-tools.js'

/** Tools that only a devnet has: coins from nothing, blocks by hand, another time, another past. */
export function DevnetPage() {
  const known = useMethods()
  const accounts = useCall<DevnetAccount[]>('dev_accounts')
  return (
    <>
      <Heading kind="Devnet" />
      {known.size > 0 && !known.has('dev_mine') ? (
        <Panel title="No devnet">
          <p>
            This node has no methods of a devnet. <code>didledger devnet</code> runs one to try things on.
          </p>
        </Panel>
      ) : (
        <>
          <div class="columns">
            <Mine />
            <Clock />
          </div>
          <Accounts answer={accounts} />
          {accounts.value !== undefined && <DevnetForms accounts={accounts.value} />}
          {/* The table of accounts would push them down. */}
          {(accounts.value ?? accounts.failure) !== undefined && <ChainTools known={known} />}
        </>
      )}
    </>
  )
}

function Mine() {
  const [blocks, setBlocks] = useState('1')
  const { run, report } = useAction()
  const mine = () =>
    void run(async () => {
      const hashes = await ask<string[]>('dev_mine', { blocks: Number(blocks) })
      return `${counted(hashes.length, 'block')} made`
    })
  return (
    <Panel title="Blocks">
      <LineForm button="Mine" main submit={mine}>
        <CountField before="Make" after="blocks" value={blocks} most={10_000} set={setBlocks} />
      </LineForm>
      {report}
    </Panel>
  )
}

const steps: readonly (readonly [name: string, seconds: number])[] = [
  ['1 minute', 60],
  ['1 hour', 3600],
  ['1 day', 86_400],
  ['30 days', 30 * 86_400],
  ['1 year', 365 * 86_400],
]

function Clock() {
  const now = useChainNow()
  const [date, setDate] = useState('')
  const { run, report } = useAction()
  const ahead = now - Math.floor(Date.now() / 1000)
  const increase = (seconds: number) =>
    void run(async () => {
      const time = await ask<number>('dev_increaseTime', { seconds })
      await chainClock.refresh()
      return `it is ${moment(time)}`
    })
  const setNext = () =>
    void run(async () => {
      const time = await ask<number>('dev_setNextBlockTime', { time: Math.floor(Date.parse(`${date}Z`) / 1000) })
      return `the next block will be of ${moment(time)}`
    })
  return (
    <Panel title="Clock">
      <Facts
        rows={[
          ['Now', <span class="number">{moment(now)}</span>],
          [
            'Against',
            Math.abs(ahead) < 3
              ? 'as this machine'
              : `${duration(ahead)} ${ahead > 0 ? 'ahead of' : 'behind'} this machine`,
          ],
        ]}
      />
      <div class="line" role="group" aria-label="move the clock forward">
        {steps.map(([name, seconds]) => (
          <button key={name} type="button" onClick={() => increase(seconds)}>
            + {name}
          </button>
        ))}
      </div>
      <LineForm button="Set" submit={setNext}>
        <Field before="Next block at" after="UTC" type="datetime-local" step="1" required value={date} set={setDate} />
      </LineForm>
      {report}
    </Panel>
  )
}

function Accounts({ answer }: { answer: Answer<DevnetAccount[]> }) {
  const [amount, setAmount] = useState('100')
  const [other, setOther] = useState('')
  const { run, report } = useAction()
  const pay = (address: string) =>
    void run(async () => {
      return <Sent txid={await ask<string>('dev_faucet', { address: address.trim(), amount })} />
    })
  return (
    <Panel title="Accounts" note={<span class="quiet">those that have coins from the start</span>}>
      <LineForm button="Pay" submit={() => pay(other)}>
        <Field before="Pay" after="coins" class="short" inputMode="decimal" value={amount} set={setAmount} />
        <Field before="to" class="address" placeholder="an address" required value={other} set={setOther} />
      </LineForm>
      {report}
      <Answered answer={answer}>
        {(list) => (
          <Table
            caption="accounts of the devnet"
            rows={list}
            keyOf={({ address }) => address}
            columns={[
              ['No.', ({ index }) => index, 'number'],
              [
                'Address',
                ({ address }) => (
                  <span class="pair">
                    <AddressName text={address} /> <Copy text={address} what="the address" />
                  </span>
                ),
              ],
              [
                'DID',
                ({ did }) => (
                  <span class="pair">
                    <DidName text={did} /> <Copy text={did} what="the DID" />
                  </span>
                ),
                'spare',
              ],
              ['Balance', ({ balance }) => <Amount text={balance} />, 'number'],
              [
                'Faucet',
                ({ address }) => (
                  <button type="button" aria-label={`pay ${amount} coins to ${address}`} onClick={() => pay(address)}>
                    + {amount}
                  </button>
                ),
              ],
            ]}
          />
        )}
      </Answered>
      {answer.value !== undefined && <DevnetKeysPart accounts={answer.value} />}
    </Panel>
  )
}
