import type { ArbitersInfo } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { Answered, Badge, type Column, Facts, Heading, Panel, Table } from '../parts/panel.js'
import { RawJson } from '../parts/raw-json.js'
import { KeyName, Plain } from '../parts/values.js'
import { whole } from '../text/numbers.js'
import { VoterStrip } from './voter-strip.js'

/** Validators: how the vote on the next block goes, who voted before, and evidence. */

/** Seconds between two looks at the open vote. */
const pace = 1

export function ValidatorsPage() {
  const answer = useCall<ArbitersInfo>('getarbitersinfo', {}, { seconds: pace })
  return (
    <>
      <Heading kind="Validators" />
      <Answered answer={answer}>
        {(info) =>
          info.arbiters.length === 0 ? (
            <Panel title="No validators">
              <p>
                Block {whole(info.height)} has none: it is found by work, and nothing is voted on.
                {info.nextturnstartheight !== null &&
                  ` There are validators from height ${whole(info.nextturnstartheight)} on.`}
              </p>
            </Panel>
          ) : (
            <>
              <OpenVote info={info} />
              <VoterStrip />
              <Evidence />
            </>
          )
        }
      </Answered>
      <RawJson method="getarbitersinfo" />
    </>
  )
}

function OpenVote({ info }: { info: ArbitersInfo }) {
  const { stalled, alarm, emptyblockin: idle } = info
  const note = idle === undefined ? (info.step ?? undefined) : undefined
  return (
    <Panel title={`Vote on block ${whole(info.height)}`} note={note}>
      {alarm !== null && (
        <p class="notice bad" role="alert">
          <Plain text={alarm} />
        </p>
      )}
      {stalled !== undefined && (
        <p class="notice warn" role="status">
          The chain stands still: <Plain text={stalled.reason} />
          {stalled.detail !== undefined && (
            <>
              {', '}
              <Plain text={stalled.detail} />
            </>
          )}
        </p>
      )}
      {idle !== undefined && (
        <p>
          Next block in <span class="number">{Math.ceil(idle / 1000)} s</span>, sooner when a transaction comes. Nothing
          is voted on until then.
        </p>
      )}
      <Facts
        rows={[
          ['View', idle === undefined ? whole(info.view) : undefined],
          ['Quorum', `${info.quorum} of ${info.arbiters.length}`],
          ['Present', idle === undefined ? `${info.heard} of ${info.arbiters.length}` : undefined],
          ['This node signs', <Plain text={info.signing} />],
          [
            'Next change',
            info.nextturnstartheight === null
              ? undefined
              : `other validators from height ${whole(info.nextturnstartheight)}`,
          ],
        ]}
      />
      <Votes info={info} />
    </Panel>
  )
}

function Votes({ info: { arbiters, ondutyarbiter, votes, emptyblockin } }: { info: ArbitersInfo }) {
  const byKey = new Map(votes.map((vote) => [vote.publickey, vote]))
  const mark = (voted: boolean | undefined) =>
    voted === undefined ? '' : voted ? <span class="good">✓ yes</span> : <span class="quiet">– no</span>
  return (
    <Table
      caption="validators of the next block and their votes"
      rows={arbiters}
      keyOf={(key) => key}
      columns={[
        ['#', (_, index) => index + 1, 'number'],
        [
          'Validator',
          (key) => (
            <>
              <KeyName text={key} /> {key === ondutyarbiter && <Badge tone="accent">proposes</Badge>}
            </>
          ),
        ],
        ...(emptyblockin !== undefined
          ? []
          : ([
              ['Present', (key: string) => mark(byKey.get(key)?.heard)],
              ['Prevote', (key: string) => mark(byKey.get(key)?.prevote)],
              ['Precommit', (key: string) => mark(byKey.get(key)?.precommit)],
            ] satisfies Column<string>[])),
      ]}
    />
  )
}

interface EvidencePair {
  readonly height: number
  readonly view: number
  readonly kind: string
  readonly signer: string
}

function Evidence() {
  const answer = useCall<EvidencePair[]>('getevidence')
  return (
    <Panel title="Evidence" note={<span class="quiet">two messages of which one may be signed at most</span>}>
      <Answered answer={answer}>
        {(pairs) => (
          <Table
            caption="evidence against validators"
            rows={pairs}
            keyOf={({ height, view, kind, signer }) => `${height} ${view} ${kind} ${signer}`}
            empty="This node has seen no validator contradict itself."
            columns={[
              ['Height', ({ height }) => whole(height), 'number'],
              ['View', ({ view }) => view, 'number'],
              ['Kind', ({ kind }) => kind],
              ['Validator', ({ signer }) => <KeyName text={signer} />],
            ]}
          />
        )}
      </Answered>
    </Panel>
  )
}
