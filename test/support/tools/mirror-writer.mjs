// Writes a mirror into a folder until it is killed: argv has the module of the store, the folder, and a number to begin with.
import { createHash } from 'node:crypto'

const [module, folder, begin] = process.argv.slice(2)
const { FolderStore } = await import(module)
const sha = (text) => createHash('sha256').update(text).digest()
const fileOf = (name) => ({ name, bytes: Buffer.concat(Array(1 + (sha(name)[0] % 200)).fill(sha(name))) })
const filesOf = (round) =>
  Array.from({ length: 60 }, (_, i) => {
    const hash = sha(`${round} ${i}`).toString('hex')
    return fileOf(`map/${hash.slice(0, 2)}/${hash}`)
  })

const store = await FolderStore.open(folder)
console.log('writing')
for (let round = Number(begin); ; round++) {
  await store.putAll(filesOf(round))
  await store.replace({ name: 'head', bytes: Buffer.from(`${round} `.repeat(1 + (round % 500))) })
  console.log(`done ${round}`)
  // Those of the round before but one, in their order.
  if (round % 3 === 2) await store.deleteAll(filesOf(round - 2).map(({ name }) => name))
}
