import { rawPeer } from '../../support/raw-peer.js'
import { lpStream } from '@libp2p/utils'
import { createLibp2p } from 'libp2p'
import { tcp } from '@libp2p/tcp'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { startNode, echo, closeNodes } from '../../support/transport.js'
const mk = () => createLibp2p({ addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }, transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux()] })
const a = await mk(), b = await mk()
let big = false
const bigBytes = new Uint8Array(1 << 20)
await b.handle('/e/1', async (stream) => { const lp = lpStream(stream, { maxDataLength: 1 << 21 }); try { for (;;) { const r = await lp.read(); await lp.write(big ? bigBytes : r.subarray()) } } catch {} })
const st = await a.dialProtocol(b.getMultiaddrs()[0]!, '/e/1')
const lp = lpStream(st, { maxDataLength: 1 << 21 })
const x = await startNode(), y = await startNode()
const link = await x.transport.dial(y.address)
const body = Buffer.alloc(100)
for (let round = 0; round < 4; round++) {
  const n = 2000
  big = false; y.owner.answering = (_l, _p, q) => Promise.resolve(q)
  let t = performance.now()
  for (let i = 0; i < n; i++) { await lp.write(body); await lp.read() }
  const raw = (performance.now() - t) / n
  t = performance.now()
  for (let i = 0; i < n; i++) await link.request(echo, body)
  const ours = (performance.now() - t) / n
  big = true; y.owner.answering = () => Promise.resolve(bigBytes)
  t = performance.now()
  for (let i = 0; i < 100; i++) { await lp.write(body); (await lp.read()).subarray() }
  const rawMb = 104.8 / (performance.now() - t) * 1000
  t = performance.now()
  for (let i = 0; i < 100; i++) await link.request(echo, body)
  const oursMb = 104.8 / (performance.now() - t) * 1000
  console.log('raw ms', raw.toFixed(3), 'ours ms', ours.toFixed(3), 'raw MB/s', rawMb.toFixed(0), 'ours', oursMb.toFixed(0))
}
await a.stop(); await b.stop(); await closeNodes()
