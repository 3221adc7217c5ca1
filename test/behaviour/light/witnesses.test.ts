import { describe, expect, it, vi } from 'vitest'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import { verifierKeyText } from '../../../src/identity/proofs/witness-note.js'
import type { LightError } from '../../../src/clients/light/light-error.js'
import { LightResolver, type LightOptions } from '../../../src/clients/light/light-resolver.js'
import { LongChain } from '../../support/builders/long-chain.js'
import { failureOf, lightWorld } from '../../support/builders/light-world.js'
import type { BlockPlan, ProofBook } from '../../support/builders/proof-book.js'
import {
  branchOf,
  freshSigns,
  lineOver,
  noteOver,
  signerOf,
  witnessOver,
  withWitnesses,
  witnessSecret,
} from '../../support/builders/witness-world.js'
import { lightServers, type ProofServer } from '../../support/fakes/light-server.js'

/** Resolvers that need witnesses, and witnesses over servers. */

const world = lightWorld({ changeAt: 9 })
const { book, alice } = world
const tip = book.tip.height
/** The same chain up to block 12; the same validators confirm another above. */
const rival = branchOf(
  book,
  12,
  Array.from({ length: tip - 12 }, () => ({ padding: 3 })),
)
const miners = lightWorld({ miners: true })
const secrets = ['w.example/1', 'w.example/2', 'w.example/3'].map(witnessSecret) as [Secret, Secret, Secret]
type Secret = ReturnType<typeof witnessSecret>
const keyOf = (secret: Secret, url = '') => verifierKeyText(secret.key) + url

/** A server whose witnesses have cosigned up to a height, or the heights given. */
const cosignedUpTo =
  (of: ProofBook, ...tips: number[]): NonNullable<ProofServer['cosigned']> =>
  (height) =>
    tips.flatMap((most, i) => (height <= most ? [lineOver(of, height, secrets[i] as Secret)] : []))

function lightOf(server: ProofServer, options: Partial<LightOptions> = {}, fetch = lightServers({ node: server })) {
  const { time } = server.book.tip
  return new LightResolver({
    ...{ servers: ['http://node'], trust: server.book.trust(), fetch, now: () => time * 1000 },
    witnesses: { keys: secrets.map((one) => keyOf(one)), needed: 2 },
    ...options,
  })
}

