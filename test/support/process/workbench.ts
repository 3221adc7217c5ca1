import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EvaluationContext } from '../../../src/program/cli/cli-context.js'
import { runCommand } from '../../../src/program/cli/cli-program.js'
import { addressFromPublicKey } from '../../../src/base/primitives/address.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { devnetValidatorKey, faucetKey } from '../../../src/clients/wallet/devnet-accounts.js'
import { testSpec } from '../builders/spec.js'

/** 2030-01-01T00:00:00Z: the clock of every command in these tests. */
export const testNow = Date.UTC(2030, 0, 1) / 1000

/** A small devnet-like spec with fees of 100 and 1 a byte. */
export function specText(): string {
  return testSpec({
    name: 'testnet',
    devnet: true,
    allocations: [{ address: addressFromPublicKey(faucetKey().publicKey), amount: '3300000000000000' }],
    auxpowChainId: 1224,
    evmChainId: 1,
    subsidy: { initial: '0', halving: 0 },
    validators: [toHex(devnetValidatorKey().publicKey)],
    timing: { minInterval: 0, emptyInterval: 0, maxDrift: 1000, propose: 1000, delta: 500 },
  })
}

/** Result of one command line. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A directory of its own and commands that run in this process. */
export class Workbench {
  readonly directory = mkdtempSync(join(tmpdir(), 'didledger-cli-'))
  readonly spec = this.write('spec.json', specText())
  /** Answers for prompts, in order; without any there is no terminal. */
  answers: string[] | undefined
  env: Record<string, string> = { DIDLEDGER_PASSWORD: 'correct horse' }
  /** Unix seconds of the clock of commands. */
  now = testNow
  /** Everything that commands wrote beside their output, as they wrote it. */
  said = ''
  #draws = 0

  path(name: string): string {
    return join(this.directory, name)
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text)
    return this.path(name)
  }

  /** Writes a file that only its owner may read. */
  writeSecret(name: string, text: string): string {
    const path = this.write(name, text)
    chmodSync(path, 0o600)
    return path
  }

  async run(...args: string[]): Promise<Ran> {
    let out = ''
    let err = ''
    const { answers } = this
    const context: EvaluationContext = {
      clock: { now: () => this.now * 1000 },
      random: { bytes: (length) => this.#random(length) },
      // What a command keeps for its user stays here.
      env: { XDG_DATA_HOME: this.path('user-data'), HOME: this.path('home'), ...this.env },
      out: (text) => void (out += text),
      err: (text) => {
        err += text
        this.said += text
      },
      prompt: answers && ((question) => Promise.resolve(answers.shift() ?? `no answer to ${question}`)),
    }
    const code = await runCommand(args, context)
    return { code, out, err }
  }

  /** {@link run} with --json; the parsed output of a command that must succeed. */
  async json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, out, err } = await this.run(...args, '--json')
    if (code !== 0) throw new Error(`exit code ${code}: ${err}`)
    return JSON.parse(out) as T
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  #random(length: number): Uint8Array {
    this.#draws++
    const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, i) =>
      createHash('sha256').update(`${this.#draws}/${i}`).digest(),
    )
    return Buffer.concat(blocks).subarray(0, length)
  }
}
