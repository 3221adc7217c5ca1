import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import type { Verifier } from '../../../../src/base/crypto/verifier.js'
import { createVerifierPool, type PoolOptions } from '../../../../src/base/crypto/verifier-pool.js'
import { selectBackend } from '../../../../src/base/crypto/verify.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import { compileModules } from '../../../support/process/compiled.js'
import { testPatience } from '../../../support/process/patience.js'
import { checkOf, quickSigner, signatureLoad } from '../../../support/builders/signatures.js'

const compiled = compileModules(['base/crypto/worker.ts', 'base/crypto/verifier-pool.ts'])
const worker = compiled.url('base/crypto/worker.js')
const opened: Verifier[] = []

function open(options: PoolOptions = {}): Verifier {
  const pool = createVerifierPool({ workers: 2, workerFile: worker, ...options })
  opened.push(pool)
  return pool
}

/** A worker like the real one that runs `statement` when its batch number `n` arrives, in its first life or in every one. */
function mortalWorker(name: string, statement: string, n: number, lives: 'first' | 'all'): URL {
  const file = compiled.url(`base/crypto/${name}.js`)
  const died = compiled.url(`base/crypto/${name}.died`)
  // The fuse listens before the worker does and starts with it, so that it sees every batch and takes none away.
  writeFileSync(fileURLToPath(file), `import './${name}-fuse.js'\nimport './worker.js'\n`)
  writeFileSync(
    fileURLToPath(compiled.url(`base/crypto/${name}-fuse.js`)),
    `import { existsSync, writeFileSync } from 'node:fs'
     import { parentPort } from 'node:worker_threads'
     const died = new URL(${JSON.stringify(died.href)})
     let batches = 0
     parentPort.on('message', () => {
       if (++batches !== ${n} || (${JSON.stringify(lives)} === 'first' && existsSync(died))) return
       writeFileSync(died, '')
       ${statement}
     })`,
  )
  return file
}

const died = (name: string) => existsSync(compiled.url(`base/crypto/${name}.died`))
const spoiled = (checks: readonly SignatureCheck[], bad: readonly number[]) =>
  checks.map((check, index) => (bad.includes(index) ? { ...check, message: new Uint8Array(1) } : check))

afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.close()))
  selectBackend('native')
})
afterAll(() => compiled.remove())

const load = signatureLoad(600, 100)

describe('verifier pool', () => {
  it('agrees with the verifier without threads on the first failing check', async () => {
    const pool = open()
    const inline = createInlineVerifier()
    expect(await pool.verifyAll(load)).toBe(-1)
    const bad = fc.array(fc.nat(load.length - 1), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(bad, async (indices) => {
        const checks = spoiled(load, indices)
        const expected = Math.min(...indices)
        expect(await pool.verifyAll(checks)).toBe(expected)
        expect(await inline.verifyAll(checks)).toBe(expected)
      }),
      { numRuns: 10 },
    )
  })

  it('takes multisig, malformed and large checks', async () => {
    const signers = [quickSigner(), quickSigner()]
    const keys = signers.map(({ publicKey }) => publicKey)
    const message = new Uint8Array(1_500_000).fill(1)
    const large = checkOf(
      message,
      keys,
      [...signers].reverse().map((signer) => signer.sign(message)),
    )
    const pool = open()
    expect(await pool.verifyAll([...load, large, large])).toBe(-1)
    expect(await pool.verifyAll([...load, { ...large, signatures: [new Uint8Array(63)] }, large])).toBe(load.length)
    expect(await pool.verifyAll([...load, large, { ...large, keys: [] }])).toBe(load.length + 1)
    expect(await pool.verifyAll([{ ...large, signatures: [] }, ...load])).toBe(0)
  })

  it('answers few checks, and many calls at once', async () => {
    const pool = open({ workers: 3 })
    const calls = Array.from({ length: 12 }, (_, index) => spoiled(load.slice(0, 60 + index * 20), [index * 7]))
    const answers = await Promise.all(calls.map((checks) => pool.verifyAll(checks)))
    expect(answers).toEqual(calls.map((_, index) => index * 7))
    expect(await pool.verifyAll([])).toBe(-1)
  })

  it('uses the selected backend in its threads', async () => {
    selectBackend('noble')
    const pool = open()
    const few = load.slice(0, 70)
    expect(await pool.verifyAll(few)).toBe(-1)
    expect(await pool.verifyAll(spoiled(few, [66]))).toBe(66)
  })

  it.each([
    ['exits', 'process.exit(3)'],
    ['throws', "throw new Error('out of order')"],
  ])('replaces a thread that %s in the middle and does its batches again', async (name, statement) => {
    const warnings: string[] = []
    const log = { warn: (_: Record<string, unknown>, message: string) => warnings.push(message) }
    const pool = open({ workerFile: mortalWorker(name, statement, 2, 'first'), log })
    expect(await pool.verifyAll(spoiled(load, [599]))).toBe(599)
    expect(died(name)).toBe(true)
    expect(warnings).toContain('a signature worker died and is replaced')
    expect(await pool.verifyAll(load)).toBe(-1)
  })

  it('goes on without threads when they keep dying', async () => {
    const warnings: string[] = []
    const log = { warn: (_: Record<string, unknown>, message: string) => warnings.push(message) }
    const pool = open({ workerFile: mortalWorker('always', 'process.exit(1)', 1, 'all'), log })
    const answers = await Promise.all([pool.verifyAll(load), pool.verifyAll(spoiled(load, [300, 400]))])
    expect(answers).toEqual([-1, 300])
    expect(warnings.at(-1)).toMatch(/without them/)
    expect(await pool.verifyAll(load)).toBe(-1)
  })

  it('works where there is no compiled worker', async () => {
    const pool = open({ workerFile: new URL('./absent.js', worker) })
    expect(await pool.verifyAll(spoiled(load, [80]))).toBe(80)
  })

  it('rejects what is under way when it closes, and what comes later', async () => {
    const pool = open()
    const underWay = pool.verifyAll(load)
    const rejected = expect(underWay).rejects.toThrow('closed')
    await pool.close()
    await rejected
    await expect(pool.verifyAll(load)).rejects.toThrow('closed')
    await pool.close()
  })

  it('keeps no process alive after close', async () => {
    const script = `
      const { createVerifierPool } = await import(${JSON.stringify(compiled.url('base/crypto/verifier-pool.js').href)})
      const pool = createVerifierPool({ workers: 2 })
      const bad = { message: new Uint8Array(1), keys: [new Uint8Array(33).fill(2)], signatures: [new Uint8Array(64)] }
      console.log(await pool.verifyAll(Array.from({ length: 100 }, () => bad)))
      await pool.close()`
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: testPatience })
    expect((await run).stdout.trim()).toBe('0')
  })
})
