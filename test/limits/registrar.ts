import { Jobs, type Stage } from '../../src/clients/registrar/jobs.js'
import type { SigningSteps } from '../../src/clients/registrar/signing-steps.js'
import { PaymentLane } from '../../src/clients/registrar/payment-lane.js'
import { readClients } from '../../src/clients/registrar/registrar-clients.js'
import { registrarPaths } from '../../src/answers/api/paths/registrar-paths.js'
import { quietLog } from '../support/builders/chain.js'
import { limit } from './limit.js'

const env = {
  clock: { now: () => 0 },
  random: { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) },
}

/** A registration that waits to be signed. */
const unsigned = function* (): SigningSteps {
  throw new TypeError('not signed')
}
const key = { id: '', publicKey: new Uint8Array(33) }
const stage: Stage = { waits: 'signature', steps: unsigned(), ask: { name: 'document', text: '', key } }

/** So many registrations that wait, each of so many bytes, and of the client that is named. */
function waiting(count: number, bytes: number, clientOf: (i: number) => string): void {
  const jobs = new Jobs(env)
  for (let i = 0; i < count; i++) {
    const client = clientOf(i)
    jobs.requireRoom(client, bytes)
    jobs.begin({ kind: 'create', did: '', bytes, stage, client })
  }
}

/** So many payments that never end, of the clients that are named; rejects where one is refused. */
async function paying(count: number, clientOf: (i: number) => string): Promise<void> {
  const lane = new PaymentLane()
  const never = new Promise<void>(() => {})
  const begun = Array.from({ length: count }, (_, i) => lane.run(clientOf(i), () => never))
  // A refusal comes at once.
  await Promise.race([...begun, new Promise<void>((resolve) => setImmediate(resolve))])
}

export const registrarLimits = [
  limit({
    name: 'clients/registrar/payment-lane.mostInLane',
    unit: 'count',
    value: 100,
    feed: (n) => paying(n, (i) => `client ${i % 50}`),
    refusal: 'too many registrations at this registrar are being paid for',
  }),
  limit({
    name: 'clients/registrar/payment-lane.mostOfLane',
    unit: 'count',
    value: 20,
    feed: (n) => paying(n, () => 'app'),
    refusal: 'too many registrations of this client are being paid for',
  }),
  limit({
    name: 'clients/registrar/jobs.mostJobs',
    unit: 'count',
    value: 1000,
    feed: (n) => waiting(n, 1, (i) => `client ${i % 50}`),
    refusal: 'too many registrations at this registrar wait',
  }),
  limit({
    name: 'clients/registrar/jobs.mostOfClient',
    unit: 'count',
    value: 100,
    feed: (n) => waiting(n, 1, () => 'app'),
    refusal: 'too many registrations of this client wait',
  }),
  limit({
    name: 'clients/registrar/jobs.mostBytes',
    unit: 'bytes',
    value: 4 * 1024 * 1024,
    feed: (n) => waiting(8, n / 8, (i) => `client ${i}`),
    refusal: 'too many registrations at this registrar wait',
  }),
  limit({
    name: 'clients/registrar/jobs.mostBytesOfClient',
    unit: 'bytes',
    value: 1024 * 1024,
    feed: (n) => waiting(4, n / 4, () => 'app'),
    refusal: 'too many registrations of this client wait',
  }),
  limit({
    name: 'clients/registrar/registrar-clients.mostClients',
    unit: 'count',
    value: 1000,
    feed: (n) => {
      const clients = Array.from({ length: n }, (_, i) => {
        return { name: `${i}`, token: `token-of-client-${i}`, budget: '1', perMinute: 1 }
      })
      readClients({ clients })
    },
    refusal: 'the file of clients has 1001 of them',
  }),
  limit({
    name: 'answers/api/paths/registrar-paths.longestBody',
    unit: 'bytes',
    value: 64 * 1024,
    feed: (n) => {
      const registrar = { handle: () => Promise.reject(new Error('not asked')) }
      const access = { strangerRefusal: () => undefined }
      const rows = registrarPaths({ registrar, access, log: quietLog() })
      // Each port refuses what is longer than its row says: 413 in test/behaviour/registrar.
      return rows.every(({ body = 0 }) => n <= body) ? undefined : 'longer than the row takes'
    },
    refusal: 'longer than the row takes',
  }),
]
