import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { followEvents } from 'didledger-client/events'
import { Ledger } from '../ledger.js'

/**
 * Keeps a JSON file of DIDs by name. The name of a DID stands behind `urn:name:` in the `serviceEndpoint` of its service of type `Name`.
 *
 *   did    -> the DID has changed, or a change of it was taken back (reorganisation): ask the node for it again
 *   block  -> write the file, with the hash of the block: a restart goes on after it
 *   gap    -> the node could not tell what its pool took meanwhile: blocks and DIDs are complete, only the count is not
 */

const { NODE = 'http://127.0.0.1:20334', FILE = 'names.json' } = process.env
const ledger = new Ledger(NODE)
const empty = () => ({ block: undefined, height: -1, names: new Map(), taken: 0, takenMissed: false })
let state = stored()

/** The state of the file: its DIDs by name, as names by DID. */
function stored() {
  try {
    const { dids, ...others } = JSON.parse(readFileSync(FILE, 'utf8'))
    const names = Object.entries(dids).flatMap(([name, those]) => those.map((did) => [did, name]))
    // Of what the pool took while this program did not run, no event tells.
    return { ...others, names: new Map(names), takenMissed: true }
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return empty()
  }
}

/** Writes beside the file and renames: neither a reader nor a crash meets half of it. */
function store() {
  const { names, ...others } = state
  const byName = new Map()
  for (const [did, name] of names) byName.set(name, [...(byName.get(name) ?? []), did])
  writeFileSync(`${FILE}.new`, JSON.stringify({ ...others, dids: Object.fromEntries(byName) }, null, 2))
  renameSync(`${FILE}.new`, FILE)
}

async function update(did) {
  const document = await ledger.document(did)
  const endpoint = document?.services.find(({ type }) => type === 'Name')?.serviceEndpoint
  // Endpoints may be objects and lists, too.
  const [, name] = /^urn:name:(.+)$/.exec(typeof endpoint === 'string' ? endpoint : '') ?? []
  if (name !== undefined) state.names.set(did, name)
  else state.names.delete(did)
}

async function take(event) {
  if (event.topic === 'gap') state.takenMissed = true
  if (event.topic === 'transaction') state.taken++
  if (event.topic === 'did') await update(event.did)
  if (event.topic !== 'block') return
  const reverted = event.action === 'revert'
  state.block = reverted ? event.previousblockhash : event.hash
  state.height = reverted ? event.height - 1 : event.height
  store()
  console.log(`${event.action} ${event.height}`)
}

for (;;) {
  const from = state.block === undefined ? { fromHeight: 0 } : { afterBlock: state.block }
  try {
    const topics = ['block', 'did', 'transaction']
    for await (const event of followEvents({ url: ledger.ws, topics, from })) await take(event)
  } catch (error) {
    // The node no longer knows our last block: another chain, or one that it cannot lead back from. Begin anew.
    if (error.code !== 'unknown-block') throw error
    console.log('the chain is another one: begin anew')
    state = empty()
  }
}
