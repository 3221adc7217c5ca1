import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useMethods } from './ask/methods.js'
import { useLive } from './ask/use-answer.js'
import { searchTarget } from './find/search-target.js'
import { Heading, Panel } from './parts/panel.js'
import { useScrollHint } from './parts/scroll.js'
import { SecretWarning } from './parts/secret-warning.js'
import { Theme } from './parts/theme.js'
import { Plain } from './parts/values.js'
import { linkTo, pageNames, type PageName, readRoute, type Route } from './route.js'
import { whole } from './text/numbers.js'
import { visible } from './text/safe-text.js'
import { AddressPage } from './views/address-page.js'
import { BlockPage } from './views/block-page.js'
import { BlocksPage } from './views/blocks.js'
import { ChartsPage } from './views/charts-page.js'
import { CredentialPage } from './views/credential-page.js'
import { DevnetPage } from './views/devnet-page.js'
import { DidPage } from './views/did-page.js'
import { FindPage } from './views/find-page.js'
import { Home } from './views/home.js'
import { InterfacesPage } from './views/interfaces-page.js'
import { NodePage } from './views/node-page.js'
import { OperationsPage } from './views/operations.js'
import { directLink, NamedDid, SearchPage } from './views/search-page.js'
import { TransactionPage } from './views/transaction-page.js'
import { ValidatorsPage } from './views/validators-page.js'

/** The frame of all pages: search, menu, whether the page is live, and the page that the address names. */

type Page = (route: Route) => preact.VNode

const pages: Readonly<Record<PageName, Page>> = {
  '': Home,
  address: AddressPage,
  block: BlockPage,
  blocks: BlocksPage,
  charts: ChartsPage,
  credential: CredentialPage,
  devnet: DevnetPage,
  did: DidPage,
  find: FindPage,
  interfaces: InterfacesPage,
  node: NodePage,
  operations: OperationsPage,
  search: SearchPage,
  transaction: TransactionPage,
  validators: ValidatorsPage,
}

const menu: readonly (readonly [page: PageName, title: string])[] = [
  ['', 'Chain'],
  ['charts', 'Charts'],
  ['find', 'Find DIDs'],
  ['validators', 'Validators'],
  ['node', 'Node'],
  ['devnet', 'Devnet'],
  ['interfaces', 'Interfaces'],
]

export function App() {
  const route = useRoute()
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  const { page, subject } = route
  // With the page, not after it was painted: a field in which something is typed by then would lose the focus.
  useLayoutEffect(() => {
    document.title = `${titleOf(route)} · didledger`
    // Moves the focus of a screen reader to the new page, but not to the first one.
    if (!first.current) {
      scrollTo(0, 0)
      main.current?.focus({ preventScroll: true })
    }
    first.current = false
  }, [page, subject])
  const name = pageNames.find((one) => one === page)
  const Shown = name === undefined ? undefined : pages[name]
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        to the content
      </a>
      <header class="top">
        <div class="bar">
          <a class="brand" href={linkTo('')}>
            <span aria-hidden="true" class="mark" /> didledger
          </a>
          <Search />
          <LiveMark />
          <Theme />
        </div>
        <Menu page={page} />
      </header>
      <Banner />
      <main id="main" ref={main} tabIndex={-1}>
        {Shown === undefined ? <NoPage name={page} /> : <Shown key={`${page}/${subject}`} {...route} />}
      </main>
    </>
  )
}

function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return readRoute(hash)
}

function titleOf({ page, subject }: Route): string {
  const title = menu.find(([name]) => name === page)?.[1] ?? page
  return visible(subject === '' ? title : `${title} ${subject.slice(0, 60)}`)
}

function skipTo(event: Event, main: HTMLElement | null): void {
  // The address names the page: it must not name a place on it instead.
  event.preventDefault()
  main?.focus()
}

function Search() {
  const [text, setText] = useState('')
  const [isSecret, setSecret] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const go = (event: Event) => {
    event.preventDefault()
    // What the field holds: who types and presses Enter at once is ahead of the state.
    const target = searchTarget(field.current?.value ?? text)
    if (target === undefined) return
    setSecret(target.kind === 'secret')
    setText('')
    if (target.kind === 'secret') return
    location.hash = directLink(target) ?? linkTo('search', target.text)
  }
  return (
    <form class="search" role="search" onSubmit={go}>
      <input
        ref={field}
        type="search"
        enterkeyhint="search"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        maxLength={2000}
        aria-label="search for a height, hash, transaction, address, DID, credential, name or type of service"
        placeholder="height, hash, address, DID, name, service type"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">Search</button>
      {isSecret && <SecretWarning />}
    </form>
  )
}

function Menu({ page }: { page: string }) {
  const known = useMethods()
  const current = menu.some(([name]) => name === page) ? page : ''
  return (
    <nav class="menu" ref={useScrollHint<HTMLElement>()} aria-label="pages">
      {menu
        .filter(([name]) => name !== 'devnet' || known.has('dev_mine'))
        .map(([name, title]) => (
          <a key={name} href={linkTo(name)} {...(name === current ? { 'aria-current': 'page' as const } : {})}>
            {title}
          </a>
        ))}
    </nav>
  )
}

const states = {
  connecting: ['connecting', 'quiet'],
  live: ['live', 'good'],
  asking: ['polling', 'warn'],
  gone: ['no answer', 'bad'],
} as const

function LiveMark() {
  const { state, height } = useLive()
  const [text, tone] = states[state]
  return (
    <span class={`live ${tone}`} role="status" aria-label={`connection to the node: ${text}`}>
      <span class="dot" aria-hidden="true" /> <span class="live-text">{text}</span>
      {height !== undefined && <span class="number live-height">{whole(height)}</span>}
    </span>
  )
}

function Banner() {
  const { state } = useLive()
  if (state !== 'gone') return null
  return (
    <p class="banner" role="alert">
      The node does not answer. What is shown was learned before; the page goes on when it is back.
    </p>
  )
}

function NoPage({ name }: { name: string }) {
  return (
    <>
      <Heading kind="No such page" />
      <Panel title="Nothing is here">
        <p role="alert">
          “<Plain text={name} />” is the name of no page, and no height, hash, address or DID.
        </p>
        <p>
          <a href={linkTo('search', name)}>Look for it as a text</a>, or see{' '}
          <a href={linkTo('')}>what happens on the chain</a>.
        </p>
      </Panel>
      <NamedDid text={name} />
    </>
  )
}
