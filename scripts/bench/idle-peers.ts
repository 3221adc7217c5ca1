/** A process of peers: `idle-peers.ts SPEC COUNT ADDRESS`, forked by suites/votes.ts. Reports when all are connected; keeps running. */
import { readFileSync } from 'node:fs'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { lightPeer } from './light-peer.js'

const [file = '', count = '', address = ''] = process.argv.slice(2)
const spec = parseSpec(readFileSync(file, 'utf8'))
process.on('disconnect', () => process.exit())
for (let i = 0; i < Number(count); i++) await (await lightPeer(spec)).join(address)
process.send?.('connected')
