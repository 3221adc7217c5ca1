import { chmodSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hex } from '../../src/primitives/bytes.js'
import { Dice, Load } from '../support/load.js'
import { type ChainInfo, CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process.js'

const directories = new Directories()
const devnet = ['devnet', '--no-automine'] as const
/** A killed directory: older blocks in tables, newer ones in the log only. */
const killed = directories.fresh('killed')
/** The same before its last start: everything is in tables. */
const stopped = directories.fresh('stopped')
const hashes: string[] = []
/** Of a transaction in a table. */
let oldTxid = ''
let oldSignature: Uint8Array

beforeAll(async () => {
  const load = new Load(new Dice(7))
  let node = await NodeProcess.start(...devnet, '--data-dir', killed)
  await load.prepare(node.client, 100)
  await work(node, load, 5)
  const { tx } = await node.client.blockAt(3)
  const old = tx[1] as { txid: string; programs: { parameter: string }[] }
  oldTxid = old.txid
  oldSignature = hex(old.programs[0]?.parameter.slice(2) ?? '')
  expect((await node.stop()).code).toBe(0)
  cp(killed, stopped)
  node = await NodeProcess.start(...devnet, '--data-dir', killed)
  await work(node, load, 10)
  await sendSome(load, node, 30)
  for (let height = 0; height <= (await node.client.height()); height++) hashes.push(await node.hashAt(height))
  await node.stop('SIGKILL')
}, 120_000)

afterAll(() => directories.remove())
