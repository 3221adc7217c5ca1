import { LruMap } from '../../base/runtime/lru-map.js'
import { meanings } from '../../base/errors/error-codes.js'
import { fromHex, fromUtf8, toHex } from '../../base/primitives/bytes.js'
import type { Database } from '../../ledger/storage/database.js'
import type { Overlay } from '../../ledger/storage/write/overlay.js'
import type { BanRow } from '../../ledger/storage/rows/network-tables.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import { plainHost, reachOf, siteOf } from '../address/ip-address.js'
import type { PeerRows } from './peer-rows.js'

/** @limit count: bans; the one that ends first leaves first */
const mostBans = 1000
/** @limit count: kept hosts of banned keys; the oldest leaves first */
const mostSuspects = 1000
/** @limit bytes: reason of a ban */
const banReason = 200

/** A key or site that is refused until a time. */
export interface Ban extends BanRow {
  /** 64 hex digits of a public key, or the site of a host. */
  readonly subject: string
}

/**
 * Bans of keys and hosts, persisted across restarts. Broken rules ban the key only. Its host, which other nodes may share,
 * is suspect for the same time or until a restart. Only the operator bans a host.
 */
export class Bans {
  readonly #rows: PeerRows
  readonly #now: () => number
  readonly #bans = new Map<string, Ban>()
  /** End of the suspicion by site, in Unix milliseconds. */
  readonly #suspects = new LruMap<number>(mostSuspects)

  private constructor(rows: PeerRows, now: () => number) {
    this.#rows = rows
    this.#now = now
  }

  /** Loads the bans from the database; `now`: Unix milliseconds. */
  static async open(database: Database, rows: PeerRows, now: () => number): Promise<Bans> {
    const bans = new Bans(rows, now)
    for (const [key, value] of await database.rows(tables.ban.range())) {
      const row = tables.ban.decode(value)
      const bytes = key.subarray(1)
      bans.#add({ ...row, subject: row.kind === 'key' ? toHex(bytes) : bytes.toString('utf8') })
    }
    await bans.#release()
    return bans
  }

  /** Current bans, the one that ends first at the front. */
  list(): readonly Ban[] {
    const now = this.#now()
    return [...this.#bans.values()].filter(({ until }) => until > now).sort((a, b) => a.until - b.until)
  }

  /** The current ban of a key or a host, if any. */
  find(publicKey: Uint8Array | undefined, host: string): Ban | undefined {
    const now = this.#now()
    const subjects = [...(publicKey === undefined ? [] : [toHex(publicKey)]), siteOf(host)]
    return subjects.map((subject) => this.#bans.get(subject)).find((ban) => ban !== undefined && ban.until > now)
  }

  /**
   * Adds a ban, or prolongs one; resolves when written. Never bans hosts of this machine or of private networks:
   * containers, proxies and carriers put many nodes behind one address.
   */
  async add(kind: Ban['kind'], subject: string, until: number, reason: string): Promise<void> {
    // A key is no address, and its own site.
    const name = siteOf(subject)
    if (kind === 'host' && !isBannableHost(name)) return
    const before = this.#bans.get(name)
    if (before !== undefined && before.until >= until) return
    const ban: Ban = { kind, subject: name, until, reason: shortened(reason) }
    const evictedBans = this.#add(ban)
    await this.#rows.write((overlay) => {
      overlay.put(keyOf(ban), tables.ban.encode(ban))
      // The evicted ban may be the new one.
      evictedBans.forEach((evicted) => overlay.del(keyOf(evicted)))
    })
  }

  /** Notes that a key of this host was banned. */
  suspect(host: string, until: number): void {
    if (!isBannableHost(host)) return
    this.#suspects.set(siteOf(host), until)
  }

  /** Whether a key of this host was banned recently: new connections are refused while inbound slots are scarce. */
  suspects(host: string): boolean {
    return (this.#suspects.peek(siteOf(host)) ?? -Infinity) > this.#now()
  }

  /** Removes a ban, and the suspicion of a host; false if there is none. */
  async remove(subject: string): Promise<boolean> {
    this.#suspects.delete(siteOf(subject))
    const ban = this.#bans.get(subject.toLowerCase()) ?? this.#bans.get(siteOf(subject))
    if (ban === undefined) return false
    this.#bans.delete(ban.subject)
    await this.#rows.write((overlay) => overlay.del(keyOf(ban)))
    return ban.until > this.#now()
  }

  /** Deletes bans that have ended. */
  expire(): void {
    const now = this.#now()
    const over = [...this.#bans.values()].filter(({ until }) => until <= now)
    if (over.length === 0) return
    over.forEach(({ subject }) => this.#bans.delete(subject))
    void this.#rows.write((overlay: Overlay) => over.forEach((ban) => overlay.del(keyOf(ban))))
  }

  /** Removes host bans of earlier versions: broken rules → suspect instead; private host → neither. */
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

  /** Adds a ban and returns the evicted ones. */
  #add(ban: Ban): Ban[] {
    this.#bans.set(ban.subject, ban)
    if (this.#bans.size <= mostBans) return []
    const [first] = [...this.#bans.values()].sort((a, b) => a.until - b.until)
    if (first === undefined) return []
    this.#bans.delete(first.subject)
    return [first]
  }
}

/** Whether a host or site has world reach. */
export function isBannableHost(host: string): boolean {
  return reachOf(plainHost(host).replace(/\/64$/, '')) === 'world'
}

/** Whether a reason was written by the node: it begins with a code. */
function isOfRules(reason: string): boolean {
  const [, code = ''] = /^([a-z0-9-]+): /.exec(reason) ?? []
  return code in meanings
}

function keyOf({ kind, subject }: Ban): Buffer {
  return tables.ban.key(kind === 'key' ? (fromHex(subject) as Uint8Array) : fromUtf8(subject))
}

/** Printable ASCII of at most {@link banReason} bytes, safe for logs and terminals. */
function shortened(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, banReason)
}
