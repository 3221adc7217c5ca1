import { LinkError } from '../link.js'

/** Explanations of system error codes of a dial. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  EADDRNOTAVAIL: 'this machine has no address of that kind',
  ETIMEDOUT: 'the host does not answer',
  EHOSTDOWN: 'the host does not answer',
  ENETDOWN: 'the network of this machine is down',
  EACCES: 'a firewall or a route of this machine forbids it',
  EPERM: 'a firewall or a route of this machine forbids it',
  // Linux has this for a route into a black hole, such as VPN clients set.
  EINVAL: 'a route of this machine leads nowhere',
}

/** The LinkError for a failed dial. */
export function dialFailure(address: string, error: Error): LinkError {
  const causes = error instanceof AggregateError ? (error.errors as Error[]) : [error]
  const [first = error] = causes
  const code = causes.map((cause) => (cause as NodeJS.ErrnoException).code ?? '').find((known) => known in reasons)
  if (code !== undefined) return new LinkError('unreachable', `${address} cannot be reached: ${reasons[code]}`)
  const { name, message } = first
  if (name === 'InvalidPeerIdError') return ownAddress(address)
  if (name === 'TimeoutError' || name === 'AbortError' || /timed out|aborted/i.test(message)) {
    return new LinkError('timeout', `${address} does not answer in time`)
  }
  if (/identity key|does not match/.test(message)) return otherNode(address, message)
  if (name === 'DialError') return new LinkError('busy', `too many connections are being opened: ${message}`)
  const reset = causes.some(({ code, message }: NodeJS.ErrnoException) => /ECONNRESET|EPIPE/.test(`${code} ${message}`))
  if (reset) {
    const why = 'it may have banned this node, or what listens there is no node'
    return new LinkError('refused', `${address} closed the connection: ${why}`)
  }
  // A stringified event object carries no information.
  const suffix = message === '' || message.startsWith('[object') ? '' : `: ${message}`
  return new LinkError('refused', `${address} refuses the connection, or what listens there is no node${suffix}`)
}

/** Whether a listener failed because its port is taken; libp2p keeps the code of the system only in its texts. */
export function isPortInUse(error: unknown): boolean {
  return String(error).includes('EADDRINUSE')
}

/** A node with another key than its address names, such as one that lost its `peer.key`. */
function otherNode(address: string, message: string): LinkError {
  const [, found] = /identity key (\w+) does not match/.exec(message) ?? []
  const hint = found === undefined ? '' : `: ${found} answers there; if that is the one you mean, put it behind /p2p/`
  return new LinkError('refused', `${address} is another node${hint}`)
}

export function ownAddress(address: string): LinkError {
  return new LinkError('self', `${address} is this node itself`)
}

/** The LinkError for an address banned by the operator or for broken rules. */
export function bannedHere(address: string): LinkError {
  return new LinkError('refused', `${address} is banned by this node: listbans shows it, removeban ends it`)
}
