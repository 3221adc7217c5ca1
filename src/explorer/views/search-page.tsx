import { useEffect } from 'preact/hooks'
import { askAll } from '../ask/node-rpc.js'
import { codes, Refusal } from '../ask/refusal.js'
import type { Found } from '../ask/shapes.js'
import { useAnswer, useCall } from '../ask/use-answer.js'
import { conditionOf } from '../find/condition.js'
import { type SearchTarget, searchTarget } from '../find/search-target.js'
import { Answered, Heading, Panel } from '../parts/panel.js'
import { Plain } from '../parts/values.js'
import { linkTo, type Route } from '../route.js'
import { counted } from '../text/numbers.js'
import { FoundTable } from './found-table.js'

/** Opens the page that the text of a search names, else the DIDs with such a service. */

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

function Target({ target }: { target: SearchTarget }) {
  const link = directLink(target)
  useEffect(() => {
    if (link !== undefined) location.replace(link)
  }, [link])
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
  if (target.kind === 'service') return <ByService text={target.text} />
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

function ByService({ text }: { text: string }) {
  const condition = conditionOf([{ kind: 'servicePart', value: text, name: '', negated: false }], 'all')
  const answer = useCall<Found>('query', { query: JSON.stringify(condition), limit: rows }, { every: 'once' })
  return (
    <Panel title="DIDs with such a service">
      <p class="quiet">
        “<Plain text={text} />” is no height, hash, address, DID or credential, so it was looked for in the types of
        services. <a href={linkTo('find', '', { q: JSON.stringify(condition) })}>Refine</a>
      </p>
      <Answered answer={answer}>
        {({ total, document }) => (
          <>
            <p>{counted(total, 'DID')}</p>
            <FoundTable documents={document} />
          </>
        )}
      </Answered>
    </Panel>
  )
}
