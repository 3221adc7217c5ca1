import { startNode, echo, news, until, closeNodes } from '../../support/transport.js'
import { writeHeapSnapshot } from 'node:v8'
const gc = () => { (globalThis as any).gc?.(); (globalThis as any).gc?.() }
const limits = { departedInterval: 1000, gossipSeen: 5000, hostConnects: 100000 }
const hub = await startNode({ limits })
const a = await startNode({ limits })
for (let r = 0; r < 5; r++) {
  for (let i = 0; i < 150; i++) { const l = await a.transport.dial(hub.address); await l.request(echo, Buffer.from('x')); l.close(); await until(() => hub.owner.links.length === 0); }
  hub.owner.left.length = 0; a.owner.left.length = 0
  await new Promise(r => setTimeout(r, 17000)); gc()
  console.log('after', (r + 1) * 150, 'redials', process.memoryUsage().heapUsed / 1e6, process.getActiveResourcesInfo().length)
}
await closeNodes()
