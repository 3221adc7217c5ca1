/**
 * The explorer in a browser: static files that the REST port serves at `/`, and that ask the node's own interfaces.
 *
 *   address behind `#` -> readRoute -> App -> a page of views/
 *     page -> useAnswer -> ask/node-rpc (POST rpc, GET …) -> values of parts/, as text alone
 *   WebSocket -> LiveEvents -> version rises -> pages ask again; without it the tip is asked for
 *   search box -> searchTarget -> the page of what was named
 *
 * Imports did, errors, light, primitives; used by none.
 * - Built by Vite into dist/pages; nothing of Node is in it.
 * - Texts of documents are hostile: they pass through Plain, and links through outsideLink.
 */
import { render } from 'preact'
import { App } from './app.js'
import { chainClock } from './ask/chain-clock.js'
import { live } from './ask/live-events.js'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the app')
live.start()
chainClock.start()
render(<App />, root)
