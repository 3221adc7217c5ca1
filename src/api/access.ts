import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { UserError } from '../errors/rule-error.js'
import { adminRefusal } from './admin-token.js'
import { crossSiteRefusal, hostRefusal, isLoopback } from './origin.js'

/** What an owner says of how clients reach the node. */
export interface AccessOptions {
  /** Names in Host by which the node may be changed, beside those of this machine. */
  readonly hostNames: readonly string[]
  /** Addresses, or networks such as 10.0.0.0/8, of the proxies that stand in front; none: clients come directly. */
  readonly trustedProxies: readonly string[]
  /** The header in which these name the client, in lowercase. */
  readonly clientHeader: string
}

export const accessDefaults: AccessOptions = { hostNames: [], trustedProxies: [], clientHeader: 'x-forwarded-for' }

/** A request as access depends on it. */
export interface AccessRequest {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** The other end of the connection. */
  readonly address: string | undefined
}

/** Who may do what, by address, headers and the token of the owner. */
export class Access {
  readonly #names: readonly string[]
  readonly #proxies: BlockList | undefined
  readonly #header: string
  readonly #token: Uint8Array | undefined

  /** `hosts` are what the node listens on: names as good as configured ones. A UserError for a proxy that is no address. */
  constructor(options: AccessOptions, token: Uint8Array | undefined, hosts: readonly string[] = []) {
    this.#names = [...options.hostNames, ...hosts].map((name) => name.toLowerCase())
    this.#proxies = options.trustedProxies.length === 0 ? undefined : listOf(options.trustedProxies)
    this.#header = options.clientHeader.toLowerCase()
    this.#token = token
  }

  /** Whether a proxy stands in front: then no request counts as one of this machine. */
  get proxied(): boolean {
    return this.#proxies !== undefined
  }

  isProxy(address: string | undefined): boolean {
    if (this.#proxies === undefined || address === undefined) return false
    const family = isIP(address)
    return family !== 0 && this.#proxies.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }

  /** Whether a connection comes from this machine and from no proxy. */
  isLocal(address: string | undefined): boolean {
    return this.#proxies === undefined && isLoopback(address)
  }

  /**
   * The address of the client: the other end of the connection, or what a proxy says of it. Of several in the header the
   * last one that is no proxy, for a client can write the others itself.
   */
  clientAddress({ headers, socket: { remoteAddress } }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
    const address = remoteAddress ?? ''
    if (!this.isProxy(address)) return address
    const named = forwarded(this.#header, headers)
    for (let at = named.length - 1; at >= 0; at--) {
      const one = named[at] as string
      if (isIP(one) === 0) break
      if (!this.isProxy(one)) return one
    }
    return address
  }

  /** Why a request may not change the node; undefined: where it comes from does not forbid it. */
  controlRefusal({ headers, address }: AccessRequest): string | undefined {
    const host = isLoopback(address) || this.isProxy(address) ? hostRefusal(headers, this.#names) : undefined
    return host ?? crossSiteRefusal(headers, this.#names)
  }

  /** Why it may not do what only the owner may. */
  adminRefusal({ headers }: Pick<AccessRequest, 'headers'>): string | undefined {
    return adminRefusal(this.#token, headers)
  }

  /**
   * Why it may not do what is for this machine and for holders of the token. A link or an image of a page can make a GET,
   * so one that comes from a page needs the token even here.
   */
  strangerRefusal(request: AccessRequest): string | undefined {
    const { headers, address, method = 'POST' } = request
    const fromPage = method !== 'POST' && headers.origin !== undefined
    const refusal = this.controlRefusal(request)
    return refusal ?? (this.isLocal(address) && !fromPage ? undefined : this.adminRefusal(request))
  }
}

function listOf(proxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
    if (family === 0 || length < 0 || length > most) {
      throw new UserError(`api.trustedProxies: ${proxy} is no IP address and no network such as 10.0.0.0/8`, 2)
    }
    list.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** The addresses that a header names, in its order: a list as in X-Forwarded-For, or the elements of Forwarded. */
function forwarded(name: string, headers: IncomingHttpHeaders): string[] {
  const value = headers[name]
  const texts = (Array.isArray(value) ? value.join(',') : (value ?? '')).split(',')
  if (name !== 'forwarded') return texts.map((text) => bare(text.trim()))
  return texts.map((text) => bare(/(?:^|;)\s*for="?([^;"]*)"?/i.exec(text.trim())?.[1] ?? ''))
}

/** An address without port and brackets. */
function bare(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1]
  return bracketed ?? /^([^:]*):\d+$/.exec(text)?.[1] ?? text
}
