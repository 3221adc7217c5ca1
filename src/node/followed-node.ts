import { UserError } from '../base/errors/rule-error.js'
import { parsedJson } from '../base/primitives/parsed-json.js'
import type { Log } from '../base/runtime/env.js'
import { requestText } from '../base/runtime/http-request.js'
import { genesisAt, otherChainText } from '../answers/api/http/chain-of-node.js'
import { typedUrl } from '../clients/client/typed-url.js'
import { endpointText, parseEndpoint } from '../network/address/ip-address.js'
import { portOffsets } from './ports.js'

/** The node that a follower takes its blocks from and passes transactions on to. */
export interface Followed {
  /** Its address for peers: `host:port` or a multiaddr. */
  readonly peer: string
  /** Base URL of its REST port. */
  readonly api: string
}

/** Bounds of the question at which port peers reach the node to follow. */
const bounds = { timeout: 5000, maxAnswer: 1024 * 1024 }
/** From a REST port to the port for peers of the same node. */
const distance = portOffsets.p2p - portOffsets.rest

/**
 * Finds both addresses of the node that `--follow` names: of a URL the port for peers that its REST names, and where it does not answer now,
 * the one at the usual distance; of a peer the REST port at that distance. A UserError for a URL of another form, of no node to follow, and of
 * one of another chain than that with the `genesis` block, in display hex. Of a node that does not answer now, and of a peer, the chain is
 * known when something is to be passed on: see answers/api/http/chain-of-node.ts.
 */
export async function followedNode(text: string, genesis: string, log: Pick<Log, 'warn'>): Promise<Followed> {
  if (!/^https?:\/\//i.test(text)) return { peer: text, api: apiOfPeer(text) }
  const api = typedUrl(text)
  const { hostname, port } = new URL(api)
  const answer = await requestText(`${api}/api/v1/node/state`, undefined, bounds).catch((error: Error) => error)
  if (!(answer instanceof Error)) {
    await requireOwnChain(api, genesis)
    return { peer: `${hostname}:${peerPortIn(api, answer.text)}`, api }
  }
  const usual = Number(port) + distance
  if (port === '') throw new UserError(`cannot reach the node to follow at ${api} (${answer.message})`)
  log.warn(
    { error: answer.message, port: usual },
    'the node to follow does not answer; its peers are looked for at the usual port',
  )
  return { peer: `${hostname}:${usual}`, api }
}

async function requireOwnChain(api: string, genesis: string): Promise<void> {
  const told = await genesisAt(api).catch(() => undefined)
  if (told === undefined || told === genesis) return
  const text = otherChainText(told, genesis)
  throw new UserError(`the node to follow at ${api}: ${text}; name a node of this chain, or the spec of that one`, 2)
}

/** The port for peers that the state of a node names. */
function peerPortIn(api: string, text: string): number {
  const port = (parsedJson(text) as NodeState)?.Result?.Port
  if (typeof port === 'number' && Number.isInteger(port) && port > 0 && port <= 0xffff) return port
  throw new UserError(`${api} names no port for peers: is it the REST port of a didledger node that has peers?`)
}

type NodeState = { readonly Result?: { readonly Port?: unknown } } | null | undefined

/** The REST port of a peer at the usual distance from its port for peers. */
function apiOfPeer(peer: string): string {
  const at = parseEndpoint(peer)
  const port = (at?.port ?? 0) - distance
  if (at === undefined || port < 1) {
    throw new UserError(`network.follow: ${peer} is no address of a peer with a REST port below`, 2)
  }
  return `http://${endpointText({ host: at.host, port })}`
}
