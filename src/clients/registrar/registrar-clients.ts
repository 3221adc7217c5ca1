import { UserError } from '../../base/errors/rule-error.js'
import { formatAmount, parseAmount } from '../../base/primitives/amount.js'
import { fromUtf8, mapKey } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import { requireMembers } from '../../base/primitives/known-members.js'
import type { Clock } from '../../base/runtime/env.js'
import { headerToken } from '../../base/runtime/header-token.js'
import { Refused } from './registration.js'

/** Clients of a registrar, which pays for them: each has a token, a budget and a rate. */

/** @limit count: clients of a registrar */
const mostClients = 1000
/** Visible ASCII: a token stands in a header. */
const tokenForm = /^[\x21-\x7e]{16,512}$/

interface ClientTerms {
  readonly name: string
  /** In units of 10⁻⁸, for all time. */
  readonly budget: bigint
  /** Registrations that may begin in a minute. */
  readonly perMinute: number
}

/** Units of 10⁻⁸ that clients have spent, by their names. */
export type Spent = ReadonlyMap<string, bigint>

/** A client that has shown its token. */
export interface RegistrarClient {
  readonly name: string
  /** Takes one of the registrations that it may begin. A {@link Refused} where there is none left for now. */
  begin(): void
}

/** Keeps what clients have spent, before it is spent. */
export type KeepSpent = (spent: Spent) => void

/** Reads the JSON of a file of clients: `{"clients": [{"name", "token", "budget", "perMinute"}]}`, by SHA-256 of the token. */
export function readClients(value: unknown): ReadonlyMap<string, ClientTerms> {
  requireMembers('the file of clients', value, { clients: 'list' }, ['clients'])
  const { clients } = value as { readonly clients: readonly unknown[] }
  if (clients.length === 0 || clients.length > mostClients) {
    throw new UserError(`the file of clients has ${clients.length} of them, not 1 to ${mostClients}`)
  }
  const found = new Map<string, ClientTerms>()
  const names = new Set<string>()
  for (const [index, client] of clients.entries()) {
    const where = `clients[${index}]`
    const members = { name: 'text', token: 'text', budget: 'text', perMinute: 'whole' } as const
    requireMembers(where, client, members, Object.keys(members))
    const { name, token, budget, perMinute } = client as Record<'name' | 'token' | 'budget', string> & {
      perMinute: number
    }
    if (!/^[\w.-]{1,64}$/.test(name)) throw new UserError(`${where}: a name has 1 to 64 letters, digits and . _ -`)
    if (names.has(name)) throw new UserError(`${where}: the name ${name} stands twice`)
    names.add(name)
    if (!tokenForm.test(token))
      throw new UserError(`${where}: a token has 16 to 512 characters of ASCII, without spaces`)
    const digest = digestOf(token)
    if (found.has(digest)) throw new UserError(`${where}: another client has the same token`)
    const units = parseAmount(budget)
    if (units === undefined) throw new UserError(`${where}: budget is no amount of coins, such as "1.5": ${budget}`)
    found.set(digest, { name, budget: units, perMinute })
  }
  return found
}

/** Budget of a client, and what it has spent of that, in units of 10⁻⁸. */
export interface BudgetState {
  readonly name: string
  readonly budget: bigint
  readonly spent: bigint
}

/** Tells clients by their tokens, and bounds what they do. */
export class RegistrarClients {
  readonly #clients: ReadonlyMap<string, ClientTerms>
  #spent: ReadonlyMap<string, bigint>
  readonly #keep: KeepSpent
  /** Milliseconds that never go back. */
  readonly #clock: Clock
  /** Beginnings that are left, and when that was so. */
  readonly #left = new Map<string, { count: number; at: number }>()

  constructor(
    clients: ReadonlyMap<string, ClientTerms>,
    { spent, keep, clock }: { readonly spent: Spent; readonly keep: KeepSpent; readonly clock: Clock },
  ) {
    this.#clients = clients
    this.#spent = spent
    this.#keep = keep
    this.#clock = clock
  }

  /** The client that an `Authorization` header proves. A {@link Refused} where it proves none. */
  admit(authorization: string | undefined): RegistrarClient {
    const token = headerToken(authorization ?? '')
    const client = tokenForm.test(token) ? this.#clients.get(digestOf(token)) : undefined
    if (client === undefined) {
      throw new Refused(
        'unauthorized',
        'the request needs "Authorization: Bearer TOKEN" with the token of a client, or that as the password of Basic',
        401,
      )
    }
    return { name: client.name, begin: () => this.#takeOne(client) }
  }

  budgets(): BudgetState[] {
    return [...this.#clients.values()].map(({ name, budget }) => ({ name, budget, spent: this.#spent.get(name) ?? 0n }))
  }

  /** Takes a fee from the budget of a client, and keeps that first. Returns what gives it back. */
  spend(name: string, fee: bigint): () => void {
    const terms = [...this.#clients.values()].find((client) => client.name === name)
    const spent = this.#spent.get(name) ?? 0n
    const budget = terms?.budget ?? 0n
    if (spent + fee > budget) {
      const left = formatAmount(budget - spent < 0n ? 0n : budget - spent)
      throw new Refused('budget', `the budget of ${name} has ${left} left, and this costs ${formatAmount(fee)}`, 403)
    }
    this.#change(name, fee)
    return () => this.#change(name, -fee)
  }

  #change(name: string, by: bigint): void {
    const next = new Map([...this.#spent, [name, (this.#spent.get(name) ?? 0n) + by]])
    // Kept first: what could not be written is not spent.
    this.#keep(next)
    this.#spent = next
  }

  #takeOne({ name, perMinute }: ClientTerms): void {
    const now = this.#clock.now()
    const { count, at } = this.#left.get(name) ?? { count: perMinute, at: now }
    const refilled = Math.min(perMinute, count + ((now - at) / 60_000) * perMinute)
    if (refilled < 1) throw new Refused('rate', `${name} may begin ${perMinute} registrations a minute`, 429)
    this.#left.set(name, { count: refilled - 1, at: now })
  }
}

/** Digest of a token: equally long for all, so that comparing tells nothing of one. */
function digestOf(token: string): string {
  return mapKey(sha256(fromUtf8(token)))
}