describe('a resolver that needs witnesses', () => {
  it('takes the newest block if enough have cosigned it, and says who', async () => {
    const { proved } = await lightOf({ book, cosigned: cosignedUpTo(book, tip, tip - 3, tip) }).resolve(alice.did)
    expect(proved).toMatchObject({ height: tip, witnesses: ['w.example/1', 'w.example/3'] })
  })

  it('takes the newest block that enough have cosigned while that is fresh, and tells its age', async () => {
    const server = { book, cosigned: cosignedUpTo(book, tip, tip - 3, tip - 5) }
    const light = lightOf(server)
    expect((await light.resolve(alice.did)).proved).toMatchObject({
      height: tip - 3,
      age: 30,
      witnesses: ['w.example/1', 'w.example/2'],
    })
    expect((await light.resolveCredential(world.kept)).proved).toMatchObject({ height: tip - 3 })
    expect(await failureOf(lightOf(server, { maxAge: 29 }).resolve(alice.did))).toBe('stale')
    expect((await lightOf(server, { maxAge: 30 }).resolve(alice.did)).proved.height).toBe(tip - 3)
  })

  it('refuses a block with fewer as unwitnessed: of nobody, of strangers, of one twice', async () => {
    expect(await failureOf(lightOf({ book }).resolve(alice.did))).toBe('unwitnessed')
    const strangers = [witnessSecret('s1'), witnessSecret('s2')]
    const others = (height: number) => strangers.map((one) => lineOver(book, height, one))
    expect(await failureOf(lightOf({ book, cosigned: others }).resolve(alice.did))).toBe('unwitnessed')
    const twice = (height: number) => [1, 2].map((time) => lineOver(book, height, secrets[0], time))
    expect(await failureOf(lightOf({ book, cosigned: twice }).resolve(alice.did))).toBe('unwitnessed')
    // The bound: two of three are enough.
    expect((await lightOf({ book, cosigned: cosignedUpTo(book, tip, tip) }).resolve(alice.did)).proved.height).toBe(tip)
  })

  it('refuses cosignatures over another block, also where the server points to an older one', async () => {
    const cosigned = (height: number) => [secrets[0], secrets[1]].map((one) => lineOver(rival, height, one))
    expect(await failureOf(lightOf({ book, cosigned }).resolve(alice.did))).toBe('cosignature')
    const moved = (height: number) =>
      height === tip ? [] : [secrets[0], secrets[1]].map((one) => lineOver(book, Math.max(1, height - 1), one))
    expect(await failureOf(lightOf({ book, cosigned: moved }).resolve(alice.did))).toBe('cosignature')
  })

  it('asks for an older block once, and not at all of a server without such answers', async () => {
    const node = lightServers({ node: { book } })
    const asked: string[] = []
    const fetch: typeof node = (url, init) => {
      asked.push(new URL(url).pathname)
      return url.endsWith('witnessed') ? Promise.resolve(new Response('', { status: 404 })) : node(url, init)
    }
    expect(await failureOf(lightOf({ book }, {}, fetch).resolve(alice.did))).toBe('unwitnessed')
    expect(asked.filter((path) => path === '/rpc')).toHaveLength(3 - 2)
    const lying: typeof node = (url, init) => {
      if (!url.endsWith('witnessed')) return node(url, init)
      const heads = [{ height: 99, cosignatures: [lineOver(book, 3, secrets[0]), lineOver(book, 3, secrets[1])] }]
      return Promise.resolve(new Response(JSON.stringify({ format: 'didledger/witnessed/1', heads })))
    }
    expect(await failureOf(lightOf({ book }, {}, lying).resolve(alice.did))).toBe('unwitnessed')
  })

  it('keeps no answer from rising: a node that lags behind with its witnesses is no rollback', async () => {
    let most = tip
    const light = lightOf({ book, cosigned: (height) => cosignedUpTo(book, most, most)(height) })
    expect((await light.resolve(alice.did)).proved.height).toBe(tip)
    most = tip - 4
    expect(await failureOf(light.resolve(alice.did))).toBe('rollback')
    most = tip
    expect((await light.resolve(alice.did)).proved.height).toBe(tip)
  })

  it('judges given answers and bundles by the cosignatures in them', async () => {
    const answer = book.answer(alice.did)
    const light = lightOf({ book })
    expect(await failureOf(light.verifyAnswer(alice.did, answer))).toBe('unwitnessed')
    const cosignatures = [secrets[0], secrets[2]].map((one) => lineOver(book, tip, one))
    const cosigned = { ...answer, proof: { ...answer.proof, anchor: { ...answer.proof.anchor, cosignatures } } }
    expect((await light.verifyAnswer(alice.did, cosigned)).proved.witnesses).toHaveLength(2)
    const bundle = (one: object) => ({
      ...{ format: 'didledger/bundle/1', asked: { did: alice.did, proof: true }, answer: one },
      changes: book.changes(0).changes,
    })
    expect(await failureOf(light.verifyBundle(bundle(answer)))).toBe('unwitnessed')
    expect((await light.verifyBundle(bundle(cosigned))).proved.witnesses).toEqual(['w.example/1', 'w.example/3'])
  })

  it('is refused with keys that are none, that repeat, or that are fewer than it needs', async () => {
    const refused = (witnesses: NonNullable<LightOptions['witnesses']>) =>
      lightOf({ book }, { witnesses })
        .resolve(alice.did)
        .then(
          () => 'taken',
          (error: Error) => error.message,
        )
    expect(await refused({ keys: ['w.example/1+00000000+AAAA'] })).toMatch(/form/)
    expect(await refused({ keys: [keyOf(secrets[0]), keyOf(secrets[0], ',http://w')] })).toMatch(/twice/)
    expect(await refused({ keys: [keyOf(secrets[0])], needed: 2 })).toMatch(/2 of 1 witnesses/)
    expect(await refused({ keys: [keyOf(secrets[0])], needed: 0 })).toMatch(/0 of 1/)
    const many = Array.from({ length: 17 }, (_, i) => keyOf(witnessSecret(`m${i}`)))
    expect(await refused({ keys: many })).toMatch(/at most 16/)
    expect(await refused({ keys: many.slice(1) })).toMatch(/unwitnessed|cosignatures of 0/)
  })

  it('leaves answers as they are without witnesses, whatever the anchor has of them', async () => {
    const old = { ...book.answer(alice.did) }
    for (const cosignatures of [['junk'], 7, null, [], {}]) {
      const answer = { ...old, proof: { ...old.proof, anchor: { ...old.proof.anchor, cosignatures } } }
      const light = lightOf({ book, lies: { answer: () => answer } }, { witnesses: undefined as never })
      expect((await light.resolve(alice.did)).proved).not.toHaveProperty('witnesses')
    }
  })
})

