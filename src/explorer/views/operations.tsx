import type { ListedOperation, OperationList, Position } from '../ask/shapes.js'
import { useCall } from '../ask/use-answer.js'
import { GivenUpNote, ListEnd } from '../parts/history.js'
import { Answered, Badge, Heading, Pager, Panel, Table, type Tone } from '../parts/panel.js'
import {
  Ago,
  BlockHeight,
  BlockNumber,
  CredentialName,
  DidName,
  Moment,
  Plain,
  Reference,
  TransactionName,
} from '../parts/values.js'
import type { Source } from '../parts/word.js'
import { linkTo, type Route } from '../route.js'
import type { ShownOperation } from '../verify/views.js'

/** Operations of DIDs on the active chain, newest first. */

const rows = 50

export function OperationsPage({ options }: Route) {
  const before = options.get('before')
  const answer = useCall<OperationList>('listdidoperations', {
    limit: rows,
    before: before === undefined ? undefined : positionOf(before),
  })
  return (
    <>
      <Heading kind="Operations of DIDs" />
      <Panel title="Newest first">
        <Answered answer={answer}>
          {({ operations, next, pruned, superseded }) => (
            <>
              <OperationTable operations={operations} />
              <GivenUpNote superseded={superseded} />
              {next === undefined && <ListEnd pruned={pruned} />}
              <Pager
                label="parts of the list"
                back={before === undefined ? undefined : linkTo('operations')}
                on={next === undefined ? undefined : linkTo('operations', '', { before: positionText(next) })}
              />
            </>
          )}
        </Answered>
      </Panel>
    </>
  )
}

/** A position as it stands in an address: `7.2`. */
export function positionText({ height, index }: Position): string {
  return `${height}.${index}`
}

export function positionOf(text: string): Position {
  const [height = 0, index = 0] = text.split('.').map(Number)
  return { height, index }
}

const tones: Readonly<Record<string, Tone>> = { create: 'good', deactivate: 'bad', declare: 'accent', revoke: 'warn' }

/** The name of an operation in its colour. */
export function OperationBadge({ name }: { name: string }) {
  return (
    <Badge tone={tones[name] ?? 'neutral'}>
      <Plain text={name} />
    </Badge>
  )
}

/** One operation of a timeline: its name and time, below them its signer, its transaction and its block. */
export function OperationEntry({ operation, of }: { operation: ShownOperation; of: Source }) {
  const { name, time, signer, txid, height, isGivenUp = false } = operation
  return (
    <>
      <div class="when">
        <OperationBadge name={name} /> {time !== undefined && <Moment time={time} />}
      </div>
      <div class="what">
        {isGivenUp ? (
          'its document is not there any more'
        ) : signer === undefined ? (
          'signer not checked'
        ) : (
          <>
            {of === 'proved' ? 'signed by' : 'names as its signer'} <Reference text={signer} />
          </>
        )}{' '}
        · transaction <TransactionName text={txid} />
        {height !== undefined && (
          <>
            {' '}
            · block <BlockNumber height={height} />
          </>
        )}
      </div>
    </>
  )
}

export function OperationTable({ operations }: { operations: readonly ListedOperation[] }) {
  return (
    <Table
      caption="operations of DIDs, newest first"
      rows={operations}
      keyOf={({ height, index, txid }) => `${height} ${index} ${txid}`}
      empty="No operation of a DID here."
      columns={[
        ['Operation', ({ operation }) => <OperationBadge name={operation} />],
        [
          'DID',
          ({ did, credential }) => (
            <>
              <DidName text={did} /> {credential !== undefined && <CredentialName id={credential} />}
            </>
          ),
        ],
        ['Block', ({ height, blockhash }) => <BlockHeight height={height} hash={blockhash} />, 'number spare'],
        ['Age', ({ time }) => <Ago time={time} />, 'number'],
        ['Transaction', ({ txid }) => <TransactionName text={txid} />, 'spare'],
      ]}
    />
  )
}
