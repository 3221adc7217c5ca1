import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A copy of the working tree in a temporary folder: what changes in the original meanwhile does not matter. */
export class Tree {
  readonly root = mkdtempSync(join(tmpdir(), 'didledger-mutants-'))

  constructor(original: string) {
    const options = { cwd: original, encoding: 'utf8' } as const
    for (const path of execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], options).split('\0')) {
      if (path === '' || !existsSync(join(original, path))) continue
      mkdirSync(dirname(join(this.root, path)), { recursive: true })
      cpSync(join(original, path), join(this.root, path))
    }
    for (const path of ['node_modules', 'dist']) {
      if (existsSync(join(original, path))) symlinkSync(realpathSync(join(original, path)), join(this.root, path))
    }
    writeFileSync(
      join(this.root, 'mutants.test.ts'),
      "import { it } from 'vitest'\n\nit('begins the work', () => {})\n",
    )
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 })
  }
}
