import { useState } from 'preact/hooks'
import { useChainNow } from '../ask/chain-clock.js'
import { useCoin, useValidatorName } from '../ask/chain-names.js'
import { referredDid } from '../did/referred-did.js'
import { linkTo } from '../route.js'
import { amountParts, whole } from '../text/numbers.js'
import { beginning, otherHost, outsideLink, shortened, visible } from '../text/safe-text.js'
import { age, countdown, moment, secondsOf } from '../text/times.js'

/** Single values, each shown the same way on every page. Texts of strangers pass through {@link Plain}, and all through text/one-door. */

/** Characters of a text that are shown at first, and as many more with each press of the button. */
const shownAtFirst = 600
const shownMore = 20_000

/** A text of unknown origin: unseen characters written out, its direction kept to itself, its beginning first where it is long. */
export function Plain({ text, lines = false }: { text: string; lines?: boolean }) {
  const [most, setMost] = useState(shownAtFirst)
  const shown = visible(beginning(text, most), lines ? '\n\t' : '')
  const host = otherHost(text)
  return (
    <>
      <bdi class={lines ? 'plain lines' : 'plain'}>
        {shown}
        {text.length > most && (
          <button class="more" type="button" onClick={() => setMost(most + shownMore)}>
            … {text.length - most} characters more
          </button>
        )}
      </bdi>
      {host !== undefined && <bdi class="host"> (host: {host})</bdi>}
    </>
  )
}

/** A text that may be the address of another site: a link where it is http or https, else text. */
export function Outside({ text }: { text: string }) {
  const href = outsideLink(text)
  if (href === undefined) return <Reference text={text} />
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      <Plain text={text} />
    </a>
  )
}

/** A text that may be a DID of this chain: a link to its page, else text. */
export function Reference({ text }: { text: string }) {
  const did = referredDid(text)
  if (did === undefined || text.length > 400) return <Plain text={text} />
  return (
    <a href={linkTo('did', did)}>
      <Plain text={text} />
    </a>
  )
}

/** A button that copies a text. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false)
  if (!('clipboard' in navigator)) return null
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), 1500)
      },
      () => setCopied(false),
    )
  return (
    <button class="copy" type="button" onClick={copy} aria-label={copied ? 'copied' : `copy ${what}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {copied ? <path d="M3 8.5l3.2 3.2L13 4.8" /> : <path d="M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3" />}
      </svg>
    </button>
  )
}

interface NameProps {
  readonly text: string
  /** Shown whole, with a button to copy it. */
  readonly whole?: boolean
}

function Name({ text, whole, page, what }: NameProps & { page: string; what: string }) {
  // Of the node or of an address bar: no more than a name is shown.
  const shown = whole === true ? beginning(text, shownAtFirst) : shortened(text)
  return (
    <span class="name">
      <a class="code" href={linkTo(page, text)} {...(whole === true ? {} : { title: text })}>
        {shown}
      </a>
      {whole === true && <Copy text={text} what={what} />}
    </span>
  )
}

export function BlockName(props: NameProps) {
  return <Name {...props} page="block" what="the hash" />
}

/** The height of a block, which leads to it. */
export function BlockHeight({ height, hash }: { height: number; hash: string }) {
  return (
    <a class="number" href={linkTo('block', hash)}>
      {whole(height)}
    </a>
  )
}

/** A height whose hash is not proved, or not known: it leads to the block that has it then. */
export function BlockNumber({ height }: { height: number }) {
  return (
    <a class="number" href={linkTo('block', String(height))}>
      {whole(height)}
    </a>
  )
}

export function TransactionName(props: NameProps) {
  return <Name {...props} page="transaction" what="the transaction id" />
}

/** An output by its transaction and its place there. */
export function OutputName({ txid, vout }: { txid: string; vout: number }) {
  return (
    <span class="pair">
      <TransactionName text={txid} />
      <span class="quiet">:{vout}</span>
    </span>
  )
}

export function AddressName(props: NameProps) {
  return <Name {...props} page="address" what="the address" />
}

/** A DID; one of another method has no page. */
export function DidName({ text, whole }: NameProps) {
  if (whole === true) return <Name text={text} whole page="did" what="the DID" />
  if (referredDid(text) !== text) return <Plain text={text} />
  const at = text.lastIndexOf(':') + 1
  return (
    <a class="code" href={linkTo('did', text)} title={text}>
      {text.slice(0, at)}
      {shortened(text.slice(at), 6, 6)}
    </a>
  )
}

/** The id of a credential: its fragment is of a stranger. */
export function CredentialName({ id }: { id: string }) {
  const at = id.indexOf('#')
  return (
    <a href={linkTo('credential', id)}>
      <Plain text={at < 0 ? id : id.slice(at)} />
    </a>
  )
}

/** A key in hex, by its beginning and end. */
export function KeyName({ text }: { text: string }) {
  const name = useValidatorName(text)
  if (name !== undefined) return <span title={text}>{name}</span>
  return (
    <span class="code" title={text}>
      {shortened(text)}
    </span>
  )
}

/** {@link Amount} with the name of the coins, for where no column names them. */
export function Coins({ text }: { text: string }) {
  return (
    <span class="coins">
      <Amount text={text} /> <span class="quiet">{useCoin()}</span>
    </span>
  )
}

/** Coins: digits before the point grouped, decimals smaller. */
export function Amount({ text, signed }: { text: string; signed?: boolean }) {
  const parts = amountParts(text)
  if (parts === undefined) return <Plain text={text} />
  const { sign, coins, decimals } = parts
  return (
    <span class="amount">
      {sign === '-' ? '−' : signed === true ? '+' : ''}
      {coins}
      <span class="decimals">.{decimals}</span>
    </span>
  )
}

/** A moment in Unix seconds: how long ago, and the date behind it. */
export function Ago({ time }: { time: number }) {
  const now = useChainNow()
  return (
    <time class="ago" dateTime={moment(time).replace(' UTC', 'Z').replace(' ', 'T')} title={moment(time)}>
      {age(time, now)}
    </time>
  )
}

/** A moment in Unix seconds: the date, and how long ago. */
export function Moment({ time }: { time: number }) {
  return (
    <span>
      <span class="number">{moment(time)}</span>{' '}
      <span class="quiet">
        (<Ago time={time} />)
      </span>
    </span>
  )
}

/** The date by which something expires, with a countdown. */
export function Expiry({ date }: { date: string }) {
  const now = useChainNow()
  const time = secondsOf(date)
  if (time === undefined) return <Plain text={date} />
  const left = time - now
  const tone = left < 0 ? 'bad' : left < 30 * 86_400 ? 'warn' : 'quiet'
  return (
    <span>
      <span class="number">{moment(time)}</span> <span class={tone}>{countdown(time, now)}</span>
    </span>
  )
}
