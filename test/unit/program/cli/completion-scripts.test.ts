import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { createProgram } from '../../../../src/program/cli/cli-program.js'
import { commandTree, everyCommand } from '../../../../src/program/cli/command-tree.js'
import { completionScript, type Shell, shells } from '../../../../src/program/cli/completion-scripts.js'
import { helpContext } from '../../../../scripts/docs/cli-page.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())
const root = commandTree(await createProgram(helpContext))
const commands = everyCommand(root)
const files = Object.fromEntries(
  shells.map((shell) => [shell, bench.write(`completion.${shell}`, completionScript(shell, root))]),
) as Record<Shell, string>

/** A shell says so where a locale is set that the machine does not have. */
const env = { ...process.env, LC_ALL: 'C' }
const isThere = (shell: Shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0

/** What bash offers for the last of some words. */
function offered(...words: string[]): string[] {
  const script = `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _didledger; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', files.bash, 'didledger', ...words], {
    encoding: 'utf8',
    cwd: bench.directory,
  })
  return stdout.split('\n').filter((line) => line !== '')
}

describe.each(shells)('the completion script of %s', (shell) => {
  const script = completionScript(shell, root)

  it('has every command and every flag', () => {
    for (const { path, options } of commands) {
      for (const name of path.slice(1)) expect(script).toContain(name)
      for (const name of options.flatMap(({ names }) => names)) {
        const bare = name.replace(/^--?/, '')
        const shown = shell !== 'fish' ? name : name.startsWith('--') ? `-l ${bare} ` : `-s ${bare} `
        expect(script).toContain(shown)
      }
    }
  })
})

it.each(['bash' as const, ...shells.filter((shell) => shell !== 'bash' && isThere(shell))])(
  'the completion script of %s is one that it can read',
  (shell) => {
    const { status, stderr } = spawnSync(shell, ['-n', files[shell]], { encoding: 'utf8', env })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)

describe('completion in bash', () => {
  it.each<[string[], string[]]>([
    [['wal'], ['wallet']],
    [
      ['did', 'cre'],
      ['create', 'credential', 'credentials'],
    ],
    [['wallet', 'send', '--to', 'X', '--am'], ['--amount']],
    [['completion', ''], [...shells]],
    [
      ['devnet', '--log-format', '='],
      ['text', 'json'],
    ],
    [['devnet', '--port-base', '=', '5', '--log-format', '=', 'j'], ['json']],
    [['node', 'log', '--topic', 'b'], ['block']],
    [['wallet', 'send', '--to', ''], []],
    [['nonsense', 'x'], []],
  ])('offers for %j', (words, expected) => {
    expect(offered(...words)).toEqual(expected)
  })

  it('offers every command of every group', () => {
    for (const { path, children } of commands.filter((node) => node.children.length > 0)) {
      expect(offered(...path.slice(1), '')).toEqual(children.map((child) => child.path.at(-1)))
    }
  })

  it('offers files where a file is meant, with spaces in their names', () => {
    bench.write('my own wallet.json', '{}')
    expect(offered('wallet', 'send', '--wallet', 'my')).toEqual(['my own wallet.json'])
    expect(offered('did', 'publish', 'my')).toEqual(['my own wallet.json'])
    expect(offered('wallet', 'send', '--wallet', '=', 'my')).toEqual(['my own wallet.json'])
    expect(offered('signer', '--socket', 'my')).toEqual(['my own wallet.json'])
    expect(offered('did', 'name', 'transfer', 'my')).toEqual(['my own wallet.json'])
  })
})

describe('didledger completion', () => {
  it('prints the script', async () => {
    const { code, out } = await bench.run('completion', 'zsh')
    expect([code, out]).toEqual([0, completionScript('zsh', root)])
    expect(await bench.json('completion', 'fish')).toEqual({ shell: 'fish', script: completionScript('fish', root) })
  })

  it('knows no other shell', async () => {
    const { code, err } = await bench.run('completion', 'tcsh')
    expect([code, err]).toEqual([2, expect.stringContaining('Allowed choices are bash, zsh, fish')])
  })
})
