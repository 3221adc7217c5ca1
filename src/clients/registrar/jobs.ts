import { toHex } from '../../base/primitives/bytes.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import type { Clock, Random } from '../../base/runtime/env.js'
import { Refused, type Registration, type RegistrationAnswer, type SignedPayment } from './registration.js'
import type { SigningAsk, SigningSteps } from './signing-steps.js'

/** Registrations under way, in memory alone: a client whose job is gone begins again. */

/** @limit count: registrations that wait to be signed or paid for at one registrar */
const mostJobs = 1000
/** @limit count: registrations of one client of a registrar that wait to be signed or paid for */
const mostOfClient = 100
/** @limit bytes: requests whose registrations wait to be signed or paid for at one registrar; what is kept of one has many times its bytes */
const mostBytes = 4 * 1024 * 1024
/** @limit bytes: the same of one client */
const mostBytesOfClient = 1024 * 1024
/** @tuning count: paid registrations that are remembered, the oldest of which go first */
const mostPaid = 2000
/** @tuning ms: life of a registration that its client does not ask for */
const patience = 600_000

/** Stage of a registration, by the thing that it waits for. */
export type Stage =
  | { readonly waits: 'signature'; readonly steps: SigningSteps; readonly ask: SigningAsk }
  /** The operation is signed, and no node is known to have taken it; `sent`: it may have. */
  | { readonly waits: 'payment'; readonly operation: DidOperation; readonly sent?: SignedPayment }
  | { readonly waits: 'block'; readonly operation: DidOperation; readonly payment: SignedPayment }
  /** It has ended; a client that did not get the answer asks again. */
  | { readonly waits: 'nothing'; readonly answer: RegistrationAnswer }

export interface Job {
  readonly id: string
  readonly kind: Registration
  /** Name of the client that began it. */
  readonly client: string
  readonly did: string
  /** Length of the request. */
  readonly bytes: number
  stage: Stage
  /** Clock time after which it is gone. */
  ends: number
  /** The step under way, which requests that come meanwhile wait for. */
  running?: Promise<RegistrationAnswer> | undefined
}

export class Jobs {
  readonly #jobs = new Map<string, Job>()
  readonly #env: { readonly clock: Clock; readonly random: Random }

  constructor(env: { readonly clock: Clock; readonly random: Random }) {
    this.#env = env
  }

  /** Refuses another registration of so many bytes where too many wait, before anything dear is done for it. */
  requireRoom(client: string, bytes: number): void {
    const now = this.#env.clock.now()
    for (const [id, { ends }] of this.#jobs) if (ends <= now) this.#jobs.delete(id)
    const all = [...this.#jobs.values()].filter(isUnpaid)
    const own = all.filter((job) => job.client === client)
    const sum = (jobs: readonly Job[]) => jobs.reduce((total, job) => total + job.bytes, bytes)
    const isFull = all.length >= mostJobs || sum(all) > mostBytes
    if (own.length < mostOfClient && sum(own) <= mostBytesOfClient && !isFull) return
    const whose = isFull ? 'at this registrar' : 'of this client'
    throw new Refused(
      'busy',
      `too many registrations ${whose} wait to be signed or paid for: go on with some, or try again later`,
      503,
    )
  }

  /** Registrations that wait to be signed or paid for. */
  get waiting(): number {
    const now = this.#env.clock.now()
    return [...this.#jobs.values()].filter((job) => isUnpaid(job) && job.ends > now).length
  }

  begin(job: Omit<Job, 'id' | 'ends' | 'running'>): Job {
    const id = toHex(this.#env.random.bytes(16))
    const made = { ...job, id, ends: this.#env.clock.now() + patience }
    this.#jobs.set(id, made)
    const paid = [...this.#jobs.values()].filter((job) => !isUnpaid(job))
    for (const old of paid.slice(0, Math.max(0, paid.length - mostPaid))) this.#jobs.delete(old.id)
    return made
  }

  /** The job of a client with an id, which lives on. A {@link Refused} where it is gone, or another's. */
  of(id: string, kind: Registration, client: string): Job {
    const job = this.#jobs.get(id)
    const now = this.#env.clock.now()
    if (job !== undefined && job.client === client && job.kind === kind && job.ends > now) {
      job.ends = now + patience
      return job
    }
    const what = `there is no ${kind} with the jobId ${id.slice(0, 64)}`
    // Not 404: the Universal Registrar takes that for a path that is not there.
    throw new Refused('unknownJob', `${what}, or nobody asked for it for long: resolve the DID before you begin again`)
  }

  end({ id }: Job): void {
    this.#jobs.delete(id)
  }
}

/** Whether nothing has been paid for a registration yet: such a one takes a place that others need. */
function isUnpaid({ stage }: Job): boolean {
  return stage.waits === 'signature' || stage.waits === 'payment'
}
