import { createFundedDid } from './wallet.js'

const element = (id) => document.getElementById(id)
const show = (text) => element('output').append(`${text}\n`)

element('create').addEventListener('click', async () => {
  element('create').disabled = true
  try {
    const { mnemonic, did, document } = await createFundedDid(element('node').value)
    show(`Keep these words, they are the keys of it: ${mnemonic}`)
    show(`${did}\n${JSON.stringify(document, null, 2)}`)
  } catch (error) {
    show(error.message)
  } finally {
    element('create').disabled = false
  }
})
