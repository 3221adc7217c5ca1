import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Checkout } from '../support/process/checkout.js'

/** The first `npx` of a checkout, at which npm runs a step of the package and shows nothing of it. */

function checkout(): Checkout {
  const made = new Checkout()
  onTestFinished(() => made.close())
  return made
}

it('npx runs the program as it was built last, whatever was written into the sources since', async () => {
  const changed = checkout()
  changed.write('src/program/cli/main.ts', 'this is no program')
  const { code, out, err } = await changed.run('npx didledger --version')
  expect({ code, out, err }).toEqual({ code: 0, out: expect.stringMatching(/^didledger \d/), err: '' })
})

it('npx of a checkout without a program says so', async () => {
  const bare = checkout()
  rmSync(join(bare.path, 'dist'), { recursive: true })
  const { code, err } = await bare.run('npx didledger --version')
  expect({ code, err }).toEqual({ code: 127, err: expect.stringMatching(/didledger: (command )?not found/) })
})
