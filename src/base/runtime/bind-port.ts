import { lookup } from 'node:dns/promises'
import { type AddressInfo, type Server } from 'node:net'
import { familyOf } from './ip-family.js'
import { UserError } from '../errors/rule-error.js'

/** Attempts to find a port that is free on all addresses. */
const bindAttempts = 20
/** Connections that the system keeps until they are accepted. */
export const backlog = 511

/** System errors for an address that this machine does not have. */
const absentCodes: readonly (string | undefined)[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']
/** Addresses that are skipped on a machine without IPv6: defaults name them. */
const optional = ['::', '::1']
/** For each family, the address that means all of it. */
const wildcards: Readonly<Record<number, string>> = { 4: '0.0.0.0', 6: '::' }

export interface BindOptions {
  /** Addresses, or names that resolve to one. */
  readonly hosts: readonly string[]
  /** 0: any port that is free on all of them. */
  readonly port: number
  /** The flag that chooses another port, for the message when it is in use; `--port-base N` when absent. */
  readonly portFlag?: string
  /** Whether `::` never takes connections over IPv4; absent: it takes them where no address of IPv4 is bound beside it. */
  readonly ipv6Only?: boolean
}

/** The servers that listen on one port, by the host as the options name it. */
export interface Bound<S extends Server> {
  readonly port: number
  readonly servers: Map<string, S>
}

/**
 * Has a server made by `make` listen on each address. An address counts once, however it is written, and not beside the wildcard of its
 * family. Throws a {@link UserError} if the port is in use, may not be opened, or a host is no address of this machine; then no server
 * listens.
 */
export async function bindPort<S extends Server>(options: BindOptions, make: (host: string) => S): Promise<Bound<S>> {
  const places = await placesOf(options)
  for (let attempt = 1; ; attempt++) {
    const servers = new Map<string, S>()
    let { port } = options
    try {
      for (const place of places) {
        const server = make(place.host)
        const bound = await listen(server, place, port)
        if (bound === undefined) continue
        servers.set(place.host, server)
        port = bound
      }
      if (servers.size === 0) throw new UserError(`none of the addresses ${options.hosts.join(', ')} exists here`)
      return { port, servers }
    } catch (error) {
      await Promise.all([...servers.values()].map((server) => closeServer(server)))
      const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (inUse && options.port === 0 && attempt < bindAttempts) continue
      throw inUse ? portInUse(options) : error
    }
  }
}

/** The failure of a port that another program has. */
export function portInUse({ hosts, port, portFlag = '--port-base N' }: BindOptions): UserError {
  return new UserError(`port ${port} of ${hosts.join(' or ')} is in use; stop what listens there, or use ${portFlag}`)
}

/** Resolves when a server and its connections are closed: those without a request at once. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

/** An address to bind. */
interface Place {
  readonly host: string
  readonly address: string
  readonly ipv6Only: boolean
}

async function placesOf({ hosts, ipv6Only }: BindOptions): Promise<Place[]> {
  const byAddress = new Map<string, string>()
  for (const host of hosts) {
    const address = await addressOf(host)
    if (!byAddress.has(address)) byAddress.set(address, host)
  }
  const addresses = [...byAddress.keys()].filter((address) => {
    const wildcard = wildcards[familyOf(address)] as string
    return address === wildcard || !byAddress.has(wildcard)
  })
  const hasIpv4 = addresses.some((address) => familyOf(address) === 4)
  return addresses.map((address) => ({
    host: byAddress.get(address) as string,
    address,
    ipv6Only: familyOf(address) === 6 && (ipv6Only ?? hasIpv4),
  }))
}

/** The address that a host means, in one form. */
async function addressOf(host: string): Promise<string> {
  const plain = /^\[(.*)\]$/.exec(host)?.[1] ?? host
  if (familyOf(plain) !== 0) return canonical(plain)
  try {
    return canonical((await lookup(plain)).address)
  } catch {
    throw new UserError(`the name ${host} cannot be resolved`)
  }
}

/** The shortest form of an IPv6 address; IPv4 for an IPv4-mapped one. */
function canonical(address: string): string {
  if (familyOf(address) !== 6) return address
  const [plain = '', ...zone] = address.split('%')
  const short = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(short)
  if (mapped === null) return [short, ...zone].join('%')
  const words = mapped.slice(1).map((word) => parseInt(word, 16))
  return words.flatMap((word) => [word >> 8, word & 0xff]).join('.')
}

/** The port that was bound; undefined where the machine has no such address and need not have it. */
function listen(server: Server, { host, address, ipv6Only }: Place, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const absent = absentCodes.includes(error.code)
      if (absent && optional.includes(address)) resolve(undefined)
      else if (absent) reject(new UserError(`the address ${host} does not exist on this machine`))
      else if (error.code === 'EINVAL' && familyOf(address) === 6 && !address.includes('%')) {
        reject(new UserError(`the address ${host} is one of each interface: name which, as ${host}%eth0`))
      } else if (error.code === 'EACCES') reject(new UserError(`port ${port} of ${host} is not for this user to open`))
      else reject(error)
    })
    server.listen({ host: address, port, backlog, ipv6Only }, () => {
      server.removeAllListeners('error')
      resolve((server.address() as AddressInfo).port)
    })
  })
}
