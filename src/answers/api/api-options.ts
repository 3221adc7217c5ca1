import { Type } from '@sinclair/typebox'
import { type Dereference, dereferenceForms } from '../identifiers/identifier-answer.js'
import { oneOf, onOrOff, optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { accessDefaults, type AccessOptions } from './http/access-options.js'
import { type ApiLimits, apiLimits } from './api-limits.js'
import { configuredName, loopbackHosts } from './http/origin.js'

/** Settings made by the options of REST, JSON-RPC and WebSocket. */
export interface ApiTarget extends ApiLimits, AccessOptions {
  /** Addresses to listen on. */
  readonly hosts: readonly string[]
  /** Whether the REST port serves the pages. */
  readonly pages: boolean
  /** Addresses for the metrics alone, which the REST port then does not have. */
  readonly metricsHosts: readonly string[]
  /** How the address of a service is answered. */
  readonly dereference: Dereference
  /** Seconds for which a node that was told to stop still serves, while `/readyz` says that it stops. */
  readonly drain: number
}

/** Default of the option of a node, a driver and a light resolver. */
export const dereferenceText =
  'how the address of a service is answered: redirect leads to wherever its owner says, url answers it as text'

const { option, tuning, table } = optionsFor<ApiTarget>()

export const apiOptions = table('api', {
  host: option('hosts', {
    flag: '--host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    default: [...loopbackHosts],
    description: 'addresses to listen on',
    expects: 'a list of 1 to 16 different addresses',
  }),
  hostNames: option({
    flag: '--host-name <name...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { maxItems: 16, uniqueItems: true }),
    default: [],
    description: 'names in Host by which the node may be changed, beside those of this machine',
    expects: 'a list of at most 16 different names, without scheme, port and *',
    check: (names) => names.every((name) => configuredName(name) !== undefined),
  }),
  trustedProxies: option({
    flag: '--trusted-proxy <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { maxItems: 64, uniqueItems: true }),
    default: [],
    description: 'addresses or networks of proxies in front: clients are those they name, and none is of this machine',
    expects: 'a list of at most 64 IP addresses, or networks such as 10.0.0.0/8',
  }),
  clientHeader: option({
    flag: '--client-header <name>',
    schema: Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
    default: accessDefaults.clientHeader,
    description: 'header in which these proxies name the client',
    expects: 'the name of a header',
  }),
  pages: option({
    flag: '--no-pages',
    ...onOrOff(true),
    description: 'serve no pages at / of the REST port',
  }),
  metricsHost: option('metricsHosts', {
    flag: '--metrics-host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    description:
      'addresses for /metrics alone, at the port base and 7; the REST port, which may be public, then has none',
    expects: 'a list of 1 to 16 different addresses',
  }),
  dereference: option({
    flag: '--dereference <how>',
    ...oneOf(dereferenceForms),
    default: 'redirect',
    description: dereferenceText,
  }),
  drain: option({
    flag: '--drain <seconds>',
    ...wholeNumber(0, 3600, 's'),
    default: 0,
    description: 'how long a node that was told to stop goes on serving with /readyz at 503, so that balancers notice',
  }),
  connections: tuning({
    flag: '--connections <n>',
    ...wholeNumber(1, 65_535, 'connections'),
    default: apiLimits.connections,
    description: 'connections that each port and address takes at once',
  }),
  connectionsPerAddress: tuning({
    flag: '--connections-per-address <n>',
    ...wholeNumber(1, 65_535, 'connections'),
    default: apiLimits.connectionsPerAddress,
    description: 'connections among them, and among those of WebSocket, of one client address or /64 of IPv6',
  }),
  wsConnections: tuning({
    flag: '--ws-connections <n>',
    ...wholeNumber(1, 65_535, 'connections'),
    default: apiLimits.wsConnections,
    description: 'WebSocket connections that each address takes at once, on both of their ports together',
  }),
  batch: tuning({
    flag: '--rpc-batch <n>',
    ...wholeNumber(1, 10_000, 'requests'),
    default: apiLimits.batch,
    description: 'requests that one JSON-RPC batch may hold',
  }),
  answerCache: tuning({
    flag: '--answer-cache <bytes>',
    ...wholeNumber(0, 2 ** 32, 'bytes'),
    default: apiLimits.answerCache,
    description: 'answers of all interfaces that are kept until the tip changes',
  }),
  rateRequests: tuning({
    flag: '--rate-requests <n>',
    ...wholeNumber(1, 2 ** 31, 'requests'),
    default: apiLimits.rateRequests,
    description: 'requests that one address may send in a window, where the node listens beyond loopback',
  }),
  rateWindow: tuning({
    flag: '--rate-window <ms>',
    ...wholeNumber(100, 24 * 60 * 60 * 1000, 'ms'),
    default: apiLimits.rateWindow,
    description: 'how long that window is',
  }),
  rateSparesLoopback: tuning({
    flag: '--no-rate-spares-loopback',
    ...onOrOff(apiLimits.rateSparesLoopback),
    description: 'count requests from this machine too, as behind a proxy',
  }),
})
