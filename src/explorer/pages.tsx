/**
 * The explorer in a browser: static files that the REST port serves at `/`, and that ask the node's own interfaces.
 *
 *   address behind `#` -> readRoute -> App -> a page of views/
 *     page -> useAnswer -> ask/node-rpc (POST rpc, GET …) -> values of parts/, as text alone
 *   WebSocket -> LiveEvents -> version rises -> pages ask again; without it the tip is asked for
 *   search box -> searchTarget -> the page of what was named
 *
 * Imports api, crypto, did, errors, light, primitives, proofs, runtime, wallet; used by none.
 * - sign/ signs for accounts of a devnet, and is loaded when a form of its page is sent.
 * - Built by Vite into dist/pages; nothing of Node is in it.
 * - Texts of documents, and of a node, are hostile: all pass through text/one-door, long ones through Plain, links through outsideLink.
 * - What is drawn within Word of="proved" comes from verify/proved-view alone; what the node says stands in a Word of="said".
 */
import { options, render } from 'preact'
import { App } from './app.js'
import { chainClock } from './ask/chain-clock.js'
import { live } from './ask/live-events.js'
import { guard } from './text/one-door.js'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the app')
options.vnode = guard
live.start()
chainClock.start()
render(<App />, root)