describe('a witness over servers', () => {
  const over = (of: ProofBook) => lightServers({ node: { book: of } })
  const servers = ['http://node']

  it('follows validators through their changes, and signs each newest head', async () => {
    const growing = branchOf(book, 4)
    const pages = book.pages.slice(5)
    const signer = await signerOf(growing, secrets[0])
    const witness = witnessOver(book, signer, { servers, fetch: over(growing) })
    for (const page of pages) {
      growing.pages.push(page)
      expect(await witness.round()).toBe(growing.tip.height)
    }
    expect(signer.alarm).toBeUndefined()
    const light = lightOf(
      { book },
      { witnesses: { keys: [keyOf(secrets[0], ',http://w1')] } },
      withWitnesses(over(book), { w1: signer }),
    )
    expect((await light.resolve(alice.did)).proved).toMatchObject({ height: tip, witnesses: ['w.example/1'] })
  })

  it('signs nothing of blocks that validators did not confirm, and goes back for none', async () => {
    const signer = await signerOf(book, secrets[0])
    const lies = {
      anchor: (right: { anchor: { confirm: string } }) => ({
        ...right,
        anchor: { ...right.anchor, confirm: right.anchor.confirm.replace(/^..../, 'AQAA') },
      }),
    }
    const fetch = lightServers({ node: { book, lies } })
    expect(await witnessOver(book, signer, { servers, fetch }).round()).toBeUndefined()
    await witnessOver(book, signer, { servers, fetch: over(book) }).round()
    const low = branchOf(book, 9)
    expect(await witnessOver(book, signer, { servers, fetch: over(low) }).round()).toBe(tip)
    expect(signer.alarm).toBeUndefined()
  })

  it('is not alarmed by headers that lead nowhere: the server lies about them', async () => {
    const low = branchOf(book, 11)
    const above = book.pages.slice(12)
    const signer = await signerOf(book, secrets[0])
    await witnessOver(book, signer, { servers, fetch: over(low) }).round()
    low.pages.push(...above)
    for (const headers of [
      () => [],
      (right: string[]) => right.slice(1),
      (right: string[], from: number) => rival.headers(from, right.length),
    ]) {
      const fetch = lightServers({ node: { book: low, lies: { headers } } })
      expect(await witnessOver(book, signer, { servers, fetch }).round()).toBe(11)
    }
    expect(signer.alarm).toBeUndefined()
    expect(await witnessOver(book, signer, { servers, fetch: over(low) }).round()).toBe(tip)
  })

  it('raises an alarm at a second history, signs no more, and has evidence that strangers check', async () => {
    const signer = await signerOf(book, secrets[0])
    await witnessOver(book, signer, { servers, fetch: over(book) }).round()
    rival.make()
    const onEvidence = vi.fn()
    await witnessOver(rival, signer, { servers, fetch: over(rival), onEvidence }).round()
    rival.pop()
    expect(signer.alarm).toContain('two histories')
    const [evidence] = onEvidence.mock.lastCall as [unknown]
    const stranger = new LightResolver({ servers: [], trust: book.trust() })
    expect(await stranger.verifyEvidence(evidence)).toMatchObject({ heights: [tip, tip] })
  })

  it('raises the alarm also where the node withholds what would be evidence', async () => {
    const signer = await signerOf(book, secrets[0])
    await witnessOver(book, signer, { servers, fetch: over(book) }).round()
    const longer = branchOf(rival, tip, [{}])
    const fetch = over(longer)
    const withheld: typeof fetch = (url, init) =>
      url.endsWith(`/anchor/${tip}`) ? Promise.resolve(new Response('', { status: 404 })) : fetch(url, init)
    await witnessOver(longer, signer, { servers, fetch: withheld }).round()
    expect(signer.alarm).toContain('two histories')
  })

  it('signs of miners only what is deep enough, and raises an alarm at a reorganisation below that', async () => {
    const { book: mined } = miners
    const deep = { anchor: () => mined.change(mined.tip.height - 6 + 1) }
    const signer = await signerOf(mined, secrets[0])
    const shallow = { anchor: () => mined.change(mined.tip.height - 5 + 1) }
    const round = (of: ProofBook, lies: object) =>
      witnessOver(of, signer, { servers, fetch: lightServers({ node: { book: of, lies } }) }).round()
    expect(await round(mined, shallow)).toBeUndefined()
    expect(await round(mined, deep)).toBe(mined.tip.height - 6)
    const longer = branchOf(
      mined,
      7,
      Array.from({ length: 12 }, () => ({ padding: 3 })),
    )
    await round(longer, { anchor: () => longer.change(longer.tip.height - 6 + 1) })
    expect(signer.alarm).toContain('does not follow')
  })

  it('continues after a restart by what it remembers, though the root is too old by then', async () => {
    const store = freshSigns(secrets[0])
    const late = { allowOldRoot: false, servers, fetch: over(book) }
    const first = await signerOf(book, secrets[0], { store })
    const low = branchOf(book, 13)
    await witnessOver(book, first, { ...late, fetch: over(low) }).round()
    const second = await signerOf(book, secrets[0], { store })
    expect(await witnessOver(book, second, late).round()).toBe(tip)
  })
})

