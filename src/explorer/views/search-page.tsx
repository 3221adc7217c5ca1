import { useEffect, useState } from 'preact/hooks'
import { didOf } from '../../base/primitives/did-key.js'
import { isDidName } from '../../base/primitives/did-name.js'
import { askAll } from '../ask/node-rpc.js'
import { codes, Refusal } from '../ask/refusal.js'
import type { DidCount, Found } from '../ask/shapes.js'
import { useAnswer, useCall } from '../ask/use-answer.js'
import { conditionOf, type KindName } from '../find/condition.js'
import { type SearchTarget, searchTarget, type Secret } from '../find/search-target.js'
import { Answered, Heading, Panel } from '../parts/panel.js'
import { SecretWarning } from '../parts/secret-warning.js'
import { DidName, Plain } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { counted } from '../text/numbers.js'
import { FoundTable } from './found-table.js'

/** Opens the page that the text of a search names, else the DIDs with such a name or service. */

export function SearchPage({ subject }: Route) {
  const target = searchTarget(subject)
  if (target === undefined) return <Heading kind="Search" />
  return (
    <>
      <Heading kind="Search" />
      <Target target={target} />
    </>
  )
}

/** The page of what the text certainly names; undefined where the chain has to be asked. */
export function directLink(target: SearchTarget): string | undefined {
  switch (target.kind) {
    case 'height':
      return linkTo('block', target.text)
    case 'address':
    case 'did':
    case 'credential':
      return linkTo(target.kind, target.text)
    default:
      return undefined
  }
}

function Target({ target }: { target: SearchTarget | Secret }) {
  const link = target.kind === 'secret' ? undefined : directLink(target)
  useEffect(() => {
    if (link !== undefined) location.replace(link)
  }, [link])
  if (target.kind === 'secret') return <SecretWarning />
  if (target.kind === 'wrong') {
    return (
      <Panel title="Nothing found">
        <p>
          <Plain text={target.text} />
        </p>
        <p>{target.reason}</p>
      </Panel>
    )
  }
  if (target.kind === 'hash') return <ByHash hash={target.text} />
  if (target.kind === 'text') return <ByText text={target.text} />
  return null
}

function ByHash({ hash }: { hash: string }) {
  const answer = useAnswer(
    async (signal) => {
      const [transaction, block] = await askAll<unknown>(
        [
          ['getrawtransaction', { txid: hash }],
          ['getblock', { blockhash: hash, verbosity: 0 }],
        ],
        signal,
      )
      if (!(transaction instanceof Refusal)) return 'transaction'
      if (!(block instanceof Refusal)) return 'block'
      // Any other refusal, of a node that is busy or has pruned it, says nothing of whether there is one.
      if (transaction.code !== codes.unknownTransaction) throw transaction
      if (block.code !== codes.unknownBlock) throw block
      return 'none'
    },
    ['hash', hash],
  )
  const found = answer.value === 'none' ? undefined : answer.value
  useEffect(() => {
    if (found !== undefined) location.replace(linkTo(found, hash))
  }, [found, hash])
  return (
    <Panel title="Block or transaction">
      <p class="code long">{hash}</p>
      <Answered answer={answer}>
        {() => (found === undefined ? <p>The node knows no block and no transaction of this hash.</p> : undefined)}
      </Answered>
    </Panel>
  )
}

const rows = 20
/** Most documents of a chain that are read for a part of a text without being asked to: the index has whole texts alone. */
const readUnasked = 10_000

/** DIDs by a text that is no id: in the names of credentials, and in the types of services. */
function ByText({ text }: { text: string }) {
  const count = useCall<DidCount>('countdids', {}, { every: 'once' })
  return (
    <>
      <p class="quiet">
        “<Plain text={text} />” is no height, hash, address, DID or credential, so it was looked for in the names of
        DIDs and credentials, and in the types of services.
      </p>
      <NamedDid text={text} />
      <Answered answer={count}>
        {({ valid }) => (
          <>
            <Matches title="DIDs with such a name in a credential" text={text} documents={valid} kinds={byName} />
            <Matches title="DIDs with such a service" text={text} documents={valid} kinds={byService} />
          </>
        )}
      </Answered>
    </>
  )
}

/** A link to the DID that has a text as its name; nothing where there is none. */
export function NamedDid({ text }: { text: string }) {
  const name = text.toLowerCase()
  return isDidName(name) ? <DidIfThere did={didOf(name)} /> : null
}

function DidIfThere({ did }: { did: string }) {
  const { value } = useCall<{ readonly status: number }>('resolvedid', { did, all: false }, { every: 'once' })
  if (value === undefined || value.status === 3) return null
  return (
    <Panel title="The DID of this name">
      <DidName text={did} whole />
    </Panel>
  )
}

/** Kinds of conditions by a whole text, which the index answers, and by a part of one. */
type TextKinds = readonly [whole: KindName, part: KindName]
const byName: TextKinds = ['named', 'namePart']
const byService: TextKinds = ['service', 'servicePart']

interface MatchesProps {
  readonly title: string
  readonly text: string
  /** Number of documents that a search may have to read. */
  readonly documents: number
  readonly kinds: TextKinds
}

function Matches({ title, text, documents, kinds: [whole, part] }: MatchesProps) {
  const [reads, setReads] = useState(documents <= readUnasked)
  const row = { kind: reads ? part : whole, value: text, name: '', negated: false }
  const query = JSON.stringify(conditionOf([row], 'all'))
  const answer = useCall<Found>('query', { query, limit: rows }, { every: 'once' })
  return (
    <Panel title={title} note={<a href={linkTo('find', '', { q: query })}>Refine</a>}>
      {!reads && (
        <p>
          The index has whole texts alone, with the same capitals.{' '}
          <button type="button" onClick={() => setReads(true)}>
            Read up to {counted(documents, 'document')} for parts of texts
          </button>
        </p>
      )}
      <Answered answer={answer}>
        {({ total, count, document: found }) => (
          <>
            <p>
              {counted(total, 'DID')}
              {total > count && (
                <>
                  , of which the first {count} are here. <a href={linkTo('find', '', { q: query })}>All of them</a>
                </>
              )}
            </p>
            {total > 0 && <FoundTable documents={found} />}
          </>
        )}
      </Answered>
    </Panel>
  )
}
