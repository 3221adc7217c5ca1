import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { getJars } from '../../../scripts/clients/jars.js'

/** The jars for `npm run test:clients`, got with programs named `javac` and `mvn` that a test puts first in PATH. */

let work: string
let from: string
let into: string
let tools: string
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'didledger-jars-'))
  from = join(work, 'java')
  into = join(work, 'jars')
  tools = join(work, 'tools')
  for (const directory of [from, tools]) mkdirSync(directory)
  // SHA-256 of the three letters that `copies` writes.
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  writeFileSync(join(from, 'jars.json'), JSON.stringify({ 'sdk.jar': abc }))
  vi.stubEnv('PATH', `${tools}:/usr/bin:/bin`)
  tool('javac', 'echo javac 11')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(work, { recursive: true, force: true })
})

function tool(name: string, script: string): void {
  writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(tools, name), 0o755)
}

/** A Maven that says its version, and else does as the script says. */
const maven = (script: string) => tool('mvn', `[ "$1" = -version ] && exit 0\n${script}`)
const copies = (text: string, jar = 'sdk') => `printf '${text}' > ${into}/${jar}.jar`
const get = () => getJars({ from, into })

describe('the jars of the Java SDK', () => {
  it('are got once, and again after their list changed', () => {
    maven(copies('abc'))
    expect(get()).toBeUndefined()
    maven('exit 1')
    expect(get()).toBeUndefined()
    writeFileSync(join(from, 'jars.json'), '{}')
    expect(get).toThrow('failed')
  })

  it.each([
    ['without a JDK', () => tool('javac', 'exit 127'), 'they need a JDK from version 11 on'],
    ['with an older JDK', () => tool('javac', 'echo javac 10.0.2'), 'they need a JDK from version 11 on'],
    ['with the JDK 8', () => tool('javac', 'echo javac 1.8.0_302'), 'they need a JDK from version 11 on'],
    ['without Maven', () => tool('mvn', 'exit 127'), 'they need Maven'],
    [
      'where Maven reaches no registry',
      () => maven('echo "[ERROR] Could not transfer artifact a:b:1"; exit 1'),
      'Maven cannot get their jars: Could not transfer artifact a:b:1',
    ],
  ])('are left out %s', (_, setUp, reason) => {
    setUp()
    expect(get()).toBe(reason)
  })

  it('are a failure where Maven refuses the pom.xml', () => {
    maven('echo "[ERROR] Non-parseable POM"; exit 1')
    expect(get).toThrow('Non-parseable POM')
  })

  it.each([
    ['another text', () => copies('abd'), 'sdk.jar has the SHA-256'],
    ['one more', () => `${copies('abc')}; ${copies('abc', 'more')}`, 'more.jar has the SHA-256'],
    ['none', () => 'true', 'sdk.jar is missing'],
  ])('are a failure where they are not those of the list: %s', (_, script, reason) => {
    maven(script())
    expect(get).toThrow(reason)
    // A later run does not take them for right.
    expect(existsSync(join(into, '.lock'))).toBe(false)
  })
})
