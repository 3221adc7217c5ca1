import { meanings } from '../../errors/error-codes.js'
import { fromHex, fromUtf8, toHex } from '../../primitives/bytes.js'
import type { Database, Overlay } from '../../storage/database.js'
import { type BanRow, keys, rangeOf, table, values } from '../../storage/schema.js'
import { plainHost, reachOf, siteOf } from '../address/ip-address.js'
import type { PeerRows } from './peer-rows.js'

/** Bans that are kept; of more the one goes that would end first. */
const mostBans = 1000
/** Hosts of banned keys that are remembered; of more the one goes that was noted first. */
const mostSuspects = 1000
/** Bytes of the reason of a ban. */
const banReason = 200

/** Somebody who is kept out for a time. */
export interface Ban extends BanRow {
  /** 64 hex digits of a public key, or the site of a host. */
  readonly subject: string
}

/**
 * Who is kept out, by key and by host, across restarts. Broken rules ban a key alone; its host, which others may share, is
 * suspect for as long, until a restart. Only the owner of the node bans a host.
 */
export class Bans {
  readonly #rows: PeerRows
  readonly #now: () => number
  readonly #bans = new Map<string, Ban>()
  /** Until when a site is suspect. */
  readonly #suspects = new Map<string, number>()

  private constructor(rows: PeerRows, now: () => number) {
    this.#rows = rows
    this.#now = now
  }

  /** Reads the bans of a database; `now` tells Unix milliseconds. */
  static async open(database: Database, rows: PeerRows, now: () => number): Promise<Bans> {
    const bans = new Bans(rows, now)
    for (const [key, value] of await database.rows(rangeOf(table.ban))) {
      const row = values.ban.decode(value)
      const bytes = key.subarray(1)
      bans.#add({ ...row, subject: row.kind === 'key' ? toHex(bytes) : bytes.toString('utf8') })
    }
    await bans.#release()
    return bans
  }

  /** Those that last, the one that ends first at the front. */
  list(): readonly Ban[] {
    const now = this.#now()
    return [...this.#bans.values()].filter(({ until }) => until > now).sort((a, b) => a.until - b.until)
  }

  /** The ban of a key or a host, where there is one. */
  find(publicKey: Uint8Array | undefined, host: string): Ban | undefined {
    const now = this.#now()
    const subjects = [...(publicKey === undefined ? [] : [toHex(publicKey)]), siteOf(host)]
    return subjects.map((subject) => this.#bans.get(subject)).find((ban) => ban !== undefined && ban.until > now)
  }

  /**
   * Bans, for longer if it is banned already, and resolves when that is written. A host of this machine or of a private
   * network is never banned: containers, proxies and carriers put many nodes behind one.
   */
  async add(kind: Ban['kind'], subject: string, until: number, reason: string): Promise<void> {
    const name = kind === 'key' ? subject.toLowerCase() : siteOf(subject)
    if (kind === 'host' && !isBannableHost(name)) return
    const before = this.#bans.get(name)
    if (before !== undefined && before.until >= until) return
    const ban: Ban = { kind, subject: name, until, reason: shortened(reason) }
    const dropped = this.#add(ban)
    await this.#rows.write((overlay) => {
      overlay.put(keyOf(ban), values.ban.encode(ban))
      // The one that ends first may be this one.
      dropped.forEach((gone) => overlay.del(keyOf(gone)))
    })
  }

  /** Notes that a key of this host was banned. */
  suspect(host: string, until: number): void {
    if (!isBannableHost(host)) return
    this.#suspects.delete(siteOf(host))
    this.#suspects.set(siteOf(host), until)
    if (this.#suspects.size > mostSuspects) this.#suspects.delete(this.#suspects.keys().next().value as string)
  }

  /** Whether a key of this host was banned lately: its next connections are refused where places are scarce. */
  suspects(host: string): boolean {
    return (this.#suspects.get(siteOf(host)) ?? -Infinity) > this.#now()
  }

  /** Takes a ban back, and with that of a host the suspicion; false where there is none. */
  async remove(subject: string): Promise<boolean> {
    this.#suspects.delete(siteOf(subject))
    const ban = this.#bans.get(subject.toLowerCase()) ?? this.#bans.get(siteOf(subject))
    if (ban === undefined) return false
    this.#bans.delete(ban.subject)
    await this.#rows.write((overlay) => overlay.del(keyOf(ban)))
    return ban.until > this.#now()
  }

  /** Forgets those that are over. */
  expire(): void {
    const now = this.#now()
    const over = [...this.#bans.values()].filter(({ until }) => until <= now)
    if (over.length === 0) return
    over.forEach(({ subject }) => this.#bans.delete(subject))
    void this.#rows.write((overlay: Overlay) => over.forEach((ban) => overlay.del(keyOf(ban))))
  }

  /** Hosts that earlier versions banned for the rules that a guest broke are suspect only, private ones not even that. */
  async #release(): Promise<void> {
    const hosts = [...this.#bans.values()].filter(({ kind }) => kind === 'host')
    const released = hosts.filter(({ subject, reason }) => !isBannableHost(subject) || isOfRules(reason))
    if (released.length === 0) return
    for (const { subject, until } of released) {
      this.#bans.delete(subject)
      this.suspect(subject, until)
    }
    await this.#rows.write((overlay) => released.forEach((ban) => overlay.del(keyOf(ban))))
  }

  /** Keeps one and returns those that have to go for it. */
  #add(ban: Ban): Ban[] {
    this.#bans.set(ban.subject, ban)
    if (this.#bans.size <= mostBans) return []
    const [first] = [...this.#bans.values()].sort((a, b) => a.until - b.until)
    if (first === undefined) return []
    this.#bans.delete(first.subject)
    return [first]
  }
}

/** Whether a host, or a site, is one of the world. */
export function isBannableHost(host: string): boolean {
  return reachOf(plainHost(host).replace(/\/64$/, '')) === 'world'
}

/** Whether a reason is one that a node gives, which begins with a code. */
function isOfRules(reason: string): boolean {
  const [, code = ''] = /^([a-z0-9-]+): /.exec(reason) ?? []
  return code in meanings
}

function keyOf({ kind, subject }: Ban): Buffer {
  return keys.ban(kind === 'key' ? (fromHex(subject) as Uint8Array) : fromUtf8(subject))
}

/** At most so many bytes of a text, without what a log or a terminal could stumble over. */
function shortened(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, banReason)
}
