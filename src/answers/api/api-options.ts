import { Type } from '@sinclair/typebox'
import { type Dereference, dereferenceForms } from '../identifiers/identifier-answer.js'
import { optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { accessDefaults, type AccessOptions } from './http/access-options.js'
import { type ApiLimits, apiLimits } from './api-limits.js'
import { loopbackHosts } from './http/origin.js'

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
}

/** Default of the option of a node, a driver and a light resolver. */
export const dereferenceText =
  'how the address of a service is answered: redirect leads to wherever its owner says, url answers it as text'

const option = optionsFor<'api', ApiTarget>()

export const apiOptions = {
  host: option({
    key: 'api.host',
    flag: '--host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    default: [...loopbackHosts],
    description: 'addresses to listen on',
    expects: 'a list of 1 to 16 different addresses',
    sets: 'hosts',
  }),
  hostNames: option({
    key: 'api.hostNames',
    flag: '--host-name <name...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { maxItems: 16, uniqueItems: true }),
    default: [],
    description: 'names in Host by which the node may be changed, beside those of this machine',
    expects: 'a list of at most 16 different names',
    sets: 'hostNames',
  }),
  trustedProxies: option({
    key: 'api.trustedProxies',
    flag: '--trusted-proxy <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { maxItems: 64, uniqueItems: true }),
    default: [],
    description: 'addresses or networks of proxies in front: clients are those they name, and none is of this machine',
    expects: 'a list of at most 64 IP addresses, or networks such as 10.0.0.0/8',
    sets: 'trustedProxies',
  }),
  clientHeader: option({
    key: 'api.clientHeader',
    flag: '--client-header <name>',
    schema: Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
    default: accessDefaults.clientHeader,
    description: 'header in which these proxies name the client',
    expects: 'the name of a header',
    sets: 'clientHeader',
  }),
  pages: option({
    key: 'api.pages',
    flag: '--no-pages',
    schema: Type.Boolean(),
    default: true,
    description: 'serve no pages at / of the REST port',
    expects: 'true or false',
    sets: 'pages',
  }),
  metricsHost: option({
    key: 'api.metricsHost',
    flag: '--metrics-host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    description:
      'addresses for /metrics alone, at the port base and 7; the REST port, which may be public, then has none',
    expects: 'a list of 1 to 16 different addresses',
    sets: 'metricsHosts',
  }),
  dereference: option({
    key: 'api.dereference',
    flag: '--dereference <how>',
    schema: Type.Union(dereferenceForms.map((form) => Type.Literal(form))),
    default: 'redirect',
    description: dereferenceText,
    expects: 'one of redirect, url',
    sets: 'dereference',
  }),
  connections: option({
    key: 'api.connections',
    flag: '--connections <n>',
    ...wholeNumber(1, 65_535, 'a number of connections'),
    default: apiLimits.connections,
    description: 'connections that each port and address takes at once',
    unit: 'connections',
    tuning: true,
    sets: 'connections',
  }),
  connectionsPerAddress: option({
    key: 'api.connectionsPerAddress',
    flag: '--connections-per-address <n>',
    ...wholeNumber(1, 65_535, 'a number of connections'),
    default: apiLimits.connectionsPerAddress,
    description: 'connections among them, and among those of WebSocket, of one client address or /64 of IPv6',
    unit: 'connections',
    tuning: true,
    sets: 'connectionsPerAddress',
  }),
  wsConnections: option({
    key: 'api.wsConnections',
    flag: '--ws-connections <n>',
    ...wholeNumber(1, 65_535, 'a number of connections'),
    default: apiLimits.wsConnections,
    description: 'WebSocket connections that each address takes at once, on both of their ports together',
    unit: 'connections',
    tuning: true,
    sets: 'wsConnections',
  }),
  batch: option({
    key: 'api.batch',
    flag: '--rpc-batch <n>',
    ...wholeNumber(1, 10_000, 'a number of requests'),
    default: apiLimits.batch,
    description: 'requests that one JSON-RPC batch may hold',
    unit: 'requests',
    tuning: true,
    sets: 'batch',
  }),
  answerCache: option({
    key: 'api.answerCache',
    flag: '--answer-cache <bytes>',
    ...wholeNumber(0, 2 ** 32, 'a number of bytes'),
    default: apiLimits.answerCache,
    description: 'REST answers that are kept until the tip changes',
    unit: 'bytes',
    tuning: true,
    sets: 'answerCache',
  }),
  rateRequests: option({
    key: 'api.rateRequests',
    flag: '--rate-requests <n>',
    ...wholeNumber(1, 2 ** 31, 'a number of requests'),
    default: apiLimits.rateRequests,
    description: 'requests that one address may send in a window, where the node listens beyond loopback',
    unit: 'requests',
    tuning: true,
    sets: 'rateRequests',
  }),
  rateWindow: option({
    key: 'api.rateWindow',
    flag: '--rate-window <ms>',
    ...wholeNumber(100, 24 * 60 * 60 * 1000, 'a number of milliseconds'),
    default: apiLimits.rateWindow,
    description: 'how long that window is',
    unit: 'ms',
    tuning: true,
    sets: 'rateWindow',
  }),
  rateSparesLoopback: option({
    key: 'api.rateSparesLoopback',
    flag: '--no-rate-spares-loopback',
    schema: Type.Boolean(),
    default: apiLimits.rateSparesLoopback,
    description: 'count requests from this machine too, as behind a proxy',
    expects: 'true or false',
    tuning: true,
    sets: 'rateSparesLoopback',
  }),
}
