import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ed25519Signer } from '../../../src/base/crypto/ed25519.js'
import { SignStateFile } from '../../../src/voting/sign-state-file.js'
import { firstWitnessState } from '../../../src/clients/witness/witness-signer.js'
import { LongChain } from '../../../test/support/builders/long-chain.js'
import { signerOf, witnessOver, witnessSecret } from '../../../test/support/builders/witness-world.js'
import { timeOf } from '../measure.js'
import { type Row, row } from '../report.js'

/** 30 days of blocks every ten seconds. */
const heads = 259_200
/** Heads that come one by one. */
const single = 1000
const signatures = 20_000

/** Measures a witness that was away for 30 days, one that sees each head when it comes, and its signatures alone. */
export async function suite(): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'witness-'))
  try {
    const secret = witnessSecret('witness.example/bench')
    const store = new SignStateFile(join(directory, 'key.state'))
    await store.save(firstWitnessState(secret.key))
    const chain = new LongChain()
    const signer = await signerOf(chain.book, secret, { store })
    const witness = witnessOver(chain.book, signer, { servers: ['http://node'], fetch: chain.fetch })
    await witness.round()
    let each = 0
    for (let i = 0; i < single; i++) {
      chain.grow()
      each += await timeOf(() => witness.round())
    }
    if (signer.last?.height !== chain.height) throw new Error(`signed ${signer.last?.height} of ${chain.height}`)
    chain.growTo(chain.height + heads)
    const caughtUp = await timeOf(() => witness.round())
    if (signer.last?.height !== chain.height) throw new Error(`signed ${signer.last?.height} of ${chain.height}`)
    const sign = ed25519Signer(secret.seed)
    const message = new Uint8Array(200)
    const alone = await timeOf(async () => {
      for (let i = 0; i < signatures; i++) sign(message)
    })
    const head = each / single
    const signature = alone / signatures
    return [
      row('witness, a head, from its check to the state on disk', head, 'ms', { most: 10 }),
      row('  an Ed25519 signature alone', signature * 1000, 'µs'),
      row('  a head', head / signature, 'signatures'),
      row('witness, 30 days of heads every 10 s, caught up', caughtUp / 1000, 's', { most: 60 }),
      row('  each of them', caughtUp / heads / signature, 'signatures'),
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}
