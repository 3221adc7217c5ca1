import type { IncomingHttpHeaders } from 'node:http'
import { BlockList } from 'node:net'
import { familyOf } from '../../../base/runtime/ip-family.js'
import { UserError } from '../../../base/errors/rule-error.js'
import { splitOutsideQuotes } from '../../../base/primitives/quoted-parts.js'
import type { AccessOptions } from './access-options.js'
import { adminRefusal } from './admin-token.js'
import type { AllowedOrigins, PageRefusal } from './allowed-origins.js'
import { configuredName, hostRefusal, isCrossSite, isLoopback, isOwnHost } from './origin.js'

/** The parts of a request on which access depends. */
export interface AccessRequest {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Remote address of the connection. */
  readonly address: string | undefined
}

/** Parts of a request from which its origin follows. */
interface RequestOrigin {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Why calls of a connection are refused; undefined: they are allowed. */
export interface ConnectionRefusals {
  readonly controlRefusal: string | undefined
  readonly adminRefusal: string | undefined
  readonly strangerRefusal: string | undefined
  readonly elsewhereRefusal: string | undefined
}

/** Decides what a request may do, by address, headers and the owner's token. */
export class Access {
  readonly #names: readonly string[]
  readonly #proxies: BlockList | undefined
  readonly #header: string
  readonly #token: Uint8Array | undefined
  readonly #origins: AllowedOrigins | undefined

  /**
   * `hosts`: addresses listened on, which count as configured names. `origins`: pages of other sites that a devnet lets in; absent:
   * none. Throws a UserError for a proxy that is no address.
   */
  constructor(
    options: AccessOptions,
    token: Uint8Array | undefined,
    hosts: readonly string[] = [],
    origins?: AllowedOrigins,
  ) {
    this.#origins = origins
    this.#names = [...options.hostNames, ...hosts].map((name) => configuredName(name) ?? name.toLowerCase())
    this.#proxies = options.trustedProxies.length === 0 ? undefined : listOf(options.trustedProxies)
    this.#header = options.clientHeader.toLowerCase()
    this.#token = token
  }

  /** Whether proxies are configured: then no request counts as local. */
  get proxied(): boolean {
    return this.#proxies !== undefined
  }

  isProxy(address: string | undefined): boolean {
    if (this.#proxies === undefined || address === undefined) return false
    const family = familyOf(address)
    return family !== 0 && this.#proxies.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }

  /** Whether a connection comes from this machine, with no proxy configured. */
  isLocal(address: string | undefined): boolean {
    return this.#proxies === undefined && isLoopback(address)
  }

  /**
   * Address of the client: the remote address, or the one that a trusted proxy reports. Of several in the header the last one
   * that is no proxy counts: a client can write the others itself. Where all are proxies it is the furthest of them, as a client in
   * a trusted network stands there too.
   */
  clientAddress({ headers, socket: { remoteAddress } }: RequestOrigin): string {
    let address = remoteAddress ?? ''
    const named = this.isProxy(address) ? forwarded(this.#header, headers) : []
    for (let one = named.pop(); one !== undefined && familyOf(one) !== 0; one = named.pop()) {
      address = one
      if (!this.isProxy(one)) break
    }
    return address
  }

  /** Reason to refuse a request that changes the node; undefined: its origin is allowed. */
  controlRefusal(request: AccessRequest): string | undefined {
    return this.#reported(this.#controlRefusal(request))
  }

  #controlRefusal({ headers, address }: AccessRequest): PageRefusal | undefined {
    const host = isLoopback(address) || this.isProxy(address) ? hostRefusal(headers, this.#names) : undefined
    if (host !== undefined) return { reason: host }
    if (this.originHeaders({ headers }) !== undefined || !isCrossSite(headers, this.#names)) return undefined
    const reason = 'a page of another site may not do this'
    const couldAllow = isOwnHost(headers, this.#names) ? this.#origins : undefined
    return couldAllow?.refusal(reason, headers.origin) ?? { reason }
  }

  #reported(refusal: PageRefusal | undefined): string | undefined {
    if (refusal !== undefined) this.#origins?.report(refusal)
    return refusal?.reason
  }

  /** CORS headers for a page of another site that is allowed what pages of this one are; undefined for all others. */
  originHeaders({ headers }: Pick<AccessRequest, 'headers'>): Record<string, string> | undefined {
    const { origin } = headers
    // A name that is none of the node's may have been pointed here by anyone.
    if (this.#origins?.has(origin) !== true || origin === undefined || !isOwnHost(headers, this.#names))
      return undefined
    return this.#origins.headersFor(origin)
  }

  /** Reason to refuse a request that only the owner may make. */
  adminRefusal({ headers }: Pick<AccessRequest, 'headers'>): string | undefined {
    return adminRefusal(this.#token, headers)
  }

  /** Reason to refuse a request that has to come from this machine, by itself and not through a proxy; undefined: it does. */
  elsewhereRefusal({ headers, address }: AccessRequest): string | undefined {
    const client = this.clientAddress({ headers, socket: { remoteAddress: address } })
    return isLoopback(client) ? undefined : 'only programs on the machine of the node may ask for this'
  }

  /**
   * Reason to refuse a request that needs this machine or the token. A link or an image of a page can make a GET, so a GET from a
   * page needs the token even on this machine.
   */
  strangerRefusal(request: AccessRequest): string | undefined {
    return this.controlRefusal(request) ?? this.#outsiderRefusal(request)
  }

  #outsiderRefusal(request: AccessRequest): string | undefined {
    const { headers, address, method = 'POST' } = request
    const fromPage = method !== 'POST' && headers.origin !== undefined
    return this.isLocal(address) && !fromPage ? undefined : this.adminRefusal(request)
  }

  /** Refusals of the calls that a connection will make: found now, for the request is not kept; reported when a call asks. */
  refusalsOf(request: AccessRequest): ConnectionRefusals {
    const control = this.#controlRefusal(request)
    const outsider = this.#outsiderRefusal(request)
    const reported = () => this.#reported(control)
    return {
      adminRefusal: this.adminRefusal(request),
      elsewhereRefusal: this.elsewhereRefusal(request),
      get controlRefusal() {
        return reported()
      },
      get strangerRefusal() {
        return reported() ?? outsider
      },
    }
  }
}

function listOf(proxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const family = familyOf(address)
    const most = family === 6 ? 128 : 32
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
    if (family === 0 || length < 0 || length > most) {
      throw new UserError(`api.trustedProxies: ${proxy} is no IP address and no network such as 10.0.0.0/8`, 2)
    }
    list.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** Addresses in a header, in order: a list as in X-Forwarded-For, or the elements of Forwarded. */
function forwarded(name: string, headers: IncomingHttpHeaders): string[] {
  const value = headers[name]
  const text = Array.isArray(value) ? value.join(',') : (value ?? '')
  const isElements = name === 'forwarded'
  return (isElements ? splitOutsideQuotes(text, ',') : text.split(','))
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => bare(unquoted(isElements ? forOf(part) : part)))
}

/** The parameter `for` of an element of Forwarded (RFC 7239 §4); empty without one. A client chooses the value of `host`. */
function forOf(element: string): string {
  const values = splitOutsideQuotes(element, ';').map((pair) => /^\s*for=("[^"]*"|[^\s;"]*)/i.exec(pair)?.[1])
  return values.find((value) => value !== undefined) ?? ''
}

function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, '$1')
}

/** Strips port and brackets from an address. */
function bare(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1]
  return bracketed ?? /^([^:]*):\d+$/.exec(text)?.[1] ?? text
}
