import { describe, expect, it } from 'vitest'
import { protocols, topics } from '../../src/network/wire/all-messages.js'
import { networkVersion, type Refusal, statusExchange } from '../../src/network/wire/status-message.js'
import { hex } from '../../src/base/primitives/bytes.js'
import { code, fencedBlocks, repositoryFile, tableRows } from '../support/assert/markdown.js'

const page = repositoryFile('docs/protocol.md')
const rows = tableRows(page)
const number = (cell = '') => Number(cell.replaceAll(' ', ''))

describe('docs/protocol.md', () => {
  it('lists every question with its limits', () => {
    const listed = rows.filter(([, kind]) => kind === 'question')
    expect(
      listed.map(([id, , request, answer, timeout]) => [code(id), number(request), number(answer), number(timeout)]),
    ).toEqual(
      protocols.map(({ name, version, ofChain, request, answer, timeout }) => [
        `/didledger/${ofChain ? 'CHAIN/' : ''}${name}/${version}`,
        request,
        answer,
        timeout,
      ]),
    )
  })

  it('lists every subject of gossip with its limit', () => {
    const listed = rows.filter(([, kind]) => kind === 'gossip')
    expect(listed.map(([id, , size]) => [code(id), number(size)])).toEqual(
      topics.map(({ name, version, size }) => [`/didledger/CHAIN/${name}/${version}`, size]),
    )
  })

  it('has a status that reads as the text says', () => {
    const [example] = fencedBlocks(page).flatMap(({ language, text }) => (language === 'hex' ? [text.trim()] : []))
    const bytes = hex(example ?? '')
    expect(page).toContain(`at height 258, ${bytes.length} bytes`)
    const status = statusExchange.question.decode(bytes)
    expect(status).toMatchObject({
      version: networkVersion,
      tipHeight: 258,
      chainWork: 518n,
      relay: true,
      listenPort: 20338,
    })
    expect(page).toContain(`of this page: ${networkVersion}, `)
  })

  it('numbers the refusals as they are written', () => {
    const refusals = rows.filter(([byte]) => /^[1-9]$/.test(byte ?? ''))
    expect(refusals.length).toBe(6)
    const status = statusExchange.question.decode(
      hex((fencedBlocks(page).find(({ language }) => language === 'hex')?.text ?? '').trim()),
    )
    for (const [byte, name] of refusals) {
      const encoded = statusExchange.answer.encode({ status, refusal: code(name) as Refusal })
      expect(encoded.at(-1)).toBe(Number(byte))
    }
  })
})
