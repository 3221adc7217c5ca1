import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { holder } from '../../test/support/builders/did.js'
import { createVerifierPool, DataDirectory, keys, openLedger, Overlay, Resolver, systemEnv } from './dist.js'
import { fundedSpec, quiet, withDirectory } from './load.js'
import { runNode } from './processes.js'
import { median, type Row } from './report.js'

const documents = 100_000
const perBatch = 10_000
const rounds = 5
const condition = '{credential:{type:["ProfileCredential"],subject:{email:{$exists:true}}}}'

/**
 * A search through 100,000 documents of about 1.6 kB for one that no index could answer alone: in this process, with the delay of
 * its event loop, and in a node, with the time that another client waits for the height during it.
 */
export async function querySuite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const dataDir = join(directory, 'data')
    const specFile = join(directory, 'spec.json')
    const { text, spec } = fundedSpec(1)
    await writeFile(specFile, text)
    const dataDirectory = await DataDirectory.open(dataDir)
    const verifier = createVerifierPool()
    const { chain, database, clock } = await openLedger(spec, dataDirectory, verifier, systemEnv(quiet))
    const rows: Row[] = []
    try {
      const size = await fill(database, chain.tip.header)
      const height = 0
      const sync = () => ({ catchingUp: false, height, target: height })
      const resolver = new Resolver({ database, clock, tip: () => chain.tip.header, sync })
      rows.push(...(await inProcess(resolver)), { name: 'bytes of a document there', value: size, unit: 'B' })
      await chain.close()
    } finally {
      await database.close()
      await verifier.close()
    }
    const node = await runNode(['start', '--genesis', specFile, '--data-dir', dataDir])
    try {
      return [...rows, ...(await besideOthers(node.announced))]
    } finally {
      await node.stop()
    }
  })
}

/** Writes the rows of the documents; returns the mean size of one. */
async function fill(
  database: ConstructorParameters<typeof Overlay>[0],
  tip: { readonly hash: Uint8Array; readonly height: number },
): Promise<number> {
  const template = JSON.stringify(documentOf())
  let bytes = 0
  for (let start = 0; start < documents; start += perBatch) {
    const overlay = new Overlay(database)
    for (let n = start; n < start + perBatch; n++) {
      const profile = n % 3 === 0 ? 'ProfileCredential' : 'MembershipCredential'
      const claim = n % 10 === 0 ? 'email' : 'phone'
      const text = template
        .replaceAll('NUMBER', String(n).padStart(6, '0'))
        .replace('TYPE', profile)
        .replace('CLAIM', claim)
      const value = Buffer.from(text)
      bytes += value.length
      overlay.put(keys.didDocument({ height: n, index: 1 }), value)
    }
    await overlay.commit({ kind: 'pool', height: tip.height, hash: tip.hash }, { sync: false })
  }
  return bytes / documents
}

/** A document like those of wallets: two keys, a service, a credential with a picture's address and some claims. */
function documentOf(): object {
  const person = holder()
  const credential = JSON.parse(person.issue(person.did)) as { proof: object }
  const { signingText } = person.document()
  return {
    ...(JSON.parse(signingText) as object),
    verifiableCredential: [
      {
        ...credential,
        type: ['BasicCredential', 'TYPE'],
        credentialSubject: {
          id: person.did,
          name: 'Ada NUMBER',
          CLAIM: 'NUMBER@example.org',
          picture: 'https://pictures.example.org/people/NUMBER/portrait-600x600.jpeg',
          description: 'Somebody who has a document on this chain, a name, and a way to be reached.',
          address: { street: 'High Street NUMBER', town: 'Example', country: 'XX' },
        },
      },
    ],
    service: [
      { id: `${person.did}#hub`, type: 'Hub', serviceEndpoint: 'https://hub.example.org/people/NUMBER' },
      { id: `${person.did}#mail`, type: 'Mailbox', serviceEndpoint: 'https://mail.example.org/people/NUMBER/inbox' },
    ],
  }
}

async function inProcess(resolver: InstanceType<typeof Resolver>): Promise<Row[]> {
  const durations: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let round = 0; round <= rounds; round++) {
    // The first round compiles the code and fills the caches of the system.
    if (round === 1) delay.enable()
    const start = performance.now()
    const { total } = await resolver.query({ query: condition })
    if (round > 0) durations.push(performance.now() - start)
    if (total === 0 || total === documents) throw new Error(`${total} documents match`)
  }
  delay.disable()
  const duration = median(durations)
  return [
    { name: `search through ${documents.toLocaleString('en')} documents`, value: duration, unit: 'ms' },
    { name: 'documents searched', value: documents / (duration / 1000), unit: '/s' },
    {
      name: 'event-loop delay p99 while searching',
      value: delay.percentile(99) / 1e6,
      unit: 'ms',
      target: { most: 10 },
    },
    { name: 'the same, longest', value: delay.max / 1e6, unit: 'ms' },
  ]
}

/** Wait of a client for the height on an idle node, and during the search of another client. */
async function besideOthers(address: string): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true })
  const height = () => timed(() => answer(agent, `${address}/api/v1/block/height`))
  for (let i = 0; i < 500; i++) await height()
  const calm: number[] = []
  for (let i = 0; i < 500; i++) calm.push(await height())
  const busy: number[] = []
  const searches: number[] = []
  for (let round = 0; round < rounds; round++) {
    let running = true
    const search = timed(() => ask(address)).finally(() => (running = false))
    while (running) busy.push(await height())
    searches.push(await search)
  }
  agent.destroy()
  return [
    { name: 'the search over HTTP, another client asking', value: median(searches), unit: 'ms' },
    { name: 'block/height beside it, p99', value: percentile(busy, 0.99), unit: 'ms', target: { most: 10 } },
    { name: 'block/height without it, p99', value: percentile(calm, 0.99), unit: 'ms' },
  ]
}

async function ask(address: string): Promise<void> {
  const body = JSON.stringify({ id: 1, method: 'query', params: { query: condition } })
  const response = await fetch(`${address}/rpc`, { method: 'POST', body })
  const { result, error } = (await response.json()) as { result?: { total: number }; error?: { message: string } }
  if (result === undefined) throw new Error(`query: ${error?.message}`)
}

async function answer(agent: Agent, url: string): Promise<void> {
  const [response] = (await once(get(url, { agent }), 'response')) as [NodeJS.ReadableStream]
  response.resume()
  await once(response, 'end')
}

async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * part)] ?? NaN
}
