import { Type } from '@sinclair/typebox'
import { option, wholeNumber } from '../option.js'
import { apiLimits } from './limits.js'
import { loopbackHosts } from './origin.js'

export const apiOptions = {
  host: option({
    key: 'api.host',
    flag: '--host <address...>',
    schema: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, uniqueItems: true }),
    default: [...loopbackHosts],
    description: 'addresses to listen on',
    expects: 'a list of 1 to 16 different addresses',
  }),
  connections: option({
    key: 'api.connections',
    flag: '--connections <n>',
    ...wholeNumber(1, 65_535, 'a number of connections'),
    default: apiLimits.connections,
    description: 'connections that each port and address takes at once',
    unit: 'connections',
    tuning: true,
  }),
  wsConnections: option({
    key: 'api.wsConnections',
    flag: '--ws-connections <n>',
    ...wholeNumber(1, 65_535, 'a number of connections'),
    default: apiLimits.wsConnections,
    description: 'WebSocket connections that each address takes at once',
    unit: 'connections',
    tuning: true,
  }),
  batch: option({
    key: 'api.batch',
    flag: '--rpc-batch <n>',
    ...wholeNumber(1, 10_000, 'a number of requests'),
    default: apiLimits.batch,
    description: 'requests that one JSON-RPC batch may hold',
    unit: 'requests',
    tuning: true,
  }),
  answerCache: option({
    key: 'api.answerCache',
    flag: '--answer-cache <bytes>',
    ...wholeNumber(0, 2 ** 32, 'a number of bytes'),
    default: apiLimits.answerCache,
    description: 'REST answers that are kept until the tip changes',
    unit: 'bytes',
    tuning: true,
  }),
  rateRequests: option({
    key: 'api.rateRequests',
    flag: '--rate-requests <n>',
    ...wholeNumber(1, 2 ** 31, 'a number of requests'),
    default: apiLimits.rateRequests,
    description: 'requests that one address may send in a window, where the node listens beyond loopback',
    unit: 'requests',
    tuning: true,
  }),
  rateWindow: option({
    key: 'api.rateWindow',
    flag: '--rate-window <ms>',
    ...wholeNumber(100, 24 * 60 * 60 * 1000, 'a number of milliseconds'),
    default: apiLimits.rateWindow,
    description: 'how long that window is',
    unit: 'ms',
    tuning: true,
  }),
  rateSparesLoopback: option({
    key: 'api.rateSparesLoopback',
    flag: '--no-rate-spares-loopback',
    schema: Type.Boolean(),
    default: apiLimits.rateSparesLoopback,
    description: 'count requests from this machine too, as behind a proxy',
    expects: 'true or false',
    tuning: true,
  }),
}