describe('two histories of one chain', () => {
  const fetch = lightServers({ node: { book }, other: { book: rival } })
  /** Asks a node of the second history, with a witness that saw the first. */
  async function asking(options: Partial<LightOptions> = {}) {
    const signer = await signerOf(book, secrets[0])
    await witnessOver(book, signer, { servers: ['http://node'], fetch }).round()
    const all = withWitnesses(fetch, { w1: signer })
    const witnesses = { keys: [keyOf(secrets[0], ',http://w1')] }
    return lightOf({ book: rival }, { servers: ['http://other'], witnesses, ...options }, all)
  }

  it('are found out by a reader that asks the witness of the other, with evidence', async () => {
    const onFork = vi.fn()
    const light = await asking({ onFork })
    const error = (await light.resolve(alice.did).catch((one: unknown) => one)) as LightError
    expect(error.failure).toBe('fork')
    expect(onFork).toHaveBeenCalledWith(error)
    const stranger = new LightResolver({ servers: [], trust: book.trust() })
    const proved = await stranger.verifyEvidence(error.evidence)
    expect(proved).toMatchObject({ heights: [tip, tip] })
    expect(proved.validators.length).toBeGreaterThan(1)
    expect(error.evidence).toHaveProperty('roots')
    // Each part counts: roots of another chain, and coinbases that are exchanged, prove nothing.
    const evidence = JSON.parse(JSON.stringify(error.evidence)) as Record<string, [string, string]>
    const changed = (name: string) => ({ ...evidence, [name]: [...(evidence[name] as string[])].reverse() })
    expect(await failureOf(stranger.verifyEvidence(changed('coinbases')))).toMatch(/^anchor-/)
    expect(
      await failureOf(stranger.verifyEvidence({ ...evidence, roots: ['00'.repeat(32), evidence['roots']?.[1]] })),
    ).toBe('anchor-root')
  })

  it('are found by gossip of heads between nodes, though no witness is needed', async () => {
    const told: LightError[] = []
    const both: typeof fetch = (url, init) =>
      url.endsWith('/light/1/heads') ? fetch(url.replace('//node', '//other'), init) : fetch(url, init)
    const light = lightOf(
      { book },
      { gossip: true, onFork: (fork) => told.push(fork), witnesses: undefined as never },
      both,
    )
    await light.resolve(alice.did)
    await vi.waitFor(() => expect(told).toHaveLength(1))
    expect(told[0]?.failure).toBe('fork')
    expect(await failureOf(light.resolve(alice.did))).toBe('fork')
  })

  it('are looked for once a height, however many questions there are', async () => {
    let told = 0
    const counting: typeof fetch = (url, init) => {
      if (url.endsWith('/light/1/heads')) told++
      return fetch(url, init)
    }
    const light = lightOf({ book }, { gossip: true, witnesses: undefined as never }, counting)
    await Promise.all(Array.from({ length: 5 }, () => light.resolve(alice.did)))
    await vi.waitFor(() => expect(told).toBe(1))
    await light.resolve(alice.did)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(told).toBe(1)
  })

  it('are not claimed by gossip with honest nodes, with one that is behind, and with one that answers junk', async () => {
    const behind = branchOf(book, 9)
    for (const answer of [
      undefined,
      () => new Response('junk'),
      () => new Response('{}'),
      () => new Response('', { status: 404 }),
    ]) {
      const onFork = vi.fn()
      let told = 0
      const nodes = lightServers({ node: { book }, two: { book: behind } })
      const heard: typeof nodes = async (url, init) => {
        if (!url.endsWith('/light/1/heads')) return nodes(url, init)
        const result = answer?.() ?? (await nodes(url.replace('//node', '//two'), init))
        told++
        return result
      }
      const light = lightOf({ book }, { gossip: true, onFork, witnesses: undefined as never }, heard)
      await light.resolve(alice.did)
      await vi.waitFor(() => expect(told).toBeGreaterThan(0))
      await light.resolve(alice.did)
      expect(onFork).not.toHaveBeenCalled()
    }
  })

  it('are not proved by a witness alone: one that invents a block accuses nobody', async () => {
    const sign: BlockPlan['sign'] = () => book.page(tip).confirm as never
    const invented = branchOf(book, tip - 1, [{ padding: 5, sign }])
    const signer = await signerOf(invented, secrets[0])
    const { header } = invented.page(tip).block
    const anchor = invented.anchor(tip, true)
    await signer.sign({ header, didRoot: header.hash, anchor: { ...anchor } as never }, undefined)
    const light = lightOf(
      { book },
      { witnesses: { keys: [keyOf(secrets[0], ',http://w1')] } },
      withWitnesses(fetch, { w1: signer }),
    )
    expect(await failureOf(light.resolve(alice.did))).toBe('unwitnessed')
  })

  it('of a chain with the same validators accuse nobody: the root names the chain', async () => {
    const sister = lightWorld({ changeAt: 9, genesis: 'sister' }).book
    const signer = await signerOf(book, secrets[0])
    const anchor = sister.anchor(tip, true) as never
    const { header } = sister.page(tip).block
    await signer.sign({ header, didRoot: header.hash, anchor }, undefined)
    const light = lightOf(
      { book },
      { witnesses: { keys: [keyOf(secrets[0], ',http://w1')] } },
      withWitnesses(fetch, { w1: signer }),
    )
    expect(await failureOf(light.resolve(alice.did))).toBe('unwitnessed')
  })
})

