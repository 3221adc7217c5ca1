import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { repositoryFile } from '../support/assert/markdown.js'

const root = new URL('../../', import.meta.url)
const written = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...written.filter(isPage).map((name) => `docs/${name}`)]

function isPage(name: string): boolean {
  return name.endsWith('.md')
}

/** The anchors that a page offers: its headings as code hosts name them. */
function anchors(page: string): string[] {
  const prose = page.replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

describe.each(pages)('%s', (name) => {
  const text = repositoryFile(name)

  it('is of one version: a merge left no marks', () => {
    expect(text).not.toMatch(/^(<{7}|>{7}|={7}$)/m)
  })

  it('links to what is there', () => {
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const linked = file === '' ? name : new URL(file, new URL(name, root)).href.slice(root.href.length)
      expect({ target, there: existsSync(new URL(linked, root)) }).toEqual({ target, there: true })
      if (anchor !== undefined) expect(anchors(repositoryFile(linked))).toContain(anchor)
    }
  })

  it('names files that are there', () => {
    const named = [...text.matchAll(/`((?:src|test|scripts|genesis|docs)\/[\w./-]*)`/g)].map(([, path]) => path ?? '')
    for (const path of named) expect({ path, there: existsSync(new URL(path, root)) }).toEqual({ path, there: true })
  })
})

it('every page is linked from README.md, or from the README.md of its folder', () => {
  for (const page of pages.slice(1)) {
    const [, folder, name] = /^(docs\/.+\/)(.+)$/.exec(page) ?? []
    if (folder === undefined || name === 'README.md') expect(repositoryFile('README.md')).toContain(`(${page})`)
    else expect(repositoryFile(`${folder}README.md`)).toContain(`(${name})`)
  }
})

it('docs/architecture.md has a row for every folder and file of src/', () => {
  const layers = repositoryFile('docs/architecture.md')
  const rows = [...layers.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '))
  expect(rows.sort()).toEqual(readdirSync(new URL('src/', root)).sort())
})

it('each decision has its number, a date and a state, and the index its title', () => {
  const folder = new URL('docs/decisions/', root)
  const index = repositoryFile('docs/decisions/README.md')
  const files = readdirSync(folder).filter((name) => /^\d/.test(name))
  for (const name of files) {
    const text = repositoryFile(`docs/decisions/${name}`)
    const [, number, title] =
      /^# (\d+)\. (.+)\n\n\d{4}-\d\d-\d\d, (?:accepted|replaced by .+)\n\n## Context\n/.exec(text) ?? []
    expect({ name, number }).toEqual({ name, number: String(Number(name.slice(0, 4))) })
    expect(index).toContain(`- [${name.slice(0, 4)}](${name}) ${title}\n`)
  }
  expect(files.length).toBe(index.match(/^- \[\d{4}\]/gm)?.length)
})
