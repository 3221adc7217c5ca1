import { useState } from 'preact/hooks'
import { chainClock } from '../ask/chain-clock.js'
import { ask } from '../ask/node-rpc.js'
import { saveFile, useAction } from '../parts/action.js'
import { CountField, LineForm } from '../parts/form.js'
import { Panel } from '../parts/panel.js'
import { linkTo } from '../route.js'

/** Snapshots, and what else changes the past of a devnet, as far as the node has the methods. */

export function ChainTools({ known }: { known: ReadonlySet<string> }) {
  const others = [...known].filter((name) => name.startsWith('dev_') && !shown.has(name))
  return (
    <div class="columns">
      <Snapshots />
      {known.has('dev_dumpState') && <StateFile known={known} />}
      {(known.has('dev_reorg') || others.length > 0) && (
        <Panel title="More">
          {known.has('dev_reorg') && <Reorganise />}
          {others.length > 0 && (
            <p>
              Other methods:{' '}
              {others.map((name) => (
                <>
                  <a href={linkTo('interfaces', name)}>{name}</a>{' '}
                </>
              ))}
            </p>
          )}
        </Panel>
      )}
    </div>
  )
}

/** Methods that have a place of their own on the page. */
const shown = new Set([
  'dev_mine',
  'dev_increaseTime',
  'dev_setNextBlockTime',
  'dev_accounts',
  'dev_keys',
  'dev_faucet',
  'dev_snapshot',
  'dev_revert',
  'dev_dumpState',
  'dev_loadState',
  'dev_reorg',
])

interface Snapshot {
  readonly id: number
  readonly height: number
}

/** Outlives the page, as the snapshots of the node do. */
let taken: readonly Snapshot[] = []

function Snapshots() {
  const [list, setList] = useState(taken)
  const [id, setId] = useState('')
  const { run, report } = useAction()
  const keep = (next: readonly Snapshot[]) => {
    taken = next
    setList(next)
  }
  const take = () =>
    void run(async () => {
      const height = await ask<number>('getcurrentheight')
      const number = await ask<number>('dev_snapshot')
      keep([...taken.filter((one) => one.id < number), { id: number, height }])
      return `snapshot ${number} at height ${height}`
    })
  const revert = (number: number) =>
    void run(async () => {
      await ask('dev_revert', { id: number })
      // Those taken after it are dropped.
      keep(taken.filter((one) => one.id <= number))
      await chainClock.refresh()
      return `back at snapshot ${number}`
    })
  return (
    <Panel title="Snapshots">
      <div class="line">
        <button class="main" type="button" onClick={take}>
          Take a snapshot
        </button>
        {list.map((one) => (
          <button key={one.id} type="button" onClick={() => revert(one.id)}>
            Back to {one.id} (height {one.height})
          </button>
        ))}
      </div>
      <LineForm button="Revert" submit={() => revert(Number(id))}>
        <CountField before="Back to number" value={id} set={setId} />
      </LineForm>
      {report}
    </Panel>
  )
}

function StateFile({ known }: { known: ReadonlySet<string> }) {
  const { run, report } = useAction()
  const save = () =>
    void run(async () => {
      const state = await ask<unknown>('dev_dumpState')
      saveFile('devnet-state.json', typeof state === 'string' ? state : JSON.stringify(state))
      return 'the browser was given the state, to be saved'
    })
  const load = (file: File) =>
    void run(async () => {
      await ask('dev_loadState', { state: await file.text() })
      await chainClock.refresh()
      return `the state of ${file.name} was loaded`
    })
  return (
    <Panel title="State file">
      <div class="line">
        <button type="button" onClick={save}>
          Save the state
        </button>
        {known.has('dev_loadState') && (
          <label>
            Load{' '}
            <input
              type="file"
              onChange={(event) => {
                const file = event.currentTarget.files?.[0]
                if (file !== undefined) load(file)
              }}
            />
          </label>
        )}
      </div>
      {report}
    </Panel>
  )
}

function Reorganise() {
  const [blocks, setBlocks] = useState('1')
  const { run, report } = useAction()
  const reorganise = () =>
    void run(async () => {
      await ask('dev_reorg', { blocks: Number(blocks) })
      return 'the node has replaced them'
    })
  return (
    <>
      <LineForm button="Reorganise" submit={reorganise}>
        <CountField before="Replace the last" after="blocks" value={blocks} most={288} set={setBlocks} />
      </LineForm>
      {report}
    </>
  )
}
