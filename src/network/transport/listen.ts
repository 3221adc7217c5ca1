import { createServer, isIP } from 'node:net'
import type { AddressInfo } from 'node:net'
import { UserError } from '../../base/errors/rule-error.js'
import { multiaddrText } from './dial-target.js'

/** Attempts to find a port that is free on all hosts. */
const portAttempts = 20

/** System error codes for an address that this machine does not have. */
const absentCodes: readonly (string | undefined)[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/**
 * The multiaddrs to listen on, and their port; port 0: any that is free on all hosts. Throws a UserError if the port is
 * in use or a host is no address of this machine.
 */
export async function listenPlaces(
  hosts: readonly string[],
  port: number,
): Promise<{ readonly port: number; readonly places: readonly string[] }> {
  for (let attempt = 1; ; attempt++) {
    const places: string[] = []
    let chosen = port
    try {
      for (const host of hosts) {
        const bound = await tryPort(host, chosen)
        if (bound === undefined) continue
        chosen = bound
        places.push(multiaddrText({ host, port: bound }))
      }
      if (places.length === 0) throw new UserError(`none of the addresses ${hosts.join(', ')} exists here`)
      return { port: chosen, places }
    } catch (error) {
      const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (inUse && port === 0 && attempt < portAttempts) continue
      throw inUse ? portInUse(hosts, port) : error
    }
  }
}

export function portInUse(hosts: readonly string[], port: number): UserError {
  return new UserError(`port ${port} of ${hosts.join(' or ')} is in use; stop what listens there, or use --port-base N`)
}

/** Binds and releases a port; resolves with it, or with undefined if the machine has no IPv6. */
function tryPort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      const absent = absentCodes.includes(error.code)
      if (absent && (host === '::' || host === '::1')) resolve(undefined)
      else if (absent) reject(new UserError(`the address ${host} does not exist on this machine`))
      else if (error.code === 'EACCES') reject(new UserError(`port ${port} of ${host} is not for this user to open`))
      else reject(error)
    })
    server.listen({ host, port, ipv6Only: isIP(host) === 6 }, () => {
      const bound = (server.address() as AddressInfo).port
      server.close(() => resolve(bound))
    })
  })
}
