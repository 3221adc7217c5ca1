import { LinkError } from '../link.js'

/** What the system calls it, and what it is for whoever dialled. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  EADDRNOTAVAIL: 'this machine has no address of that kind',
  ETIMEDOUT: 'the host does not answer',
}

/** Why a dial came to nothing. */
export function dialFailure(address: string, error: Error): LinkError {
  const causes = error instanceof AggregateError ? (error.errors as Error[]) : [error]
  const [first = error] = causes
  const code = causes.map((cause) => (cause as NodeJS.ErrnoException).code ?? '').find((known) => known in reasons)
  if (code !== undefined) return new LinkError('unreachable', `${address} cannot be reached: ${reasons[code]}`)
  const { name, message } = first
  if (name === 'InvalidPeerIdError') return new LinkError('refused', `${address} is this node itself`)
  if (name === 'TimeoutError' || name === 'AbortError' || /timed out|aborted/i.test(message)) {
    return new LinkError('timeout', `${address} does not answer in time`)
  }
  if (/identity key|does not match/.test(message)) return new LinkError('refused', `${address} is another node`)
  if (name === 'DialError') return new LinkError('busy', `too many connections are being opened: ${message}`)
  return new LinkError('refused', `${address} refuses the connection, or what listens there is no node: ${message}`)
}