describe('a witness that was away', () => {
  it('catches up over 20,000 headers, of which each names the one before, and signs the newest', async () => {
    const chain = new LongChain()
    const signer = await signerOf(chain.book, secrets[0])
    const witness = witnessOver(chain.book, signer, { servers: ['http://node'], fetch: chain.fetch })
    await witness.round()
    chain.growTo(20_001)
    expect(await witness.round()).toBe(20_001)
    expect([chain.asked, signer.alarm]).toEqual([10, undefined])
    // Then each head as it comes.
    for (let i = 0; i < 20; i++) {
      chain.grow()
      expect(await witness.round()).toBe(chain.height)
    }
    expect(chain.asked).toBe(30)
  })
})

describe('evidence with the word of witnesses', () => {
  const blocks = [book, rival]
    .map((of) => ({ of, header: of.tip, note: (secret: Secret) => noteOver(of, tip, secret) }))
    .sort((a, b) => (a.header.id < b.header.id ? -1 : 1))
  const whole = (of: ProofBook) => toHex(confirmBytes(of.page(tip).confirm as never))
  const evidence = (changes: object) => ({
    ...{ format: 'didledger/evidence/1', chain: book.page(0).block.header.id, changes: book.changes(0).changes },
    headers: blocks.map(({ header }) => toHex(header.bytes)),
    confirms: [null, null],
    ...changes,
  })
  const stranger = (...known: Secret[]) =>
    new LightResolver({
      ...{ servers: [], trust: book.trust() },
      ...(known.length > 0 && { witnesses: { keys: known.map((one) => keyOf(one)) } }),
    })
  const [one, other] = blocks.map(({ note }) => note)

  it('shows that a witness cosigned both, to those who know its key', async () => {
    const notes = [one?.(secrets[0]), other?.(secrets[0])]
    expect(await stranger(secrets[0]).verifyEvidence(evidence({ notes }))).toMatchObject({
      heights: [tip, tip],
      validators: [],
      witnesses: [['w.example/1'], ['w.example/1']],
    })
    expect(await failureOf(stranger().verifyEvidence(evidence({ notes })))).toBe('unwitnessed')
    expect(await failureOf(stranger(secrets[1]).verifyEvidence(evidence({ notes })))).toBe('unwitnessed')
    expect(await failureOf(stranger(secrets[0]).verifyEvidence(evidence({ notes: [...notes].reverse() })))).toBe(
      'cosignature',
    )
    expect(await failureOf(stranger(secrets[0]).verifyEvidence(evidence({})))).toBe('unwitnessed')
    expect(await failureOf(stranger(secrets[0]).verifyEvidence(evidence({ notes: [notes[0], notes[0]] })))).toBe(
      'cosignature',
    )
  })

  it('shows a block that validators confirmed beside one that a witness cosigned, and who stands for which', async () => {
    const confirms = [whole(blocks[0]?.of as ProofBook), null]
    const notes = [null, other?.(secrets[0])]
    expect(await stranger(secrets[0]).verifyEvidence(evidence({ confirms, notes }))).toMatchObject({
      validators: [],
      witnesses: [[], ['w.example/1']],
    })
    expect(await failureOf(stranger().verifyEvidence(evidence({ confirms, notes: [null, null] })))).toBe('unwitnessed')
  })
})
